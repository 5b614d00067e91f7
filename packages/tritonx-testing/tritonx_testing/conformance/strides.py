"""How the elements of one array lie in memory: the ways that are tried, and the numbers that are drawn for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tritonx_testing.conformance.case import Array
from tritonx_testing.conformance.pointer_groups import Use


@dataclass(frozen=True)
class Strides:
    """Element i lies ``i // columns * row + i % columns * column`` elements behind the first one; where ``columns`` is
    0, ``i * column``.
    """

    column: int = 1
    columns: int = 0
    row: int = 0

    @property
    def linear(self) -> bool:
        return self.columns == 0

    def of(self, index: Array) -> Array:
        if self.linear:
            return index * self.column
        return index // self.columns * self.row + index % self.columns * self.column

    def __str__(self) -> str:
        rows = "" if self.linear else f"rows of {self.columns} every {self.row}, "
        return f"{rows}elements every {self.column}"


@dataclass(frozen=True)
class Placement:
    """``lead``: elements before the array and after it. ``gap``: elements between the parts of neighbouring programs,
    which lie one below the other where ``downward``, and begin at multiples of ``unit`` from one another.
    """

    strides: Strides = Strides()
    lead: int = 0
    gap: int = 0
    downward: bool = False
    unit: int = 1

    def __str__(self) -> str:
        return f"{self.strides}, from {self.lead} on"


ONE_STRIDE = ("contiguous", "strided", "backwards")
TWO_STRIDES = ("pitched", "transposed", "sliced", "flipped", "mirrored")
WAYS = (*ONE_STRIDE, *TWO_STRIDES)
"""``pitched``: there is something between the rows. ``sliced``: between a row's elements as well. ``flipped``: the last
row lies first. ``mirrored``: the last element of each row does."""

ALLOWED: dict[Use, Sequence[str]] = {
    Use.ELEMENTS: WAYS,
    Use.BLOCKS: WAYS,
    Use.ROWS: ("contiguous", "pitched"),
    Use.MIXED: ONE_STRIDE,
    Use.ADDRESSES: ("contiguous",),
}

ALIGNMENT = 16
"""Bytes that rows, and the array, are a multiple of where a descriptor reads them."""


@dataclass(frozen=True)
class Kind:
    """What an array's placement must fit: its number of elements, their bytes, the length of its rows (None: it has
    none, and any will do), and what the kernel does with its pointers.
    """

    count: int
    itemsize: int
    columns: int | None = None
    use: Use = Use.ELEMENTS


def draw(rng: np.random.Generator, kind: Kind, ways: Sequence[str]) -> Placement:
    """Where an array is put: in one of ``ways``, or, where it can be in none of these, contiguous."""
    columns = kind.columns
    if columns is None and kind.use == Use.ELEMENTS:
        columns = int(rng.choice([3, 8, 16, 32]))
    possible = [way for way in ways if way in ALLOWED[kind.use] and (columns is not None or way in ONE_STRIDE)]
    way = str(rng.choice(possible)) if possible else "contiguous"
    unit = max(1, ALIGNMENT // kind.itemsize) if kind.use == Use.ROWS else 1
    lead, gap, extra = (int(rng.choice(some)) * unit for some in ((0, 1, 3, 16), (0, 1, 3, 16), (1, 3, 8, 16)))
    strides = _strides(rng, way, columns or 1, kind.count, extra, unit)
    return Placement(strides, lead, gap, bool(rng.integers(2)), unit)


def _aligned(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _strides(rng: np.random.Generator, way: str, columns: int, count: int, extra: int, unit: int) -> Strides:
    pitch = _aligned(columns, unit) + extra
    if way == "strided":
        return Strides(int(rng.choice([2, 3])))
    if way == "backwards":
        return Strides(-int(rng.choice([1, 2])))
    if way == "pitched":
        return Strides(1, columns, pitch)
    if way == "transposed":
        return Strides(-(-count // columns) + extra, columns, 1)
    if way == "sliced":
        return Strides(2, columns, 2 * columns + extra)
    if way == "flipped":
        return Strides(1, columns, -pitch)
    if way == "mirrored":
        return Strides(-1, columns, pitch)
    return Strides()
