"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.types.dtypes import float32

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics
    from tritonx.language.values.tensor import tensor

__all__ = ["dot", "dot_scaled"]


@builtin
def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
    _semantic: Semantics = INJECTED,
) -> tensor:
    """``input @ other + acc`` of 2-D blocks: M×K, K×N and M×N; axes in front of these are a batch. Operands have one
    dtype, or are 8-bit floats. int8 gives int32, fp32 and bf16 give fp32, fp64 fp64, fp16 and 8-bit floats
    ``out_dtype``, which is fp32 or fp16: by default the dtype of ``acc``, and fp32 where there is none, or below the
    level 3.8. ``input_precision`` is "tf32", "tf32x3", "ieee", "bf16x3" or "bf16x6"; the
    default is the target's. ``allow_tf32`` is its deprecated form. Up to ``max_num_imprecise_acc`` products of 8-bit
    floats may be summed in less than fp32.

    Raises AssertionError for operands that do not fit each other and for an ``acc`` of another shape or dtype,
    ValueError for other words and an ``out_dtype`` that the operands do not have.

    >>> x = tl.full((16, 16), 0.5, tl.float32)
    >>> tl.max(tl.dot(x, x))
    4.0
    """
    return _semantic.dot(input, other, acc, input_precision, allow_tf32, max_num_imprecise_acc, out_dtype)


@builtin
def dot_scaled(
    lhs: Any,
    lhs_scale: Any,
    lhs_format: Any,
    rhs: Any,
    rhs_scale: Any,
    rhs_format: Any,
    acc: Any = None,
    fast_math: Any = False,
    lhs_k_pack: Any = True,
    rhs_k_pack: Any = True,
    out_dtype: Any = float32,
    _semantic: Semantics = INJECTED,
) -> tensor:
    """Microscaled matrix product (OCP MX) of M×K and K×N blocks in the formats e2m1, e4m3, e5m2, bf16 and fp16; fp32,
    or ``out_dtype``. e2m1 is two values in a byte (uint8), along K, or along the other axis where ``lhs_k_pack`` or
    ``rhs_k_pack`` is off. The scales are uint8 (e8m0), one for 32 values of K: M×(K/32) and N×(K/32), or None.
    ``acc`` is added. Raises AssertionError for formats, dtypes and shapes that do not fit.

    >>> x = tl.full((16, 32), 1.0, tl.float8e5)
    >>> twice = tl.full((16, 1), 128, tl.uint8)
    >>> tl.max(tl.dot_scaled(x, twice, 'e5m2', tl.trans(x), twice, 'e5m2'))
    128.0
    """
    return _semantic.dot_scaled(
        lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc, fast_math, lhs_k_pack, rhs_k_pack, out_dtype
    )
