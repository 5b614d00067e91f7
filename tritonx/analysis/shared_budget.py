"""The shared memory that a block has, and who takes how much of it: what every pass asks that would take some.

A pass that may put a tile into shared memory, or must find room for one, has the same questions: what a block may have,
what its function takes as it stands, whether something fits, and whether it costs anything: blocks that take more are
fewer on a processor. They are answered here once, by the lifetimes and the plan that the allocation goes by.

Some of a block's memory is not the allocation's to give: where a kernel has partitions (`ttg.warp_specialize`), what
its warps hand over to them lies behind everything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.frames import Bases, functions_of
from tritonx.analysis.lifetimes import Buffer, buffers_of
from tritonx.analysis.memory_plan import OverBudget, Plan, align, most_alive, plan
from tritonx.analysis.program_points import ProgramPoints
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import WarpSpecializeOp
from tritonx.ir.source import source_of
from tritonx.ir.walk import ops_in
from tritonx.layouts.convert import SCRATCH_LIMIT

SMALL = 512
"""Bytes up to which a buffer is worth less than a barrier: what the warps of a reduction tell each other."""

SMALL_TOGETHER = 4096
"""Bytes that small buffers may take at the same time: a 50th of what a processor has."""

FRAME_ALIGNMENT = 128
"""Of where the buffers of a function begin that is called."""

HANDOVER_ALIGNMENT = 16

HANDOVER_SLOT = 8
"""Bytes for the number of a `ttg.warp_specialize`, and for each value that its partitions capture."""


@dataclass(frozen=True)
class Frame:
    """The buffers of a function, and where they lie: none below `base`, all below `top`."""

    function: tile.FuncOp
    buffers: tuple[Buffer, ...]
    plan: Plan
    base: int
    fits: bool

    @property
    def top(self) -> int:
        return self.plan.top

    @property
    def end(self) -> int:
        """Where the buffers of a function may begin that it calls."""
        return align(self.top, FRAME_ALIGNMENT)


@dataclass(frozen=True)
class Room:
    """What a function, its buffers from `base` on, leaves of a budget; as it stood when that was first asked."""

    function: tile.FuncOp
    budget: SharedBudget
    base: int

    @cached_property
    def frame(self) -> Frame:
        return self.budget.frame(self.function, self.base)

    @cached_property
    def _number(self) -> dict[Operation, int]:
        return ProgramPoints(self.function).number

    def for_conversions(self, ops: Sequence[Operation]) -> int:
        """The bytes that `ops` may have, all at the same time, to move tiles between threads: what the block has left
        beside the others that live between the first of them and the last. Of that no more than a single conversion may
        have anyway (`SCRATCH_LIMIT`), or than is idle there because the function takes it at other points."""
        points = [self._number[op] for op in ops]
        first, last = min(points), max(points)
        others = [b for b in self.frame.buffers if b.first <= last and first <= b.last and b.op not in ops]
        taken = self.base + most_alive([replace(b, first=max(b.first, first)) for b in others])
        return min(max(SCRATCH_LIMIT, self.frame.top - taken), self.budget.limit - taken)


@dataclass(frozen=True)
class SharedBudget:
    """`limit`: the bytes that a block may have, with what a launch must ask for specially, and without what the
    hardware or its driver keeps for itself."""

    limit: int = 48 * 1024

    def within(self, module: ModuleOp) -> SharedBudget:
        """What is left to the allocation of a module."""
        return replace(self, limit=self.limit - handover_bytes(module))

    def frame(self, function: tile.FuncOp, base: int = 0) -> Frame:
        """Where the buffers of a function lie, from `base` on. Small ones overlap with none if that fits, so that the
        next one need not wait until the last one has been read."""
        buffers = buffers_of(function)
        for lives in (_apart(buffers), buffers):
            try:
                return Frame(function, tuple(buffers), plan(lives, self.limit, base), base, fits=True)
            except OverBudget as over:
                best = over.plan
        return Frame(function, tuple(buffers), best, base, fits=False)

    def rooms(self, module: ModuleOp) -> Iterator[Room]:
        """What each function of a module leaves, one after another."""
        functions = functions_of(module)
        budget, bases = self.within(module), Bases(functions)
        for function in functions:
            room = Room(function, budget, bases.of(function))
            if len(functions) > 1:
                bases.end(function, room.frame.end)
            yield room

    def fits(self, function: tile.FuncOp) -> bool:
        """Whether a function fits as it stands, by itself."""
        try:
            plan(buffers_of(function), self.limit)
        except OverBudget:
            return False
        return True

    def holds(self, size: int, beside: tile.FuncOp | None = None) -> bool:
        """Whether so many bytes fit, beside all that a function takes where one is given."""
        taken = 0 if beside is None else plan(buffers_of(beside), UNLIMITED).top
        return taken + size <= self.limit


UNLIMITED = 1 << 62


def _apart(buffers: Sequence[Buffer]) -> Sequence[Buffer]:
    """The buffers, small ones alive all the time, unless they are many."""
    end = max((buffer.last for buffer in buffers), default=0)
    if sum(buffer.size for buffer in buffers if buffer.size <= SMALL) > SMALL_TOGETHER:
        return buffers
    return [replace(buffer, first=0, last=end) if buffer.size <= SMALL else buffer for buffer in buffers]


def handover_bytes(module: ModuleOp) -> int:
    """Bytes at most that the kernel's warps hand over to partitions in, rounding to their alignment included."""
    captured = [len(op.explicitCaptures) for op in ops_in(module) if isinstance(op, WarpSpecializeOp)]
    return HANDOVER_ALIGNMENT - 1 + HANDOVER_SLOT * (1 + max(captured)) if captured else 0


# --- for a person


def largest_buffers(module: ModuleOp, count: int = 4) -> str:
    """The largest buffers of a module with their source lines, in one sentence, for the message that there is not
    enough memory.
    """
    buffers = [b for f in functions_of(module) for b in buffers_of(f)]
    largest = sorted(buffers, key=lambda b: -b.size)[:count]
    return f"The largest buffers are {'; '.join(map(_described, largest))}."


def _described(buffer: Buffer) -> str:
    """`16384 bytes for ttg.local_alloc (kernel.py:12:8)`."""
    places = source_of(buffer.op)
    return f"{buffer.size} bytes for {buffer.op.name}" + (f" ({places[0]})" if places else "")


def fits_around(op: Operation, gone: Collection[Operation], limit: int) -> bool:
    """Whether so many bytes have room for all buffers of the function around an op but those that are going to go."""
    return _fits(_lives_around(op, gone), limit)


def blocks_around(op: Operation, gone: Collection[Operation], limit: int, reserved: int, most: int = 2) -> int:
    """How many blocks of the function around an op, so many at most, have room beside each other where one may take
    `limit` bytes and `reserved` more are kept for each; its buffers are all but those that are going to go."""
    lives = _lives_around(op, gone)
    return sum(_fits(lives, (limit + reserved) // blocks - reserved) for blocks in range(1, most + 1))


def _lives_around(op: Operation, gone: Collection[Operation]) -> list[Buffer]:
    function = op.parent_op()
    while not isinstance(function, tile.FuncOp):
        assert function is not None
        function = function.parent_op()
    return [buffer for buffer in buffers_of(function) if buffer.op not in gone]


def _fits(lives: Sequence[Buffer], limit: int) -> bool:
    try:
        plan(lives, limit)
    except OverBudget:
        return False
    return True
