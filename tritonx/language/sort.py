"""Sorting networks on the last axis: ``sort``, ``topk``, ``bitonic_merge``, ``flip``.

The last axis, of 2^n elements, is seen as n axes of two. Element and partner along one of these axes change places by
exclusive or: ``x ^ xor_sum(x, axis)`` is the partner of each element, because the sum of two is ``x ^ partner``. It
works on bits, so values are viewed as integers of their width.

What is sorted are integers in the order of the values (``_as_keys``), a pair of which is its minimum and its maximum:
one instruction for each where a thread knows which one it keeps.
"""

# Parameters of kernels have no Python types, and constexpr defaults are not those of their annotations.
# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportOperatorIssue=false
# pyright: reportIndexIssue=false, reportCallIssue=false, reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritonx.kernel.declaration import declare as jit
from tritonx.language import core, standard
from tritonx.language.builtins.builtin import tensor_method
from tritonx.language.values.constexpr_function import constexpr_function

ASCENDING, DESCENDING = core.constexpr(0), core.constexpr(True)


@constexpr_function
def _last_axis(dim: object, rank: object) -> int:
    """``dim`` as the number of the last axis, the only one supported; None is the last one."""
    if dim is not None and dim not in (rank - 1, -1):
        raise ValueError("only minor dimension is currently supported")
    return rank - 1


@constexpr_function
def _get_flip_dim(dim: object, shape: object) -> int:
    """The axis a flip is along, counted from the front; the last one for None."""
    rank = len(shape)
    if dim is None:
        return rank - 1
    if not -rank <= dim < rank:
        raise ValueError(f"flip: invalid axis {dim} of a block of rank {rank}")
    return dim % rank


@constexpr_function
def _reversed_along(axis: int) -> tuple[slice, ...]:
    """The index that reverses an axis."""
    return (*[slice(None)] * axis, slice(None, None, -1))


@constexpr_function
def _cube_shape(shape: Any, axis: object) -> list[int]:
    """``shape`` with one axis of 2^n elements written as n axes of two."""
    extents = [int(s) for s in shape]
    return [*extents[:axis], *[2] * (extents[axis].bit_length() - 1), *extents[axis + 1 :]]


@constexpr_function
def _indicator_shape(rank: object, axis: object) -> list[int]:
    return [2 if i == axis else 1 for i in range(rank)]


@constexpr_function
def _bits_dtype(dtype: Any) -> Any:
    """The integer dtype that holds the bits of ``dtype``; bool goes through a byte."""
    return core.get_int_dtype(dtype.primitive_bitwidth, True)


@jit
def _indicator(rank: core.constexpr, axis: core.constexpr):
    """A block of 0 and 1 that says on which side of ``axis`` an element of the cube is."""
    return core.reshape(core.arange(0, 2), _indicator_shape(rank, axis))


@jit
def _partner(bits, axis: core.constexpr):
    """Each element's neighbour along an axis of two."""
    return bits ^ standard.xor_sum(bits, axis, keep_dims=True)


@jit
def _compare_and_swap(keys, descending, axis: core.constexpr):
    """Order the pairs of integers along ``axis``: ascending where ``descending`` is 0, descending where it is 1."""
    bits = keys.to(_bits_dtype(keys.dtype), bitcast=True)
    other = _partner(bits, axis).to(keys.dtype, bitcast=True)
    keeps_larger = (descending ^ _indicator(len(keys.shape), axis)) != 0
    # Equal integers are the same, so that no element is lost or doubled whatever becomes of a pair of them.
    if keys.dtype.primitive_bitwidth > 32:  # processors have no minimum of these: it is a comparison and a choice
        return core.where((keys > other) != keeps_larger, other, keys)
    else:
        return core.where(keeps_larger, core.maximum(keys, other), core.minimum(keys, other))


@jit
def _bitonic_merge(keys, stage: core.constexpr, order: core.constexpr):
    """Merge bitonic runs of 2^``stage`` integers along the last axes of a cube.

    ``order``: 0 ascending, 1 descending, 2 alternating from run to run, ready for the next stage.
    """
    rank: core.constexpr = len(keys.shape)
    if order == 2:
        descending = _indicator(rank, rank - 1 - stage)
    else:
        descending = order
    for i in core.static_range(stage):
        keys = _compare_and_swap(keys, descending, rank - stage + i)
    return keys


@constexpr_function
def _last(dtype: core.dtype, descending: bool) -> int:
    """The number of an integer dtype that a sort puts last."""
    return dtype.get_int_min_value() if descending else dtype.get_int_max_value()


@constexpr_function
def _is_cube(*extents: int) -> bool:
    """Whether all of them are powers of two."""
    return all(extent & (extent - 1) == 0 for extent in extents)


@constexpr_function
def _stored(extent: int) -> int:
    """The power of two that an extent has in the IR."""
    return 1 << (extent - 1).bit_length()


@constexpr_function
def _with_last(shape: Sequence[int], extent: int) -> list[int]:
    """``shape`` with another last extent."""
    return [*[int(s) for s in shape[:-1]], int(extent)]


@jit
def _as_keys(x: core.tensor):
    """Integers in the order of ``x``, with all its bits: floats go by sign and magnitude, NaNs to the ends."""
    if x.dtype.is_floating():
        bits = x.to(_bits_dtype(x.dtype), bitcast=True)
        return bits ^ ((bits >> (x.dtype.primitive_bitwidth - 1)) & _last(bits.dtype, False))
    elif x.dtype.is_int1():
        return x.to(core.int8)
    else:
        return x


@jit
def _from_keys(keys, dtype: core.dtype):
    """What ``_as_keys`` did, undone."""
    if dtype.is_floating():
        bits = keys ^ ((keys >> (dtype.primitive_bitwidth - 1)) & _last(keys.dtype, False))
        return bits.to(dtype, bitcast=True)
    else:
        return keys.to(dtype)


@jit
def _sort_padded(x, k: core.constexpr, dim: core.constexpr, descending: core.constexpr):
    """``sort_impl`` of a last axis, or for a ``k``, that is no power of two: padding is sorted too, and comes last."""
    axis: core.constexpr = _last_axis(dim, len(x.shape))
    count: core.constexpr = x.shape[axis] if k is None else k
    kept: core.constexpr = _stored(count)
    keys = _as_keys(x)
    narrow: core.constexpr = keys.dtype
    keys = core._filled(keys, _last(narrow, descending))
    if kept == keys.shape[axis]:
        ordered = sort_impl(keys, descending=descending)
    else:
        ordered = sort_impl(keys, k=kept, descending=descending).to(narrow)
    result = _from_keys(core._cropped(ordered, _with_last(x.shape, count)), x.dtype)
    if kept == keys.shape[axis]:
        return result
    else:
        return result.to(standard._pick_extremum_dtype(x.dtype))  # as of a power of two


@jit
def sort_impl(x, k: core.constexpr = None, dim: core.constexpr = None, descending: core.constexpr = ASCENDING):
    """Sort the last axis, or give its ``k`` largest (``descending``) or smallest elements, sorted. The axis, and ``k``,
    are powers of two; ``dim`` other than the last is refused. The result has the dtype of ``x``.

    >>> @tritonx.jit
    ... def kernel(x, out):
    ...     tl.store(out + tl.arange(0, 2), tl.standard.sort_impl(tl.load(x + tl.arange(0, 4)), k=2, descending=True))
    >>> out = np.zeros(2, np.int32)
    >>> compiled = kernel[(1,)](np.array([3, 9, 4, 1], np.int32), out)
    >>> out.tolist()
    [9, 4]
    """
    axis: core.constexpr = _last_axis(dim, len(x.shape))
    core.static_assert(_is_cube(x.shape[axis]), "sort_impl: use sort or topk where an extent is no power of two")
    stages: core.constexpr = standard._log2(x.shape[axis])
    kept: core.constexpr = stages if k is None else standard._log2(k)
    order: core.constexpr = 1 if descending else 0
    keys = _as_keys(x)
    narrow: core.constexpr = keys.dtype
    cube = core.reshape(keys, _cube_shape(x.shape, axis))
    for stage in core.static_range(1, kept + 1):
        cube = _bitonic_merge(cube, stage, 2 if stage < stages else order)
    for stage in core.static_range(kept + 1, stages + 1):
        # Two neighbouring runs, one sorted up and one down: the better one of each pair, which is a bitonic run again.
        if descending:
            cube = standard.max(cube, len(cube.shape) - 1 - kept).to(narrow)
        else:
            cube = standard.min(cube, len(cube.shape) - 1 - kept).to(narrow)
        cube = _bitonic_merge(cube, kept, 2 if stage < stages else order)
    if k is None:
        return _from_keys(core.reshape(cube, x.shape), x.dtype)
    result = _from_keys(core.reshape(cube, x.shape[:-1] + (k,)), x.dtype)  # noqa: RUF005  # a kernel has no starred tuples
    if kept == stages:
        return result
    else:
        return result.to(standard._pick_extremum_dtype(x.dtype))  # in which `max` and `min` compute, as in Triton


@tensor_method
@jit
def sort(x: core.tensor, dim: core.constexpr = None, descending: core.constexpr = ASCENDING) -> core.tensor:
    """The last axis of a block of numbers sorted, from the largest down where ``descending``; shape and dtype stay.
    Zeros go by their signs; NaNs are at the ends, by theirs. Raises ValueError for a ``dim`` that is not the last axis.

    >>> tl.sort(tl.arange(0, 8) * 3 % 8)
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    if _is_cube(*x.shape):
        return sort_impl(x, dim=dim, descending=descending)
    else:
        return _sort_padded(x, None, dim, descending)


@jit
def topk(
    x: core.tensor, k: core.constexpr, dim: core.constexpr = None, descending: core.constexpr = DESCENDING
) -> core.tensor:
    """The ``k`` largest elements of the last axis, descending, or the ``k`` smallest, ascending, without
    ``descending``; ``k`` is a compile-time int, and the last extent of the result. The dtype is that of ``max``, or
    stays where ``k`` is the whole axis. A ``k`` beyond the axis fails an assertion of the compile.

    >>> tl.topk(tl.arange(0, 8) * 3 % 8, 2)
    [7, 6]
    """
    core.static_assert(k > 0, "topk: k must be greater than 0")
    core.static_assert(k <= x.shape[-1], "topk: k must not exceed the size of the selected dimension")
    if _is_cube(*x.shape, k):
        return sort_impl(x, k=k, dim=dim, descending=descending)
    else:
        return _sort_padded(x, k, dim, descending)


@jit
def bitonic_merge(x: core.tensor, dim: core.constexpr = None, descending: core.constexpr = ASCENDING) -> core.tensor:
    """Sort a last axis that is bitonic already (up then down, or down then up): the last stage of ``sort``. Shape and
    dtype stay; ``dim`` is the last axis or None, and another one is a ValueError.

    >>> tl.bitonic_merge(tl.abs(4 - tl.arange(0, 8)))
    [0, 1, 1, 2, 2, 3, 3, 4]
    """
    axis: core.constexpr = _last_axis(dim, len(x.shape))
    if not _is_cube(*x.shape):
        return _sort_padded(x, None, dim, descending)
    stages: core.constexpr = standard._log2(x.shape[axis])
    cube = core.reshape(_as_keys(x), _cube_shape(x.shape, axis))
    cube = _bitonic_merge(cube, stages, 1 if descending else 0)
    return _from_keys(core.reshape(cube, x.shape), x.dtype)


@tensor_method
@jit
def flip(x: core.tensor, dim: object = None) -> core.tensor:
    """The elements along ``dim`` (the last axis for None) in reverse; shape and dtype stay. Raises ValueError for an
    axis that there is not.

    >>> tl.flip(tl.arange(0, 4))
    [3, 2, 1, 0]
    """
    axis: core.constexpr = _get_flip_dim(dim, x.shape)
    if not _is_cube(*x.shape):
        return x[_reversed_along(axis)]
    bits = core.reshape(x.to(_bits_dtype(x.dtype), bitcast=True), _cube_shape(x.shape, axis))
    for i in core.static_range(standard._log2(x.shape[axis])):
        bits = _partner(bits, axis + i)
    return core.reshape(bits, x.shape).to(x.dtype, bitcast=True)
