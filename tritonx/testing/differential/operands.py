"""The values that ops are tried on: the edges of a dtype, and random ones."""

# NumPy's random numbers and selections are of no dtype that a checker knows.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from itertools import product

import numpy as np

from tritonx.testing.conformance.case import Array, format_of, is_float
from tritonx.testing.conformance.values import DTYPES, SPECIAL, floats, integers

COUNT = 1024
"""Elements of every operand."""

WHOLE = (0, 1, -1, 2, 3, 7, 8, -8, 31, 63, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 1)
"""Integers that are edges of some dtype or of a computation in a wider or narrower one."""


def numpy_dtype(name: str) -> np.dtype:
    """Of a dtype by the language's name; an int1 lies in memory as a byte."""
    return np.dtype(np.bool_ if name == "int1" else DTYPES[name])


def edges(name: str) -> Array:
    """0, ±1, the extremes and their neighbours, powers of two at other types' ends; of floats also both zeros, NaN,
    both infinities, the smallest and largest subnormal and normal numbers."""
    dtype = numpy_dtype(name)
    if name == "int1":
        return np.array([False, True])
    if not is_float(dtype):
        info = np.iinfo(dtype)
        whole = {*WHOLE, int(info.min), int(info.min) + 1, int(info.max), int(info.max) - 1, -7, -(2**31), -(2**32) - 1}
        return np.array(sorted(n for n in whole if info.min <= n <= info.max), dtype)
    info = format_of(dtype)
    tiny, smallest, largest = float(info.smallest_normal), float(info.smallest_subnormal), float(info.max)
    numbers = [*SPECIAL, 1.5, 2.5, 3.0, -7.0, tiny, smallest, tiny - smallest, largest, 2.0**31, 2.0**32, 1.0 / 3.0]
    with np.errstate(all="ignore"):
        found = np.array(numbers + [-x for x in (tiny, smallest, largest, 2.0**31)]).astype(dtype)
    _, first = np.unique(found.view(f"u{dtype.itemsize}"), return_index=True)
    return found[np.sort(first)]


def random_values(rng: np.random.Generator, name: str, count: int) -> Array:
    dtype = numpy_dtype(name)
    if name == "int1":
        return rng.integers(0, 2, count).astype(np.bool_)
    if not is_float(dtype):
        return integers(rng, name, count)
    anything = rng.integers(0, 2 ** (8 * dtype.itemsize) - 1, count, f"u{dtype.itemsize}", endpoint=True).view(dtype)
    return np.where(rng.random(count) < 0.5, floats(rng, name, count), anything)


def within(rng: np.random.Generator, name: str, low: float, high: float) -> Array:
    """``COUNT`` elements from an interval, the special values among them."""
    dtype = numpy_dtype(name)
    values = rng.uniform(low, high, COUNT).astype(dtype)
    return np.where(rng.random(COUNT) < 0.1, rng.choice(np.array(SPECIAL, dtype), COUNT), values)


def operands(rng: np.random.Generator, names: tuple[str, ...]) -> list[Array]:
    """``COUNT`` elements of each: all tuples of edges where they fit, otherwise drawn ones; then random values."""
    choices = [edges(name) for name in names]
    total = int(np.prod([len(c) for c in choices]))
    if total <= COUNT - 32:
        picked = np.array(list(product(*(range(len(c)) for c in choices))))
    else:
        picked = np.stack([rng.integers(0, len(c), COUNT - 32) for c in choices], axis=1)
    rest = COUNT - len(picked)
    columns = [np.concatenate((c[picked[:, i]], random_values(rng, names[i], rest))) for i, c in enumerate(choices)]
    order = rng.permutation(COUNT)
    return [np.ascontiguousarray(column[order]) for column in columns]
