"""Reductions, in the order that defines their result.

x[0:n/2] is combined with x[n/2:n] element by element, then the n/2 results in the same way, until one is left: a
halving tree (`interpreter/meanings/reduce.py`). Its first three levels combine elements n/8 apart, so the loop over the
axis runs over n/8 elements and evaluates eight chunks at that distance each time, combines them in registers, and
leaves n/8 partial results; the later levels do the same to those. What is reduced is never stored as such, and the last
levels, within one vector, are shuffles that fold the upper half of the lanes onto the lower half, which is the same
tree.

Along the lane dimension the partial results of a row end in a scalar; along any other dimension the lanes are
independent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.tile_to_loops.emitter import View
from tritonx.conversion.tile_to_loops.groups import Group, Reduction
from tritonx.conversion.tile_to_loops.loops import emit_anchors, group_lanes
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.types import register_type
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import tile
from tritonx.ir.types import element_type, is_tensor

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

FAN = 8
"""Chunks that one iteration combines: three levels of the tree. Eight vectors of each operand fit in registers."""

Parts = list[Lanes]
"""One value for each source of a reduction."""


def emit_reductions(e: Emitter, group: Group, shape: tuple[int, ...]) -> None:
    """Walk the group in `shape` (that of its tiles, or with dimensions merged)."""
    lane, width = group_lanes(e, group, shape)
    if lane == group.axis:
        _along_lanes(e, group, shape, lane, width)
    else:
        _across_lanes(e, group, shape, lane, width)


def reductions(group: Group) -> list[tile.ReduceOp]:
    return [a.op for a in group.anchors if isinstance(a, Reduction) and isinstance(a.op, tile.ReduceOp)]


# ---- combining


def combine(e: Emitter, region_owner: Operation, left: Parts, right: Parts) -> Parts:
    """Apply the op's combine region to vectors (or scalars) of one width."""
    block = region_owner.regions[0].block
    width = max(x.width for x in (*left, *right))
    elements = [element_type(a.type) for a in block.args]
    if all(type(op) in e.tables.elementwise for op in list(block.ops)[:-1]):
        return _combine_vectors(e, block, _level(e, [*left, *right], elements, width))
    return _combine_each(e, block, _level(e, [*left, *right], elements, width), elements, width)


def _level(e: Emitter, args: Parts, elements: list[Attribute], width: int) -> Parts:
    return [Lanes(e.writer.widen(register_type(t), a, width), width) for a, t in zip(args, elements, strict=True)]


def _combine_vectors(e: Emitter, block: Block, args: Parts) -> Parts:
    known: dict[SSAValue, Lanes] = dict(zip(block.args, args, strict=True))

    def value(v: SSAValue) -> Lanes:
        found = known.get(v)
        if found is None:
            found = Lanes(e.values[v][0], 0)
        return found

    for op in block.ops:
        if op.next_op is None:
            return [value(v) for v in op.operands]
        operands = e.level([value(v) for v in op.operands], [v.type for v in op.operands])
        known[op.results[0]] = e.tables.elementwise[type(op)](e, op, operands)
    raise AssertionError("a combine region without a terminator")


def _combine_each(e: Emitter, block: Block, args: Parts, elements: list[Attribute], width: int) -> Parts:
    """A region with control flow or calls runs once a lane."""

    def one(scalars: list[str]) -> list[str]:
        for argument, text in zip(block.args, scalars, strict=True):
            e.values[argument] = (text,)
        return [r[0] for r in e.tables.region(e, block)]

    if not width:
        return [Lanes(t, 0) for t in one([a.text for a in args])]
    count = len(elements) // 2
    results = ["poison"] * count
    for lane in range(width):
        scalars = [e.writer.extract(register_type(t), a, lane) for a, t in zip(args, elements, strict=True)]
        for i, text in enumerate(one(scalars)):
            scalar = register_type(elements[i])
            results[i] = e.writer.inst(
                f"insertelement {vector(scalar, width)} {results[i]}, {scalar} {text}, i64 {lane}"
            )
    return [Lanes(t, width) for t in results]


def tree(e: Emitter, op: Operation, values: list[Parts]) -> Parts:
    """Combine a power of two of values: the first half with the second half, and so on."""
    while len(values) > 1:
        half = len(values) // 2
        values = [combine(e, op, values[i], values[i + half]) for i in range(half)]
    return values[0]


def fold_lanes(e: Emitter, op: Operation, parts: Parts, elements: list[Attribute]) -> Parts:
    """Reduce the lanes of a vector to a scalar."""
    width = parts[0].width
    w = e.writer
    while width > 1:
        half = width // 2

        def piece(part: Lanes, scalar: str, start: int, half: int = half, width: int = width) -> Lanes:
            if half == 1:
                return Lanes(w.extract(scalar, part, start), 0)
            return Lanes(w.shuffle(scalar, part.text, "poison", width, list(range(start, start + half))), half)

        kinds = [register_type(t) for t in elements]
        low = [piece(p, k, 0) for p, k in zip(parts, kinds, strict=True)]
        high = [piece(p, k, half) for p, k in zip(parts, kinds, strict=True)]
        parts = combine(e, op, low, high)
        width = half
    return parts


# ---- partial results


class Partials:
    """Partial results of one reduction: per source a buffer of `count` rows of `row` elements."""

    def __init__(self, e: Emitter, op: tile.ReduceOp, count: int, row: int) -> None:
        self.e = e
        self.elements = [element_type(s.type) for s in op.srcs]
        self.views = [e.new_view((count, row), t) if count * row else View("null", t, (row, 1)) for t in self.elements]

    def store(self, row: str, column: str, parts: Parts, width: int) -> None:
        position = Position((row, column), 1 if width else -1, width)
        for view, part in zip(self.views, parts, strict=True):
            self.e.store_view(view, position, part)

    def load(self, row: str, column: str, width: int) -> Parts:
        position = Position((row, column), 1 if width else -1, width)
        return [self.e.load_view(view, position) for view in self.views]


def fan_of(count: int) -> int:
    return min(FAN, count)


def _halve(
    e: Emitter, op: tile.ReduceOp, count: int, load: Callable[[str], Parts], store: Callable[[str, Parts], None]
) -> Parts:
    """Reduce `count` stored values to one; values i and i + count/2 are neighbours in the tree."""
    while count > FAN:
        step = count // FAN
        with e.writer.loop("halve", step) as i:
            values = [load(e.writer.add(i, str(k * step))) for k in range(FAN)]
            store(i, tree(e, op, values))
        count = step
    return tree(e, op, [load(str(k)) for k in range(count)])


# ---- along the lanes


def _along_lanes(e: Emitter, group: Group, shape: tuple[int, ...], lane: int, width: int) -> None:
    """Each row is reduced to scalars before the next row begins."""
    extent = shape[lane]
    chunks = extent // max(width, 1)
    fan = fan_of(chunks)
    span = extent // fan
    ops = reductions(group)
    partials = [Partials(e, op, span // width if span > width else 0, width) for op in ops]
    outer = [d for d in range(len(shape)) if d != lane]
    index = ["0"] * len(shape)
    with ExitStack() as stack:
        for d in outer:
            index[d] = stack.enter_context(e.writer.loop("row", shape[d]))
        held: list[Parts] = []
        with e.writer.loop("reduce", span, width) as i:
            held = _combine_fan(e, group, ops, index, lane, width, i, [k * span for k in range(fan)])
            if span > width:
                for op_parts, partial in zip(held, partials, strict=True):
                    number = e.writer.inst(f"lshr i64 {i}, {width.bit_length() - 1}")
                    partial.store(number, "0", op_parts, width)
        e.fresh_chunk()
        for op, parts, partial in zip(ops, held, partials, strict=True):
            if span > width:
                parts = _halve(
                    e,
                    op,
                    span // width,
                    lambda i, p=partial: p.load(i, "0", width),
                    lambda i, x, p=partial: p.store(i, "0", x, width),
                )
            scalars = fold_lanes(e, op, parts, partial.elements)
            _finish(e, op, scalars, Position(tuple(index[d] for d in outer)))


def _combine_fan(
    e: Emitter,
    group: Group,
    ops: list[tile.ReduceOp],
    index: list[str],
    axis: int,
    width: int,
    at: str,
    distances: list[int],
    lane: int | None = None,
) -> list[Parts]:
    """Evaluate the group at the given distances from `at` along the axis; per reduction the combined values."""
    values: list[list[Parts]] = [[] for _ in ops]
    lane = axis if lane is None else lane
    e.fresh_chunk()
    for distance in distances:
        here = list(index)
        here[axis] = e.writer.add(at, str(distance))
        position = Position(tuple(here), lane, width if lane >= 0 else 0)
        emit_anchors(e, group, position)
        for i, op in enumerate(ops):
            parts = [
                Lanes(
                    e.writer.widen(register_type(element_type(s.type)), e.evaluate(s, position), position.width),
                    position.width,
                )
                for s in op.srcs
            ]
            values[i].append(parts)
    return [tree(e, op, v) for op, v in zip(ops, values, strict=True)]


def _finish(e: Emitter, op: tile.ReduceOp, parts: Parts, position: Position) -> None:
    for result, part in zip(op.results, parts, strict=True):
        if is_tensor(result.type):
            e.store_view(e.buffer_of(result), position, part)
        else:
            e.values[result] = (part.text,)


# ---- across the lanes


def _across_lanes(e: Emitter, group: Group, shape: tuple[int, ...], lane: int, width: int) -> None:
    """Rows of partial results, combined lane by lane once all rows are there."""
    axis = group.axis
    assert axis is not None
    extent = shape[axis]
    fan = fan_of(extent)
    span = extent // fan
    row = shape[lane] if lane >= 0 else 1
    ops = reductions(group)
    partials = [Partials(e, op, span if span > 1 else 0, row) for op in ops]
    outer = [d for d in range(len(shape)) if d not in (axis, lane)]
    index = ["0"] * len(shape)

    def place(column: str) -> Position:
        here = [column if d == lane else index[d] for d in range(len(index))]
        target = lane - (lane > axis) if lane >= 0 else -1
        return Position(tuple(here[:axis] + here[axis + 1 :]), target, width)

    with ExitStack() as stack:
        for d in outer:
            index[d] = stack.enter_context(e.writer.loop("outer", shape[d]))
        with e.writer.loop("reduce", span) as i, e.writer.loop("column", row, max(width, 1)) as column:
            if lane >= 0:
                index[lane] = column
            held = _combine_fan(e, group, ops, index, axis, width, i, [k * span for k in range(fan)], lane)
            for op, parts, partial in zip(ops, held, partials, strict=True):
                if span > 1:
                    partial.store(i, column, parts, width)
                else:
                    _finish(e, op, parts, place(column))
        if span == 1:
            return
        e.fresh_chunk()
        with e.writer.loop("column", row, max(width, 1)) as column:
            for op, partial in zip(ops, partials, strict=True):
                parts = _halve(
                    e,
                    op,
                    span,
                    lambda i, p=partial: p.load(i, column, width),
                    lambda i, x, p=partial: p.store(i, column, x, width),
                )
                _finish(e, op, parts, place(column))
