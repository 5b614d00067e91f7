"""Which tiles may be written over the loop-carried tile that they replace.

A loop carries a tile in one buffer. `acc = acc * alpha + dot(p, v)` should update that buffer rather than fill another
one and copy. Writing the yielded tile y over the carried tile a is right if a is not read afterwards, and whoever
reads it in the same loop nest reads it at the element being written. A matrix product's accumulator operand is written
over as well, so the chain `a → a * alpha → dot` collapses into one buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.conversion.tile_to_loops.families import VIEW_SOURCES, is_inline
from tritonx.conversion.tile_to_loops.groups import Group, Item, Materialise, Plan, nested_operands
from tritonx.conversion.tile_to_loops.types import is_narrow_float
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import carried_by, carried_result
from tritonx.ir.types import element_type, is_tensor

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


@dataclass(frozen=True)
class Read:
    """An item of the plan reads a carried tile; ``aligned``: only at the element that the item is computing."""

    item: int
    aligned: bool


def prefer_accumulators(e: Emitter, plan: Plan) -> None:
    """A product's accumulator, if it has no other use, is computed where the product goes; its operands are held as
    f32.
    """
    for item in plan.items:
        if isinstance(item, tile.DotOp):
            for operand in (item.a, item.b):
                if isinstance(operand.owner, tile.TransOp) and operand not in plan.buffered:
                    operand = operand.owner.src
                if made_by_group(plan, operand) and is_narrow_float(element_type(operand.type)):
                    e.widened.add(operand)
        if isinstance(item, tile.DotOp) and sole_use(item.c) and made_by_group(plan, item.c):
            e.preferred.setdefault(item.c, item.results[0])
        if isinstance(item, scf.ForOp):
            for operand, argument in ((each.initial.value, each.argument) for each in carried_by(item)):
                if is_tensor(operand.type) and e.index.carried(argument) is None and sole_use(operand):
                    if made_by_group(plan, operand) or isinstance(operand.owner, tile.DotOp):
                        e.preferred.setdefault(operand, argument)
                    elif (through := carried_result(operand)) is not None:
                        if e.index.carried(through.argument) is None:
                            e.preferred.setdefault(through.argument, argument)


def sole_use(value: SSAValue) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def made_by_group(plan: Plan, value: SSAValue) -> bool:
    return any(
        isinstance(a, Materialise) and a.value is value for g in plan.items if isinstance(g, Group) for a in g.anchors
    )


def prefer_carried(e: Emitter, plan: Plan, arguments: list[BlockArgument], yielded: list[SSAValue]) -> None:
    """Let yielded tiles be written over the carried ones where that is right; `e.overwrites` records it."""
    for argument, value in zip(arguments, yielded, strict=True):
        if value is argument or value.type != argument.type or yielded.count(value) > 1 or value in e.preferred:
            continue
        chain = _chain(e, plan, value, argument)
        written = [(v, _written_at(plan, v)) for v in chain]
        if any(at is None for _, at in written):
            continue
        first = written[-1][1]
        assert first is not None
        reads = _reads(plan, argument, chain)
        if all(r.item < first or (r.item == first and r.aligned) for r in reads):
            e.preferred[value] = argument
            e.overwrites[chain[-1]] = argument
            if (through := carried_result(value)) is not None:
                e.preferred[through.argument] = argument


def _chain(e: Emitter, plan: Plan, value: SSAValue, argument: SSAValue) -> list[SSAValue]:
    """The tiles that will share the yielded tile's buffer, last to first (`prefer_accumulators`)."""
    owner, through = value.owner, carried_result(value)
    if isinstance(owner, tile.DotOp):
        before = owner.c
    elif isinstance(owner, scf.ForOp) and through is not None and e.index.carried(through.argument) is None:
        before = through.initial.value
    else:
        return [value]
    if before is argument or not sole_use(before):
        return [value]
    if made_by_group(plan, before):
        return [value, before]
    is_made = isinstance(before.owner, tile.DotOp) or carried_result(before) is not None
    return [value, *_chain(e, plan, before, argument)] if is_made and through is not None else [value]


def _written_at(plan: Plan, value: SSAValue) -> int | None:
    for i, item in enumerate(plan.items):
        if isinstance(item, Group):
            if any(isinstance(a, Materialise) and a.value is value for a in item.anchors):
                return i
        elif value.owner is item and isinstance(item, tile.DotOp | scf.ForOp):
            return i
    return None


def _reads(plan: Plan, argument: SSAValue, chain: Sequence[SSAValue]) -> list[Read]:
    reads: list[Read] = []
    for i, item in enumerate(plan.items):
        reads.extend(Read(i, aligned) for aligned in item_reads(plan, item, argument, chain))
    return reads


def item_reads(plan: Plan, item: Item, argument: SSAValue, chain: Sequence[SSAValue]) -> set[bool]:
    """The ways (aligned or not) in which an item reads a tile that the tiles of ``chain`` are written over."""
    if isinstance(item, Group):
        written = {a.value for a in item.anchors if isinstance(a, Materialise)}
        return {w for v in item.operands() for w in _ways(plan, v, argument, written)}
    if isinstance(item, scf.YieldOp):  # of a loop, it also hands a carried tile on as another one
        return {False for v in item.operands for _ in _ways(plan, v, argument, set())}
    if item.next_op is None:
        return {w for v in item.operands for w in _ways(plan, v, argument, set())}
    ways: set[bool] = set()
    direct = list(item.operands)
    for k, v in enumerate(direct):
        if v is argument and _updates_in_place(item, k, chain):
            ways.add(True)
        else:
            ways |= {False for _ in _ways(plan, v, argument, set())}
    if item.regions:
        inner = [v for op in item.walk() if op is not item for v in op.operands]
        ways |= {False for v in inner for _ in _ways(plan, v, argument, set())}
    return ways


def _updates_in_place(op: Operation, operand: int, chain: Sequence[SSAValue]) -> bool:
    if isinstance(op, tile.DotOp):
        return operand == 2
    return isinstance(op, scf.ForOp) and operand >= 3 and op.results[operand - 3] in chain


def _ways(plan: Plan, value: SSAValue, argument: SSAValue, written: set[SSAValue]) -> set[bool]:
    found: set[bool] = set()
    seen: set[tuple[SSAValue, bool]] = set()

    def visit(v: SSAValue, aligned: bool) -> None:
        if (v, aligned) in seen:
            return
        seen.add((v, aligned))
        if v is argument:
            found.add(aligned)
            return
        op = v.owner
        if (v in plan.buffered and v not in written) or not is_inline(op):
            return
        sources = VIEW_SOURCES.get(type(op), ())
        for i, operand in enumerate(op.operands):
            visit(operand, aligned and i not in sources)

    visit(value, True)
    return found


def conflicting(plan: Plan, value: SSAValue, target: SSAValue, arguments: list[BlockArgument]) -> bool:
    """Whether copying `value` over `target` chunk by chunk could disturb what it, or another copy, still reads."""
    for argument in arguments:
        ways = _ways(plan, value, argument, set())
        if ways and (argument is not target or False in ways):
            return True
    return False


__all__ = ["conflicting", "item_reads", "nested_operands", "prefer_accumulators", "prefer_carried", "sole_use"]
