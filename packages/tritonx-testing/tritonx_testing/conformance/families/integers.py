"""Integers at their edges: quotients that do not exist, shifts by the width and more. What they give is in
docs/guide.md ("Integers"); the reference is Python's integers."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES, INTEGERS


@tritonx.jit
def tiles_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    y = tl.load(y_ptr + i, mask=inside)
    tl.store(out_ptr + i, x // y, mask=inside)
    tl.store(out_ptr + n + i, x % y, mask=inside)
    tl.store(out_ptr + 2 * n + i, x << y, mask=inside)
    tl.store(out_ptr + 3 * n + i, x >> y, mask=inside)


@tritonx.jit
def scalar_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    y = tl.load(y_ptr + tl.program_id(0))
    out_ptr += tl.program_id(0) * 4 * n
    tl.store(out_ptr + i, x // y, mask=inside)
    tl.store(out_ptr + n + i, x % y, mask=inside)
    tl.store(out_ptr + 2 * n + i, x << y, mask=inside)
    tl.store(out_ptr + 3 * n + i, x >> y, mask=inside)


@tritonx.jit
def index_kernel(out_ptr, divisor, N: tl.constexpr):
    """Offsets by a kernel's argument, of which the compiler may know that 16 divides it: so is 0."""
    i = tl.arange(0, N)
    tl.store(out_ptr + i, i // divisor)
    tl.store(out_ptr + N + i, i % divisor)


@tritonx.jit
def turned_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    """Negated numbers and absolute values, and what is made of them: of the least number both are itself."""
    i = tl.arange(0, N)
    inside = i < n
    x, y = tl.load(x_ptr + i, mask=inside), tl.load(y_ptr + i, mask=inside)
    negated, away = 0 - (x - y), tl.abs(x - y)
    tl.store(out_ptr + i, negated.to(tl.int64), mask=inside)
    tl.store(out_ptr + n + i, away.to(tl.int64), mask=inside)
    tl.store(out_ptr + 2 * n + i, tl.where(negated < y, negated >> 1, y).to(tl.int64), mask=inside)
    tl.store(out_ptr + 3 * n + i, tl.where(away < y, away >> 1, y).to(tl.int64), mask=inside)


@tritonx.jit
def cumulative_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    """Extrema of what is left of a number without the sum of it and those before: a negation that was not written."""
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    until = tl.cumsum(x, 0)
    before = x - until
    tl.store(out_ptr + i, tl.minimum(tl.minimum(y, before), until))
    tl.store(out_ptr + N + i, tl.maximum(until, tl.maximum(y, before)))
    tl.store(out_ptr + 2 * N + i, tl.minimum(tl.minimum(before, y >> 3), x))


def quotient(x: int, y: int) -> int:
    """Truncated; 0 by 0."""
    if y == 0:
        return 0
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def operators(bits: int) -> tuple[Callable[[int, int], int], ...]:
    """``//``, ``%``, ``<<`` and ``>>`` of numbers of so many bits; results are to be wrapped."""

    def count(y: int) -> int:
        return y if 0 <= y < bits else bits

    return (
        quotient,
        lambda x, y: x - quotient(x, y) * y,
        lambda x, y: x << count(y),
        lambda x, y: x >> count(y),
    )


def expected(x: Array, y: Array) -> Array:
    """The four results, one behind the other."""
    bits = 8 * x.dtype.itemsize
    results = [[f(int(a), int(b)) % 2**bits for a, b in zip(x, y, strict=True)] for f in operators(bits)]
    return np.array(results, f"u{x.dtype.itemsize}").view(x.dtype).reshape(-1)


def edges(dtype: Any) -> Array:
    info, bits = np.iinfo(dtype), 8 * np.dtype(dtype).itemsize
    wanted = (0, 1, -1, 2, 3, -3, 7, info.min, info.max, info.min + 1, bits - 1, bits, bits + 1)
    return np.array([w % 2**bits for w in wanted], f"u{bits // 8}").view(dtype)


def _tiles(name: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        every = edges(DTYPES[name])
        order = rng.permutation(len(every) ** 2)
        x, y = np.repeat(every, len(every))[order], np.tile(every, len(every))[order]
        return Trial((x, y, Output.of(expected(x, y)), len(x)), {"N": 256})

    return make


def _turned(name: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        every = edges(DTYPES[name])
        x, y = rng.permutation(np.repeat(every, len(every))), np.tile(every, len(every))
        with np.errstate(over="ignore"):
            difference = x - y
            negated, away = -difference, np.abs(difference)
        chosen = [np.where(z < y, z >> 1, y) for z in (negated, away)]
        results = np.concatenate([negated, away, *chosen]).astype(np.int64)
        return Trial((x, y, Output.of(results), len(x)), {"N": 256})

    return make


def _cumulative(name: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        limits = np.iinfo(name)
        x, y = (rng.integers(limits.min, limits.max, 256, DTYPES[name], endpoint=True) for _ in range(2))
        with np.errstate(over="ignore"):
            until = np.cumsum(x, dtype=x.dtype)
            before = x - until
        results = [
            np.minimum(np.minimum(y, before), until), np.maximum(until, np.maximum(y, before)),
            np.minimum(np.minimum(before, y >> 3), x),
        ]  # fmt: skip
        return Trial((x, y, Output.of(np.concatenate(results))), {"N": 256})

    return make


def _scalars(name: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        every = edges(DTYPES[name])
        x = rng.permutation(every)
        results = np.concatenate([expected(x, np.full_like(x, y)) for y in every])
        return Trial((x, every, Output.of(results), len(x)), {"N": 16}, (len(every),))

    return make


def _index(divisor: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        i = np.arange(256, dtype=np.int32)
        results = [quotient(int(k), divisor) for k in i], [int(k) - quotient(int(k), divisor) * divisor for k in i]
        return Trial((Output.of(np.array(results, np.int32).reshape(-1)), divisor), {"N": 256})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for name in INTEGERS:
        yield Case(f"integers/tiles-{name}", tiles_kernel, _tiles(name), {"num_warps": 2})
        yield Case(f"integers/scalars-{name}", scalar_kernel, _scalars(name), {"num_warps": 1})
        if not name.startswith("u"):
            yield Case(f"integers/turned-{name}", turned_kernel, _turned(name), {"num_warps": 2})
    for name in ("int32", "uint32"):
        yield Case(f"integers/cumulative-{name}", cumulative_kernel, _cumulative(name), {"num_warps": 2})
    for divisor in (0, 48, -1):
        yield Case(f"integers/index-{divisor}", index_kernel, _index(divisor), {"num_warps": 4})
