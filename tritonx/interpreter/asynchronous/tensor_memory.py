"""Tensor memory in the machine: bytes behind a block's shared memory, row after row.

What is written and read there is checked as shared memory is: the order of accesses, and through which allocation a
byte was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from tritonx.dialects import nvidia as ttng
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia.tensor_memory import (
    COLUMN,
    COLUMNS,
    FIRST_COLUMN,
    FIRST_ROW,
    ROW,
    WORD,
    extent_of,
    tensor_memory_layout,
)
from tritonx.interpreter.asynchronous.footprints import bytes_at, packed_over, shares
from tritonx.interpreter.values import storage_of
from tritonx.ir.properties import stated_number
from tritonx.ir.types import bit_width, type_as
from tritonx.ir.walk import ops_in
from tritonx.layouts.dims import BLOCK
from tritonx.layouts.index_math import all_xors

ROWS = 128
WORD_BYTES = WORD // 8


@dataclass(frozen=True)
class TensorMemory:
    """Where it begins among a block's bytes, how many columns a row has, and the address of each allocation (the row
    in the upper 16 bits)."""

    base: int
    columns: int
    addresses: dict[Operation, int]

    @property
    def size(self) -> int:
        return ROWS * self.columns * WORD_BYTES

    def byte(self, address: int) -> int:
        """The first byte of a column of a row."""
        return self.base + ((address >> 16) * self.columns + (address & 0xFFFF)) * WORD_BYTES


def placed(module: ModuleOp, base: int) -> TensorMemory | None:
    """The tensor memory of a module that has some. What has no address yet gets columns of its own."""
    allocs = [op for op in ops_in(module) if isinstance(op, ttng.TMEMAllocOp)]
    if not allocs:
        return None
    addresses: dict[Operation, int] = {}
    top = COLUMNS
    for op in allocs:
        column, row = (stated_number(op.attributes, name) for name in (FIRST_COLUMN, FIRST_ROW))
        if column is None or row is None:
            column, row = top, 0
            top += extent_of(type_as(op.result, MemDescType)).columns
        addresses[op] = row << 16 | column
    return TensorMemory(base, top, addresses)


@lru_cache(maxsize=512)
def _places(type_: MemDescType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(row, byte of the row, block) of each element of a tile, behind a dimension for its copies."""
    layout = tensor_memory_layout(type_)
    inverse = layout.pseudo_inverse()
    packed = packed_over(inverse, type_.shape[-2:])
    rows, columns, blocks = (
        packed >> inverse.offset_of(dim) & inverse.out_size(dim) - 1 for dim in (ROW, COLUMN, BLOCK)
    )
    groups = [1 << bit for bit in (5, 6) if not layout.columns(ROW)[bit]]
    copies = np.stack([rows ^ copy for copy in all_xors(groups)])
    column_bytes = columns * bit_width(type_.element_type) // 8
    return copies, np.broadcast_to(column_bytes, copies.shape), np.broadcast_to(blocks, copies.shape)


def addresses(memory: TensorMemory, type_: MemDescType, address: int, stride: int) -> np.ndarray:
    """The byte addresses, over all blocks, of the elements of a tile at that address, and of their copies."""
    rows, columns, blocks = _places(type_)
    return memory.byte(address) + rows * memory.columns * WORD_BYTES + columns + blocks * stride


def touched(
    memory: TensorMemory, tile: Attribute, type_: MemDescType, address: int, stride: int
) -> Iterator[tuple[int, int, int]]:
    """(block, warp, bytes) of what the warps access to move a tile of that type of registers."""
    at = addresses(memory, type_, address, stride)
    _, _, blocks = _places(type_)
    size = storage_of(type_.element_type).itemsize
    for block, warp, elements in shares(tile):
        mine = (blocks[0] == block).reshape(-1)[elements]
        yield block, warp, bytes_at(at[0].reshape(-1)[elements][mine], size)
