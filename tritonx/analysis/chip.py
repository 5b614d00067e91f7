"""What a whole chip is beside its multiprocessors: how many there are, how fast, and what its memory delivers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    """A product by its `name`: `processors` (as `Residency` counts them), `hertz` of their highest clock, and
    `bandwidth` of its memory, bytes a second, as its maker states them. A launch has at most `blocks` in each
    dimension, and `threads_across` threads in the first.

    >>> from tritonx.analysis.chip import Chip
    >>> Chip("H200", 132, 1.98e9, 4.8e12).processors
    132
    """

    name: str
    processors: int
    hertz: float
    bandwidth: float
    blocks: tuple[int, int, int] = (2**31 - 1, 2**31 - 1, 2**31 - 1)
    threads_across: int = 2**63

    def refusal(self, grid: tuple[int, int, int], threads: int, cluster: int = 1) -> str:
        """Why no launch has this grid of programs, of so many threads a block and blocks a program; "" where one may.

        >>> from tritonx.analysis.chip import Chip
        >>> Chip("H200", 132, 1.98e9, 4.8e12, (2**31 - 1, 65535, 65535)).refusal((1, 65536, 1), 128)
        'the grid (1, 65536, 1) is too large: H200 takes up to 2147483647 x 65535 x 65535 blocks'
        """
        x, y, z = grid
        blocks = (x * cluster, y, z)
        if any(given > most for given, most in zip(blocks, self.blocks, strict=True)):
            return f"the grid {grid} is too large: {self.name} takes up to {' x '.join(map(str, self.blocks))} blocks"
        if blocks[0] * threads > self.threads_across:
            return f"the grid {grid} is too large: {self.name} takes up to {self.threads_across} threads in x"
        return ""
