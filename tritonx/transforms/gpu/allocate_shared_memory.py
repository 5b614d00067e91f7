"""Placing buffers in shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import Buffer, buffers_of
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp
from tritonx.ir.edit import move_before
from tritonx.ir.places import source_of
from tritonx.ir.types import i32
from tritonx.transforms.gpu.exchanges import first_load_before

OFFSET = "allocation.offset"
"""Attribute of an op: the byte offset of its buffer."""

SMALL = 512
"""Bytes up to which a buffer is worth less than a barrier: what the warps of a reduction tell each other."""

SMALL_TOGETHER = 4096
"""Bytes that small buffers may take at the same time: a 50th of what a processor has."""


@dataclass(frozen=True)
class AllocateSharedMemory(ModulePass):
    """Gives every op that needs shared memory its byte offset (`allocation.offset`), and the module the total
    (`ttg.shared`).

    Buffers that are alive at the same time do not overlap; the largest are placed first, each at the lowest gap. Small
    ones overlap with none, so that the next one need not wait until the last one has been read. A function that is
    called has its buffers above those of all its callers. Where small ones of their own would make a function exceed
    `shared_memory`, the bytes that a block may have, they share what the others leave; where that does not suffice,
    what waits in memory when most is taken waits in registers instead: its `ttg.local_alloc` moves to its first use.
    """

    name = "allocate-shared-memory"

    shared_memory: int = 48 * 1024

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {
            f.sym_name.data: f for f in op.ops if isinstance(f, tile.FuncOp) and f.body.blocks.first is not None
        }
        base: dict[str, int] = dict.fromkeys(functions, 0)
        total = 0
        for function in callers_first(functions):
            name = function.sym_name.data
            placed = fit(function, base[name], self.shared_memory)
            for buffer, offset in placed:
                buffer.op.attributes[OFFSET] = IntegerAttr(offset, i32)
            end = top(placed, base[name])
            total = max(total, end)
            for callee in calls_of(function):
                if callee in base:
                    base[callee] = max(base[callee], align(end, 128))
        op.attributes["ttg.shared"] = IntegerAttr(total, i32)


def fit(function: tile.FuncOp, base: int, limit: int) -> list[tuple[Buffer, int]]:
    """(buffer, byte offset) for each of a function, from `base` on; below `limit` if that can be."""
    buffers = buffers_of(function)
    placed = place(apart(buffers), base)
    if top(placed, base) > limit:
        placed = place(buffers, base)
    moved: dict[Operation, Operation] = {}
    while top(placed, base) > limit and (waiting := _longest_waiting(function, buffers, moved)) is not None:
        op, use = waiting
        moved[op] = use
        move_before(op, use)
        buffers = buffers_of(function)
        placed = place(buffers, base)
    return placed


def _longest_waiting(
    function: tile.FuncOp, buffers: Sequence[Buffer], moved: Mapping[Operation, Operation]
) -> tuple[Operation, Operation] | None:
    """The `local_alloc` whose tile waits longest for its first use among those that wait when most memory is taken,
    and in front of what to put it: all loads of the product that uses it, and the second time its own. None if none
    waits then. ``moved``: what was moved before, and where.
    """
    if not buffers:  # what is too much is the callers'
        return None
    times = {op: time for time, op in enumerate(op for op in function.walk() if op is not function)}
    full = max((b.first for b in buffers), key=lambda time: sum(b.size for b in buffers if b.first <= time <= b.last))
    found: list[tuple[int, Operation, Operation]] = []
    for buffer in buffers:
        op = buffer.op
        if not isinstance(op, LocalAllocOp) or not op.operands or buffer.first != times[op]:
            continue
        block = op.parent
        assert block is not None
        users = [block.find_ancestor_op_in_block(use.operation) for use in op.result.uses]
        if not users or None in users:  # used in another block
            continue
        use = min((user for user in users if user is not None), key=times.__getitem__)
        if op not in moved:
            use = first_load_before(use)
        if moved.get(op) is not use and buffer.first <= full < times[use]:
            found.append((times[use] - buffer.first, op, use))
    longest = max(found, key=lambda each: each[0], default=None)
    return None if longest is None else longest[1:]


def top(placed: Sequence[tuple[Buffer, int]], base: int = 0) -> int:
    """The first byte above all buffers."""
    return max((offset + buffer.size for buffer, offset in placed), default=base)


def apart(buffers: Sequence[Buffer]) -> list[Buffer]:
    """The buffers, small ones alive all the time, unless they are many."""
    end = max((buffer.last for buffer in buffers), default=0)
    small = [buffer for buffer in buffers if buffer.size <= SMALL]
    if sum(buffer.size for buffer in small) > SMALL_TOGETHER:
        return list(buffers)
    return [replace(buffer, first=0, last=end) if buffer.size <= SMALL else buffer for buffer in buffers]


def place(buffers: Sequence[Buffer], base: int = 0) -> list[tuple[Buffer, int]]:
    """(buffer, byte offset) for each, offsets from `base` on."""
    placed: list[tuple[Buffer, int]] = []
    for buffer in sorted(buffers, key=lambda b: (-b.size, b.first)):
        taken = sorted(
            (offset, offset + other.size)
            for other, offset in placed
            if other.first <= buffer.last and buffer.first <= other.last
        )
        offset = align(base, buffer.alignment)
        for start, end in taken:
            if offset + buffer.size <= start:
                break
            offset = max(offset, align(end, buffer.alignment))
        placed.append((buffer, offset))
    return placed


def align(value: int, alignment: int) -> int:
    """`value` rounded up."""
    return -(-value // alignment) * alignment


def calls_of(function: tile.FuncOp) -> list[str]:
    """Names of the functions that a function calls."""
    return [op.callee.string_value() for op in function.walk() if isinstance(op, tile.CallOp)]


def callers_first(functions: dict[str, tile.FuncOp]) -> list[tile.FuncOp]:
    """Every function after those that call it."""
    order: list[tile.FuncOp] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name not in functions:
            return
        seen.add(name)
        for callee in calls_of(functions[name]):
            visit(callee)
        order.append(functions[name])

    for name in functions:
        visit(name)
    order.reverse()
    return order


def describe(op: Operation, size: int) -> str:
    """`16384 bytes for ttg.local_alloc (kernel.py:12:8)`."""
    places = source_of(op)
    return f"{size} bytes for {op.name}" + (f" ({places[0]})" if places else "")


def largest_buffers(module: ModuleOp, count: int = 4) -> str:
    """The largest buffers of a module with their source lines, in one sentence, for the message that there is not
    enough memory.
    """
    buffers = [b for f in module.ops if isinstance(f, tile.FuncOp) and f.body.blocks.first for b in buffers_of(f)]
    largest = sorted(buffers, key=lambda b: -b.size)[:count]
    return f"The largest buffers are {'; '.join(describe(buffer.op, buffer.size) for buffer in largest)}."
