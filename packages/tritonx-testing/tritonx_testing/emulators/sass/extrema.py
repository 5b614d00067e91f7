"""Random straight programs in PTX: sums and differences in which terms cancel, and chains of extrema of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from tritonx_testing.emulators.sass.program import of_a_warp

GIVEN = (2, 3, 4, 5)
"""Registers that are loaded: four numbers of each thread."""

Number = Any
MEANING: dict[str, Callable[[Number, Number], Number]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "min": np.minimum, "max": np.maximum,
    "neg": lambda a, _: -a, "abs": lambda a, _: np.abs(a),
}  # fmt: skip


@dataclass
class Extrema:
    """``ops`` are (name, result, operands); ``last`` is stored."""

    random: Random
    ops: list[tuple[str, int, int, int]] = field(default_factory=list[tuple[str, int, int, int]])

    def __post_init__(self) -> None:
        for _ in range(14):
            self._one()
        name, self.last = self.random.choice(("min", "max")), self._any()
        for other in (*range(max(6, self._next - 3), self._next), self.random.choice(GIVEN)):
            pair = self.random.sample((self.last, other), 2)
            self.last = self._put(name, *pair)

    @property
    def _next(self) -> int:
        return 6 + len(self.ops)

    def _any(self) -> int:
        return self.random.choice((*range(max(6, self._next - 7), self._next), *GIVEN))

    def _put(self, name: str, a: int, b: int) -> int:
        self.ops.append((name, self._next, a, b))
        return self._next - 1

    def _one(self) -> None:
        a, b = self._any(), self._any()
        if self.random.random() < 0.3:  # a - (a + b), or with a third
            total = self._put("add", a, b)
            c = self._any()
            wider, *others = self.random.choice(((total, a, b), (self._put("add", total, c), c, a)))
            self._put("sub", self.random.choice(others), wider)
        else:
            self._put(self.random.choice((*MEANING, "sub", "min", "max")), a, b)

    def ptx(self, arch: int) -> str:
        lines = [
            f"{name}.s32 %r{result}, %r{a};" if name in ("neg", "abs") else f"{name}.s32 %r{result}, %r{a}, %r{b};"
            for name, result, a, b in self.ops
        ]
        given, stored = "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd3];", f"st.global.b32 [%rd3], %r{self.last};"
        return of_a_warp(f"sm_{arch}a", 16, given, *lines, stored)

    def computed(self, given: np.ndarray) -> np.ndarray:
        """Of a row of four numbers for each thread."""
        values = dict(zip(GIVEN, given.T, strict=True))
        with np.errstate(all="ignore"):
            for name, result, a, b in self.ops:
                values[result] = MEANING[name](values[a], values[b])
        return values[self.last]
