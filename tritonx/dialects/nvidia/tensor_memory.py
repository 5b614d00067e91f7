"""How a tile lies in tensor memory: the linear map from (row, column, block) to the indices of the tile.

Tensor memory has 128 rows ("lanes") of 512 columns of 32 bits (PTX ISA 9.0, section 9.7.16.1). Columns are counted in
elements here: two 16-bit elements share a column, unless `col_stride` says otherwise. A basis of zeros among the first
five bits of a row says that no element lies there, and in the sixth or seventh that these rows hold copies.

- A block of 128 rows has row i of the tile in row i. One of 64 rows has rows 0-15, 16-31, … of the tile in the first
  halves of the four groups of 32 rows (section 9.7.16.10.5); the second halves have the next block, if there is one.
- Further blocks follow in columns, those of rows first.
- Scales of a scaled product: 32 rows by 4 columns, with copies in the four groups of rows; pieces of 32 more rows lie
  in the next columns (section 9.7.16.10.7)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.dialects.nvidia.encodings import (
    ORDERS,
    TensorMemoryAttr,
    TensorMemoryEncoding,
    TensorMemoryEncodingAttr,
    TensorMemoryScalesEncoding,
    TensorMemoryScalesEncodingAttr,
    bases_of_parts,
)
from tritonx.ir.types import bit_width
from tritonx.layouts import LayoutError, LinearLayout
from tritonx.layouts.dims import BLOCK, tensor_dims
from tritonx.layouts.gf2 import log2

ROW = "row"
COLUMN = "column"

FIRST_COLUMN, FIRST_ROW = "tensor_memory_col_offset", "tensor_memory_row_offset"
"""Attributes of an allocation: where it begins. Triton's names."""

COLUMNS = 512
"""Columns of 32 bits that a block may allocate."""

WORD = 32
"""Bits of a column."""

_HALF = 4
"""The bit of a row that says in which half of its group of 32 it is."""

Basis = tuple[int, int]


def is_tensor_memory(type_: object) -> bool:
    """Whether a type is that of memory of the tensor cores."""
    return isinstance(type_, MemDescType) and isinstance(type_.memory_space, TensorMemoryAttr)


@dataclass(frozen=True)
class Extent:
    """Rows and 32-bit columns that memory takes."""

    rows: int
    columns: int


@lru_cache(maxsize=1024)
def tensor_memory_layout(type_: MemDescType) -> LinearLayout:
    """(row, column, block) → index, of one entry where there are several, and of the part that a view is of. Raises
    LayoutError where the encoding cannot lay out the shape."""
    whole, shape = _inner(type_.alloc_shape), _inner(type_.shape)
    layout = _laid_out(type_, whole)
    layout = layout.clip_outs(dict(zip(tensor_dims(2), shape, strict=True)))
    columns = layout.columns(COLUMN)
    used = max((bit + 1 for bit, basis in enumerate(columns) if basis), default=0)
    return layout.with_columns(COLUMN, columns[: max(used, log2(WORD // bit_width(type_.element_type)))])


def extent_of(type_: MemDescType) -> Extent:
    """What an allocation of this type takes, all entries together."""
    layout = tensor_memory_layout(type_)
    rows = layout.in_size(ROW)
    if layout.columns(ROW)[_HALF] == 0:
        rows //= 2
    columns = -(-layout.in_size(COLUMN) * bit_width(type_.element_type) // WORD)
    return Extent(rows, columns * (type_.shape[0] if len(type_.shape) == 3 else 1))


def address_of(type_: MemDescType, row: int, column: int) -> int:
    """The address of an element of the tile, from the beginning of its memory: the row in the upper 16 bits, the 32-bit
    column in the lower ones."""
    inverse = tensor_memory_layout(type_).pseudo_inverse()
    where = inverse.apply_packed(dict(zip(inverse.in_dims, (row, column), strict=True)))
    bits = bit_width(type_.element_type)
    return inverse.coordinate(where, ROW) << 16 | inverse.coordinate(where, COLUMN) * bits // WORD


def _inner(shape: tuple[int, ...]) -> tuple[int, int]:
    """The shape without a leading dimension of entries."""
    if len(shape) not in (2, 3):
        raise LayoutError(f"tensor memory holds tiles of two dimensions, or several of them, got {list(shape)}")
    return shape[-2], shape[-1]


def _laid_out(type_: MemDescType, shape: tuple[int, int]) -> LinearLayout:
    match type_.encoding:
        case TensorMemoryEncodingAttr(data=data):
            tile, m, n = _of_product(data, shape), data.cta_split_m, data.cta_split_n
        case TensorMemoryScalesEncodingAttr(data=data):
            tile, m, n = _of_scales(data, shape), data.cta_split_m, data.cta_split_n
        case _:
            raise LayoutError(f"{type_.encoding} is no layout of tensor memory")
    rows, columns = tensor_dims(2)
    return tile * LinearLayout.from_bases({BLOCK: bases_of_parts(m, n)}, {rows: m, columns: n})


def _share(shape: tuple[int, int], m: int, n: int) -> tuple[int, int]:
    """What a block has of a tile that is split in m parts of rows and n of columns."""
    if shape[0] % m or shape[1] % n:
        raise LayoutError(f"a tile of {shape[0]}x{shape[1]} has no {m}x{n} parts")
    return shape[0] // m, shape[1] // n


def _doubled(first: int, end: int, dim: int) -> list[Basis]:
    """Bases along a dimension: ``first``, twice that, … below ``end``."""
    found: list[Basis] = []
    while first < end:
        found.append((first, 0) if dim == 0 else (0, first))
        first *= 2
    return found


def _of_product(data: TensorMemoryEncoding, shape: tuple[int, int]) -> LinearLayout:
    if data.two_ctas:
        raise LayoutError("tensor memory of products by two CTAs is not supported")
    m, n = _share(shape, data.cta_split_m, data.cta_split_n)
    rows_of_block, columns_of_block = data.block_m, min(data.block_n, n)
    columns: list[Basis] = [(0, 0)] * log2(data.col_stride * (2 if data.fp4_padded else 1))
    columns += _doubled(1, columns_of_block, 1)
    if rows_of_block == 128:
        rows = _doubled(1, 128, 0)
    else:
        second: Basis = (64, 0) if m > 64 else (0, columns_of_block) if n > columns_of_block else (0, 0)
        rows = [*_doubled(1, 16, 0), second, (16, 0), (32, 0)]
        rows_of_block *= 2 if second[0] else 1
        columns_of_block *= 2 if second[1] else 1
    if m < rows_of_block:
        raise LayoutError(f"blocks of {rows_of_block} rows hold no tile of {m}")
    columns += _doubled(rows_of_block, m, 0) + _doubled(columns_of_block, n, 1)
    return _of(rows, columns, (m, n))


def _of_scales(data: TensorMemoryScalesEncoding, shape: tuple[int, int]) -> LinearLayout:
    m, n = _share(shape, data.cta_split_m, data.cta_split_n)
    columns: list[Basis] = [(0, 1), (0, 2), (32, 0)]
    first = 64
    if m > first:
        columns.append((first, 0))
        first *= 2
    order = [_doubled(first, m, 0), _doubled(4, n, 1)]
    for bases in reversed(order) if data.order == ORDERS[1] else order:
        columns += bases
    rows = [*_doubled(1, 32, 0), (0, 0), (0, 0)]
    whole = _of(rows, columns, (max(m, first), max(n, 4)))
    return whole.clip_outs(dict(zip(tensor_dims(2), (m, n), strict=True)))


def _of(rows: list[Basis], columns: list[Basis], shape: tuple[int, int]) -> LinearLayout:
    return LinearLayout.from_bases({ROW: rows, COLUMN: columns}, dict(zip(tensor_dims(2), shape, strict=True)))
