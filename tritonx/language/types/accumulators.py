"""Which dtype a reduction or scan accumulates in, decided while a kernel is compiled. ``tl.standard`` has these too, by
Triton's names."""

from __future__ import annotations

from tritonx import level
from tritonx.language.types import dtypes
from tritonx.language.types.dtypes import float32, int32, uint32
from tritonx.language.values.constexpr_function import constexpr_function


@constexpr_function
def _pick_sum_dtype(in_dtype: dtypes.dtype, dtype: dtypes.dtype | None) -> dtypes.dtype | None:
    """The dtype a sum accumulates in: ``dtype`` if given; 32 bits for narrower integers; None for the input's own."""
    if dtype is not None:
        return dtype
    if in_dtype.is_int() and in_dtype.int_bitwidth < 32:
        return int32 if in_dtype.is_int_signed() else uint32
    return None


@constexpr_function
def _pick_extremum_dtype(in_dtype: dtypes.dtype) -> dtypes.dtype:
    """The dtype in which a maximum or minimum is taken: at least 32 bits."""
    if in_dtype.primitive_bitwidth >= 32:
        return in_dtype
    if in_dtype.is_floating():
        return float32
    if not in_dtype.is_int():
        raise TypeError(f"Expecting input to be integer type, got {in_dtype}")
    return int32


@constexpr_function
def _pick_product_dtype(in_dtype: dtypes.dtype) -> dtypes.dtype:
    """The dtype of scans, and of a maximum with its index: fp32 for bf16 below the level 3.9, else the input's own."""
    return float32 if in_dtype.is_bf16() and not level.active().bf16_stays else in_dtype


@constexpr_function
def _pick_cumprod_dtype(in_dtype: dtypes.dtype, dtype: dtypes.dtype | None) -> dtypes.dtype:
    """The dtype of a running product: ``dtype`` if given; at some levels as of a running sum."""
    if dtype is not None:
        return dtype
    if level.active().widens_products and in_dtype.is_int() and in_dtype.int_bitwidth < 32:
        return int32 if in_dtype.is_int_signed() else uint32
    return float32 if in_dtype.is_bf16() and not level.active().bf16_stays else in_dtype
