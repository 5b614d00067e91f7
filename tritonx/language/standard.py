"""``tl.standard``: the functions of the language that are written in the language."""

# Parameters of kernels have no Python types, and constexpr defaults are not those of their annotations.
# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportOperatorIssue=false
# pyright: reportIndexIssue=false, reportCallIssue=false, reportPrivateUsage=false

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from tritonx.kernel.declaration import declare as jit
from tritonx.language import core, math
from tritonx.language.builtin import tensor_method
from tritonx.language.constexpr_function import constexpr_function

if TYPE_CHECKING:
    from tritonx.language.static_types import Number, Operand
    from tritonx.language.tensor import tensor

# Compile-time helpers. Kernels call some of them by these names.


@constexpr_function
def _log2(i: Any) -> int:
    """The binary logarithm of a power of two (rounded down)."""
    return i.bit_length() - 1


@constexpr_function
def _is_power_of_two(i: object) -> bool:
    return i > 0 and i & (i - 1) == 0


@constexpr_function
def _pick_sum_dtype(in_dtype: Any, dtype: Any) -> Any:
    """The dtype a sum accumulates in: ``dtype`` if given; 32 bits for narrower integers; None for the input's own."""
    if dtype is not None:
        return dtype
    if in_dtype.is_int() and in_dtype.int_bitwidth < 32:
        return core.int32 if in_dtype.is_int_signed() else core.uint32
    return None


@constexpr_function
def _pick_extremum_dtype(in_dtype: Any) -> Any:
    """The dtype in which a maximum or minimum is taken: at least 32 bits."""
    if in_dtype.primitive_bitwidth >= 32:
        return in_dtype
    if in_dtype.is_floating():
        return core.float32
    if not in_dtype.is_int():
        raise TypeError(f"Expecting input to be integer type, got {in_dtype}")
    return core.int32


@constexpr_function
def _pick_product_dtype(in_dtype: Any) -> Any:
    return core.float32 if in_dtype.is_bf16() else in_dtype


# Elementwise.


@tensor_method
@jit
def cdiv(x: Number, div: Operand) -> Number:
    """``ceil(x / div)`` of integers, for ``x >= 0`` and ``div > 0``.

    >>> tl.cdiv(tl.arange(0, 4), 2)
    [0, 1, 1, 2]
    """
    return (x + (div - 1)) // div


@tensor_method
@jit
def sigmoid(x: tensor) -> tensor:
    """``1 / (1 + exp(-x))``.

    >>> tl.sigmoid(tl.arange(0, 4).to(tl.float32))
    [0.5, 0.7311, 0.8808, 0.9526]
    """
    return 1 / (1 + math.exp(-x))


@tensor_method
@jit
def softmax(x: tensor, dim: object = None, keep_dims: object = False, ieee_rounding: object = False) -> tensor:
    """The softmax of ``x`` along ``dim`` (0 by default); the shape is that of ``x``.

    >>> tl.softmax(tl.arange(0, 4).to(tl.float32))
    [0.03206, 0.08714, 0.2369, 0.6439]
    """
    axis: core.constexpr = 0 if dim is None else dim
    several: core.constexpr = len(x.shape) > 1
    shifted = x - max(x, axis, keep_dims=several)
    numerator = math.exp(shifted)
    return math.fdiv(numerator, sum(numerator, axis, keep_dims=several), ieee_rounding)


@jit
def swizzle2d(i: Operand, j: Operand, size_i: Operand, size_j: Operand, size_g: Operand) -> tuple[tensor, tensor]:
    """The program index (i, j) of a ``size_i`` x ``size_j`` grid, reordered so that groups of ``size_g`` rows go
    column by column.

    >>> i, j = tl.swizzle2d(tl.arange(0, 4) // 2, tl.arange(0, 4) % 2, 2, 2, 2)
    >>> i * 2 + j
    [0, 2, 1, 3]
    """
    linear = i * size_j + j
    group_size = size_g * size_j
    group = linear // group_size
    first_row = group * size_g
    rows = core.minimum(size_i - first_row, size_g)
    within = linear % group_size
    return first_row + within % rows, within // rows


@tensor_method
@jit
def ravel(x: tensor, can_reorder: object = False) -> tensor:
    """The 1-D view of a block.

    >>> tl.ravel(tl.full((2, 2), 3, tl.int32))
    [3, 3, 3, 3]
    """
    return core.reshape(x, [x.numel], can_reorder=can_reorder)


@jit
def interleave(a: Operand, b: Operand) -> tensor:
    """The elements of two blocks in turn along the last axis; two scalars make a block of two.

    >>> tl.interleave(tl.arange(0, 4), tl.arange(4, 8))
    [0, 4, 1, 5, 2, 6, 3, 7]
    """
    joined = core.join(a, b)
    if len(joined.shape) == 1:
        return joined
    else:
        return core.reshape(joined, joined.shape[:-2] + (2 * joined.shape[-2],))  # noqa: RUF005  # a kernel has no starred tuples


# Maximum and minimum.


@jit
def _argmax_combine(value1, index1, value2, index2, tie_break_left):
    first = value1 > value2
    if tie_break_left:
        first |= (value1 == value2) & (index1 < index2)
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, True)


@jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, False)


@jit
def _elementwise_max(a: tensor, b: tensor) -> tensor:
    return core.maximum(a, b)


@overload
def max(
    input: tensor,
    axis: object = None,
    return_indices: Literal[False] = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> tensor: ...
@overload
def max(
    input: tensor,
    axis: object,
    return_indices: Literal[True],
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> tuple[tensor, tensor]: ...
@overload
def max(
    input: tensor,
    axis: object = None,
    *,
    return_indices: Literal[True],
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> tuple[tensor, tensor]: ...
@tensor_method
@jit
def max(
    input: tensor,
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> object:
    """The maximum along ``axis`` (one, several in a tuple, or None for all); with ``return_indices``, along one axis or
    None, also its int32 index, the first one of equals unless ``return_indices_tie_break_left`` is off. NaNs lose.
    Types under 32 bits give fp32 or int32.

    >>> x = tl.load(ints + (tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)))
    >>> tl.max(x, axis=1)
    [3, 7]
    """
    if return_indices:
        values = input.to(_pick_product_dtype(input.dtype))
        if return_indices_tie_break_left:
            return core._reduce_with_indices(values, axis, _argmax_combine_tie_break_left, keep_dims=keep_dims)
        else:
            return core._reduce_with_indices(values, axis, _argmax_combine_tie_break_fast, keep_dims=keep_dims)
    else:
        return core.reduce(input.to(_pick_extremum_dtype(input.dtype)), axis, _elementwise_max, keep_dims=keep_dims)


@tensor_method
@jit
def argmax(input: tensor, axis: object, tie_break_left: object = True, keep_dims: object = False) -> tensor:
    """The int32 index of the maximum along ``axis``.

    >>> tl.argmax((tl.arange(0, 4) - 2) * (tl.arange(0, 4) - 2), axis=0)
    0
    """
    _, index = max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


@jit
def _argmin_combine(value1, index1, value2, index2, tie_break_left):
    first = value1 < value2
    if tie_break_left:
        first |= (value1 == value2) & (index1 < index2)
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, True)


@jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, False)


@jit
def _elementwise_min(a: tensor, b: tensor) -> tensor:
    return core.minimum(a, b)


@overload
def min(
    input: tensor,
    axis: object = None,
    return_indices: Literal[False] = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> tensor: ...
@overload
def min(
    input: tensor,
    axis: object,
    return_indices: Literal[True],
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> tuple[tensor, tensor]: ...
@overload
def min(
    input: tensor,
    axis: object = None,
    *,
    return_indices: Literal[True],
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> tuple[tensor, tensor]: ...
@tensor_method
@jit
def min(
    input: tensor,
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> object:
    """The minimum along ``axis``; see ``max``.

    >>> x = tl.load(ints + (tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)))
    >>> tl.min(x, axis=0)
    [0, 1, 2, 3]
    """
    if return_indices:
        values = input.to(_pick_product_dtype(input.dtype))
        if return_indices_tie_break_left:
            return core._reduce_with_indices(values, axis, _argmin_combine_tie_break_left, keep_dims=keep_dims)
        else:
            return core._reduce_with_indices(values, axis, _argmin_combine_tie_break_fast, keep_dims=keep_dims)
    else:
        return core.reduce(input.to(_pick_extremum_dtype(input.dtype)), axis, _elementwise_min, keep_dims=keep_dims)


@tensor_method
@jit
def argmin(input: tensor, axis: object, tie_break_left: object = True, keep_dims: object = False) -> tensor:
    """The int32 index of the minimum along ``axis``.

    >>> tl.argmin((tl.arange(0, 4) - 2) * (tl.arange(0, 4) - 2), axis=0)
    2
    """
    _, index = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


# Sums and bits.


@jit
def _sum_combine(a: tensor, b: tensor) -> tensor:
    return a + b


@tensor_method
@jit
def sum(input: tensor, axis: object = None, keep_dims: object = False, dtype: core.constexpr = None) -> tensor:
    """The sum along ``axis`` (one, several in a tuple, or None for all). Integers under 32 bits accumulate in 32;
    ``dtype`` says otherwise.

    >>> x = tl.load(ints + (tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)))
    >>> tl.sum(x, axis=1)
    [6, 22]
    """
    accumulate: core.constexpr = _pick_sum_dtype(input.dtype, dtype)
    if accumulate is not None:
        return core.reduce(input.to(accumulate), axis, _sum_combine, keep_dims=keep_dims)
    else:
        return core.reduce(input, axis, _sum_combine, keep_dims=keep_dims)


@jit
def _xor_combine(a: tensor, b: tensor) -> tensor:
    return a ^ b


@tensor_method
@jit
def xor_sum(input: tensor, axis: object = None, keep_dims: object = False) -> tensor:
    """The exclusive or of integers along ``axis``.

    >>> tl.xor_sum(tl.arange(0, 4) * 3)
    12
    """
    core.static_assert(input.type.scalar.is_int(), "xor_sum only supported for integers")
    return core.reduce(input, axis, _xor_combine, keep_dims=keep_dims)


@jit
def _or_combine(a: tensor, b: tensor) -> tensor:
    return a | b


@tensor_method
@jit
def reduce_or(input: tensor, axis: object, keep_dims: object = False) -> tensor:
    """The bitwise or of integers along ``axis``.

    >>> tl.reduce_or(tl.arange(0, 4) * 4, axis=0)
    12
    """
    core.static_assert(input.type.scalar.is_int(), "reduce_or only supported for integers")
    return core.reduce(input, axis, _or_combine, keep_dims=keep_dims)


# Scans.


@tensor_method
@jit
def cumsum(input: tensor, axis: object = 0, reverse: object = False, dtype: core.constexpr = None) -> tensor:
    """The inclusive sum along ``axis`` (or along several, in row-major order of them); bf16 gives fp32, integers under
    32 bits 32.

    >>> tl.cumsum(tl.arange(0, 4))
    [0, 1, 3, 6]
    """
    accumulate: core.constexpr = _pick_sum_dtype(_pick_product_dtype(input.dtype), dtype)
    if accumulate is not None:
        return core.associative_scan(input.to(accumulate), axis, _sum_combine, reverse)
    else:
        return core.associative_scan(input.to(_pick_product_dtype(input.dtype)), axis, _sum_combine, reverse)


@jit
def _prod_combine(a: tensor, b: tensor) -> tensor:
    return a * b


@tensor_method
@jit
def cumprod(input: tensor, axis: object = 0, reverse: object = False) -> tensor:
    """The inclusive product along ``axis``; bf16 gives fp32.

    >>> tl.cumprod(tl.arange(1, 5))
    [1, 2, 6, 24]
    """
    return core.associative_scan(input.to(_pick_product_dtype(input.dtype)), axis, _prod_combine, reverse)


def _elsewhere(name: str) -> Any:
    """Names that Triton has here too: the sorting networks, which are built on this module, and two builtins."""
    if name in ("sort", "topk", "bitonic_merge", "flip", "sort_impl"):
        return getattr(import_module("tritonx.language.sort"), name)
    if name in ("zeros", "zeros_like"):
        return getattr(core, name)
    raise AttributeError(f"module 'tritonx.language.standard' has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = _elsewhere
