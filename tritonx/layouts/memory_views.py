"""Encodings of views of shared memory: the same bytes with dims permuted or under another shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tritonx.layouts.dims import BLOCK, OFFSET, tensor_dims
from tritonx.layouts.encodings import (
    Ints,
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    SharedEncoding,
    SharedLinearEncoding,
)
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.infer import inverse_permutation
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.lookup import linear_layout
from tritonx.layouts.shared import transposed_memory
from tritonx.layouts.tiling import storage_shape


def permuted_memory(encoding: SharedEncoding, order: Sequence[int], shape: Ints) -> SharedEncoding:
    """The encoding of a view whose dim i is dim `order[i]` of memory with `encoding` and `shape`."""
    if list(order) == list(range(len(order))):
        return encoding
    found = transposed_memory(encoding, inverse_permutation(order), shape)
    if found is not None:
        return found
    if isinstance(encoding, PaddedSharedEncoding):
        return _padded(encoding, _permuted(_unpadded(encoding, shape), order))
    return _linear(_permuted(linear_layout(encoding, shape), order), alignment(encoding))


def reshaped_memory(encoding: SharedEncoding, shape: Ints, new_shape: Ints) -> SharedEncoding:
    """The encoding of a view of `new_shape` of memory with `encoding` and `shape`: elements in row-major order."""
    if isinstance(encoding, PaddedSharedEncoding):
        return _padded(encoding, _reshaped(_unpadded(encoding, shape), shape, new_shape))
    layout = _reshaped(linear_layout(encoding, shape), shape, new_shape)
    if isinstance(encoding, NvmmaSharedEncoding) and not encoding.cga:
        inner = 0 if encoding.transposed else -1
        kept = replace(encoding, rank=len(new_shape))
        if shape[inner] == new_shape[inner]:
            try:
                if linear_layout(kept, new_shape) == layout:
                    return kept
            except LayoutError:
                pass
    return _linear(layout, alignment(encoding))


def alignment(encoding: SharedEncoding) -> int:
    """Bytes that an allocation is aligned to at least."""
    match encoding:
        case NvmmaSharedEncoding():
            return 128 * max(1, encoding.swizzling_byte_width // 16)
        case SharedLinearEncoding():
            return encoding.alignment
        case _:
            return 16


def _permuted(layout: LinearLayout, order: Sequence[int]) -> LinearLayout:
    inverse = inverse_permutation(order)
    dims = tensor_dims(len(order))
    return layout.rename_outs({dim: f"dim{inverse[i]}" for i, dim in enumerate(dims)}).order_outs(dims)


def _reshaped(layout: LinearLayout, shape: Ints, new_shape: Ints) -> LinearLayout:
    old, new = tensor_dims(len(shape)), tensor_dims(len(new_shape))
    sizes = list(zip(new, storage_shape(new_shape), strict=True))
    return layout.order_outs(tuple(reversed(old))).reshape_outs(list(reversed(sizes))).order_outs(new)


def _linear(layout: LinearLayout, aligned: int) -> SharedLinearEncoding:
    return SharedLinearEncoding(layout.bases(OFFSET), layout.bases(BLOCK), aligned)


def _unpadded(encoding: PaddedSharedEncoding, shape: Ints) -> LinearLayout:
    """The linear part, without the padding."""
    return linear_layout(encoding, shape)


def _padded(encoding: PaddedSharedEncoding, layout: LinearLayout) -> PaddedSharedEncoding:
    """The same padding behind another linear part."""
    return PaddedSharedEncoding(
        encoding.intervals, encoding.paddings, offset=layout.bases(OFFSET), block=layout.bases(BLOCK)
    )
