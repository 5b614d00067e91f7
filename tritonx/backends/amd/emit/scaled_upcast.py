"""Microscaled numbers, widened and multiplied by scales of their shape: `amdg.scaled_upcast_fp8` and `_fp4`.

The product is made in f32, where it is exact, and rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.elementwise import cast_float, combine, lanewise, of
from tritonx.conversion.gpu_to_llvm.shape import pairs_unpacked
from tritonx.dialects.amd import ScaledUpcastFp4Op, ScaledUpcastFp8Op
from tritonx.dialects.tile.enums import RoundingMode
from tritonx.ir.dispatch import case
from tritonx.ir.types import element_type, f32, i8, with_element

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.values import Tile
    from tritonx.conversion.scalar.ops import Ops


def _scaled(op: ScaledUpcastFp4Op | ScaledUpcastFp8Op, f: FunctionEmitter, data: Tile) -> None:
    """``data``, in f32, times the scales."""
    single, result = with_element(op.output.type, f32), op.output.type
    scale = f.get(op.scale)
    if element_type(op.scale.type) == i8:
        scale = lanewise(f, "float", [scale], lambda ops, x: _power(ops, x[0]))
    else:
        scale = cast_float(f, scale, op.scale.type, single, None)
    product = combine(f, "float", [data, scale], lambda shape, x: f"fmul {of(shape, 'float')} {x[0]}, {x[1]}")
    f.result(op, cast_float(f, product, single, result, RoundingMode.RTNE))


def _power(ops: Ops, code: str) -> str:
    """The power of two that a code of e8m0 is, an f32's exponent: 0 is the least of all, 255 a NaN."""
    wide = ops.cast("zext", "i8", code, "i32")
    bits = ops.binary("shl", "i32", wide, ops.number("i32", 23))
    for special, pattern in ((0, 0x00400000), (255, 0x7FC00000)):
        bits = ops.select(ops.test("eq", "i32", wide, special), "i32", ops.number("i32", pattern), bits)
    return ops.cast("bitcast", "i32", bits, "float")


def scaled_upcast_fp8(op: ScaledUpcastFp8Op, f: FunctionEmitter) -> None:
    _scaled(op, f, cast_float(f, f.get(op.input), op.input.type, with_element(op.input.type, f32), None))


def scaled_upcast_fp4(op: ScaledUpcastFp4Op, f: FunctionEmitter) -> None:
    _scaled(op, f, pairs_unpacked(op, f, op.input, op.axis.value.data, "float"))


TABLE: dict[type[Operation], Emit] = {
    **case(ScaledUpcastFp8Op, scaled_upcast_fp8),
    **case(ScaledUpcastFp4Op, scaled_upcast_fp4),
}
