"""External code: functions of the C library, regions applied element by element, inline assembly (refused)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.tile_to_loops import libdevice
from tritonx.conversion.tile_to_loops.control import emit_region
from tritonx.conversion.tile_to_loops.emitter import unsupported
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.tables import ElementwiseRule, StatementRule
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import tile
from tritonx.ir.dispatch import case_in
from tritonx.ir.types import shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def _extern(e: Emitter, op: tile.ExternElementwiseOp, args: list[Lanes]) -> Lanes:
    result = libdevice.call(e, op, op.symbol.data, args)
    if result is None:
        hint = "tl.extra.libdevice lists the functions of the target"
        raise unsupported(op, f"no function {op.symbol.data!r} on this host", hint)
    return result


def _inline_assembly(e: Emitter, op: tile.ElementwiseInlineAsmOp) -> None:
    raise unsupported(
        op,
        "inline assembly is written for one GPU's instruction set",
        "guard it with a constexpr argument and give the host a path in tl operations",
    )


def _map_elementwise(e: Emitter, op: tile.MapElementwiseOp) -> None:
    """`pack` neighbours in row-major order go through the region together, as scalars."""
    w, pack = e.writer, op.pack.value.data
    shape = shape_of(op.results[0].type)
    views = [e.buffer_of(r) for r in op.results]
    block = op.regions[0].blocks.first
    assert block is not None
    count = prod(shape)
    with w.loop("map", count, pack) as i:
        places = [_unravel(e, w.add(i, str(n)), shape) for n in range(pack)]
        e.fresh_chunk()
        inputs = [e.evaluate(s, Position(place)).text for s in op.srcs for place in places]
        for argument, text in zip(block.args, inputs, strict=True):
            e.values[argument] = (text,)
        outputs = [r[0] for r in emit_region(e, block)]
        for n, view in enumerate(views):
            for j, place in enumerate(places):
                e.store_view(view, Position(place), Lanes(outputs[n * pack + j], 0))
    e.fresh_chunk()


def _unravel(e: Emitter, linear: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """The index of an element by its number in row-major order."""
    w = e.writer
    index: list[str] = []
    for extent in reversed(shape[1:]):
        index.append(w.inst(f"urem i64 {linear}, {extent}"))
        linear = w.inst(f"udiv i64 {linear}, {extent}")
    return (linear, *reversed(index))


ELEMENTWISE: dict[type[Operation], ElementwiseRule] = {**case_in(tile.ExternElementwiseOp, _extern)}
STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(tile.ElementwiseInlineAsmOp, _inline_assembly),
    **case_in(tile.MapElementwiseOp, _map_elementwise),
}
