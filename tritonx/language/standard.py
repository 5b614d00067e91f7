"""``tl.standard``: the functions of the language that are written in the language."""

# Parameters of kernels have no Python types, and constexpr defaults are not those of their annotations.
# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportOperatorIssue=false
# pyright: reportIndexIssue=false, reportCallIssue=false, reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from tritonx.kernel.declaration import declare as jit
from tritonx.language import core, math
from tritonx.language.builtins.builtin import tensor_method
from tritonx.language.types.accumulators import (
    _pick_cumprod_dtype,
    _pick_extremum_dtype,
    _pick_product_dtype,
    _pick_sum_dtype,
)
from tritonx.language.values.constexpr_function import constexpr_function

if TYPE_CHECKING:
    from tritonx.language.types.static_types import Number, Operand
    from tritonx.language.values.tensor import tensor

# Compile-time helpers. Kernels call some of them by these names.


@constexpr_function
def _log2(i: Any) -> int:
    """The binary logarithm of a power of two (rounded down).

    >>> tl.standard._log2(64)
    6
    """
    return i.bit_length() - 1


@constexpr_function
def _counted_axis(dim: int, rank: int) -> int:
    """An axis of ``rank``, counted from the front. Raises ValueError for one that there is not."""
    if not -rank <= dim < rank:
        raise ValueError(f"invalid axis {dim}. Expected {-rank} <= axis < {rank}")
    return dim % rank


@constexpr_function
def _without(shape: Sequence[int], axis: int) -> list[int]:
    """``shape`` but for an axis. Raises ValueError where its extent is not 1."""
    if shape[axis] != 1:
        raise ValueError(f"squeeze: axis {axis} has the extent {shape[axis]}, not 1")
    return [*shape[:axis], *shape[axis + 1 :]]


# Elementwise.


@tensor_method
@jit
def cdiv(x: Number, div: Operand) -> Number:
    """``ceil(x / div)`` of integers, blocks or scalars of shapes that broadcast, for ``x >= 0`` and ``div > 0``; in
    their common dtype.

    >>> tl.cdiv(tl.arange(0, 4), 2)
    [0, 1, 1, 2]
    """
    return (x + (div - 1)) // div


@tensor_method
@jit
def sigmoid(x: tensor) -> tensor:
    """``1 / (1 + exp(-x))`` of fp32 or fp64, a block or scalar, whose shape and dtype stay. Raises ValueError for other
    dtypes.

    >>> tl.sigmoid(tl.arange(0, 4).to(tl.float32))
    [0.5, 0.7311, 0.8808, 0.9526]
    """
    return 1 / (1 + math.exp(-x))


@tensor_method
@jit
def softmax(x: tensor, dim: object = None, keep_dims: object = False, ieee_rounding: object = False) -> tensor:
    """The softmax of ``x`` along ``dim`` (0 by default), whose shape stays; floats under 32 bits give fp32. Raises
    ValueError for integers, and for an axis that there is not. ``keep_dims`` and ``ieee_rounding`` as for ``max``
    and ``fdiv``.

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
    """The program index (i, j) of a ``size_i`` x ``size_j`` grid, reordered so that groups of ``size_g`` rows go column
    by column: two integers, as ``i`` and ``j`` are.

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
    """The 1-D view of a block, in row-major order unless ``can_reorder``; the dtype stays.

    >>> tl.ravel(tl.full((2, 2), 3, tl.int32))
    [3, 3, 3, 3]
    """
    return core.reshape(x, [x.numel], can_reorder=can_reorder)


@jit
def squeeze(x: tensor, dim: core.constexpr) -> tensor:
    """``x`` without the axis ``dim``, whose extent is 1; the dtype stays. Raises ValueError for another extent, and for
    an axis that there is not.

    >>> tl.squeeze(tl.full((1, 4), 3, tl.int32), 0)
    [3, 3, 3, 3]
    """
    return core.reshape(x, _without(x.shape, _counted_axis(dim, len(x.shape))))


@jit
def unsqueeze(x: tensor, dim: core.constexpr) -> tensor:
    """An axis of extent 1 inserted at ``dim``, numbered in the result: ``expand_dims`` of one axis.

    >>> tl.unsqueeze(tl.arange(0, 2), 1)
    [[0], [1]]
    """
    return core.expand_dims(x, dim)


@jit
def interleave(a: Operand, b: Operand) -> tensor:
    """The elements of two blocks of shapes that broadcast in turn along the last axis, which is twice as long; two
    scalars make a block of two. The dtype is their common one. Raises ValueError for shapes that do not broadcast.

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
    """The larger of two blocks or scalars, for reductions.

    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     tl.store(out, tl.reduce(tl.load(x + tl.arange(0, 4)), 0, tl.standard._elementwise_max))
    >>> out = np.zeros(1, np.int32)
    >>> compiled = kernel[(1,)](np.array([3, 9, 4, 1], np.int32), out)
    >>> out.tolist()
    [9]
    """
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
    """The maximum of numbers along ``axis`` (one, several in a tuple, or None for all), which is left out of the shape,
    or 1 where ``keep_dims``; with ``return_indices``, along one axis or None, also its int32 index, the first one of
    equals unless ``return_indices_tie_break_left`` is off. NaNs lose. dtypes under 32 bits give fp32 or int32.
    Raises ValueError for an axis that there is not.

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
    """The index (int32) of the maximum along ``axis``, the first one of equals unless ``tie_break_left`` is off; of a
    block of numbers. Its shape is that of ``input`` without the axis, or with 1 there where ``keep_dims``; a scalar
    index of the block in row-major order for ``axis`` None. Raises ValueError for an axis that there is not.

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
    """The index (int32) of the minimum along ``axis``; see ``argmax``.

    >>> tl.argmin((tl.arange(0, 4) - 2) * (tl.arange(0, 4) - 2), axis=0)
    2
    """
    _, index = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)
    return index


# Sums and bits.


@jit
def _sum_combine(a: tensor, b: tensor) -> tensor:
    """The sum of two blocks or scalars, for reductions.

    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     tl.store(out, tl.reduce(tl.load(x + tl.arange(0, 4)), 0, tl.standard._sum_combine))
    >>> out = np.zeros(1, np.int32)
    >>> compiled = kernel[(1,)](np.array([3, 9, 4, 1], np.int32), out)
    >>> out.tolist()
    [17]
    """
    return a + b


@tensor_method
@jit
def sum(input: tensor, axis: object = None, keep_dims: object = False, dtype: core.constexpr = None) -> tensor:
    """The sum of numbers along ``axis`` (one, several in a tuple, or None for all), which is left out of the shape, or
    1 where ``keep_dims``. Integers under 32 bits accumulate in 32, others in their own dtype; ``dtype`` says
    otherwise. Raises ValueError for an axis that there is not.

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
    """The exclusive or of two blocks or scalars of integers, for reductions.

    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     tl.store(out, tl.reduce(tl.load(x + tl.arange(0, 4)), 0, tl.standard._xor_combine))
    >>> out = np.zeros(1, np.int32)
    >>> compiled = kernel[(1,)](np.array([3, 9, 4, 1], np.int32), out)
    >>> out.tolist()
    [15]
    """
    return a ^ b


@tensor_method
@jit
def xor_sum(input: tensor, axis: object = None, keep_dims: object = False) -> tensor:
    """The exclusive or of integers along ``axis``, whose dtype stays; the shape as for ``sum``. Floats fail an
    assertion of the compile.

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
    """The bitwise or of integers along ``axis``, whose dtype stays; the shape as for ``sum``. Floats fail an assertion
    of the compile.

    >>> tl.reduce_or(tl.arange(0, 4) * 4, axis=0)
    12
    """
    core.static_assert(input.type.scalar.is_int(), "reduce_or only supported for integers")
    return core.reduce(input, axis, _or_combine, keep_dims=keep_dims)


# Scans.


@tensor_method
@jit
def cumsum(input: tensor, axis: object = 0, reverse: object = False, dtype: core.constexpr = None) -> tensor:
    """The inclusive sum of numbers along ``axis`` (or along several, in row-major order of them), from the end where
    ``reverse``; the shape stays. Integers under 32 bits give 32, bf16 gives fp32 below the level 3.9, others their own
    dtype; ``dtype`` says otherwise. Raises ValueError for an axis that there is not.

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
def cumprod(input: tensor, axis: object = 0, reverse: object = False, dtype: core.constexpr = None) -> tensor:
    """The inclusive product of numbers along ``axis``, from the end where ``reverse``; the shape stays. From the level
    3.9 on integers under 32 bits give 32, below it bf16 gives fp32; others stay, and ``dtype`` says otherwise. Raises
    ValueError for an axis that there is not.

    >>> tl.cumprod(tl.arange(1, 5))
    [1, 2, 6, 24]
    """
    return core.associative_scan(input.to(_pick_cumprod_dtype(input.dtype, dtype)), axis, _prod_combine, reverse)


def _elsewhere(name: str) -> Any:
    """Names that Triton has here too: the sorting networks, which are built on this module, and two builtins."""
    if name in ("sort", "topk", "bitonic_merge", "flip", "sort_impl"):
        return getattr(import_module("tritonx.language.sort"), name)
    if name in ("zeros", "zeros_like"):
        return getattr(core, name)
    raise AttributeError(f"module 'tritonx.language.standard' has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = _elsewhere
