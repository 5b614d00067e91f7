"""Ops that make, reshape, permute and combine tiles: evaluating one is evaluating its operand at another position."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.scalar.integers import bin_of, resized
from tritonx.conversion.scalar.literals import literal as scalar_literal
from tritonx.conversion.tile_to_loops.addresses import evaluate_form, lane_numbers
from tritonx.conversion.tile_to_loops.constants import dense_elements, literal, splat_constant
from tritonx.conversion.tile_to_loops.emitter import View, row_major
from tritonx.conversion.tile_to_loops.groups import opaque
from tritonx.conversion.tile_to_loops.loops import each_chunk
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.tables import EffectRule, InlineRule, StatementRule
from tritonx.conversion.tile_to_loops.types import memory_type, register_type, type_bytes
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import arith, tile, ub
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import element_type, i32, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def _constant(e: Emitter, op: arith.ConstantOp, value: SSAValue, position: Position) -> Lanes:
    number = splat_constant(op)
    if number is not None:
        return Lanes(literal(number, value.type), 0)
    elements = dense_elements(op)
    assert elements is not None
    element = element_type(value.type)
    ty = memory_type(element)
    body = ", ".join(f"{ty} {scalar_literal(x, element, ty)}" for x in elements)
    text = f"private unnamed_addr constant [{len(elements)} x {ty}] [{body}], align 64"
    symbol = e.module.global_(f"@tx.tile{len(e.module.globals)}", text)
    return e.load_view(View(symbol, element, row_major(shape_of(value.type))), position)


def _poison(e: Emitter, op: Operation, value: SSAValue, position: Position) -> Lanes:
    """Undefined in the IR; zero here, so that no optimisation spreads it."""
    return Lanes(literal(0, value.type), 0)


def _make_range(e: Emitter, op: tile.MakeRangeOp, value: SSAValue, position: Position) -> Lanes:
    start = e.writer.add(position.index[0], str(op.start.value.data))
    if start.lstrip("-").isdigit():
        first = start
    else:
        first = e.writer.inst(f"trunc i64 {start} to i32")
    if position.lane < 0:
        return Lanes(first, 0)
    return lane_numbers(e.writer, "i32", first, "1", position.width)


def _splat(e: Emitter, op: tile.SplatOp, value: SSAValue, position: Position) -> Lanes:
    return Lanes(e.scalar(op.src), 0)


def _expand_dims(e: Emitter, op: tile.ExpandDimsOp, value: SSAValue, position: Position) -> Lanes:
    axis, lane = op.axis.value.data, position.lane
    index = position.index[:axis] + position.index[axis + 1 :]
    lane = -1 if lane == axis else lane - (lane > axis)
    return e.evaluate(op.src, position.with_index(index, lane))


def _broadcast(e: Emitter, op: tile.BroadcastOp, value: SSAValue, position: Position) -> Lanes:
    shape = shape_of(op.src.type)
    index = tuple("0" if extent == 1 else i for extent, i in zip(shape, position.index, strict=True))
    lane = position.lane if position.lane >= 0 and shape[position.lane] > 1 else -1
    return e.evaluate(op.src, position.with_index(index, lane))


def _trans(e: Emitter, op: tile.TransOp, value: SSAValue, position: Position) -> Lanes:
    order = [int(d) for d in op.order.get_values()]
    index = [""] * len(order)
    lane = -1
    for result, source in enumerate(order):
        index[source] = position.index[result]
        if result == position.lane:
            lane = source
    return e.evaluate(op.src, position.with_index(tuple(index), lane))


def _reshape(e: Emitter, op: tile.ReshapeOp, value: SSAValue, position: Position) -> Lanes:
    """Read the operand's memory under the other shape; index arithmetic without memory is its formula."""
    if op.src in e.views:
        view = e.views[op.src]
        return e.load_view(View(view.pointer, view.element, row_major(shape_of(value.type)), view.widened), position)
    constant = uniform_source(e, op.src)
    if constant is not None:
        return constant
    form = e.index.form(value)
    assert form is not None and not opaque(form, value), "a reshaped tile was not put into memory"
    return evaluate_form(e, form, value, position)


def uniform_source(e: Emitter, value: SSAValue) -> Lanes | None:
    """The scalar that a tile repeats, if its definition says so."""
    op = value.owner
    while isinstance(op, tile.BroadcastOp | tile.ExpandDimsOp | tile.ReshapeOp | tile.TransOp):
        value = op.operands[0]
        op = value.owner
    if isinstance(op, tile.SplatOp):
        return Lanes(e.scalar(op.src), 0)
    if isinstance(op, arith.ConstantOp):
        number = splat_constant(op)
        return Lanes(literal(number, value.type), 0) if number is not None else None
    return None


def _split(e: Emitter, op: tile.SplitOp, value: SSAValue, position: Position) -> Lanes:
    which = "0" if value is op.results[0] else "1"
    return e.evaluate(op.src, Position((*position.index, which), position.lane, position.width))


def _gather(e: Emitter, op: tile.GatherOp, value: SSAValue, position: Position) -> Lanes:
    """Read lane by lane; the index stands for the position along `axis`."""
    axis, w = op.axis.value.data, e.writer
    indices = e.evaluate(op.indices, position)
    kind = register_type(element_type(op.indices.type))

    def one(lane: int | None) -> str:
        i = indices.text if lane is None else w.extract(kind, indices, lane)
        i = resized(e.ops([Lanes(i, 0)]), kind, i, "i64")
        # An index outside the tile is undefined in the language; it must not leave the buffer.
        extent = shape_of(op.src.type)[axis]
        i = w.inst(f"and i64 {i}, {extent - 1}") if power_of_two(extent) else i
        index = list(position.index)
        if lane and position.lane >= 0:
            index[position.lane] = w.add(index[position.lane], str(lane))
        index[axis] = i
        return e.evaluate(op.src, Position(tuple(index))).text

    if position.lane < 0 or (not indices.width and position.lane == axis):
        return Lanes(one(None), 0)
    scalar = register_type(element_type(value.type))
    text = "poison"
    for lane in range(position.width):
        text = w.inst(f"insertelement {vector(scalar, position.width)} {text}, {scalar} {one(lane)}, i64 {lane}")
    return Lanes(text, position.width)


def power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


# ---- ops that write their result


def _join(e: Emitter, op: tile.JoinOp) -> None:
    """Two strided copies; the strides interleave the operands."""
    view = e.buffer_of(op.results[0])
    shape = shape_of(op.lhs.type)
    for which, source in enumerate((op.lhs, op.rhs)):
        pointer = view.pointer
        if which:
            pointer = e.writer.inst(f"getelementptr inbounds {view.type}, ptr {pointer}, i64 1")
        copy_tile(e, source, View(pointer, view.element, tuple(2 * s for s in row_major(shape)), view.widened))


def _cat(e: Emitter, op: tile.CatOp) -> None:
    view = e.buffer_of(op.results[0])
    shape = shape_of(op.lhs.type)
    half = prod(shape)
    for which, source in enumerate((op.lhs, op.rhs)):
        pointer = view.pointer
        if which:
            pointer = e.writer.inst(f"getelementptr inbounds {view.type}, ptr {pointer}, i64 {half}")
        copy_tile(e, source, View(pointer, view.element, row_major(shape), view.widened))


def copy_tile(e: Emitter, source: SSAValue, target: View) -> None:
    """Evaluate a tile chunk by chunk into `target`."""
    for position in each_chunk(e, shape_of(source.type), type_bytes(target.type)):
        e.store_view(target, position, e.evaluate(source, position))
    e.fresh_chunk()


def _unsplat(e: Emitter, op: tile.UnsplatOp) -> None:
    e.fresh_chunk()
    position = Position(("0",) * len(shape_of(op.src.type)))
    e.values[op.results[0]] = (e.evaluate(op.src, position).text,)
    e.fresh_chunk()


def _histogram(e: Emitter, op: tile.HistogramOp) -> None:
    """Count element by element; what lies outside the bins, or is masked off, goes to a bin that is not read."""
    w = e.writer
    (count,) = shape_of(op.src.type)
    (bins,) = shape_of(op.results[0].type)
    view = e.buffer_of(op.results[0])
    table = e.new_buffer(4 * (bins + 1))
    w.call("void", "@llvm.memset.p0.i64", ("ptr", table), ("i8", "0"), ("i64", str(4 * (bins + 1))), ("i1", "false"))
    kind = register_type(element_type(op.src.type))
    with w.loop("histogram", count) as i:
        e.fresh_chunk()
        position = Position((i,))
        element = e.evaluate(op.src, position)
        number, inside = bin_of(e.ops([element]), kind, element.text, bins, "i64")
        if op.mask is not None:
            inside = w.inst(f"and i1 {inside}, {e.evaluate(op.mask, position).text}")
        bin_ = w.inst(f"select i1 {inside}, i64 {number}, i64 {bins}")
        slot = w.inst(f"getelementptr i32, ptr {table}, i64 {bin_}")
        old = w.inst(f"load i32, ptr {slot}, align 4")
        w.line(f"store i32 {w.inst(f'add i32 {old}, 1')}, ptr {slot}, align 4")
    e.fresh_chunk()
    source = View(table, i32, (1,))
    for position in each_chunk(e, (bins,), 4):
        counts = e.load_view(source, position)
        ty = register_type(element_type(op.results[0].type))
        counts = Lanes(resized(e.ops([counts]), "i32", counts.text, ty), counts.width)
        e.store_view(view, position, counts)
    e.fresh_chunk()


INLINE: dict[type[Operation], InlineRule] = {
    **case_in(arith.ConstantOp, _constant),
    ub.PoisonOp: _poison,
    **case_in(tile.MakeRangeOp, _make_range),
    **case_in(tile.SplatOp, _splat),
    **case_in(tile.ExpandDimsOp, _expand_dims),
    **case_in(tile.BroadcastOp, _broadcast),
    **case_in(tile.TransOp, _trans),
    **case_in(tile.ReshapeOp, _reshape),
    **case_in(tile.SplitOp, _split),
    **case_in(tile.GatherOp, _gather),
}
EFFECTS: dict[type[Operation], EffectRule] = {}
STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(tile.JoinOp, _join),
    **case_in(tile.CatOp, _cat),
    **case_in(tile.UnsplatOp, _unsplat),
    **case_in(tile.HistogramOp, _histogram),
}
