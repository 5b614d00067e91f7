"""What one program instance runs on: its number in the grid, and a DMA engine with a queue of copies."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from tritonx.backends.tile import TritonError
from tritonx_toy import MOST_COPIES, memory


class ToyFault(TritonError):
    """A program does what the chip cannot: a defect of who wrote the program, which is this backend."""


@dataclass
class Buffer:
    """Local memory for a tile: what a copy will load, the tile once it has, and the kernel's line."""

    load: tuple[Any, ...]
    where: str
    tile: Any = None


class Core:
    """The engine copies as late as it may: what reads too early, or relies on what memory held later, shows."""

    def __init__(self, program: tuple[int, int, int], grid: tuple[int, int, int]) -> None:
        self.program = program
        self.grid = grid
        self._under_way: deque[Buffer] = deque()

    def copy(self, where: str, *load: Any) -> Buffer:
        """Begin to do what ``memory.load`` does."""
        if len(self._under_way) == MOST_COPIES:
            raise ToyFault(f"{where}: more than {MOST_COPIES} copies under way")
        buffer = Buffer(load, where)
        self._under_way.append(buffer)
        return buffer

    def wait(self, left: int) -> None:
        while len(self._under_way) > left:
            buffer = self._under_way.popleft()
            buffer.tile = memory.load(*buffer.load)

    def read(self, buffer: Buffer) -> Any:
        if buffer.tile is None:
            raise ToyFault(f"{buffer.where}: the tile is read before its copy has been waited for")
        return buffer.tile

    def end(self) -> None:
        if self._under_way:
            raise ToyFault(f"{self._under_way[0].where}: the program ends before its copy has been waited for")
