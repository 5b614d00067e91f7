"""From distributed encodings to linear layouts (register, lane, warp, block) → (dim0, dim1, ...).

Every construction lays out the tile of one instruction or thread grid, then warps, then lets `fit` repeat it over the
tensor; the order in which it names the tensor's dims first is the order of that repetition.
"""

from __future__ import annotations

from tritonx.layouts.dims import LANE, REGISTER, WARP, tensor_dims
from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    AmdWmmaEncoding,
    Bases,
    BlockedEncoding,
    DistributedEncoding,
    DotOperandEncoding,
    Ints,
    LinearEncoding,
    NvidiaMmaEncoding,
    SliceEncoding,
)
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.matrix_core import accumulator, operand
from tritonx.layouts.tiling import (
    bases_extent,
    fit,
    k_dim,
    matrix_order,
    operand_cga,
    operand_order,
    spread,
    with_hardware_dims,
)


def distributed_layout(encoding: DistributedEncoding, shape: Ints) -> LinearLayout:
    """The layout of a tensor of (power of two) `shape`. Prefer the memoised `linear_layout` of this package."""
    if len(shape) != encoding.rank:
        raise LayoutError(f"an encoding of rank {encoding.rank} cannot lay out the shape {list(shape)}")
    match encoding:
        case BlockedEncoding():
            layout = _blocked(encoding, shape)
        case SliceEncoding():
            layout = _slice(encoding, shape)
        case NvidiaMmaEncoding():
            layout = _nvidia_mma(encoding, shape)
        case DotOperandEncoding():
            layout = _dot_operand(encoding, shape)
        case LinearEncoding():
            layout = _linear(encoding, shape)
        case AmdMfmaEncoding() | AmdWmmaEncoding():
            layout = accumulator(encoding, shape)
    return with_hardware_dims(layout)


def cga_of(encoding: DistributedEncoding) -> Bases:
    """The block bases of an encoding, in CTA tiles (for a linear encoding the caller reads its own `block`)."""
    match encoding:
        case SliceEncoding(dim, parent):
            return tuple(basis[:dim] + basis[dim + 1 :] for basis in cga_of(parent))
        case DotOperandEncoding(op_idx, parent):
            return operand_cga(cga_of(parent), op_idx, encoding.rank)
        case LinearEncoding():
            raise LayoutError("a linear encoding holds its block bases itself")
        case _:
            return encoding.cga


def _blocked(e: BlockedEncoding, shape: Ints) -> LinearLayout:
    tile = spread(REGISTER, e.size_per_thread, e.order)
    tile = tile * spread(LANE, e.threads_per_warp, e.order) * spread(WARP, e.warps_per_cta, e.order)
    return fit(tile, e.cga, shape)


def _slice(e: SliceEncoding, shape: Ints) -> LinearLayout:
    parent = distributed_layout(e.parent, (*shape[: e.dim], 1, *shape[e.dim :]))
    dims = tensor_dims(e.parent.rank)
    kept = [dim for i, dim in enumerate(dims) if i != e.dim]
    sliced = parent.sublayout(parent.in_dims, kept)
    return sliced.rename_outs(dict(zip(kept, tensor_dims(e.rank), strict=True))).drop_zero_bases(REGISTER)


def _mma_tile(rows: int, columns: int, k_width: int, order: Ints) -> LinearLayout:
    """The fragment of mma.sync and wgmma (PTX ISA, "Matrix fragments"): groups of four lanes on a row of `columns`,
    `k_width` elements each, eight such rows in a warp, repeated over the tile. `order` gives inner dim, outer dim,
    rest."""
    dims = tensor_dims(len(order))
    inner, outer = dims[order[0]], dims[order[1]]
    tile = spread(REGISTER, [1] * len(order), order)
    tile = tile * LinearLayout.identity(k_width, REGISTER, inner) * LinearLayout.identity(4, LANE, inner)
    tile = tile * LinearLayout.identity(8, LANE, outer) * LinearLayout.identity(rows // 8, REGISTER, outer)
    return tile * LinearLayout.identity(columns // (4 * k_width), REGISTER, inner)


def _nvidia_mma(e: NvidiaMmaEncoding, shape: Ints) -> LinearLayout:
    if e.version_major == 1:
        raise LayoutError("nvidia_mma version 1 (Volta) is not supported")
    rows, columns = e.instr_shape[-2:] if e.version_major == 2 else e.instr_shape[:2]
    tile = _mma_tile(rows, columns, 2, matrix_order(e.rank))
    return fit(tile * spread(WARP, e.warps_per_cta, _warp_order(e)), e.cga, shape)


def _warp_order(e: NvidiaMmaEncoding) -> Ints:
    """mma.sync numbers warps along N first; wgmma needs the four warps of a group along M."""
    return matrix_order(e.rank, row_major=e.version_major == 2)


def _dot_operand(e: DotOperandEncoding, shape: Ints) -> LinearLayout:
    parent = e.parent
    match parent:
        case BlockedEncoding():
            return _blocked_operand(e, parent, shape)
        case NvidiaMmaEncoding():
            return _nvidia_operand(e, parent, shape)
        case SliceEncoding() | DotOperandEncoding() | LinearEncoding():
            raise LayoutError(f"dot_op cannot have the parent {type(parent).__name__}")
        case AmdMfmaEncoding() | AmdWmmaEncoding():
            return operand(e, parent, shape)


def _blocked_operand(e: DotOperandEncoding, parent: BlockedEncoding, shape: Ints) -> LinearLayout:
    """Every thread holds all of K for its rows (or columns) of the result."""
    k = k_dim(e.op_idx, e.rank)
    per_thread = [shape[d] if d == k else size for d, size in enumerate(parent.size_per_thread)]
    tile = spread(REGISTER, per_thread, parent.order)
    tile = tile * spread(LANE, parent.threads_per_warp, parent.order, copies_along=k)
    tile = tile * spread(WARP, parent.warps_per_cta, parent.order, copies_along=k)
    return fit(tile, cga_of(e), shape)


def _nvidia_operand(e: DotOperandEncoding, parent: NvidiaMmaEncoding, shape: Ints) -> LinearLayout:
    if e.k_width < 1:
        raise LayoutError("dot_op of nvidia_mma needs a kWidth")
    if parent.version_major == 3 and e.op_idx == 1:
        raise LayoutError("wgmma reads operand B from shared memory; it has no register layout")
    order = operand_order(e.op_idx, e.rank)
    tile = _mma_tile(16 if e.op_idx == 0 else 8, 8 * e.k_width, e.k_width, order)
    warps = spread(WARP, parent.warps_per_cta, _warp_order(parent), copies_along=k_dim(e.op_idx, e.rank))
    return fit(tile * warps, cga_of(e), shape)


def _linear(e: LinearEncoding, shape: Ints) -> LinearLayout:
    dims = tensor_dims(e.rank)
    extent = bases_extent(e.rank, e.register, e.lane, e.warp, e.block)
    layout = LinearLayout.from_bases(
        {"register": e.register, "lane": e.lane, "warp": e.warp, "block": e.block}, dict(zip(dims, extent, strict=True))
    )
    if not layout.is_surjective:
        raise LayoutError(f"no thread has some elements of the tile of {list(extent)} that the bases of linear span")
    sizes = dict(zip(dims, shape, strict=True))
    order = layout_order(layout)
    grown = layout.order_outs([dims[d] for d in order]).grow_outs(sizes, REGISTER)
    # Registers that would hold only copies after clipping are dropped rather than kept, unless they were copies
    # before.
    clipped = grown.clip_outs(sizes)
    before, after = grown.columns(REGISTER), clipped.columns(REGISTER)
    kept = [i for i in range(len(before)) if after[i] or not before[i]]
    return clipped.select_bits(REGISTER, kept).order_outs(dims)


def layout_order(layout: LinearLayout, in_dim: str = REGISTER) -> Ints:
    """Tensor dims fastest first: by first appearance among the bases of `in_dim`, then last dim first."""
    rank = len(layout.outs)
    order: list[int] = []
    for basis in layout.bases(in_dim):
        for d, coordinate in enumerate(basis):
            if coordinate and d not in order:
                order.append(d)
                break
    return tuple(order + [d for d in reversed(range(rank)) if d not in order])
