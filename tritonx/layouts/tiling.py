"""What the constructions of all encodings share: from the tile of one CTA to the layout of a whole tensor."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.layouts.dims import BLOCK, HARDWARE, tensor_dims
from tritonx.layouts.encodings import Bases
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout


def storage_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The powers of two that hold a logical shape."""
    for size in shape:
        if size < 1:
            raise LayoutError(f"a tensor extent must be positive, got {list(shape)}")
    return tuple(1 << (size - 1).bit_length() for size in shape)


def matrix_order(rank: int, *, row_major: bool = True) -> tuple[int, ...]:
    """Dims fastest first: the last two are the matrix, the others come after them."""
    order = list(reversed(range(rank)))
    if not row_major and rank > 1:
        order[0], order[1] = order[1], order[0]
    return tuple(order)


def operand_order(op_idx: int, rank: int) -> tuple[int, ...]:
    """Dims of a dot operand fastest first, K being the fastest."""
    return matrix_order(rank, row_major=op_idx == 0)


def k_dim(op_idx: int, rank: int) -> int:
    """The dim that a dot sums over, in operand `op_idx`."""
    return rank - 1 if op_idx == 0 else rank - 2


def spread(in_dim: str, sizes: Sequence[int], order: Sequence[int], *, copies_along: int | None = None) -> LinearLayout:
    """`in_dim` counts through a grid of `sizes`, dims in `order`; along `copies_along` it changes nothing."""
    dims = tensor_dims(len(sizes))
    result = LinearLayout.empty()
    for dim in order:
        make = LinearLayout.zeros if dim == copies_along else LinearLayout.identity
        result = result * make(sizes[dim], in_dim, dims[dim])
    return result


def bases_extent(rank: int, *groups: Bases) -> tuple[int, ...]:
    """The smallest power-of-two sizes that hold all these bases."""
    return tuple(
        1 << max((basis[d].bit_length() for bases in groups for basis in bases), default=0) for d in range(rank)
    )


def cga_layout(cga: Bases, rank: int) -> LinearLayout:
    """The map from block bits to the grid of CTA tiles."""
    return LinearLayout.from_bases({BLOCK: cga}, dict(zip(tensor_dims(rank), bases_extent(rank, cga), strict=True)))


def shape_per_cta(cga: Bases, shape: Sequence[int]) -> tuple[int, ...]:
    """The part of a (storage) shape that one CTA holds."""
    return tuple(max(1, size // split) for size, split in zip(shape, bases_extent(len(shape), cga), strict=True))


def operand_cga(cga: Bases, op_idx: int, rank: int) -> Bases:
    """Along K every CTA needs the whole operand: CTAs that differ only there hold copies."""
    k = k_dim(op_idx, rank)
    return tuple(tuple(0 if d == k else step for d, step in enumerate(basis)) for basis in cga)


def fit(tile: LinearLayout, cga: Bases, shape: Sequence[int]) -> LinearLayout:
    """Repeats (in registers, or offsets) or clips the tile of a CTA to its share of `shape`, and adds the blocks."""
    rank = len(shape)
    dims = tensor_dims(rank)
    blocks = cga_layout(cga, rank).clip_outs(dict(zip(dims, shape, strict=True)))
    per_cta = {dim: size // blocks.out_size(dim) for dim, size in zip(dims, shape, strict=True)}
    repeat_along = tile.in_dims[0]
    tile = tile.grow_outs(per_cta, repeat_along).clip_outs(per_cta)
    return (tile * blocks).order_outs(dims)


def with_hardware_dims(layout: LinearLayout) -> LinearLayout:
    """Input dims register, lane, warp, block, in that order and none missing."""
    return LinearLayout([(dim, layout.columns(dim)) for dim in HARDWARE], layout.outs)
