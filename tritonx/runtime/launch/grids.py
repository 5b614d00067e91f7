"""A launch's grid: one to three extents."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import SupportsIndex, cast

from tritonx.kernel.dependencies import plain_value
from tritonx.runtime.errors import UnsupportedArgument

GRID_LIMIT = 3
EXTENT_LIMIT = 1 << 31
"""Program ids are int32."""
ONES = (), (1, 1), (1,), ()


def program_at(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """The indices of the program of this number, which counts x fastest."""
    x, y, _ = grid
    return number % x, number // x % y, number // x // y


def three(grid: object) -> tuple[int, int, int]:
    """A grid of one to three extents as three. Raises UnsupportedArgument."""
    if not isinstance(grid, tuple | list):
        if not hasattr(grid, "__index__"):
            raise UnsupportedArgument(
                f"a grid is a tuple of one to three integers or a function that returns one, got {type(grid).__name__}"
            )
        grid = (grid,)
    given = cast("Sequence[object]", grid)
    count = len(given)
    if not 1 <= count <= GRID_LIMIT:
        raise UnsupportedArgument(f"a grid has one to three extents, got {count}")
    extents: list[int] = []
    for extent in given:
        try:
            extents.append(index(cast("SupportsIndex", plain_value(extent))))
        except TypeError:
            raise UnsupportedArgument(f"the extents of a grid are integers, got {extent!r}") from None
        if extents[-1] < 0:
            raise UnsupportedArgument(f"the extents of a grid are not negative, got {extents[-1]}")
        if extents[-1] >= EXTENT_LIMIT:
            raise UnsupportedArgument(
                f"the extents of a grid are below 2^31 (program ids are int32), got {extents[-1]}"
            )
    extents += [1] * (GRID_LIMIT - count)
    return extents[0], extents[1], extents[2]
