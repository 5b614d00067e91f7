"""Matrix products.

Of integers the sum is exact and wraps. Of floats it is accumulated in f32 (f64 for f64) in the order of k, starting
from the accumulator operand, every step rounded once: `d = fma(a[:, k], b[k, :], d)`. Products of formats with at
most 12 significant digits (f16, bf16, fp8, tf32) are exact in f32, so fused and separate steps are the same for them.
An f16 result is rounded once, at the end.

f32 operands go through `inputPrecision` first: `tf32` reads them without their low 13 bits, as a tensor core does;
the split precisions write each operand as a sum of two or three short numbers and add the products of the parts, the
small ones first, leaving out those below the result's accuracy.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import ml_dtypes
import numpy as np

from tritonx.dialects import tile
from tritonx.dialects.tile.enums import InputPrecision, ScaleDotElemType
from tritonx.interpreter.arithmetic import fma_single, fused_multiply_add
from tritonx.interpreter.execution import Binder, Function, Table
from tritonx.interpreter.rounding import round_to, truncate_to_tf32
from tritonx.interpreter.values import Array, dtype_of, is_float
from tritonx.ir.dispatch import case
from tritonx.ir.types import type_of

_F32 = np.dtype(np.float32)
_BF16 = np.dtype(ml_dtypes.bfloat16)


def _integer(a: Array, b: Array, c: Array) -> Array:
    # 8-bit products sum exactly in f64, where the matrix product is fast; wider ones go the slow way.
    if a.dtype.itemsize == 1:
        product = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    else:
        product = np.matmul(a.astype(np.int64), b.astype(np.int64))
    return (product + c).astype(c.dtype)


def _exact_products(a: Array, b: Array, c: Array) -> Array:
    """Operands whose products f32 holds exactly."""
    a, b, total = a.astype(_F32), b.astype(_F32), np.array(c, dtype=_F32)
    for k in range(a.shape[-1]):
        total += a[..., :, k, None] * b[..., None, k, :]
    return total


def _single(a: Array, b: Array, c: Array) -> Array:
    wide_a, wide_b, total = a.astype(np.float64), b.astype(np.float64), np.array(c, dtype=_F32)
    for k in range(a.shape[-1]):
        total = fma_single(wide_a[..., :, k, None], wide_b[..., None, k, :], total)
    return total


def _double(a: Array, b: Array, c: Array) -> Array:
    total = c
    for k in range(a.shape[-1]):
        total = fused_multiply_add(a[..., :, k, None], b[..., None, k, :], total)
    return total


def _tf32(a: Array, b: Array, c: Array) -> Array:
    return _exact_products(truncate_to_tf32(a), truncate_to_tf32(b), c)


def _tf32_parts(x: Array) -> tuple[Array, Array]:
    large = truncate_to_tf32(x)
    return large, truncate_to_tf32(x - large)


def _bf16_parts(x: Array, count: int) -> list[Array]:
    parts: list[Array] = []
    for _ in range(count):
        part = round_to(x, _BF16).astype(_F32)
        parts.append(part)
        x = x - part
    return parts


def _without_nan(x: Array) -> Array:
    # An infinite operand makes its small part a NaN: the large parts alone say what the result is.
    return np.where(np.isnan(x), np.float32(0), x)


def _tf32x3(a: Array, b: Array, c: Array) -> Array:
    a_large, a_small = _tf32_parts(a)
    b_large, b_small = _tf32_parts(b)
    total = _exact_products(a_small, b_large, np.zeros_like(c))
    total = _exact_products(a_large, b_small, total)
    return _exact_products(a_large, b_large, _without_nan(total)) + c


def _bf16_split(a: Array, b: Array, c: Array, parts: int) -> Array:
    """Products of parts i and j with i + j < `parts`, the small ones first."""
    of_a, of_b = _bf16_parts(a, parts), _bf16_parts(b, parts)
    total = np.zeros_like(c)
    for order in range(parts - 1, 0, -1):
        for i in range(order, -1, -1):
            total = _exact_products(of_a[i], of_b[order - i], total)
    return _exact_products(of_a[0], of_b[0], _without_nan(total)) + c


_PRECISIONS: dict[int, Function] = {
    InputPrecision.TF32: _tf32,
    InputPrecision.TF32x3: _tf32x3,
    InputPrecision.IEEE: _single,
    InputPrecision.BF16x3: lambda a, b, c: _bf16_split(a, b, c, 2),
    InputPrecision.BF16x6: lambda a, b, c: _bf16_split(a, b, c, 3),
}


def product(operand: np.dtype, result: np.dtype, precision: int) -> Function:
    """a · b + c of operands of one dtype (or, of formats with few digits, of two), as a function of the three."""
    if not is_float(operand):
        return _integer
    if operand == np.float64:
        return _double
    multiply = _PRECISIONS[precision] if operand == _F32 else _exact_products
    if result == _F32:
        return multiply
    return lambda a, b, c: round_to(multiply(a, b, c.astype(_F32)), result)


def _dot(op: tile.DotOp, bind: Binder) -> Function:
    operand, result = dtype_of(type_of(op.operands[0])), dtype_of(type_of(op.results[0]))
    return product(operand, result, op.inputPrecision.value.data)


_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=np.float32)

_BYTE_FORMATS: dict[int, np.dtype] = {
    ScaleDotElemType.E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    ScaleDotElemType.E5M2: np.dtype(ml_dtypes.float8_e5m2),
}


def decoded_pairs(x: Array, axis: int) -> Array:
    """The f32 values of pairs of e2m1 numbers, one byte each along `axis`, the low half of the byte first."""
    codes = np.moveaxis(x.view(np.uint8), axis, -1)
    pairs = np.stack((codes & 15, codes >> 4), axis=-1).reshape(*codes.shape[:-1], -1)
    return np.moveaxis(_E2M1[pairs], -1, axis)


def _decode(x: Array, kind: int, packed_axis: int) -> Array:
    """The f32 values of an operand of `dot_scaled`; pairs of e2m1 lie along `packed_axis`, the low half of the byte
    first."""
    if kind == ScaleDotElemType.E2M1:
        return decoded_pairs(x, packed_axis)
    held = _BYTE_FORMATS.get(kind)
    return (x if held is None or x.dtype == held else x.view(held)).astype(_F32)


def _scale_values(scale: Array) -> Array:
    """An i8 scale is a power of two with bias 127, 0xFF a NaN; a scale in a float format is its value."""
    if is_float(scale.dtype):
        return scale.astype(_F32)
    code = scale.view(np.uint8).astype(np.int32)
    return np.where(code == 255, np.float32("nan"), np.ldexp(np.float32(1), code - 127)).astype(_F32)


def _dot_scaled(op: tile.DotScaledOp, bind: Binder) -> Function:
    """Each operand is multiplied by its scales in 16 bits (f16 where one of them is f16, else bf16), then a plain
    product."""
    kinds = op.a_elem_type.value.data, op.b_elem_type.value.data
    has_a, has_b = op.a_scale is not None, op.b_scale is not None
    a_axis = -1 if op.lhs_k_pack.value.data else -2
    b_axis = -2 if op.rhs_k_pack.value.data else -1
    compute = np.dtype(np.float16) if ScaleDotElemType.FP16 in kinds else _BF16
    result = dtype_of(type_of(op.results[0]))

    def scaled(x: Array, scale: Array | None, k_axis: int) -> Array:
        x = round_to(x, compute)
        if scale is None:
            return x
        factors = _scale_values(scale)  # [..., rows, K / group], for B too
        factors = np.repeat(factors, x.shape[k_axis] // factors.shape[-1], axis=-1)
        if k_axis == -2:
            factors = np.swapaxes(factors, -1, -2)
        return round_to(x.astype(_F32) * factors, compute)

    def dot(a: Array, b: Array, c: Array, *scales: Array) -> Array:
        a_scale = scales[0] if has_a else None
        b_scale = scales[-1] if has_b else None
        left = scaled(_decode(a, kinds[0], a_axis), a_scale, -1)
        right = scaled(_decode(b, kinds[1], b_axis), b_scale, -2)
        return round_to(_exact_products(left, right, c.astype(_F32)), result)

    return dot


TABLE: Table = {
    **case(tile.DotOp, _dot),
    **case(tile.DotScaledOp, _dot_scaled),
}
