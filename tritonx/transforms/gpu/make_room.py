"""Tiles that wait in shared memory wait in registers where there is not enough of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tritonx.analysis.buffers import aliases_of
from tritonx.analysis.frames import Bases, functions_of
from tritonx.analysis.lifetimes import Buffer
from tritonx.analysis.program_points import ProgramPoints
from tritonx.analysis.shared_budget import Frame, SharedBudget
from tritonx.dialects import tile
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalLoadOp
from tritonx.dialects.interfaces import MemoryProductOp, is_asynchronous_product, make_synchronous
from tritonx.ir.contract import Contract
from tritonx.ir.edit import move_after, move_before
from tritonx.transforms.gpu.conversions_in_memory import first_load_before


@dataclass(frozen=True)
class MakeRoom(ModulePass):
    """Makes buffers later, or products synchronous, until shared memory suffices.

    Where the buffers of a function take more than `shared_memory`, the bytes that a block may have, those that wait
    when most is taken are made later: the `ttg.local_alloc` of the tile that waits longest moves to its first use, and
    so on until all fit or none waits. If there is no room at its first use either, and that is a load, the load moves
    to the tile. Products that are under way then, and keep what they read, are made synchronous,
    the one that keeps most first. What fits stays as it is. `allocate-shared-memory` goes by the same budget."""

    name = "make-room"
    contract = Contract(
        ("ttg",), on=("ttg.local_alloc",), creates=("ttng.warp_group_dot_wait",), after=("share-barriers",)
    )

    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = functions_of(op)
        budget, bases = SharedBudget(self.shared_memory).within(op), Bases(functions)
        for function in functions:
            bases.end(function, _made_to_fit(function, budget, bases.of(function)).end)


def _made_to_fit(function: tile.FuncOp, budget: SharedBudget, base: int) -> Frame:
    """The frame of a function after moving what must move, and waiting for what must be over."""
    moved: dict[Operation, Operation] = {}
    frame = budget.frame(function, base)
    while not frame.fits:
        if (waiting := _longest_waiting(function, frame.buffers, moved)) is not None:
            op, use = waiting
            moved[op] = use
            if (load := _only_load(op)) is not None and not _fits_at(use, op, function, frame, budget.limit):
                move_after(load, op)
            else:
                move_before(op, use)
        elif (product := _keeps_most(frame.buffers)) is not None:
            make_synchronous(product)
        else:
            break
        frame = budget.frame(function, base)
    return frame


def _only_load(op: LocalAllocOp) -> LocalLoadOp | None:
    """What reads a tile, if it is a load of the same block and nothing else."""
    users = [use.operation for use in op.result.uses]
    load = users[0] if len(users) == 1 else None
    return load if isinstance(load, LocalLoadOp) and load.parent is op.parent else None


def _fits_at(place: Operation, op: LocalAllocOp, function: tile.FuncOp, frame: Frame, limit: int) -> bool:
    """Whether a tile has room in front of an op, beside what is there."""
    number = ProgramPoints(function).number
    there = [b for b in frame.buffers if b.op is op or b.first <= number[place] <= b.last]
    return frame.base + sum(buffer.size for buffer in there) <= limit


def _fullest(buffers: Sequence[Buffer]) -> int:
    """When most memory is taken."""
    return max((b.first for b in buffers), key=lambda time: sum(b.size for b in buffers if b.first <= time <= b.last))


def _keeps_most(buffers: Sequence[Buffer]) -> MemoryProductOp | None:
    """The product that the program does not wait for which keeps most memory when most is taken."""
    kept: dict[MemoryProductOp, int] = {}
    full = _fullest(buffers) if buffers else 0
    for buffer in buffers:
        if isinstance(buffer.op, LocalAllocOp) and buffer.first <= full <= buffer.last:
            for product in {use.operation for alias in aliases_of(buffer.op.result) for use in alias.uses}:
                if is_asynchronous_product(product):
                    kept[product] = kept.get(product, 0) + buffer.size
    return max(kept, key=kept.__getitem__, default=None)


def _longest_waiting(
    function: tile.FuncOp, buffers: Sequence[Buffer], moved: Mapping[Operation, Operation]
) -> tuple[LocalAllocOp, Operation] | None:
    """The `local_alloc` whose tile waits longest for its first use among those that wait when most memory is taken,
    and in front of what to put it: all loads of the product that uses it, and the second time its own. None if none
    waits then. ``moved``: what was moved before, and where.
    """
    if not buffers:  # what is too much is the callers'
        return None
    number = ProgramPoints(function).number
    full = _fullest(buffers)
    found: list[tuple[int, LocalAllocOp, Operation]] = []
    for buffer in buffers:
        op = buffer.op
        if not isinstance(op, LocalAllocOp) or not op.operands or buffer.first != number[op]:
            continue
        block = op.parent
        assert block is not None
        users = [block.find_ancestor_op_in_block(use.operation) for use in op.result.uses]
        if not users or None in users:  # used in another block
            continue
        use = min((user for user in users if user is not None), key=number.__getitem__)
        if op not in moved:
            use = first_load_before(use)
        if moved.get(op) is not use and buffer.first <= full < number[use]:
            found.append((number[use] - buffer.first, op, use))
    longest = max(found, key=lambda each: each[0], default=None)
    return None if longest is None else longest[1:]
