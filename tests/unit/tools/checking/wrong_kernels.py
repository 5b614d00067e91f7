"""Kernels that are wrong, each in one way. The line that `tritonx check` has to name ends in `# <-`; without one it is
the kernel's `def`. `@wrong(kind, make, reference)` says what is found, the launches, and what is right."""

# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.tools.checking.launches import Launch, drawn

INF = tl.constexpr(float("inf"))


@dataclass(frozen=True)
class Wrong:
    kind: str
    kernel: Any
    make: Callable[..., Any]
    reference: Callable[..., Any] | None

    @property
    def line(self) -> int:
        lines = self.kernel.src.split("\n")
        marked = [n for n, line in enumerate(lines) if "# <-" in line]
        return self.kernel.def_line_number + (marked[0] if marked else 0)

    def launches(self, seed: int) -> list[Launch]:
        """The same for the same seed, whatever was drawn before."""
        rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        return list(drawn(self.make, seed))


CASES: list[Wrong] = []


def wrong(kind: str, make: Callable[..., Any], reference: Callable[..., Any] | None = None) -> Callable[[Any], Any]:
    def add(kernel: Any) -> Any:
        CASES.append(Wrong(kind, kernel, make, reference))
        return kernel

    return add


rng = np.random.default_rng(0)


def floats(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


def unary(n=1000):
    yield (tritonx.cdiv(n, 128),), (floats(n), np.empty(n, np.float32), n), {"B": 128}


def in_place(n=1000):
    yield (tritonx.cdiv(n, 128),), (floats(n), n), {"B": 128}


def one_block(n=100):
    yield (1,), (floats(n), np.empty(n, np.float32), n), {"B": 128}


def to_zeros(n=1000):
    yield (tritonx.cdiv(n, 128),), (floats(n), np.zeros(n, np.float32), n), {"B": 128}


def total(n=1000):
    yield (tritonx.cdiv(n, 128),), (floats(n), np.zeros(1, np.float32), n), {"B": 128}


def rows(m=7, n=100):
    yield (m,), (floats(m, n), np.empty((m, n), np.float32), m, n), {"B": 128}


def each_row(m=7, n=100):
    yield (m,), (floats(m, n) - 5, np.empty(m, np.float32), n), {"B": 128}


def strided(m=7, n=100, contiguous=True):
    x, y = (make((m, n if contiguous else n + 3), np.float32)[:, :n] for make in (np.zeros, np.empty))
    x[:] = floats(m, n)
    yield (m,), (x, y, n, x.strides[0] // 4, y.strides[0] // 4), {"B": 128}


def product(m=32, n=32, k=64):
    a, b = floats(m, k, dtype=np.float16), floats(k, n, dtype=np.float16)
    yield (tritonx.cdiv(m, 16), tritonx.cdiv(n, 16)), (a, b, np.empty((m, n), np.float16), m, n, k), {"B": 16}


def twice(x, y, n, B):
    return x * 2


def by_row(what: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Any]:
    return lambda x, y, n, B: what(x) if x.size else np.zeros(y.shape)


def summed(x, y, n, B):
    return np.sum(x, keepdims=True)
