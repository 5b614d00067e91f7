"""Prefix scans: from the first element of the axis to the last (or back), one after the other; that order is the
meaning.

The gathered values travel in phi nodes. Along any other axis than the last, the last dimension supplies lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.tile_to_loops.loops import chunk_width, last_wide_dimension
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.reduce import Parts, combine
from tritonx.conversion.tile_to_loops.tables import StatementRule
from tritonx.conversion.tile_to_loops.types import element_bytes, register_type
from tritonx.conversion.tile_to_loops.writer import Lanes, Phis
from tritonx.dialects import tile
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import element_type, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


At = Callable[[str], Parts]
Keep = Callable[[str, Parts], None]


def _scan(e: Emitter, op: tile.ScanOp) -> None:
    shape = shape_of(op.srcs[0].type)
    axis, reverse = op.axis.value.data, bool(op.reverse.value.data)
    elements = [element_type(s.type) for s in op.srcs]
    views = [e.buffer_of(r) for r in op.results]
    lane = last_wide_dimension(shape)
    width = 0
    if lane >= 0 and lane != axis:
        width = chunk_width(shape[lane], e.isa.lanes(max(element_bytes(t) for t in elements)))
    if width < 2:
        lane, width = -1, 0
    count = shape[axis]
    index = ["0"] * len(shape)

    def place(number: str) -> Position:
        here = list(index)
        here[axis] = number
        return Position(tuple(here), lane, width)

    def at(number: str) -> Parts:
        e.fresh_chunk()
        values = [e.evaluate(s, place(number)) for s in op.srcs]
        return [Lanes(e.writer.widen(register_type(t), v, width), width) for t, v in zip(elements, values, strict=True)]

    def keep(number: str, parts: Parts) -> None:
        for view, part in zip(views, parts, strict=True):
            e.store_view(view, place(number), part)

    first = str(count - 1) if reverse else "0"
    with ExitStack() as stack:
        for d in range(len(shape)):
            if d != axis:
                index[d] = stack.enter_context(e.writer.loop("scan", shape[d], width if d == lane else 1))
        gathered = at(first)
        keep(first, gathered)
        if count > 1:
            _rest(e, op, gathered, count, reverse, at, keep)


def _rest(e: Emitter, op: Operation, gathered: Parts, count: int, reverse: bool, at: At, keep: Keep) -> None:
    """Elements 1 to count - 1 in the scan's direction."""
    w = e.writer
    before, header = w.block, w.new_label("element")
    w.enter(header)
    begin, width = len(w.lines) - 1, gathered[0].width
    phis = Phis(w, before)
    number = phis.add("i64", "1")
    types = [vector(register_type(element_type(v.type)), width) for v in op.operands]
    so_far = [Lanes(phis.add(ty, part.text), width) for ty, part in zip(types, gathered, strict=True)]
    w.trips *= count
    here = w.inst(f"sub i64 {count - 1}, {number}") if reverse else number
    result = combine(e, op, so_far, at(here))
    keep(here, result)
    following = w.inst(f"add nuw nsw i64 {number}, 1")
    done = w.inst(f"icmp eq i64 {following}, {count}")
    w.trips //= count
    phis.close([following, *(part.text for part in result)])
    after = w.new_label("scanned")
    w.branch_if(done, after, header)
    w.loops.append((begin, len(w.lines)))
    w.label(after)


STATEMENTS: dict[type[Operation], StatementRule] = {**case_in(tile.ScanOp, _scan)}
