"""Where in a tile a chunk of code works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """``index[d]`` is lane 0's i64 index along dimension d; lanes are consecutive along ``lane`` (-1: no lanes)."""

    index: tuple[str, ...]
    lane: int = -1
    width: int = 0

    def with_index(self, index: tuple[str, ...], lane: int) -> Position:
        return Position(index, lane, self.width if lane >= 0 else 0)
