"""Simplifying structured control flow: conditions and trip counts that are known, and values that a loop need not
carry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf
from tritonx.ir.contract import Contract
from tritonx.ir.dispatch import case
from tritonx.ir.edit import erase, insert_before, is_defined_inside, only_block, replace, splice, terminator_of
from tritonx.ir.effects import may_write
from tritonx.ir.fold.constants import constant_of, unsigned, width_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.equal_values import are_equal


@dataclass(frozen=True)
class SimplifyControlFlow(ModulePass):
    """Simplifies ``scf.if``, ``scf.for`` and ``scf.while``, inside out.

    * an if whose condition is constant becomes that side; one whose sides are equal values or empty becomes selects;
      results without uses are dropped;
    * a loop that runs never or once becomes its initial values or its body;
    * a value that a loop carries unchanged is used directly; of two that are always equal one goes; one that only
      feeds itself is dropped.
    """

    name = "simplify-control-flow"
    contract = Contract(("tt", "ttg"), on=("scf",), creates=("arith",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for region in op.regions:
            simplify_region(region)


def simplify_region(region: Region) -> None:
    for block in region.blocks:
        op = block.first_op
        while op is not None:
            following = op.next_op
            for inner in op.regions:
                simplify_region(inner)
            rule = _RULES.get(op.__class__)
            while rule is not None:
                made = rule(op)
                if made is None:
                    break
                op = made
                rule = _RULES.get(op.__class__)
            op = following


# Rules change the IR and answer with the op to look at again, or None when there is nothing (more) to do with it.


def _simplify_if(op: scf.IfOp) -> Operation | None:
    then, otherwise = only_block(op.true_region), only_block(op.false_region)
    if then is None:
        return None
    known = constant_of(op.cond)
    if known is not None:
        _take(op, then if known else otherwise)
        return None
    then_end = terminator_of(then)
    if otherwise is None:
        if then.first_op is then_end:
            erase(op)
        return None
    else_end = terminator_of(otherwise)
    for result, a, b in zip(op.results, tuple(then_end.operands), tuple(else_end.operands), strict=True):
        if result.first_use is None:
            continue
        if a is b:
            result.replace_all_uses_with(a)
        elif then.first_op is then_end and otherwise.first_op is else_end:
            select = arith.SelectOp.create(operands=(op.cond, a, b), result_types=(result.type,), location=op.location)
            insert_before(select, op)
            result.replace_all_uses_with(select.results[0])
    if not any(result.first_use for result in op.results):
        if not may_write(op):
            erase(op)
            return None
        if otherwise.first_op is else_end and not op.results:
            op.false_region.erase_block(otherwise, safe_erase=False)
            return None
    return _drop_unused_if_results(op)


def _drop_unused_if_results(op: scf.IfOp) -> Operation | None:
    keep = [index for index, result in enumerate(op.results) if result.first_use is not None]
    if len(keep) == len(op.results):
        return None
    regions = list(op.regions)
    for region in regions:
        end = terminator_of(cast(Block, region.blocks.first))
        end.operands = [end.operands[index] for index in keep]
    _rebuild(op, (op.cond,), keep, [_detached(op, region) for region in regions])
    return None


def _take(op: Operation, block: Block | None) -> None:
    """Replace ``op`` by the ops of one of its blocks, or by nothing."""
    if block is None:
        erase(op)
        return
    end = terminator_of(block)
    splice(block, op)
    replace(op, tuple(end.operands))


def trip_count(op: scf.ForOp) -> int | None:
    """How often an ``scf.for`` with constant bounds runs; ``None`` where that is not known."""
    bounds = [constant_of(value) for value in (op.lb, op.ub, op.step)]
    width = width_of(op.lb.type)
    if width is None or bounds[2] in (None, 0):
        return None
    if op.lb is op.ub:
        return 0
    if bounds[0] is None or bounds[1] is None:
        return None
    low, high, step = (int(cast(int, b)) for b in bounds)
    if "unsignedCmp" in op.properties:
        low, high, step = (unsigned(b, width) for b in (low, high, step))
    if step <= 0:
        return None
    return max(0, -((low - high) // step))


def _simplify_for(op: scf.ForOp) -> Operation | None:
    body = only_block(op.body)
    if body is None:
        return None
    count = trip_count(op)
    if count == 0:
        replace(op, tuple(op.iter_args))
        return None
    if count == 1:
        for argument, value in zip(body.args, (op.lb, *op.iter_args), strict=True):
            argument.replace_all_uses_with(value)
        _take(op, body)
        return None
    if not any(r.first_use for r in op.results) and not may_write(op):
        erase(op)
        return None
    return _drop_carried(op, body)


def _drop_carried(op: scf.ForOp, body: Block) -> Operation | None:
    """Take out of the loop what need not be carried; the loop that remains is a new op when something was."""
    initial, arguments, end = list(op.iter_args), list(body.args)[1:], terminator_of(body)
    yielded = list(end.operands)
    drop: set[int] = set()
    for index, (start, argument, value) in enumerate(zip(initial, arguments, yielded, strict=True)):
        if value is argument or value is start:
            argument.replace_all_uses_with(start)
            op.results[index].replace_all_uses_with(start)
            drop.add(index)
    kept: list[int] = []
    for index, (start, value) in enumerate(zip(initial, yielded, strict=True)):
        if index in drop:
            continue
        for first in kept:
            # Equal initially, and each iteration computes them from equal values: so they are always equal.
            known: dict[SSAValue, SSAValue] = {arguments[index]: arguments[first]}
            if are_equal(initial[first], start, {}) and are_equal(yielded[first], value, known):
                arguments[index].replace_all_uses_with(arguments[first])
                op.results[index].replace_all_uses_with(op.results[first])
                drop.add(index)
                break
        else:
            kept.append(index)
    drop |= _only_feed_themselves(op, body, drop)
    if not drop:
        return None
    keep = [index for index in range(len(initial)) if index not in drop]
    end.operands = [end.operands[index] for index in keep]
    for index in sorted(drop, reverse=True):
        argument = body.args[index + 1]
        if argument.first_use is not None:
            # Only ops that are dead with it still use it; they are erased with the value they compute.
            argument.replace_all_uses_with(initial[index])
        body.erase_arg(argument)
    operands = (op.lb, op.ub, op.step, *(initial[index] for index in keep))
    return _rebuild(op, operands, keep, [_detached(op, op.body)])


def _only_feed_themselves(op: scf.ForOp, body: Block, dropped: set[int]) -> set[int]:
    """Carried values whose result is unused and that the body only needs to compute such values again."""
    end = terminator_of(body)
    live: set[SSAValue] = set()
    walked: set[Operation] = set()
    work: list[SSAValue] = []

    def need(value: SSAValue) -> None:
        if value not in live:
            live.add(value)
            work.append(value)

    for inner in body.ops:
        if inner is not end and may_write(inner):
            for used in ops_in(inner):
                for operand in used.operands:
                    need(operand)
    arguments = list(body.args)[1:]
    position: dict[SSAValue, int] = {argument: index for index, argument in enumerate(arguments)}
    for index, result in enumerate(op.results):
        if result.first_use is not None and index not in dropped:
            need(end.operands[index])
            need(arguments[index])
    while work:
        value = work.pop()
        if value in position:
            if position[value] not in dropped:
                need(end.operands[position[value]])
            continue
        owner = value.owner
        if isinstance(owner, Block) or not is_defined_inside(value, op):
            continue
        top = owner
        while top.parent is not body and (around := top.parent_op()) is not None:
            top = around
        if top in walked:
            continue
        walked.add(top)
        for used in ops_in(top):
            for operand in used.operands:
                need(operand)
    return {i for i, argument in enumerate(arguments) if argument not in live and i not in dropped}


def _detached(op: Operation, region: Region) -> Region:
    return op.detach_region(region)


def _rebuild(
    op: scf.IfOp | scf.ForOp, operands: tuple[SSAValue, ...], keep: list[int], regions: list[Region]
) -> Operation:
    """The same op with other operands, of whose results only ``keep`` remain; the old one is gone."""
    new = op.__class__.create(
        operands=operands,
        result_types=[op.results[index].type for index in keep],
        properties=op.properties,
        attributes=op.attributes,
        regions=regions,
        location=op.location,
    )
    insert_before(new, op)
    for position, index in enumerate(keep):
        op.results[index].replace_all_uses_with(new.results[position])
    erase(op)
    return new


def _simplify_while(op: scf.WhileOp) -> Operation | None:
    """A loop whose condition is false at once is its first region."""
    before = only_block(op.before_region)
    if before is None:
        return None
    end = terminator_of(before)
    if not isinstance(end, scf.ConditionOp) or constant_of(end.operands[0]) != 0:
        return None
    for argument, value in zip(before.args, tuple(op.operands), strict=True):
        argument.replace_all_uses_with(value)
    passed = tuple(end.operands)[1:]
    splice(before, op)
    # The arguments of the condition may be the first region's own values, which have just been moved out of it.
    replace(op, passed)
    return None


_RULES: dict[type[Operation], Callable[[Operation], Operation | None]] = {
    **case(scf.IfOp, _simplify_if),
    **case(scf.ForOp, _simplify_for),
    **case(scf.WhileOp, _simplify_while),
}
