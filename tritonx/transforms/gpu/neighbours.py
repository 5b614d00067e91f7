"""Moving ops that exchange data between threads next to each other, so that they can do it together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation

from tritonx.analysis.buffers import scratch_size
from tritonx.dialects import tile
from tritonx.dialects.control_flow import is_per_element
from tritonx.dialects.effects import EffectList, Kind, Resource, effects_of
from tritonx.dialects.gpu_layout import ConvertLayoutOp
from tritonx.ir.edit import move_before
from tritonx.ir.effects import is_speculatable
from tritonx.transforms.gpu.conversions_in_memory import user_in

OpT = TypeVar("OpT", bound=Operation)


def neighbours(
    block: Block, taken: Callable[[Operation], OpT | None], fit: Callable[[list[OpT]], bool]
) -> list[list[OpT]]:
    """Groups of two or more ops that were moved next to each other: those that ``taken`` gives back, which need none of
    each other's results, with nothing between them that synchronises, as long as they ``fit``."""
    found: list[list[OpT]] = []
    group: list[OpT] = []
    place: dict[Operation, int] = {}
    for op in list(block.ops):
        one = taken(op)
        if one is None:
            if _synchronises(op):
                found.append(group)
                group = []
        elif group and fit([*group, one]) and _bring_together(group, one, place):
            group.append(one)
        else:
            found.append(group)
            group = [one]
    return [g for g in (*found, group) if len(g) > 1]


def _synchronises(op: Operation) -> bool:
    """Whether an op may wait for other threads, or touch shared memory: no group reaches across it."""
    if isinstance(op, ConvertLayoutOp):
        return scratch_size(op) > 0
    if op.regions and not is_per_element(op):
        return True
    if scratch_size(op) or isinstance(op, tile.CallOp):
        return True
    effects = effects_of(op)
    return effects is None or not (_all(effects, Kind.READ) or _all(effects, Kind.WRITE))


def _all(effects: EffectList, kind: Kind) -> bool:
    """Whether all that an op does to others' memory is to read, or to write global memory."""
    others = [e for e in effects if e.resource is not Resource.SCRATCH and e.kind not in (Kind.TRAP, Kind.HINT)]
    return all(e.kind is kind and (kind is Kind.READ or e.resource is Resource.GLOBAL) for e in others)


def _bring_together(group: Sequence[Operation], op: Operation, place: dict[Operation, int]) -> bool:
    """Move `op`, with what it alone needs, in front of the first use of the group's results; False if it cannot be.

    ``place`` numbers the ops of the block, and is empty where that is not known: at first, and after a move.
    """
    block = op.parent
    assert block is not None
    if not place:
        place.update((each, number) for number, each in enumerate(block.ops))
    users = [user_in(block, use.operation) for each in group for result in each.results for use in result.uses]
    first = min(users, key=place.__getitem__, default=None)
    if first is None or place[first] > place[op]:
        return True
    needed: set[Operation] = set()
    work = [operand.owner for operand in op.operands]
    while work:
        current = work.pop()
        if current in group:
            return False
        if not isinstance(current, Operation) or current in needed or current.parent is not block:
            continue
        if place[current] < place[first]:
            continue
        if not is_speculatable(current):
            return False
        needed.add(current)
        work += [operand.owner for operand in current.operands]
    for moved in (*sorted(needed, key=place.__getitem__), op):
        move_before(moved, first)
    place.clear()
    return True
