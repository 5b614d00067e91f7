"""Arithmetic on 8-bit floats in f32: no machine here adds, compares or rounds the 8-bit formats themselves."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, math, tile
from tritonx.dialects.tile.enums import RoundingMode
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.types import FLOAT8_TYPES, element_type, f32, f64, i32, type_of, with_element
from tritonx.ir.walk import ops_in

_ARITHMETIC: frozenset[type[Operation]] = frozenset(
    (
        *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.RemFOp, arith.NegfOp, arith.CmpfOp),
        *(arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp, tile.ClampFOp),
        *(arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp, arith.FPToUIOp),
        *(math.AbsFOp, math.FloorOp, math.CeilOp, math.RoundOp, math.RoundEvenOp, math.TruncOp, math.FmaOp),
        *(math.ExpOp, math.Exp2Op, math.ExpM1Op, math.LogOp, math.Log2Op, math.Log10Op, math.Log1pOp),
        *(math.SinOp, math.CosOp, math.TanOp, math.TanhOp, math.ErfOp, math.SqrtOp, math.RsqrtOp),
        *(tile.PreciseSqrtOp, tile.PreciseDivFOp),
    )
)

_PRECISE: dict[type[Operation], type[Operation]] = {arith.DivfOp: tile.PreciseDivFOp, math.SqrtOp: tile.PreciseSqrtOp}
"""A target may compute a quotient of f32 to two units in the last place. Where the exact one is half-way between two
subnormal numbers of the narrow format, the rounding after it would show that."""

_QUOTIENT = 2.0**16
"""Two numbers of one 8-bit format have a quotient below this squared."""


@dataclass(frozen=True)
class WidenFloat8(ModulePass):
    """Rewrites arithmetic, comparisons and integer conversions of 8-bit floats in wider ones.

    In regions as well. The operands are converted to f32, the op is done there, and its result is rounded as
    `tt.fp_to_fp` rounds: to nearest even, beyond the format's range to its largest number. That is what the
    interpreter computes; in f32 sums, products and quotients of two such numbers are precise enough for a second
    rounding not to show. `math.fma` is done in f64, where it is exact. Afterwards 8-bit floats are converted, moved
    and multiplied as matrices only.
    """

    name = "widen-float8"
    contract = Contract(("tt", "ttg"), creates=("arith", "math", "tt.fp_to_fp", "tt.precise_divf"), placed=True)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if type(inner) in _ARITHMETIC and any(_is_float8(v) for v in (*inner.operands, *inner.results)):
                _widen(inner)


def _is_float8(value: SSAValue) -> bool:
    return element_type(type_of(value)) in FLOAT8_TYPES


def _widen(op: Operation) -> None:
    builder = Builder.before(op)
    wide = f64 if isinstance(op, math.FmaOp) else f32
    operands = [_converted(builder, v, wide) if _is_float8(v) else v for v in op.operands]
    result = op.results[0]
    type_ = with_element(type_of(result), wide) if _is_float8(result) else type_of(result)
    if isinstance(op, arith.RemFOp):
        operands[0] = _first_remainder(builder, *operands)
    into = _PRECISE.get(type(op), type(op))
    properties = op.properties.copy() if into is type(op) else {}
    made = builder.create(into, operands, (type_,), properties).results[0]
    replace(op, (_converted(builder, made, element_type(type_of(result))) if _is_float8(result) else made,))


def _first_remainder(builder: Builder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x modulo a multiple of y, so that neither this quotient nor the next has more digits than f32: some targets
    compute x - trunc(x / y) · y.
    """
    type_ = type_of(x)
    multiple = builder.emit(arith.MulfOp, (y, builder.constant(_QUOTIENT, type_)), (type_,))
    return builder.emit(arith.RemFOp, (x, multiple), (type_,))


def _converted(builder: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    properties = {"rounding": IntegerAttr(int(RoundingMode.RTNE), i32)} if element in FLOAT8_TYPES else {}
    return builder.emit(tile.FpToFpOp, (value,), (with_element(type_of(value), element),), properties)
