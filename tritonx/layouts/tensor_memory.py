"""Encodings of tensor memory as plain values, and how blocks share a buffer of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TensorMemoryEncoding:
    """Blocks of `block_m` rows by `block_n` columns; `col_stride`: 32-bit columns (as a multiple of the element)
    between columns.
    """

    block_m: int
    block_n: int
    col_stride: int
    cta_split_m: int = 1
    cta_split_n: int = 1
    two_ctas: bool = False
    fp4_padded: bool = False


@dataclass(frozen=True)
class TensorMemoryScalesEncoding:
    """How the scales of a scaled matrix product lie in tensor memory; `order`: the order of their blocks where it is
    not the default, `mnThenK`.
    """

    cta_split_m: int = 1
    cta_split_n: int = 1
    order: str = ""


def bases_of_parts(m: int, n: int) -> list[tuple[int, ...]]:
    """What `CGALayout` says of a split in m parts of rows and n of columns."""
    rows, columns = m.bit_length() - 1, n.bit_length() - 1
    return [*((1 << bit, 0) for bit in range(rows)), *((0, 1 << bit) for bit in range(columns))]
