"""The language as NumPy has it: what `tl` is where a kernel's text runs as Python, one program at a time.

It has what the `Writer` writes. Blocks are arrays, scalars are NumPy's; what is indexed, sliced and broadcast is so by
NumPy itself. Kernels convert both operands to one dtype, so that NumPy's promotion is not asked.
"""

# pyright: reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tritonx_testing.conformance.case import Array

Axes = int | tuple[int, ...] | None
Blocks = Array | tuple[Array, ...]
Combine = Callable[..., Blocks]


@dataclass(frozen=True)
class Pointer:
    """An array's elements by number, flat: a block of pointers has a block of numbers."""

    array: Array
    index: Array | int = 0

    def __add__(self, other: Array) -> Pointer:
        return Pointer(self.array, self.index + other)

    def __getitem__(self, index: Array) -> Pointer:
        return Pointer(self.array, np.asarray(self.index)[index])


@dataclass(frozen=True)
class Window:
    """A block pointer: a block of an array of `extents`, at `offsets`."""

    base: Pointer
    extents: tuple[Array, ...]
    strides: tuple[Array, ...]
    offsets: tuple[Array, ...]
    block: tuple[int, ...]

    def places(self) -> tuple[Array, Array]:
        """The numbers of its elements, and which are inside the array."""
        index: Array = np.zeros(self.block, np.int64)
        inside: Array = np.ones(self.block, np.bool_)
        axes = zip(self.extents, self.strides, self.offsets, self.block, strict=True)
        for axis, (extent, stride, offset, count) in enumerate(axes):
            at = np.expand_dims(int(offset) + np.arange(count), [a for a in range(len(self.block)) if a != axis])
            index, inside = index + at * stride, inside & (at >= 0) & (at < extent)
        return index + self.base.index, inside


class NumpyLanguage:
    """`tl` for program `pid` of a grid of one axis."""

    int1, int8, int16, int32, int64 = np.bool_, np.int8, np.int16, np.int32, np.int64
    uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
    float16, bfloat16, float32, float64 = np.float16, ml_dtypes.bfloat16, np.float32, np.float64
    constexpr = object
    range = static_range = range

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def program_id(self, axis: int) -> np.int32:
        return np.int32(self.pid if axis == 0 else 0)

    # --- memory

    def load(
        self,
        at: Pointer | Window,
        mask: Array | None = None,
        other: Array | int = 0,
        boundary_check: tuple[int, ...] = (),
        padding_option: str = "",
    ) -> Array:
        if isinstance(at, Window):
            index, inside = at.places()
            array = at.base.array
            return np.where(inside, array[np.where(inside, index, 0)], array.dtype.type(0))
        index = np.asarray(at.index)
        if mask is None:
            return at.array[index]
        index, mask = np.broadcast_arrays(index, mask)
        return np.where(mask, at.array[np.where(mask, index, 0)], np.asarray(other).astype(at.array.dtype))

    def store(
        self, at: Pointer | Window, value: Array, mask: Array | bool = True, boundary_check: tuple[int, ...] = ()
    ) -> None:
        if isinstance(at, Window):
            index, inside = at.places()
            at.base.array[index[inside]] = value[inside]
            return
        index, value, mask = np.broadcast_arrays(at.index, value, mask)
        at.array[index[mask]] = value[mask]

    def atomic_add(self, at: Pointer, value: Array, mask: Array | bool = True) -> None:
        index, value, mask = np.broadcast_arrays(at.index, value, mask)
        np.add.at(at.array, index[mask], value[mask])

    def atomic_max(self, at: Pointer, value: Array, mask: Array | bool = True) -> None:
        index, value, mask = np.broadcast_arrays(at.index, value, mask)
        np.maximum.at(at.array, index[mask], value[mask])

    def make_block_ptr(
        self, base: Pointer, shape: Array, strides: Array, offsets: Array, block_shape: Array, order: Array
    ) -> Window:
        return Window(base, tuple(shape), tuple(strides), tuple(offsets), tuple(block_shape))

    def advance(self, window: Window, offsets: Sequence[Array]) -> Window:
        moved = tuple(a + b for a, b in zip(window.offsets, offsets, strict=True))
        return Window(window.base, window.extents, window.strides, moved, window.block)

    # --- elements

    def arange(self, start: int, end: int) -> Array:
        return np.arange(start, end, dtype=np.int32)

    def full(self, shape: Array, value: Array, dtype: Array) -> Array:
        return np.full(shape, value).astype(dtype)

    def zeros(self, shape: Array, dtype: Array) -> Array:
        return np.zeros(shape, dtype)

    def cast(self, x: Array, dtype: Array, bitcast: bool = False) -> Array:
        return np.asarray(x).view(dtype)[()] if bitcast else np.asarray(x).astype(dtype)[()]

    def where(self, condition: Array, x: Array, y: Array) -> Array:
        return np.where(condition, x, y)[()]

    def maximum(self, x: Array, y: Array) -> Array:
        return np.fmax(x, y)

    def minimum(self, x: Array, y: Array) -> Array:
        return np.fmin(x, y)

    def abs(self, x: Array) -> Array:
        return np.abs(x)

    def map_elementwise(self, function: Callable[..., Array], *blocks: Array) -> Array:
        results = [function(*elements) for elements in zip(*(np.ravel(b) for b in blocks), strict=True)]
        return np.array(results, blocks[0].dtype).reshape(blocks[0].shape)

    # --- shapes

    def reshape(self, x: Array, shape: Array) -> Array:
        return np.reshape(x, shape)

    def ravel(self, x: Array) -> Array:
        return np.ravel(x)

    def expand_dims(self, x: Array, axis: Array) -> Array:
        return np.expand_dims(x, axis)

    def broadcast_to(self, x: Array, shape: Array) -> Array:
        return np.broadcast_to(x, shape)

    def permute(self, x: Array, dims: Array) -> Array:
        return np.transpose(x, dims)

    def trans(self, x: Array) -> Array:
        return np.swapaxes(x, -1, -2)

    def join(self, x: Array, y: Array) -> Array:
        return np.stack(np.broadcast_arrays(x, y), -1)

    def split(self, x: Array) -> tuple[Array, Array]:
        return x[..., 0], x[..., 1]

    def interleave(self, x: Array, y: Array) -> Array:
        joined = self.join(x, y)
        return joined.reshape(*joined.shape[:-2], -1)

    def flip(self, x: Array, dim: int) -> Array:
        return np.flip(x, dim)

    def gather(self, x: Array, index: Array, axis: int) -> Array:
        return np.take_along_axis(x, index, axis)

    def sort(self, x: Array, descending: bool = False) -> Array:
        made = np.sort(x, -1)
        return np.flip(made, -1) if descending else made

    def topk(self, x: Array, k: int) -> Array:
        return self.sort(x, True)[..., :k]

    def histogram(self, x: Array, bins: int) -> Array:
        return np.bincount(x, minlength=bins).astype(np.int32)

    # --- rows

    def _rows(self, x: Array, axis: Axes) -> tuple[Array, tuple[int, ...], list[int]]:
        """The named axes as one, at the end: the block, the other axes' extents, and the named ones."""
        rank = np.ndim(x)
        axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
        named = sorted(a % rank for a in axes)
        others = [a for a in range(rank) if a not in named]
        kept = tuple(x.shape[a] for a in others)
        return np.transpose(x, [*others, *named]).reshape((*kept, -1)), kept, named

    def _reduced(self, x: Array, axis: Axes, keep_dims: bool, function: Callable[[Array, Array], Array]) -> Array:
        rows, _, named = self._rows(x, axis)
        made = rows[..., 0]
        for i in range(1, rows.shape[-1]):
            made = function(made, rows[..., i])
        return np.expand_dims(made, named) if keep_dims else made[()]

    def sum(self, x: Array, axis: Axes = None, keep_dims: bool = False) -> Array:
        """Of numbers of fewer bits than 32 in 32, float16 aside, as in Triton."""
        x = np.asarray(x)
        if x.dtype.itemsize < 4 and x.dtype != np.float16:
            x = x.astype(np.int32 if x.dtype.kind in "biu" else np.float32)
        return self._reduced(x, axis, keep_dims, np.add)

    def max(self, x: Array, axis: Axes = None, keep_dims: bool = False) -> Array:
        return self._reduced(x, axis, keep_dims, np.fmax)

    def min(self, x: Array, axis: Axes = None, keep_dims: bool = False) -> Array:
        return self._reduced(x, axis, keep_dims, np.fmin)

    def xor_sum(self, x: Array, axis: Axes = None, keep_dims: bool = False) -> Array:
        return self._reduced(x, axis, keep_dims, np.bitwise_xor)

    def reduce_or(self, x: Array, axis: Axes, keep_dims: bool = False) -> Array:
        return self._reduced(x, axis, keep_dims, np.bitwise_or)

    def argmax(self, x: Array, axis: int | None, keep_dims: bool = False) -> Array:
        return np.argmax(x, axis, keepdims=keep_dims).astype(np.int32)

    def argmin(self, x: Array, axis: int | None, keep_dims: bool = False) -> Array:
        return np.argmin(x, axis, keepdims=keep_dims).astype(np.int32)

    def reduce(self, x: Blocks, axis: Axes, combine_fn: Combine, keep_dims: bool = False) -> Blocks:
        blocks = _blocks(x)
        rows = [self._rows(b, axis)[0] for b in blocks]
        made: tuple[Array, ...] = tuple(r[..., 0] for r in rows)
        for i in range(1, rows[0].shape[-1]):
            got = combine_fn(*made, *(r[..., i] for r in rows))
            made = _blocks(got)
        named = self._rows(blocks[0], axis)[2]
        made = tuple(np.expand_dims(m, named) if keep_dims else m[()] for m in made)
        return made if isinstance(x, tuple) else made[0]

    def associative_scan(self, x: Blocks, axis: Axes, combine_fn: Combine, reverse: bool = False) -> Blocks:
        blocks = _blocks(x)
        rows = [self._rows(b, axis)[0] for b in blocks]
        order = list(range(rows[0].shape[-1]))[:: -1 if reverse else 1]
        results = [np.empty_like(r) for r in rows]
        made: tuple[Array, ...] = tuple(r[..., order[0]] for r in rows)
        for n, i in enumerate(order):
            if n:
                got = combine_fn(*made, *(r[..., i] for r in rows))
                made = _blocks(got)
            for result, one in zip(results, made, strict=True):
                result[..., i] = one
        whole = tuple(self._back(r, b, axis) for r, b in zip(results, blocks, strict=True))
        return whole if isinstance(x, tuple) else whole[0]

    def _back(self, rows: Array, like: Array, axis: Axes) -> Array:
        """The inverse of `_rows`."""
        _, kept, named = self._rows(like, axis)
        others = [a for a in range(like.ndim) if a not in named]
        whole = rows.reshape((*kept, *(like.shape[a] for a in named)))
        return np.transpose(whole, np.argsort([*others, *named]))

    def cumsum(self, x: Array, axis: Axes = 0, reverse: bool = False) -> Blocks:
        return self.associative_scan(x, axis, np.add, reverse)

    def cumprod(self, x: Array, axis: Axes = 0, reverse: bool = False) -> Blocks:
        return self.associative_scan(x, axis, np.multiply, reverse)

    def dot(self, a: Array, b: Array, acc: Array | None = None, input_precision: str = "") -> Array:
        made = np.matmul(a.astype(np.float32), b.astype(np.float32))
        return made if acc is None else made + acc


def _blocks(x: Blocks) -> tuple[Array, ...]:
    return x if isinstance(x, tuple) else (x,)
