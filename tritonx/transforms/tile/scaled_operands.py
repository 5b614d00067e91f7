"""Operands of `dot_scaled` in 16 bits: narrow floats widened, pairs of 4-bit numbers taken apart, scales applied."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from tritonx.dialects import arith, tile
from tritonx.dialects.tile.enums import ScaleDotElemType
from tritonx.ir.builder import Builder
from tritonx.ir.types import (
    bf16,
    element_type,
    f8E4M3FN,
    f8E5M2,
    f16,
    f32,
    i1,
    i16,
    i32,
    i64,
    shape_of,
    tensor,
    type_of,
    with_element,
)

BYTE_FORMATS: dict[int, Attribute] = {ScaleDotElemType.E4M3: f8E4M3FN, ScaleDotElemType.E5M2: f8E5M2}
EQUAL = 0


def scaled_operand(builder: Builder, op: tile.DotScaledOp, index: int) -> SSAValue:
    """Operand `index` (0 is A, 1 is B) of a `dot_scaled`, widened and multiplied by its scales; bf16, or f16 where
    one of the operands is f16."""
    kinds = op.a_elem_type.value.data, op.b_elem_type.value.data
    compute = f16 if ScaleDotElemType.FP16 in kinds else bf16
    value: SSAValue = (op.a, op.b)[index]
    scale: SSAValue | None = (op.a_scale, op.b_scale)[index]
    rank = len(shape_of(type_of(value)))
    k_axis = rank - 1 if index == 0 else rank - 2
    if kinds[index] == ScaleDotElemType.E2M1:
        packs_k = bool((op.lhs_k_pack, op.rhs_k_pack)[index].value.data)
        axis = k_axis if packs_k else (rank - 2 if index == 0 else rank - 1)
        wide = _unpack_e2m1(builder, value, axis, compute)
    else:
        wide = _widen(builder, value, kinds[index], compute)
    if scale is None:
        return wide
    single = with_element(type_of(wide), f32)
    factors = _spread_scales(builder, scale, k_axis, shape_of(type_of(wide)))
    product = builder.emit(arith.MulfOp, (builder.emit(arith.ExtFOp, (wide,), (single,)), factors), (single,))
    return builder.emit(arith.TruncFOp, (product,), (type_of(wide),))


def _widen(builder: Builder, value: SSAValue, kind: int, compute: Attribute) -> SSAValue:
    held = BYTE_FORMATS.get(kind)
    if held is not None and element_type(type_of(value)) != held:
        value = builder.emit(tile.BitcastOp, (value,), (with_element(type_of(value), held),))
    element, type_ = element_type(type_of(value)), with_element(type_of(value), compute)
    if element == compute:
        return value
    if held is not None:
        return builder.emit(tile.FpToFpOp, (value,), (type_,))
    # bf16 beside an f16 operand goes through f32.
    single = builder.emit(arith.ExtFOp, (value,), (with_element(type_, f32),))
    return builder.emit(arith.TruncFOp, (single,), (type_,))


def _unpack_e2m1(builder: Builder, value: SSAValue, axis: int, compute: Attribute) -> SSAValue:
    """Both halves of every byte as numbers, neighbours along `axis`, the low half first."""
    shape = shape_of(type_of(value))
    wide = tensor(i16, shape)
    codes = builder.emit(arith.ExtUIOp, (value,), (wide,))
    mask = builder.constant(15, wide)
    low = builder.emit(arith.AndIOp, (codes, mask), (wide,))
    shifted = builder.emit(arith.ShRUIOp, (codes, builder.constant(4, wide)), (wide,))
    high = builder.emit(arith.AndIOp, (shifted, mask), (wide,))
    halves = [_decode_e2m1(builder, half, compute) for half in (low, high)]
    joined = builder.emit(tile.JoinOp, tuple(halves), (tensor(compute, (*shape, 2)),))
    rank = len(shape)
    order = [*range(axis + 1), rank, *range(axis + 1, rank)]
    if order != list(range(rank + 1)):
        permuted = tensor(compute, tuple((*shape, 2)[d] for d in order))
        joined = builder.emit(tile.TransOp, (joined,), (permuted,), {"order": DenseArrayBase.from_list(i32, order)})
    result = tensor(compute, tuple(size * 2 if d == axis else size for d, size in enumerate(shape)))
    return builder.emit(tile.ReshapeOp, (joined,), (result,))


def _decode_e2m1(builder: Builder, code: SSAValue, compute: Attribute) -> SSAValue:
    """A 4-bit number (sign, two exponent bits, one fraction bit) as f16 or bf16: exponent and fraction move into
    place, the exponent's bias is added; the two subnormal codes, 0 and a half, are put right."""
    type_ = type_of(code)
    fraction_bits, bias = (10, 15) if compute == f16 else (7, 127)

    def constant(value: int) -> SSAValue:
        return builder.constant(value, type_)

    magnitude = builder.emit(arith.AndIOp, (code, constant(7)), (type_,))
    placed = builder.emit(arith.ShLIOp, (magnitude, constant(fraction_bits - 1)), (type_,))
    number = builder.emit(arith.AddiOp, (placed, constant((bias - 1) << fraction_bits)), (type_,))
    for subnormal, bits in ((1, (bias - 1) << fraction_bits), (0, 0)):
        is_it = _equal(builder, magnitude, constant(subnormal))
        number = builder.emit(arith.SelectOp, (is_it, constant(bits), number), (type_,))
    sign = builder.emit(arith.AndIOp, (code, constant(8)), (type_,))
    sign = builder.emit(arith.ShLIOp, (sign, constant(12)), (type_,))
    number = builder.emit(arith.OrIOp, (number, sign), (type_,))
    return builder.emit(tile.BitcastOp, (number,), (with_element(type_, compute),))


def _equal(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    return builder.emit(arith.CmpiOp, (a, b), (with_element(type_of(a), i1),), {"predicate": IntegerAttr(EQUAL, i64)})


def _spread_scales(builder: Builder, scale: SSAValue, k_axis: int, shape: tuple[int, ...]) -> SSAValue:
    """The scales [..., rows, K / group] as f32 numbers in the operand's shape."""
    values = _scale_values(builder, scale)
    given = shape_of(type_of(scale))
    rank = len(shape)
    group = shape[k_axis] // given[-1]
    column = builder.emit(tile.ExpandDimsOp, (values,), (tensor(f32, (*given, 1)),), {"axis": IntegerAttr(rank, i32)})
    repeated = builder.emit(tile.BroadcastOp, (column,), (tensor(f32, (*given, group)),))
    rows = tensor(f32, (*given[:-1], shape[k_axis]))
    spread = builder.emit(tile.ReshapeOp, (repeated,), (rows,))
    if k_axis == rank - 1:
        return spread
    order = [*range(rank - 2), rank - 1, rank - 2]
    return builder.emit(tile.TransOp, (spread,), (tensor(f32, shape),), {"order": DenseArrayBase.from_list(i32, order)})


def _scale_values(builder: Builder, scale: SSAValue) -> SSAValue:
    """An i8 scale is a power of two with bias 127, 255 a NaN; a scale in a float format is its value."""
    type_ = type_of(scale)
    single = with_element(type_, f32)
    element = element_type(type_)
    if element == f32:
        return scale
    if element in (f16, bf16):
        return builder.emit(arith.ExtFOp, (scale,), (single,))
    if element in BYTE_FORMATS.values():
        return builder.emit(tile.FpToFpOp, (scale,), (single,))
    bits = with_element(type_, i32)
    code = builder.emit(arith.ExtUIOp, (scale,), (bits,))
    number = builder.emit(arith.ShLIOp, (code, builder.constant(23, bits)), (bits,))
    for special, pattern in ((0, 0x00400000), (255, 0x7FC00000)):
        is_it = _equal(builder, code, builder.constant(special, bits))
        number = builder.emit(arith.SelectOp, (is_it, builder.constant(pattern, bits), number), (bits,))
    return builder.emit(tile.BitcastOp, (number,), (single,))
