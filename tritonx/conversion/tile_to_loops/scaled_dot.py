"""Microscaling products: operands in 4 to 16 bits with a scale for each group of elements along k.

Every element is decoded, multiplied by its scale and rounded to 16 bits (f16 where one operand is f16, else bf16), as
`interpreter/meanings/dot.py` has it, into an f32 buffer; then it is a plain product. Pairs of e2m1 share a byte, the
low half first, along k or (without `k_pack`) along the other dimension.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from tritonx.conversion.llvm_text import float_constant
from tritonx.conversion.mathlib import Code
from tritonx.conversion.tile_to_loops.dot import product_of, with_columns_together
from tritonx.conversion.tile_to_loops.emitter import Position, View
from tritonx.conversion.tile_to_loops.types import is_float
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import tile
from tritonx.dialects.tile.enums import ScaleDotElemType
from tritonx.ir.types import bf16, element_type, f8E4M3FN, f8E5M2, f16, f32, shape_of

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tritonx.conversion.tile_to_loops.emitter import Emitter

_E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6)
_BYTE_FORMATS: dict[int, Attribute] = {ScaleDotElemType.E4M3: f8E4M3FN, ScaleDotElemType.E5M2: f8E5M2}


def dot_scaled(e: Emitter, op: tile.DotScaledOp) -> None:
    kinds = op.a_elem_type.value.data, op.b_elem_type.value.data
    compute = f16 if ScaleDotElemType.FP16 in kinds else bf16
    result = shape_of(op.results[0].type)
    a_shape = shape_of(op.a.type)
    packed_k = kinds[0] == ScaleDotElemType.E2M1 and bool(op.lhs_k_pack.value.data)
    k = a_shape[-1] * (2 if packed_k else 1)
    batch = result[:-2]
    a_axis = len(batch) + (1 if op.lhs_k_pack.value.data else 0)
    b_axis = len(batch) + (0 if op.rhs_k_pack.value.data else 1)
    left = _operand(e, op.a, kinds[0], a_axis, op.a_scale, (*batch, result[-2], k), len(batch) + 1, compute)
    right = _operand(e, op.b, kinds[1], b_axis, op.b_scale, (*batch, k, result[-1]), len(batch), compute)
    shape = (*batch, k, result[-1])
    product_of(e, op, left, with_columns_together(e, right, shape), k)


def _operand(
    e: Emitter,
    value: SSAValue,
    kind: int,
    packed_axis: int,
    scale: SSAValue | None,
    shape: tuple[int, ...],
    k_axis: int,
    compute: Attribute,
) -> View:
    """The scaled operand as f32."""
    w = e.writer
    target = e.new_view(shape, f32)
    index: list[str] = []
    with ExitStack() as stack:
        for extent in shape:
            index.append(stack.enter_context(w.loop("scale", extent)))
        e.fresh_chunk()
        element = _decoded(e, value, kind, packed_axis, index)
        element = _rounded(e, element, compute)
        if scale is not None:
            factor = _scale(e, scale, index, k_axis, shape[k_axis])
            element = _rounded(e, Lanes(Code(w, 0).mul(element.text, factor), 0), compute)
        e.store_view(target, Position(tuple(index)), element)
    e.fresh_chunk()
    return target


def _rounded(e: Emitter, value: Lanes, compute: Attribute) -> Lanes:
    return e.convert(e.convert(value, f32, compute), compute, f32)


def _decoded(e: Emitter, value: SSAValue, kind: int, packed_axis: int, index: list[str]) -> Lanes:
    w = e.writer
    if kind != ScaleDotElemType.E2M1:
        lanes = e.evaluate(value, Position(tuple(index)))
        held = element_type(value.type)
        return e.convert(lanes, held if is_float(held) else _BYTE_FORMATS[kind], f32)
    place = list(index)
    place[packed_axis] = w.inst(f"lshr i64 {index[packed_axis]}, 1")
    byte = e.evaluate(value, Position(tuple(place))).text
    odd = w.inst(f"trunc i64 {index[packed_axis]} to i1")
    high = w.inst(f"lshr i8 {byte}, 4")
    code = w.inst(f"and i8 {w.inst(f'select i1 {odd}, i8 {high}, i8 {byte}')}, 15")
    values = ", ".join(f"float {float_constant(x, double=False)}" for x in _E2M1)
    e.module.global_("@tx.e2m1", f"private unnamed_addr constant [16 x float] [{values}]")
    at = w.inst(f"getelementptr float, ptr @tx.e2m1, i64 {w.inst(f'zext i8 {code} to i64')}")
    return Lanes(w.inst(f"load float, ptr {at}, align 4"), 0)


def _scale(e: Emitter, scale: SSAValue, index: list[str], k_axis: int, k: int) -> str:
    """The factor of an element; an i8 scale is a power of two with bias 127, 0xFF a NaN. Rows first, groups of k
    second.
    """
    w = e.writer
    group = k // shape_of(scale.type)[-1]
    row_axis = len(index) - 1 if k_axis == len(index) - 2 else len(index) - 2
    place = (*index[:-2], index[row_axis], w.inst(f"udiv i64 {index[k_axis]}, {group}"))
    text = e.evaluate(scale, Position(place)).text
    held = element_type(scale.type)
    if is_float(held):
        return e.convert(Lanes(text, 0), held, f32).text
    code = Code(w, 0)
    exponent = w.inst(f"zext i8 {text} to i32")
    normal = code.int_op("shl", exponent, 23)
    # 2^-127 is subnormal in f32.
    bits = code.int_select(code.int_compare("eq", exponent, 0), "4194304", normal)
    nan = code.int_compare("eq", exponent, 255)
    return code.select(nan, code.const(float("nan")), code.from_bits(bits))
