"""Which bytes of shared memory a tile takes, and which of its elements each warp has.

Everything follows from the two layouts as they are written in the types: that of the memory, (offset, block) → index,
and that of the tile in registers, (register, lane, warp, block) → index.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tritonx.analysis.buffers import tensor_layout
from tritonx.dialects.gpu_layout import MemDescType, encoding_value
from tritonx.interpreter.asynchronous.shared import Buffer
from tritonx.ir.types import shape_of
from tritonx.layouts import LinearLayout, linear_layout, padded_size
from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.encodings import PaddedSharedEncoding
from tritonx.layouts.index_math import all_xors


@dataclass(frozen=True)
class View:
    """The value of a memory descriptor: part of a buffer. `base` in bytes from the start of a block's memory; elements
    lie at the layout's offsets, XORed with `start`."""

    buffer: Buffer
    base: int
    start: int = 0


NO_BUFFER = Buffer(0, ModuleOp([]), 0, 0)
"""Stands for any buffer where only offsets matter."""


def memory_layout(type_: MemDescType) -> LinearLayout:
    """(offset, block) → index of the allocation that a view belongs to, over the view's own dims."""
    shape = type_.alloc_shape[-len(type_.shape) :]
    return linear_layout(encoding_value(type_.encoding), tuple(shape))


def packed_over(layout: LinearLayout, shape: tuple[int, ...]) -> np.ndarray:
    """A layout that takes one input for each dim of a tile, applied to all of its indices: an array of the shape."""
    total: np.ndarray = np.zeros(shape, np.int64)
    for axis, (dim, size) in enumerate(zip(layout.in_dims, shape, strict=True)):
        image = np.array(all_xors(layout.columns(dim)), np.int64)[:size]
        total = total ^ image.reshape([size if i == axis else 1 for i in range(len(shape))])
    return total


@lru_cache(maxsize=512)
def element_offsets(type_: MemDescType, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(offset in elements, block) of each element of a view, arrays of its shape, behind a dimension for the copies of
    an element that several blocks have; padding is in."""
    layout = memory_layout(type_)
    inverse = layout.pseudo_inverse()
    packed = packed_over(inverse, type_.shape)
    offsets = _field(inverse, packed, OFFSET) ^ start
    encoding = encoding_value(type_.encoding)
    if isinstance(encoding, PaddedSharedEncoding):
        padding = zip(encoding.intervals, encoding.paddings, strict=True)
        offsets = offsets + sum(offsets // interval * amount for interval, amount in padding)
    copies = all_xors([1 << bit for bit, column in enumerate(layout.columns(BLOCK)) if not column])
    blocks = np.stack([_field(inverse, packed, BLOCK) ^ copy for copy in copies])
    return np.broadcast_to(offsets, blocks.shape), blocks


def addresses(type_: MemDescType, view: View, size: int, stride: int) -> np.ndarray:
    """The byte addresses, over all blocks, of the elements of a view and their copies (see `element_offsets`)."""
    offsets, blocks = element_offsets(type_, view.start)
    return offsets * size + (blocks * stride + view.base)


def addresses_in(block: int, type_: MemDescType, view: View, size: int, stride: int) -> np.ndarray:
    """Those of the copies that a block would take: its own where it has one; an array of the view's shape."""
    _, blocks = element_offsets(type_, view.start)
    own = np.argmax(blocks == block, axis=0)
    return np.take_along_axis(addresses(type_, view, size, stride), own[None], axis=0)[0]


def _field(layout: LinearLayout, packed: np.ndarray, dim: str) -> np.ndarray:
    if dim not in layout.out_dims:
        return np.zeros_like(packed)
    return packed >> layout.offset_of(dim) & layout.out_size(dim) - 1


def corner(type_: MemDescType, offsets: Iterable[int]) -> int:
    """The offset of an element of a view, by its index."""
    inverse = memory_layout(type_).pseudo_inverse()
    packed = inverse.apply_packed(dict(zip(inverse.in_dims, offsets, strict=True)))
    return inverse.coordinate(packed, OFFSET)


def entry_bytes(type_: MemDescType, element: int) -> int:
    """Bytes of a block from one entry of a leading dimension to the next, `type_` being that of an entry."""
    encoding = encoding_value(type_.encoding)
    count = linear_layout(encoding, type_.shape).in_size(OFFSET)
    return element * (padded_size(encoding, count) if isinstance(encoding, PaddedSharedEncoding) else count)


@lru_cache(maxsize=1024)
def shares(tensor: Attribute) -> tuple[tuple[int, int, np.ndarray], ...]:
    """(block, warp, flat row-major indices of the elements) for each warp that holds a part of a tile."""
    layout, shape = tensor_layout(tensor), shape_of(tensor)
    register, lane, warp, block = (
        np.array(all_xors(layout.columns(dim) if dim in layout.in_dims else ()), np.int64)
        for dim in (REGISTER, LANE, WARP, BLOCK)
    )
    thread = (lane[:, None] ^ register[None, :]).reshape(-1)
    found: list[tuple[int, int, np.ndarray]] = []
    for b, from_block in enumerate(block):
        for w, from_warp in enumerate(warp):
            found.append((b, w, _flat(layout, shape, thread ^ from_warp ^ from_block)))
    return tuple(found)


def _flat(layout: LinearLayout, shape: tuple[int, ...], packed: np.ndarray) -> np.ndarray:
    """Row-major numbers of packed indices, each once; without those that a shape that is no power of two leaves out."""
    total: np.ndarray = np.zeros_like(packed)
    inside: np.ndarray = np.ones(packed.shape, np.bool_)
    for dim, size in zip(layout.out_dims, shape, strict=True):
        index = _field(layout, packed, dim)
        inside &= index < size
        total = total * size + index
    return np.unique(total[inside])


def bytes_at(addresses: np.ndarray, size: int) -> int:
    """The set of the bytes of elements at these byte addresses."""
    if addresses.size == 0:
        return 0
    flat = addresses.reshape(-1)
    first = int(flat.min()) & ~7
    flags: np.ndarray = np.zeros(int(flat.max()) + size - first, np.bool_)
    for byte in range(size):
        flags[flat - first + byte] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little") << first


def bytes_between(start: int, size: int) -> int:
    """The set of `size` bytes from `start` on."""
    return ((1 << size) - 1) << start
