"""Descriptors of a tensor that is many subarrays of different lengths, one behind the other along an axis.

A *ragged* descriptor checks the bounds of one subarray in hardware: a load beyond its end gives zeros, a store there
writes nothing. Two axes precede the tensor's own. Along the ragged axis, which ends at 2³⁰, the index is
2³⁰ − size + row: it is outside as soon as ``row`` is beyond ``size``. The first axis, at index 2³⁰ with a stride of
2³⁴ − step elements, takes those 2³⁰ rows back, since addresses wrap at 2⁶⁴ bytes; the second, of one step, goes on to
the subarray's end. Triton's module ``triton.tools.ragged_tma``.
"""

# pyright: basic, reportArgumentType=false
# ruff: noqa: RUF005
# Kernels are not typed Python.

from __future__ import annotations

from collections.abc import Sequence

import tritonx.language as tl
from tritonx.runtime.jit import jit
from tritonx.tools.tensor_descriptor import ImpossibleDescriptor, TensorDescriptor, strides_of

__all__ = [
    "TensorDescriptor",
    "atomic_add_ragged",
    "create_ragged_descriptor",
    "load_ragged",
    "store_ragged",
    "to_ragged_indices",
]

ROWS = 1 << 30
"""The extent of the ragged axis; a subarray ends at it."""

LARGEST = 0x7FFF0000
"""The extent of the two axes in front: more than an index reaches."""


def create_ragged_descriptor(T, block_shape: Sequence[int], ragged_dim: int = 0) -> TensorDescriptor:
    """The ragged descriptor of a tensor of 2 or 3 axes, for blocks of ``block_shape``. The last axis cannot be ragged.
    Raises ImpossibleDescriptor.

    >>> from tritonx.tools import ragged_tma
    >>> ragged_tma.create_ragged_descriptor(np.zeros((8, 16), np.float32), [2, 16]).block_shape
    [1, 1, 2, 16]
    """
    shape, block = list(T.shape), list(block_shape)
    rank = len(shape)
    axis = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    if not 0 <= axis < rank - 1:
        raise ImpossibleDescriptor("last dimension cannot be ragged")
    if rank > 3:
        raise ImpossibleDescriptor("read-write ragged descriptors must have at most 3 dimensions")
    if len(block) != rank:
        raise ImpossibleDescriptor("block shape must have same length as tensor shape")
    if shape[axis] > ROWS:
        raise ImpossibleDescriptor("number of rows may not exceed 2**30")
    strides = strides_of(T)
    shape[axis] = ROWS
    step = strides[axis]
    return TensorDescriptor(T, [LARGEST, LARGEST, *shape], [2**34 - step, step, *strides], [1, 1, *block])


@jit
def to_ragged_indices(slice_off, slice_size, row):
    """The indices along the two axes in front and the ragged one, of ``row`` of a subarray; all are scalar integers.

    >>> from tritonx.tools import ragged_tma
    >>> @tritonx.jit
    ... def kernel(out):
    ...     front, second, ragged = ragged_tma.to_ragged_indices(3, 5, 1)
    ...     tl.store(out, second)
    >>> out = np.zeros(1, np.int32)
    >>> compiled = kernel[(1,)](out)
    >>> out.tolist()
    [8]
    """
    end = 0x40000000
    return end, slice_off + slice_size, end - slice_size + row


@jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """The block at ``coords`` of the subarray of ``slice_size`` rows from ``slice_off`` on; zeros outside it.

    >>> from tritonx.tools import ragged_tma
    >>> @tritonx.jit
    ... def second(rows, out):
    ...     block = ragged_tma.load_ragged(rows, 2, 1, [0, 0])  # one row, the third; then none
    ...     tl.store(out + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :], block)
    >>> rows, out = np.arange(16, dtype=np.float32).reshape(4, 4), np.empty((2, 4), np.float32)
    >>> compiled = second[(1,)](ragged_tma.create_ragged_descriptor(rows, [2, 4]), out)
    >>> out.tolist()
    [[8.0, 9.0, 10.0, 11.0], [0.0, 0.0, 0.0, 0.0]]
    """
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "TMA must be a read-write ragged descriptor")
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = TMA.load([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :])
    return tl.reshape(data, data.shape[2:])


@jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Store a block at ``coords`` of such a subarray; nothing outside it.

    >>> from tritonx.tools import ragged_tma
    >>> @tritonx.jit
    ... def fill(rows):
    ...     ragged_tma.store_ragged(rows, 2, 1, [0, 0], tl.full((2, 4), 7.0, tl.float32))
    >>> rows = np.zeros((4, 4), np.float32)
    >>> compiled = fill[(1,)](ragged_tma.create_ragged_descriptor(rows, [2, 4]))
    >>> rows[:, 0].tolist()
    [0.0, 0.0, 7.0, 0.0]
    """
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1] + data.shape)
    TMA.store([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :], data)


@jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Add a block to what is at ``coords`` of such a subarray, atomically; nothing outside it.

    >>> from tritonx.tools import ragged_tma
    >>> @tritonx.jit
    ... def add(rows):
    ...     ragged_tma.atomic_add_ragged(rows, 2, 1, [0, 0], tl.full((2, 4), 7.0, tl.float32))
    >>> rows = np.ones((4, 4), np.float32)
    >>> compiled = add[(1,)](ragged_tma.create_ragged_descriptor(rows, [2, 4]))
    >>> rows[:, 0].tolist()
    [1.0, 1.0, 8.0, 1.0]
    """
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1] + data.shape)
    TMA.atomic_add([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1 :], data)
