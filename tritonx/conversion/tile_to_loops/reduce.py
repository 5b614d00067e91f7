"""Reductions, in the order that defines their result.

x[0:n/2] is combined with x[n/2:n] element by element, then the n/2 results in the same way, until one is left: a
halving tree (`interpreter/meanings/reduce.py`). Its first three levels combine elements n/8 apart, so the loop over the
axis runs over n/8 elements and evaluates eight chunks at that distance each time, combines them in registers, and
leaves n/8 partial results; the later levels do the same to those. What is reduced is never stored as such, and the last
levels, within one vector, are shuffles that fold the upper half of the lanes onto the lower half, which is the same
tree.

A block is the next power of two of what is in it, so the masks of a row are true in more than its first half, and false
from some element on. Where a row is like that, the first four of the eight chunks have no masks; the others are written
in three ways, of which the one behind the last true mask loads nothing: it combines the constants that the masks leave,
because they count (-0.0 + 0.0 is 0.0).

Along the lane dimension the partial results of a row end in a scalar; along any other dimension the lanes are
independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.tile_to_loops.emitter import View
from tritonx.conversion.tile_to_loops.families import CHEAP, LOADS, TRIVIAL
from tritonx.conversion.tile_to_loops.groups import Group, Reduction
from tritonx.conversion.tile_to_loops.loops import emit_anchors, group_lanes, group_prefix, inline_values
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.prefixes import Excluded, Prefix, along_lanes, excluded, true_elements
from tritonx.conversion.tile_to_loops.remarks import describe_nest
from tritonx.conversion.tile_to_loops.streaming import fetch_row
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
    describe_nest(e, group, shape, lane, width)
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
        prefix = group_prefix(e, group, shape, lane, width) if span > width else None
        if span > width:
            loads = dict.fromkeys(v.owner for v in inline_values(e, group) if isinstance(v.owner, tile.LoadOp))
            fetch_row(e, loads, index, lane, true_elements(e, prefix, index, lane, extent))
        behind = excluded(e, prefix, index, lane) if prefix is not None and _is_short(e, group, prefix) else None
        for known in _versions(e, behind, extent // 2):
            for i in along_lanes(e, prefix, index, lane, width, span, ahead={lane: extent - span}):
                held = _combine_fan(e, group, ops, index, lane, width, i, [k * span for k in range(fan)], behind=known)
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
    behind: Excluded | None = None,
) -> list[Parts]:
    """Evaluate the group at the given distances from `at` along the axis; per reduction the combined values. Where
    `behind` is given, the masks are true in the first half of these chunks."""
    values: list[list[Parts]] = [[] for _ in ops]
    lane = axis if lane is None else lane
    e.fresh_chunk()
    for number, distance in enumerate(distances):
        here = list(index)
        here[axis] = e.writer.add(at, str(distance))
        position = Position(tuple(here), lane, width if lane >= 0 else 0)
        if behind is None or e.assumed:
            found = _sources(e, group, ops, position)
        elif 2 * number < len(distances):
            e.assumed = behind.every
            found = _sources(e, group, ops, position)
            e.assumed = frozenset()
        else:
            found = _sources_by_masks(e, group, ops, position, behind)
        for each, parts in zip(values, found, strict=True):
            each.append(parts)
    return [tree(e, op, v) for op, v in zip(ops, values, strict=True)]


def _sources(e: Emitter, group: Group, ops: list[tile.ReduceOp], position: Position) -> list[Parts]:
    """A chunk of what each op reduces; everything else that the group does there is done."""
    emit_anchors(e, group, position)
    width = position.width
    return [
        [
            Lanes(e.writer.widen(register_type(element_type(s.type)), e.evaluate(s, position), width), width)
            for s in op.srcs
        ]
        for op in ops
    ]


def _sources_by_masks(
    e: Emitter, group: Group, ops: list[tile.ReduceOp], position: Position, behind: Excluded
) -> list[Parts]:
    """The same in three ways: for a chunk in which all masks are true, for one in which they are false, of which little
    is left but constants, and for what is between."""
    w, start = e.writer, position.index[position.lane]
    whole, others, mixed, beyond, done = (w.new_label(s) for s in ("whole", "others", "mixed", "beyond", "reduced"))
    w.branch_if(w.inst(f"icmp sle i64 {w.add(start, str(position.width))}, {behind.first}"), whole, others)
    w.label(others)
    w.branch_if(w.inst(f"icmp slt i64 {start}, {behind.end}"), mixed, beyond)
    ways: list[tuple[list[Parts], str]] = []
    cost, nothing = w.cost, frozenset[SSAValue]()
    for label, true, false in (
        (mixed, nothing, nothing),
        (beyond, nothing, behind.masks),
        (whole, behind.every, nothing),
    ):
        w.label(label)
        w.cost, e.assumed, e.excluded = cost, true, false
        with e.conditionally():
            found = _sources(e, group, ops, position)
        ways.append((found, w.block))
        w.branch(done)
    e.assumed = nothing
    w.label(done)

    def either(source: SSAValue, number: int, part: int) -> Lanes:
        kind = vector(register_type(element_type(source.type)), position.width)
        edges = ", ".join(f"[ {found[number][part].text}, %{block} ]" for found, block in ways)
        return Lanes(w.inst(f"phi {kind} {edges}"), position.width)

    return [[either(source, n, part) for part, source in enumerate(op.srcs)] for n, op in enumerate(ops)]


def _is_short(e: Emitter, group: Group, prefix: Prefix) -> bool:
    """Whether what is evaluated of a chunk may be written several times: it is a load and an instruction or two, not an
    exponential, and nothing is stored."""
    return not prefix.divides and all(
        type(value.owner) in TRIVIAL or type(value.owner) in CHEAP or type(value.owner) in LOADS
        for value in inline_values(e, group)
        if isinstance(value.owner, Operation)
    )


def _versions(e: Emitter, behind: Excluded | None, half: int) -> Iterator[Excluded | None]:
    """Write what follows for rows of which the masks are true in the first `half`, as blocks are less than twice what
    is in them mostly, and for others."""
    if behind is None:
        yield None
        return
    w = e.writer
    short, long, done = (w.new_label(stem) for stem in ("short", "long", "reduced"))
    w.branch_if(w.inst(f"icmp sge i64 {behind.first}, {half}"), long, short)
    cost = w.cost
    for label, known in ((short, None), (long, behind)):
        w.label(label)
        w.cost = cost
        yield known
        w.branch(done)
    w.label(done)


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
    prefix = group_prefix(e, group, shape, lane, width)

    def place(column: str) -> Position:
        here = [column if d == lane else index[d] for d in range(len(index))]
        target = lane - (lane > axis) if lane >= 0 else -1
        return Position(tuple(here[:axis] + here[axis + 1 :]), target, width)

    with ExitStack() as stack:
        for d in outer:
            index[d] = stack.enter_context(e.writer.loop("outer", shape[d]))
        with e.writer.loop("reduce", span) as i:
            index[axis] = i
            for column in along_lanes(e, prefix, index, lane, width, row, ahead={axis: extent - span}):
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
