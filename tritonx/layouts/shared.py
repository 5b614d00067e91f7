"""From shared-memory encodings to linear layouts (offset, block) → (dim0, dim1, ...); offsets count elements.

A padded layout is linear but for its padding, which is added to the offset afterwards: `linear_layout` gives the
linear part, `padded_offset` the place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tritonx.layouts.dims import BLOCK, OFFSET, tensor_dims
from tritonx.layouts.encodings import (
    Ints,
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    RotatingSharedEncoding,
    SharedEncoding,
    SharedLinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.tiling import bases_extent, fit, shape_per_cta, spread


def shared_layout(encoding: SharedEncoding, shape: Ints) -> LinearLayout:
    """The layout of a buffer of (power of two) `shape`. Prefer the memoised `linear_layout` of this package."""
    if len(shape) != encoding.rank:
        raise LayoutError(f"an encoding of rank {encoding.rank} cannot lay out the shape {list(shape)}")
    match encoding:
        case SwizzledSharedEncoding() | RotatingSharedEncoding():
            layout = _swizzled(encoding, shape)
        case NvmmaSharedEncoding():
            layout = _nvmma(encoding, shape)
        case PaddedSharedEncoding():
            layout = _padded(encoding, shape)
        case SharedLinearEncoding():
            layout = _bases(encoding.offset, encoding.block, shape)
    return LinearLayout([(OFFSET, layout.columns(OFFSET)), (BLOCK, layout.columns(BLOCK))], layout.outs)


def padded_offset(encoding: PaddedSharedEncoding, offset: int) -> int:
    """Where the element of a linear offset is stored, in elements."""
    return offset + sum(
        offset // interval * padding for interval, padding in zip(encoding.intervals, encoding.paddings, strict=True)
    )


def padded_size(encoding: PaddedSharedEncoding, elements: int) -> int:
    """Elements of storage for `elements` elements; no padding after the last."""
    return padded_offset(encoding, elements - 1) + 1


def transposed_memory(encoding: SharedEncoding, order: Sequence[int], shape: Ints) -> SharedEncoding | None:
    """The encoding of memory of which a view has `encoding` and `shape`, where dim i of the view is dim `order[i]` of
    the memory; None where no encoding of that kind says so."""
    inner = tuple(shape[order.index(dim)] for dim in range(len(shape)))

    def back(values: Ints) -> Ints:
        return tuple(values[order.index(dim)] for dim in range(len(order)))

    match encoding:
        case SwizzledSharedEncoding() | RotatingSharedEncoding():
            found: SharedEncoding = replace(
                encoding, order=tuple(order[dim] for dim in encoding.order), cga=tuple(map(back, encoding.cga))
            )
        case NvmmaSharedEncoding(rank=2):
            found = replace(
                encoding, transposed=encoding.transposed ^ (list(order) == [1, 0]), cga=tuple(map(back, encoding.cga))
            )
        case SharedLinearEncoding():
            found = replace(encoding, offset=tuple(map(back, encoding.offset)), block=tuple(map(back, encoding.block)))
        case _:
            return None
    names = {dim: f"dim{order.index(i)}" for i, dim in enumerate(tensor_dims(len(order)))}
    view = shared_layout(found, inner).rename_outs(names).order_outs(tensor_dims(len(order)))
    return found if view == shared_layout(encoding, shape) else None


def swizzle_phase(encoding: SwizzledSharedEncoding | RotatingSharedEncoding, row: int) -> int:
    """The number that is XORed with the number of a group of `vec` elements in this row."""
    phase = row // encoding.per_phase % encoding.max_phase
    if isinstance(encoding, RotatingSharedEncoding):
        phase ^= row // encoding.max_phase // encoding.per_phase % encoding.max_phase
    return phase


def _swizzled(e: SwizzledSharedEncoding | RotatingSharedEncoding, shape: Ints) -> LinearLayout:
    dims = tensor_dims(e.rank)
    per_cta = shape_per_cta(e.cga, shape)
    if e.rank == 1:
        return fit(LinearLayout.identity(per_cta[0], OFFSET, dims[0]), e.cga, shape)
    columns, rows = per_cta[e.order[0]], per_cta[e.order[1]]
    bases = [(1 << i, 0) for i in range(columns.bit_length() - 1)]
    for i in range(rows.bit_length() - 1):
        bases.append((e.vec * swizzle_phase(e, 1 << i) % columns, 1 << i))
    tile = LinearLayout.from_bases({OFFSET: bases}, {dims[e.order[0]]: columns, dims[e.order[1]]: rows})
    for d in e.order[2:]:
        tile = tile * LinearLayout.identity(per_cta[d], OFFSET, dims[d])
    return fit(tile, e.cga, shape)


# How many rows share a phase and how many phases there are, for each swizzle width in bytes (PTX ISA, "Swizzling
# modes").
NVMMA_PHASES = {0: (1, 1), 32: (4, 2), 64: (2, 4), 128: (1, 8)}

TMA_BOX_LIMIT = 256
"""Largest extent of a tensor-memory copy along any dim (CUDA driver API, cuTensorMapEncodeTiled)."""


def tma_box(e: NvmmaSharedEncoding, per_cta: Ints) -> Ints:
    """The part of a CTA's tile that one tensor-memory copy moves, in elements as they lie in shared memory."""
    contiguous = 0 if e.transposed else len(per_cta) - 1
    box = [min(size, TMA_BOX_LIMIT) for size in per_cta]
    if e.swizzling_byte_width:
        width = 8 * e.swizzling_byte_width // e.element_bit_width
        box[contiguous] = min(box[contiguous], width // 2 if e.fp4_padded else width)
    return tuple(box)


def nvmma_core_tile(e: NvmmaSharedEncoding) -> LinearLayout:
    """Eight rows of one swizzle width: offset → (dim0 rows, dim1 columns).

    fp4-padded buffers hold 8 bytes of values then 8 of padding; the padding's offset bit is a copy.
    """
    columns = 8 * max(16, e.swizzling_byte_width) // e.element_bit_width
    per_phase, max_phase = NVMMA_PHASES[e.swizzling_byte_width]
    vec = 128 // e.element_bit_width

    def packed(column: int) -> int:
        return column // 16 * 8 + column % 8 if e.fp4_padded else column

    bases = [(0, packed(1 << i)) for i in range(columns.bit_length() - 1)]
    bases += [(row, packed(vec * (row // per_phase % max_phase))) for row in (1, 2, 4)]
    return LinearLayout.from_bases({OFFSET: bases}, {"dim0": 8, "dim1": columns // 2 if e.fp4_padded else columns})


def _nvmma(e: NvmmaSharedEncoding, shape: Ints) -> LinearLayout:
    rank = e.rank
    dims = tensor_dims(rank)
    per_cta = shape_per_cta(e.cga, shape)
    per_cta_sizes = dict(zip(dims, per_cta, strict=True))
    box = tma_box(e, per_cta)
    if e.swizzling_byte_width == 0:
        tile = spread(OFFSET, box, list(reversed(range(rank)))).order_outs(dims)
        return fit(tile.grow_outs(per_cta_sizes, OFFSET), e.cga, shape)
    # The contiguous dim last. Rows are counted by all dims but the last one of the shape or, transposed, by that one
    # alone, whatever the rank is: a row is then as long as the others together.
    stored = (*box[1:], box[0]) if e.transposed else box
    rows, columns = math.prod(box[:-1]), box[-1]
    if e.transposed:
        rows, columns = columns, rows
    tile = nvmma_core_tile(e)
    if rows < tile.out_size("dim0") or columns < tile.out_size("dim1"):
        raise LayoutError(
            f"nvmma_shared with a swizzle of {e.swizzling_byte_width} bytes needs at least "
            f"{tile.out_size('dim0')} rows of {tile.out_size('dim1')} elements, the tile has {rows} of {columns}"
        )
    tile = tile.grow_outs({"dim0": rows, "dim1": columns}, OFFSET)
    stored_dims = (*dims[1:], dims[0]) if e.transposed else dims
    # Packed indices hold the first dim lowest; all dims together are flattened with the contiguous one fastest.
    tile = tile.order_outs(("dim1", "dim0")).reshape_outs(
        list(zip(reversed(stored_dims), reversed(stored), strict=True))
    )
    tile = tile.order_outs(dims).grow_outs(per_cta_sizes, OFFSET)
    return fit(tile, e.cga, shape)


def _padded(e: PaddedSharedEncoding, shape: Ints) -> LinearLayout:
    if e.offset is not None:
        return _bases(e.offset, e.block, shape)
    assert e.order is not None and e.shape is not None
    per_cta = shape_per_cta(e.cga, shape)
    return fit(spread(OFFSET, per_cta, e.order), e.cga, shape)


def _bases(offset: tuple[Ints, ...], block: tuple[Ints, ...], shape: Ints) -> LinearLayout:
    extent = bases_extent(len(shape), offset, block)
    if extent != shape:
        raise LayoutError(f"shared bases of extent {list(extent)} do not lay out the shape {list(shape)}")
    layout = LinearLayout.from_bases(
        {OFFSET: offset, BLOCK: block}, dict(zip(tensor_dims(len(shape)), shape, strict=True))
    )
    if not layout.is_surjective:
        raise LayoutError(f"shared bases have no place for some elements of the shape {list(shape)}")
    return layout
