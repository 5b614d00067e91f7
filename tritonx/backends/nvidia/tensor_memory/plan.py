"""Which columns, and which half of the rows, each allocation of tensor memory has.

First fit in the order of the program: the first free columns, from a multiple of four on, that are free in one half of
the rows, or in both for what has 128. Memory whose allocation is no longer alive is free. A tile of 64 rows takes the
first halves of the four groups of rows, so that two share columns; the operand A of a product and its result must then
have the same half (PTX ISA 9.0, section 9.7.16.10.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tritonx.dialects.nvidia.tensor_memory import COLUMNS, Extent

ALIGNMENT = 4
"""Columns that an allocation begins at a multiple of."""

HALVES = 2
LEAST = 32
"""Columns that can be allocated from the chip, and a power of two."""


@dataclass(frozen=True)
class Request:
    """An allocation that is alive from one point to another, both included; ``group`` names those that must lie in the
    same half."""

    extent: Extent
    first: int
    last: int
    group: int

    def meets(self, other: Request) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Place:
    """Where an allocation begins: its column and its half."""

    column: int
    half: int

    @property
    def row(self) -> int:
        """The first row: of the second half the sixteenth."""
        return 16 * self.half


def places(requests: Sequence[Request]) -> list[Place]:
    """One for each, in order; columns beyond the memory's where there are too few."""
    found: list[Place] = []
    halves: dict[int, int] = {}
    for number, request in enumerate(requests):
        beside = [(found[i], requests[i].extent) for i in range(number) if requests[i].meets(request)]
        place = _first_fit(request.extent, halves.get(request.group), beside)
        halves.setdefault(request.group, place.half)
        found.append(place)
    return found


def _first_fit(extent: Extent, half: int | None, beside: Iterable[tuple[Place, Extent]]) -> Place:
    taken = [(place, other, set(_halves(place.half, other))) for place, other in beside]
    starts = sorted({0, *(-(-(p.column + e.columns) // ALIGNMENT) * ALIGNMENT for p, e, _ in taken)})
    every = range(HALVES - len(_halves(0, extent)) + 1)
    for column in starts:
        for first in every if half is None else (half,):
            own = set(_halves(first, extent))
            if not any(
                own & theirs and column < p.column + e.columns and p.column < column + extent.columns
                for p, e, theirs in taken
            ):
                return Place(column, first)
    raise AssertionError("there is room behind all others")


def _halves(first: int, extent: Extent) -> range:
    return range(first, first + max(1, extent.rows // 64))


def allocated(columns: int) -> int | None:
    """What must be asked of the chip for so many columns: a power of two; None where it has not as many."""
    if columns == 0:
        return 0
    size = LEAST
    while size < columns:
        size *= 2
    return size if size <= COLUMNS else None
