"""The shared memory that a block has, and who takes how much of it: what every pass asks that would take some.

A pass that may put a tile into shared memory, or must find room for one, has the same three questions: what a block may
have, what its function takes as it stands, and whether something fits. They are answered here once, by the lifetimes
and the plan that the allocation goes by.

Some of a block's memory is not the allocation's to give: where a kernel has partitions (`ttg.warp_specialize`), what
its warps hand over to them lies behind everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp

from tritonx.analysis.frames import functions_of
from tritonx.analysis.lifetimes import Buffer, buffers_of
from tritonx.analysis.memory_plan import OverBudget, Plan, align, plan
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import WarpSpecializeOp
from tritonx.ir.places import source_of

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
    captured = [len(op.explicitCaptures) for op in module.walk() if isinstance(op, WarpSpecializeOp)]
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
