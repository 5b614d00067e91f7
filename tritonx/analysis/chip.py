"""What a whole chip is beside its multiprocessors: how many there are, how fast, and what its memory delivers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chip:
    """A product by its `name`: `processors` (as `Residency` counts them), `hertz` of their highest clock, and
    `bandwidth` of its memory, bytes a second, as its maker states them.

    >>> from tritonx.analysis.chip import Chip
    >>> Chip("H200", 132, 1.98e9, 4.8e12).processors
    132
    """

    name: str
    processors: int
    hertz: float
    bandwidth: float
