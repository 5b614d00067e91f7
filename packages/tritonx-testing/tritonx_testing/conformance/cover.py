"""How much of the product of ops, dtypes, shapes and warps a run covers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

T = TypeVar("T")

VARIABLE = "TRITONX_CONFORMANCE"
"""Set to ``full`` to run every combination rather than the covering set."""


@dataclass(frozen=True)
class Cover:
    """``full`` takes every combination; otherwise each value of each parameter appears in some case.

    >>> from tritonx_testing.conformance import cases
    >>> len(cases(Cover(full=True))) > len(cases(Cover()))
    True
    """

    full: bool = False

    @staticmethod
    def from_environment() -> Cover:
        return Cover(os.environ.get(VARIABLE, "") == "full")

    def choose(self, covering: Sequence[T], everything: Sequence[T]) -> Sequence[T]:
        return everything if self.full else covering

    def zipped(self, *parameters: Sequence[T]) -> list[tuple[T, ...]]:
        """Tuples of one value of each parameter: all of them, or as many as the longest has, the others repeating."""
        if self.full:
            return list(dict.fromkeys(product(*parameters)))
        longest = max(len(p) for p in parameters)
        return [tuple(p[i % len(p)] for p in parameters) for i in range(longest)]
