"""Code from elsewhere: functions of the C library, regions applied element by element, inline assembly (refused)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.tile_to_loops.control import emit_region
from tritonx.conversion.tile_to_loops.elementwise import Rule
from tritonx.conversion.tile_to_loops.emitter import Position, unsupported
from tritonx.conversion.tile_to_loops.libm import LIBM, PREDICATES, VECTOR_FORMS
from tritonx.conversion.tile_to_loops.mathlib import Code, emit_function, emit_scalar_calls
from tritonx.conversion.tile_to_loops.tables import ElementwiseRule, StatementRule
from tritonx.conversion.tile_to_loops.types import register_type, vector
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import tile
from tritonx.ir.types import element_type, f32, f64, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def _extern(e: Emitter, op: tile.ExternElementwiseOp, args: list[Lanes]) -> Lanes:
    symbol = op.symbol.data
    width = args[0].width
    texts = [a.text for a in args]
    if symbol in PREDICATES:
        return _predicate(e, op, symbol, args[0])
    if symbol in VECTOR_FORMS:
        return Lanes(emit_function(e.writer, VECTOR_FORMS[symbol], texts, width, e.isa.function_attributes()), width)
    if symbol not in LIBM:
        raise unsupported(
            op, f"no function {symbol!r} on this host", "tl.extra.libdevice lists the functions of the target"
        )
    types = [register_type(element_type(v.type)) for v in op.operands]
    result = register_type(element_type(op.results[0].type))
    return Lanes(emit_scalar_calls(e.writer, symbol, texts, width, types, result), width)


def _predicate(e: Emitter, op: Operation, symbol: str, value: Lanes) -> Lanes:
    """isnan and the like, as an i32 that is 0 or 1."""
    element = element_type(op.operands[0].type)
    assert element in (f32, f64)
    code = Code(e.writer, value.width, double=element == f64)
    name = symbol.removesuffix("f").removesuffix("d") if symbol not in ("isinf",) else symbol
    if name == "isnan":
        mask = code.compare("uno", value.text, value.text)
    elif name == "isinf":
        mask = code.compare("oeq", code.abs(value.text), code.const(float("inf")))
    elif name == "signbit":
        mask = code.int_compare("slt", code.bits(value.text), 0)
    else:
        mask = code.compare("olt", code.abs(value.text), code.const(float("inf")))
    return Lanes(e.writer.let(f"zext {code.mask} {mask} to {vector('i32', value.width)}"), value.width)


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
    count = 1
    for extent in shape:
        count *= extent
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
        index.append(w.let(f"urem i64 {linear}, {extent}"))
        linear = w.let(f"udiv i64 {linear}, {extent}")
    return (linear, *reversed(index))


ELEMENTWISE: dict[type[Operation], ElementwiseRule] = {tile.ExternElementwiseOp: _extern}
STATEMENTS: dict[type[Operation], StatementRule] = {
    tile.ElementwiseInlineAsmOp: _inline_assembly,
    tile.MapElementwiseOp: _map_elementwise,
}

__all__ = ["ELEMENTWISE", "STATEMENTS", "Rule"]
