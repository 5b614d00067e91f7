"""Pairs of pointer arguments that code takes to be apart, and how a launch sees whether they are.

Code that stores one chunk of a tile before it loads the next (`accesses.py`) is right if the two tiles do not overlap,
or overlap at equal positions only. With equal steps, the distance from what is loaded to what is stored is the same at
each position: the distance of the addresses, and the difference of the offsets. The code is right if that distance is
0, or as large as the tile's reach.

The offsets are sums of products of the kernel's parameters, of the program's place in the grid, and of what only the
program knows. The last must cancel; if it does not, the distance is unknown, and the arguments' memory must not overlap
at all. The place in the grid is anywhere in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

Sum = tuple[tuple[int, tuple[int, ...], int], ...]
"""Terms: a coefficient, the numbers of the parameters that it is multiplied by, and what else it is multiplied by: 0
for nothing, -1, -2 or -3 for the program's place along an axis, other numbers for products that only the program
knows."""


@dataclass(frozen=True)
class Pair:
    """The kernel stores through parameter ``stored`` what parameter ``other`` may not reach at another position.

    ``size``: bytes of an element. ``difference``: elements from the other's offset to the stored one's; None where it
    is not known. ``steps``: for each dimension of the tile its length less 1, and the step along it in elements.
    """

    stored: int
    other: int
    size: int = 1
    difference: Sum | None = None
    steps: tuple[tuple[int, Sum], ...] = ()

    @staticmethod
    def read(data: Sequence[object]) -> Pair:
        """The pair of ``astuple`` or of that in JSON."""
        return Pair(*cast("tuple[int, int, int, Sum | None, tuple[tuple[int, Sum], ...]]", data))

    def is_right(self, distance: int, parameters: Mapping[int, int], grid: Sequence[int]) -> bool:
        """Whether the code is right in all programs, with addresses that are ``distance`` bytes apart."""
        bounds = None if self.difference is None else _bounds(self.difference, parameters, grid)
        steps = [(length, _bounds(step, parameters, grid)) for length, step in self.steps]
        if bounds is None:
            return False
        low, high = (distance + self.size * bound for bound in bounds)
        if low == high == 0:
            return True
        reach = self.size
        for length, step in steps:
            if step is None:
                return False
            reach += self.size * length * max(map(abs, step))
        return high <= -reach or low >= reach


def _bounds(terms: Sum, parameters: Mapping[int, int], grid: Sequence[int]) -> tuple[int, int] | None:
    """The least and the greatest value of a sum; None where what only the program knows does not cancel."""
    totals: dict[int, int] = {}
    for coefficient, factors, rest in terms:
        product = coefficient
        for factor in factors:
            if factor not in parameters:
                return None
            product *= parameters[factor]
        totals[rest] = totals.get(rest, 0) + product
    low = high = totals.pop(0, 0)
    for rest, total in totals.items():
        if total and rest > 0:
            return None
        reach = total * (grid[-1 - rest] - 1) if total else 0
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high
