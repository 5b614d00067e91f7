"""Structured control flow. Scalars become phi nodes; tiles that enter, leave or are carried by a region live in one
buffer each.

A tile of pointers or offsets that a loop advances by the same scalar everywhere is carried as that scalar (see
index.py).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tritonx.conversion.counters import next_count
from tritonx.conversion.tile_to_loops.addresses import emit_polynomial
from tritonx.conversion.tile_to_loops.collapse import collapsed_shape
from tritonx.conversion.tile_to_loops.constants import splat_constant
from tritonx.conversion.tile_to_loops.demand import needed_shape
from tritonx.conversion.tile_to_loops.emitter import View, unsupported
from tritonx.conversion.tile_to_loops.flatten import flat_types
from tritonx.conversion.tile_to_loops.groups import Effect, Group, Materialise, Plan, anchor_op
from tritonx.conversion.tile_to_loops.in_place import conflicting, prefer_accumulators, prefer_carried
from tritonx.conversion.tile_to_loops.loops import each_chunk, emit_anchors, group_lanes, group_prefix, walk
from tritonx.conversion.tile_to_loops.plan import Planner
from tritonx.conversion.tile_to_loops.prefixes import all_true
from tritonx.conversion.tile_to_loops.reduce import emit_reductions
from tritonx.conversion.tile_to_loops.remarks import describe_loop, describe_nest
from tritonx.conversion.tile_to_loops.shape import copy_tile
from tritonx.conversion.tile_to_loops.tables import StatementRule
from tritonx.conversion.tile_to_loops.types import register_type, type_bytes
from tritonx.conversion.tile_to_loops.writer import Lanes, Phis
from tritonx.dialects import scf, tile
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

TERMINATORS = (scf.YieldOp, scf.ConditionOp, tile.ReduceReturnOp, tile.ScanReturnOp, tile.MapElementwiseReturnOp)
"""Terminators that the enclosing op reads."""


# ---- blocks


def emit_block(
    e: Emitter, block: Block, arguments: list[BlockArgument] | None = None, yielded: list[SSAValue] | None = None
) -> Plan:
    """Emit a block's ops; `arguments` and `yielded` are the buffered tiles that a loop carries through it."""
    plan = Planner(block, e.index, e.buffered).plan()
    if arguments is not None and yielded is not None:
        prefer_carried(e, plan, arguments, yielded)
    prefer_accumulators(e, plan)
    for item in plan.items:
        if isinstance(item, Group):
            with e.writer.of(anchor_op(item.anchors[0])):
                emit_group(e, item)
        elif not isinstance(item, TERMINATORS):
            with e.writer.of(item):
                emit_statement(e, item)
    return plan


def emit_group(e: Emitter, group: Group) -> None:
    """The loop nest of a group of the plan."""
    written = {a.value for a in group.anchors if isinstance(a, Materialise)}
    for value in written:
        e.buffer_of(value)
    e.writing = written
    shape = needed_shape(e, group) or collapsed_shape(e, group)
    if group.axis is None:
        alone = any(isinstance(a, Effect) and not isinstance(a.op, tile.StoreOp) for a in group.anchors)
        lane, width = (-1, 0) if alone and not _vectorisable(group) else group_lanes(e, group, shape)
        describe_nest(e, group, shape, lane, width)
        _emit_nest(e, group, shape, lane, width)
    else:
        emit_reductions(e, group, shape)
    e.writing = set()
    e.fresh_chunk()


def _emit_nest(e: Emitter, group: Group, shape: tuple[int, ...], lane: int, width: int) -> None:
    """The nest of a group without reductions. One that writes tiles of masked loads is written twice: where the masks
    are true throughout, there are none."""
    prefix = group_prefix(e, group, shape, lane, width)
    if prefix is None or prefix.divides:
        for position in walk(e, shape, lane, width, prefix):
            emit_anchors(e, group, position)
        return
    w = e.writer
    whole, masked, done = (w.new_label(s) for s in ("whole", "masked", "loaded"))
    w.branch_if(all_true(e, prefix), whole, masked)
    cost = w.cost
    for label, masks in ((whole, prefix.masks), (masked, frozenset[SSAValue]())):
        w.label(label)
        e.assumed, w.cost = masks, cost
        for position in walk(e, shape, lane, width):
            emit_anchors(e, group, position)
        e.assumed = frozenset()
        w.branch(done)
    w.label(done)


def _vectorisable(group: Group) -> bool:
    return all(not isinstance(a, Effect) or isinstance(a.op, tile.StoreOp | tile.AssertOp) for a in group.anchors)


def emit_statement(e: Emitter, op: Operation) -> None:
    rule = e.tables.statements.get(type(op))
    if rule is not None:
        e.fresh_chunk()
        rule(e, op)
        e.fresh_chunk()
        return
    elementwise = e.tables.elementwise.get(type(op))
    if elementwise is None:
        raise unsupported(op, "the CPU backend has no rule for this op")
    args = [Lanes(e.scalar(v), 0) for v in op.operands]
    e.values[op.results[0]] = (elementwise(e, op, args).text,)


def emit_region(e: Emitter, block: Block) -> list[tuple[str, ...]]:
    """Emit a region of scalars in place; the values of its terminator."""
    emit_block(e, block)
    return [e.values[v] for v in terminator(block).operands]


def terminator(block: Block) -> Operation:
    op = block.last_op
    assert op is not None
    return op


def copy_into(e: Emitter, source: SSAValue, target: View) -> None:
    """Bring a tile into a buffer, unless it lies there."""
    view = e.views.get(source)
    if view is None or view.pointer != target.pointer:
        copy_tile(e, source, target)


def enter_tile(e: Emitter, argument: SSAValue, value: SSAValue) -> None:
    """`value` in the buffer of a region's or block's `argument`."""
    e.buffered.add(argument)
    copy_into(e, value, e.buffer_of(argument))


def join_scalars(e: Emitter, result: SSAValue, incoming: list[tuple[str, tuple[str, ...]]]) -> None:
    """`result` where blocks meet, each of which brings (its label, the values)."""
    names: list[str] = []
    for j, ty in enumerate(flat_types(result.type)):
        sources = ", ".join(f"[ {values[j]}, %{label} ]" for label, values in incoming)
        names.append(e.writer.inst(f"phi {ty} {sources}"))
    e.values[result] = tuple(names)


# ---- scf.if


def _if(e: Emitter, op: scf.IfOp) -> None:
    w = e.writer
    then, otherwise, done = (w.new_label(s) for s in ("then", "else", "joined"))
    w.branch_if(e.scalar(op.cond), then, otherwise)
    incoming: list[tuple[str, list[tuple[str, ...]]]] = []
    for label, region in ((then, op.true_region), (otherwise, op.false_region)):
        w.label(label)
        e.fresh_chunk()
        values: list[tuple[str, ...]] = []
        if region.blocks.first is not None:
            block = region.block
            emit_block(e, block)
            for result, value in zip(op.results, terminator(block).operands, strict=True):
                if is_tensor(result.type):
                    copy_into(e, value, e.buffer_of(result))
                else:
                    values.append(e.values[value])
        incoming.append((w.block, values))
        w.branch(done)
    w.label(done)
    scalars = [r for r in op.results if not is_tensor(r.type)]
    for k, result in enumerate(scalars):
        join_scalars(e, result, [(label, values[k]) for label, values in incoming])


# ---- loops


def _carry(e: Emitter, phis: Phis, argument: SSAValue, initial: SSAValue) -> None:
    """The scalars of a loop-carried `argument`."""
    values = zip(flat_types(argument.type), e.values[initial], strict=True)
    e.values[argument] = tuple(phis.add(ty, value) for ty, value in values)


def _for(e: Emitter, op: scf.ForOp) -> None:
    w, body = e.writer, op.regions[0].block
    induction, arguments = body.args[0], list(body.args[1:])
    bound = "i64" if isinstance(induction.type, IndexType) else register_type(induction.type)
    lower, upper, step = (e.scalar(v) for v in op.operands[:3])
    yielded = list(terminator(body).operands)
    kinds = [_kind(e, a) for a in arguments]
    tiles = [a for a, k in zip(arguments, kinds, strict=True) if k == "tile"]
    for argument, initial, kind in zip(arguments, op.operands[3:], kinds, strict=True):
        if kind == "tile":
            enter_tile(e, argument, initial)
    predicate = "slt" if op.unsigned is None else "ult"
    header, inside, after = (w.new_label(s) for s in ("for", "body", "endfor"))
    before = w.block
    w.enter(header)
    begin = len(w.lines) - 1
    phis = Phis(w, before)
    counter = phis.add(bound, lower)
    e.values[induction] = (counter,)
    for argument, initial, kind in zip(arguments, op.operands[3:], kinds, strict=True):
        if kind == "scalar":
            _carry(e, phis, argument, initial)
        elif kind == "advance":
            e.carried[argument] = phis.add("i64", "0")
    w.branch_if(w.inst(f"icmp {predicate} {bound} {counter}, {upper}"), inside, after)
    w.label(inside)
    e.fresh_chunk()
    trips, w.trips = w.trips, w.trips * _trip_count(op)
    plan = emit_block(e, body, tiles, [y for y, k in zip(yielded, kinds, strict=True) if k == "tile"])
    describe_loop(e, op, plan)
    _carry_tiles(e, plan, tiles, [y for y, k in zip(yielded, kinds, strict=True) if k == "tile"])
    w.trips = trips
    following = [next_count(w, op, bound, counter, step)]
    for argument, value, kind in zip(arguments, yielded, kinds, strict=True):
        if kind == "scalar":
            following.extend(e.values[value])
        elif kind == "advance":
            following.append(w.add(e.carried[argument], emit_polynomial(e, e.index.step(argument), ())))
    phis.close(following)
    w.branch(header, e.module.loop_mark(op))
    w.loops.append((begin, len(w.lines)))
    w.label(after)
    for result, argument, kind in zip(op.results, arguments, kinds, strict=True):
        if kind == "scalar":
            e.values[result] = e.values[argument]
        elif kind == "advance":
            e.carried[result] = e.carried[argument]
        else:
            e.views[result] = e.views[argument]


UNKNOWN_TRIPS = 64
"""What a loop of unknown length is taken to run for in the estimate of a program's work."""


def _trip_count(op: scf.ForOp) -> int:
    lower, upper, step = (splat_constant(v.owner) for v in op.operands[:3])
    if isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int) and step > 0:
        return max(0, -(-(upper - lower) // step))
    return UNKNOWN_TRIPS


def _kind(e: Emitter, argument: BlockArgument) -> str:
    if not is_tensor(argument.type):
        return "scalar"
    return "advance" if e.index.carried(argument) is not None else "tile"


def _carry_tiles(e: Emitter, plan: Plan, targets: list[BlockArgument], values: list[SSAValue]) -> None:
    """Bring the tiles for the next iteration into their buffers; through copies where they depend on each other."""
    pending = [(t, v) for t, v in zip(targets, values, strict=True) if v is not t]
    staged: list[tuple[View, View, tuple[int, ...]]] = []
    direct: list[tuple[SSAValue, SSAValue]] = []
    for target, value in pending:
        source, place = e.views.get(value), e.views[target]
        if source is not None and source.pointer == place.pointer and value not in targets:
            continue
        if conflicting(plan, value, target, targets):
            count = prod(shape_of(target.type))
            spare = View(e.new_buffer(count * type_bytes(place.type)), place.element, place.strides, place.widened)
            copy_tile(e, value, spare)
            staged.append((spare, place, shape_of(target.type)))
        else:
            direct.append((value, target))
    for value, target in direct:
        copy_into(e, value, e.views[target])
    for spare, place, shape in staged:
        copy_view(e, spare, place, shape)


def copy_view(e: Emitter, source: View, target: View, shape: tuple[int, ...]) -> None:
    for position in each_chunk(e, shape, type_bytes(target.type)):
        e.store_view(target, position, e.load_view(source, position))


def _while(e: Emitter, op: scf.WhileOp) -> None:
    w = e.writer
    first, second = op.before_region.block, op.after_region.block
    for argument, initial in zip(first.args, op.operands, strict=True):
        if is_tensor(argument.type):
            enter_tile(e, argument, initial)
    for argument in second.args:
        if is_tensor(argument.type):
            e.buffered.add(argument)
            e.buffer_of(argument)
    header, inside, after = (w.new_label(s) for s in ("while", "do", "endwhile"))
    before = w.block
    w.enter(header)
    begin = len(w.lines) - 1
    phis = Phis(w, before)
    for argument, initial in zip(first.args, op.operands, strict=True):
        if not is_tensor(argument.type):
            _carry(e, phis, argument, initial)
    e.fresh_chunk()
    emit_block(e, first)
    condition = terminator(first)
    for argument, result, value in zip(second.args, op.results, condition.operands[1:], strict=True):
        if is_tensor(argument.type):
            copy_into(e, value, e.views[argument])
            e.views[result] = e.views[argument]
        else:
            e.values[argument] = e.values[result] = e.values[value]
    w.branch_if(e.scalar(condition.operands[0]), inside, after)
    w.label(inside)
    e.fresh_chunk()
    w.trips *= UNKNOWN_TRIPS
    plan = emit_block(e, second)
    w.trips //= UNKNOWN_TRIPS
    yielded = list(terminator(second).operands)
    targets = [a for a in first.args if is_tensor(a.type)]
    _carry_tiles(e, plan, targets, [v for v in yielded if is_tensor(v.type)])
    phis.close([text for v in yielded if not is_tensor(v.type) for text in e.values[v]])
    w.branch(header, e.module.loop_mark(op))
    w.loops.append((begin, len(w.lines)))
    w.label(after)


def _execute_region(e: Emitter, op: scf.ExecuteRegionOp) -> None:
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        raise unsupported(op, "only a region of one block can be executed")
    emit_block(e, blocks[0])
    for result, value in zip(op.results, terminator(blocks[0]).operands, strict=True):
        if is_tensor(result.type):
            copy_into(e, value, e.buffer_of(result))
        else:
            e.values[result] = e.values[value]


STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(scf.IfOp, _if),
    **case_in(scf.ForOp, _for),
    **case_in(scf.WhileOp, _while),
    **case_in(scf.ExecuteRegionOp, _execute_region),
}
