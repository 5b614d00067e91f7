"""When and how `ldmatrix` and `stmatrix` move a thread's registers (PTX ISA, "ldmatrix", "stmatrix").

The instruction moves 8×8 matrices of 16-bit elements, that is, eight rows of 16 bytes. Plain, a matrix gives lane l
the word l % 4 of row l / 4. Transposed (16-bit elements only), lane l has the elements 2·(l % 4) and 2·(l % 4) + 1
of column l / 4. Either way the rows may lie anywhere, 16 bytes aligned: lane i passes the address of row i % 8 of
matrix i / 8, and one, two or four matrices move at once.

In terms of the placement (register, lane, warp) → offset, plain: a register direction steps through the elements of
a word, lane bits 0 and 1 through the words of a row; lane bits 2 to 4 select the row. Transposed: lane bits 2 to 4
step through the row, one register direction and lane bits 0 and 1 select it. Everything else must move by whole rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.gf2 import Echelon, combine, echelon
from tritonx.layouts.index_math import all_xors, representatives
from tritonx.layouts.linear import LinearLayout

ROW_BITS = 128


@dataclass(frozen=True)
class MatrixTransfer:
    """One instruction: for each matrix the registers that make the thread's 32-bit word, lowest first. `offset` is
    the register part of the row's element offset."""

    matrices: tuple[tuple[int, ...], ...]
    offset: int


@dataclass(frozen=True)
class MatrixAccess:
    """All transfers of a thread. Lane i passes the row at element `rows(lane, warp) ^ transfer.offset` (`+` when
    `additive`). Register r holds the element of register `repeats[r]`, which is in a transfer."""

    transposed: bool
    transfers: tuple[MatrixTransfer, ...]
    rows: LinearLayout
    additive: bool
    repeats: tuple[int, ...]

    @property
    def matrices(self) -> int:
        """1, 2 or 4: the `.x` of the instruction."""
        return len(self.transfers[0].matrices)


@lru_cache(maxsize=4096)
def matrix_access(places: LinearLayout, bits: int, *, transposed: bool, max_matrices: int = 4) -> MatrixAccess | None:
    """The matrix transfers of a placement for elements of `bits` bits, or None when the instruction does not fit
    it.
    """
    columns, lanes, warps = places.columns(REGISTER), places.columns(LANE), places.columns(WARP)
    if bits not in (8, 16, 32) or len(lanes) != 5 or (transposed and bits != 16) or places.columns(BLOCK):
        return None
    row_elements = ROW_BITS // bits
    reduced = echelon(columns)
    word: list[int] = []
    if transposed:
        if not columns or lanes[2:] != (1, 2, 4):
            return None
        row_selectors = (columns[0], lanes[0], lanes[1])
        word = [1]
        kept_clear = (*lanes[:2], *warps, columns[0])
    else:
        steps = [1 << i for i in range((32 // bits).bit_length() - 1)]
        if lanes[:2] != (32 // bits, 64 // bits):
            return None
        for step in steps:
            rest, combination = reduced.reduce(step)
            if rest:
                return None
            word.append(combination)
        row_selectors = lanes[2:]
        kept_clear = (*lanes[2:], *warps)
    if any(column & (row_elements - 1) for column in kept_clear):
        return None
    others = _other_registers(columns, word, row_elements)
    if others is None:
        return None
    inner = min(len(others), max_matrices.bit_length() - 1)
    chosen, outer = others[:inner], others[inner:]
    row_columns = (*row_selectors, *(combine(columns, vector) for vector in chosen))
    row_columns += (0,) * (5 - len(row_columns))
    rows = LinearLayout([(LANE, row_columns), (WARP, warps)], [(OFFSET, places.out_bits(OFFSET))])
    within = all_xors(word)
    transfers = tuple(
        MatrixTransfer(
            tuple(tuple(start ^ matrix ^ step for step in within) for matrix in all_xors(chosen)),
            combine(columns, start),
        )
        for start in all_xors(outer)
    )
    reach = 0
    for column in (*row_columns, *warps):
        reach |= column
    additive = not any(transfer.offset & reach for transfer in transfers)
    moved = [register for t in transfers for matrix in t.matrices for register in matrix]
    return MatrixAccess(transposed, transfers, rows, additive, representatives(columns, moved))


def matrix_transfers(places: LinearLayout, bits: int) -> MatrixAccess | None:
    """The matrix transfers of a placement, plain or else transposed; None where neither fits."""
    return matrix_access(places, bits, transposed=False) or matrix_access(places, bits, transposed=True)


def _other_registers(columns: Sequence[int], word: Sequence[int], row_elements: int) -> list[int] | None:
    """Register directions to the other distinct words, which must move by whole rows."""
    inside = [combine(columns, vector) for vector in word]
    distinct = echelon(inside)
    others: list[int] = []
    spanned = Echelon()
    for vector in word:
        spanned.insert(vector, 0)
    for bit, column in enumerate(columns):
        vector = 1 << bit
        # Clear the part within a word, which the word's own directions step through.
        for direction, step in zip(word, inside, strict=True):
            if step < row_elements and column & step:
                vector ^= direction
        moved = combine(columns, vector)
        if not distinct.insert(moved, 0):
            continue
        if moved & (row_elements - 1):
            return None
        others.append(vector)
    return others
