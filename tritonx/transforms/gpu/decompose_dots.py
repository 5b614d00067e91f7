"""Products that the matrix unit does not know, written as products that it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, tile
from tritonx.dialects.tile.enums import InputPrecision
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.types import (
    FLOAT8_TYPES,
    bf16,
    element_type,
    f16,
    f32,
    i1,
    i32,
    i64,
    type_of,
    with_element,
)
from tritonx.ir.walk import ops_in

TF32_MASK = -(1 << 13)
"""Keeps the ten fraction bits that the unit uses of an f32."""


@dataclass(frozen=True)
class DecomposeDots(ModulePass):
    """Rewrites products that the target's matrix unit has not into ones that it has.

    * `dot` of f32 in `tf32x3`, `bf16x3` and `bf16x6` into products of parts, the small ones first; where the unit
      has not the parts' type, into one in full precision;
    * `dot` of 8-bit floats that the unit does not take, or not into this result, into one of f16, which holds all of
      their values.
    """

    name = "decompose-dots"
    contract = Contract(("tt",), on=("tt.dot",), creates=("arith", "tt.bitcast", "tt.fp_to_fp"))

    matrix_types: str = ""
    """Names of the types that the unit multiplies, separated by spaces."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known = frozenset(self.matrix_types.split())
        for inner in ops_in(op):
            if isinstance(inner, tile.DotOp):
                _decompose(inner, known)


def _decompose(op: tile.DotOp, known: frozenset[str]) -> None:
    a, b = element_type(type_of(op.a)), element_type(type_of(op.b))
    known8 = all(getattr(t, "name", "") in known for t in (a, b)) and element_type(type_of(op.d)) == f32
    if a in FLOAT8_TYPES and not known8:
        builder = Builder.before(op)
        op.operands[0], op.operands[1] = (_widened(builder, v, f16) for v in (op.a, op.b))
        return
    if a != f32:
        return
    match op.inputPrecision.value.data:
        case InputPrecision.TF32x3 if "f32" in known:
            _in_parts(op, _tf32_parts, 2, InputPrecision.TF32)
        case InputPrecision.BF16x3 if "bf16" in known:
            _in_parts(op, lambda builder, x: _bf16_parts(builder, x, 2), 2, InputPrecision.IEEE)
        case InputPrecision.BF16x6 if "bf16" in known:
            _in_parts(op, lambda builder, x: _bf16_parts(builder, x, 3), 3, InputPrecision.IEEE)
        case InputPrecision.TF32 if "f32" in known:
            pass
        case _:
            op.properties["inputPrecision"] = IntegerAttr(int(InputPrecision.IEEE), i32)


def _in_parts(
    op: tile.DotOp, split: Callable[[Builder, SSAValue], list[SSAValue]], count: int, precision: InputPrecision
) -> None:
    """The products of parts i and j with i + j < count, smallest first. An infinite operand makes its small parts
    NaN, so what they add up to counts as 0 then: the large parts alone say what the result is."""
    builder = Builder.before(op)
    of_a, of_b = split(builder, op.a), split(builder, op.b)
    type_ = type_of(op.d)
    properties = {"inputPrecision": IntegerAttr(int(precision), i32), "maxNumImpreciseAcc": op.maxNumImpreciseAcc}

    def product(i: int, j: int, total: SSAValue) -> SSAValue:
        made = builder.create(tile.DotOp, (of_a[i], of_b[j], total), (type_,), properties)
        return made.results[0]

    zero = builder.constant(0.0, type_)
    total = zero
    for order in range(count - 1, 0, -1):
        for i in range(order, -1, -1):
            total = product(i, order - i, total)
    is_nan = builder.emit(
        arith.CmpfOp,
        (total, total),
        (with_element(type_, i1),),
        {"predicate": IntegerAttr(int(arith.CmpfPredicate.UNO), i64)},
    )
    total = builder.emit(arith.SelectOp, (is_nan, zero, total), (type_,))
    replace(op, (builder.emit(arith.AddfOp, (product(0, 0, total), op.c), (type_,)),))


def _tf32_parts(builder: Builder, x: SSAValue) -> list[SSAValue]:
    """What the unit uses of x, and the rest."""
    type_ = type_of(x)
    bits = with_element(type_, i32)
    pattern = builder.emit(tile.BitcastOp, (x,), (bits,))
    kept = builder.emit(arith.AndIOp, (pattern, builder.constant(TF32_MASK, bits)), (bits,))
    large = builder.emit(tile.BitcastOp, (kept,), (type_,))
    return [large, builder.emit(arith.SubfOp, (x, large), (type_,))]


def _bf16_parts(builder: Builder, x: SSAValue, count: int) -> list[SSAValue]:
    """x as a sum of `count` bf16 numbers, largest first."""
    wide = type_of(x)
    narrow = with_element(wide, bf16)
    parts: list[SSAValue] = []
    for number in range(count):
        part = builder.emit(arith.TruncFOp, (x,), (narrow,))
        parts.append(part)
        if number + 1 < count:
            back = builder.emit(arith.ExtFOp, (part,), (wide,))
            x = builder.emit(arith.SubfOp, (x, back), (wide,))
    return parts


def _widened(builder: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """An 8-bit float in a format that holds all its values."""
    if element_type(type_of(value)) == element:
        return value
    return builder.emit(tile.FpToFpOp, (value,), (with_element(type_of(value), element),))
