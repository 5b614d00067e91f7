"""Layouts of the matrix cores of 64-lane waves (`amd_mfma`) and of the wave-matrix units of 32-lane waves
(`amd_wmma`).

Results and operands follow the register tables of the CDNA3 and RDNA3/RDNA4 instruction-set manuals ("matrix
arithmetic instructions", "WMMA"). Both kinds repeat an instruction's tile in the same way: along N first, in the
registers of a warp, then over warps, then over the rest of the tensor, and only then along M, so that the
instructions of one row of tiles share operand A.
"""

from __future__ import annotations

from tritonx.layouts.dims import LANE, REGISTER, WARP, tensor_dims
from tritonx.layouts.encodings import AmdMfmaEncoding, AmdWmmaEncoding, Bases, DotOperandEncoding, Ints
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.tiling import bases_extent, fit, k_dim, matrix_order, operand_cga, shape_per_cta, spread

MatrixCoreEncoding = AmdMfmaEncoding | AmdWmmaEncoding


def accumulator(e: MatrixCoreEncoding, shape: Ints) -> LinearLayout:
    """The layout of a dot's result."""
    rank = e.rank
    dims = tensor_dims(rank)
    m, n = dims[rank - 2], dims[rank - 1]
    if e.is_transposed:
        m, n = n, m
    tile = _mfma_tile(e, m, n) if isinstance(e, AmdMfmaEncoding) else _wmma_tile(e, m, n)
    per_cta = shape_per_cta(e.cga, shape)
    tile = tile.order_outs((dims[rank - 1], dims[rank - 2]))
    if isinstance(e, AmdWmmaEncoding) and e.tile_bases is not None:
        return fit(tile * _tiles(*e.tile_bases), e.cga, shape)
    for d in (rank - 1, rank - 2):
        tile = tile * LinearLayout.identity(e.tiles_per_warp[d], REGISTER, dims[d])
        tile = tile * LinearLayout.identity(e.warps_per_cta[d], WARP, dims[d])
        if d == rank - 1:
            tile = tile.grow_outs({dims[rank - 1]: per_cta[d], dims[rank - 2]: 1}, REGISTER)
    return fit(_add_batch_warps(tile, e.warps_per_cta), e.cga, shape)


def operand(e: DotOperandEncoding, parent: MatrixCoreEncoding, shape: Ints) -> LinearLayout:
    """The layout of operand A or B of a dot."""
    if e.k_width < 1:
        raise LayoutError("dot_op of a matrix core needs a kWidth")
    rank = e.rank
    dims = tensor_dims(rank)
    k = k_dim(e.op_idx, rank)
    other = rank - 2 if e.op_idx == 0 else rank - 1
    rows = parent.instr_shape[e.op_idx]
    tile = LinearLayout.identity(e.k_width, REGISTER, dims[k]) * LinearLayout.identity(rows, LANE, dims[other])
    if isinstance(parent, AmdMfmaEncoding):
        tile = tile * LinearLayout.identity(64 // rows, LANE, dims[k])
        # 64x4 and 4x64: the long side keeps in registers the K that the short side spreads over lanes.
        tile = tile * LinearLayout.identity(rows // min(parent.instr_shape[:2]), REGISTER, dims[k])
    elif parent.version == 1:
        tile = tile * LinearLayout.zeros(2, LANE, dims[k])
    else:
        tile = tile * LinearLayout.identity(2, LANE, dims[k])
    cga = operand_cga(parent.cga, e.op_idx, rank)
    if isinstance(parent, AmdWmmaEncoding) and parent.tile_bases is not None:
        register, warp = (operand_cga(bases, e.op_idx, rank) for bases in parent.tile_bases)
        depth = max(parent.instr_shape[2], tile.out_size(dims[k]))
        tile = tile.grow_outs({dims[k]: depth, dims[other]: 1}, REGISTER)
        return fit(tile * _tiles(tuple(basis for basis in register if any(basis)), warp), cga, shape)
    tile = tile.grow_outs({dims[k]: shape_per_cta(cga, shape)[k], dims[other]: 1}, REGISTER)
    tile = tile * LinearLayout.identity(parent.tiles_per_warp[other], REGISTER, dims[other])
    warps = [1] * (rank - 2) + list(parent.warps_per_cta[-2:])
    tile = tile * spread(WARP, warps, matrix_order(rank), copies_along=k)
    return fit(_add_batch_warps(tile, parent.warps_per_cta), cga, shape)


def _mfma_tile(e: AmdMfmaEncoding, m: str, n: str) -> LinearLayout:
    rows, columns = e.instr_shape[:2]
    if rows != columns and not e.is_transposed:
        raise LayoutError("the 64x4 and 4x64 instructions are used transposed only")
    lanes = rows if e.is_transposed else columns
    height = 1 if e.element_bit_width == 64 else 4
    tile = LinearLayout.identity(height, REGISTER, m) * LinearLayout.identity(lanes, LANE, n)
    tile = tile * LinearLayout.identity(64 // lanes, LANE, m)
    return tile * LinearLayout.identity(max(1, rows * columns // (64 * height)), REGISTER, m)


def _wmma_tile(e: AmdWmmaEncoding, m: str, n: str) -> LinearLayout:
    if e.version == 1:  # the half-waves interleave along M
        first, second = LinearLayout.identity(2, LANE, m), LinearLayout.identity(8, REGISTER, m)
        tile = first * second * LinearLayout.identity(16, LANE, n)
        half, *rest = tile.columns(LANE)
        return LinearLayout([(REGISTER, tile.columns(REGISTER)), (LANE, [*rest, half])], tile.outs)
    tile = LinearLayout.identity(8, REGISTER, m) * LinearLayout.identity(16, LANE, n)
    return tile * LinearLayout.identity(2, LANE, m)


def _tiles(register: Bases, warp: Bases) -> LinearLayout:
    """Tiles over the registers of a warp and over warps."""
    rank = len((*register, *warp, (0, 0))[0])
    sizes = bases_extent(rank, register, warp)
    return LinearLayout.from_bases({REGISTER: register, WARP: warp}, dict(zip(tensor_dims(rank), sizes, strict=True)))


def _add_batch_warps(tile: LinearLayout, warps_per_cta: Ints) -> LinearLayout:
    """Dims before the matrix's two are laid over warps."""
    rank = len(warps_per_cta)
    for d in reversed(range(rank - 2)):
        dim = tensor_dims(rank)[d]
        tile = tile * LinearLayout.identity(warps_per_cta[d], WARP, dim)
    return tile
