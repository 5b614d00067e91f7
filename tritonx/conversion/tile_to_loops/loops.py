"""Loop nests: walking a tile's iteration space in chunks, and emitting the groups of the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from tritonx.conversion.tile_to_loops.families import LOADS, is_inline
from tritonx.conversion.tile_to_loops.groups import Compute, Effect, Group, Materialise, anchor_op
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.prefixes import Prefix, along_lanes, prefix_of
from tritonx.conversion.tile_to_loops.types import element_bytes, integer_bits
from tritonx.dialects import arith, tile
from tritonx.ir.types import PointerType, element_type, is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def chunk_width(extent: int, lanes: int) -> int:
    """The widest power of two up to `lanes` that divides `extent`."""
    return min(extent & -extent, lanes)


def last_wide_dimension(shape: tuple[int, ...]) -> int:
    """The last dimension with more than one element; -1 if there is none."""
    return next((d for d in range(len(shape) - 1, -1, -1) if shape[d] > 1), -1)


def each_chunk(e: Emitter, shape: tuple[int, ...], element_size: int) -> Iterator[Position]:
    """Walk a row-major tile; the loops are open while the caller handles a position."""
    lane = last_wide_dimension(shape)
    width = chunk_width(shape[lane], e.isa.lanes(element_size)) if lane >= 0 else 0
    if width < 2:
        lane, width = -1, 0
    yield from walk(e, shape, lane, width)


def walk(e: Emitter, shape: tuple[int, ...], lane: int, width: int, prefix: Prefix | None = None) -> Iterator[Position]:
    """Loops over `shape` with the lane dimension innermost; that one twice where masks are true up to some element."""
    index = ["0"] * len(shape)
    with ExitStack() as stack:
        for d in range(len(shape)):
            if d != lane:
                index[d] = stack.enter_context(e.writer.loop("loop", shape[d]))
        for i in along_lanes(e, prefix, index, lane, width, shape[lane] if lane >= 0 else 1):
            if lane >= 0:
                index[lane] = i
            e.fresh_chunk()
            yield Position(tuple(index), lane, width if lane >= 0 else 0)
            e.fresh_chunk()


# ---- groups


def emit_anchors(e: Emitter, group: Group, position: Position) -> None:
    """Perform everything in the group but its reductions, for one chunk."""
    e.walked = position
    for anchor in group.anchors:
        with e.writer.of(anchor_op(anchor)):
            if isinstance(anchor, Materialise):
                overwritten = e.overwrites.get(anchor.value)
                if overwritten is not None:
                    e.evaluate(overwritten, position)
                lanes = e.evaluate(anchor.value, position)
                e.store_view(e.views[anchor.value], position, lanes)
            elif isinstance(anchor, Compute):
                e.evaluate(anchor.value, position)
            elif isinstance(anchor, Effect):
                e.tables.effects[type(anchor.op)](e, anchor.op, position)


NARROW = 4
"""A last dimension of fewer elements leaves the lanes to a longer one."""


def group_prefix(e: Emitter, group: Group, shape: tuple[int, ...], lane: int, width: int) -> Prefix | None:
    """Where the masks of a group that is walked in `shape` are all true; None where they are not told."""
    return prefix_of(e, group, shape, inline_values(e, group), lane, width)


def group_lanes(e: Emitter, group: Group, shape: tuple[int, ...]) -> tuple[int, int]:
    """(lane dimension, width) of a group walked in `shape`.

    The dimension along which most of its memory accesses are consecutive; failing that, the last one that is long
    enough.
    """
    values = inline_values(e, group)
    lane = last_wide_dimension(shape)
    if lane < 0:
        return -1, 0
    longest = max(range(len(shape)), key=lambda d: (shape[d], d))
    if shape[lane] < NARROW and shape[longest] >= 2 * NARROW:
        lane = longest
    votes = [0] * len(shape)
    for op in {v.owner for v in values if type(v.owner) in LOADS} | {
        a.op for a in group.anchors if isinstance(a, Effect)
    }:
        if isinstance(op, tile.LoadOp | tile.StoreOp) and is_tensor(op.ptr.type):
            form = e.index.form(op.ptr)
            for d, extent in enumerate(shape):
                step = form.offset.stride(d) if form is not None and extent >= 4 else None
                if step is not None and step.constant_value() == 1:
                    votes[d] += 1
    best = max(range(len(votes)), key=lambda d: (votes[d], d))
    if votes[best] > votes[lane]:
        lane = best
    width = chunk_width(shape[lane], e.isa.lanes(_data_bytes(values, group)))
    return (lane, width) if width > 1 else (-1, 0)


def inline_values(e: Emitter, group: Group) -> dict[SSAValue, None]:
    """Every tile of the group's shape that the group evaluates, buffers that it reads included."""
    found: dict[SSAValue, None] = {}

    def visit(value: SSAValue) -> None:
        if value in found or not is_tensor(value.type) or shape_of(value.type) != group.shape:
            return
        found[value] = None
        op = value.owner
        if is_inline(op) and (value not in e.views or value in e.writing):
            for v in op.operands:
                visit(v)

    for value in group.operands():
        visit(value)
    return found


def _data_bytes(values: Iterable[SSAValue], group: Group) -> int:
    """The widest element among the group's data: what is loaded, computed in floats, stored. Index arithmetic does not
    count.
    """
    sizes = [1]
    for value in values:
        element = element_type(value.type)
        if isinstance(element, PointerType):
            continue
        bits = integer_bits(element)
        if bits and type(value.owner) not in LOADS:
            if bits == 1 or isinstance(value.owner, tile.MakeRangeOp | arith.ConstantOp | tile.SplatOp):
                continue
            sizes.append(min(4, element_bytes(element)))
            continue
        sizes.append(element_bytes(element) if bits else max(4, element_bytes(element)))
    return max(sizes)
