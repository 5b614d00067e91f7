"""The values that ops are tried on: the edges of a dtype, random ones, and those that show a conversion that rounds
twice."""

# NumPy's random numbers and selections are of no dtype that a checker knows.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from itertools import product

import numpy as np

from tritonx_testing.conformance.case import Array, format_of, is_float
from tritonx_testing.conformance.values import DTYPES, FLOATS, FP8, SPECIAL, floats, integers

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


def ties(rng: np.random.Generator, name: str, count: int) -> Array:
    """The middles between neighbours of a narrower float format, and what lies next to them: rounded to some format in
    between first, it is the middle."""
    dtype = numpy_dtype(name)
    narrower = [f for f in (*FLOATS, *FP8) if digits(numpy_dtype(f)) < digits(dtype)]
    if not narrower:
        return random_values(rng, name, count)
    make = _float_ties if is_float(dtype) else _integer_ties
    return np.choose(rng.integers(0, len(narrower), count), [make(rng, dtype, numpy_dtype(f), count) for f in narrower])


def digits(dtype: np.dtype) -> int:
    """Of an integer without its sign, or of a float's significand."""
    if not is_float(dtype):
        return 8 * dtype.itemsize - (dtype.kind == "i")
    return int(format_of(dtype).nmant) + 1


def _integer_ties(rng: np.random.Generator, dtype: np.dtype, narrow: np.dtype, count: int) -> Array:
    wanted = digits(narrow)
    middle = 2 * rng.integers(2 ** (wanted - 1), 2**wanted, count, np.uint64) + np.uint64(1)
    shift = rng.integers(0, digits(dtype) - wanted, count, np.uint64)
    found = (middle << shift) + rng.integers(-1, 2, count).astype(np.uint64)
    return (found * rng.choice(np.array([1, -1 if dtype.kind == "i" else 1]), count).astype(np.uint64)).astype(dtype)


def _float_ties(rng: np.random.Generator, dtype: np.dtype, narrow: np.dtype, count: int) -> Array:
    bits = np.dtype(f"u{narrow.itemsize}")
    largest = int(np.array(float(format_of(narrow).max)).astype(narrow).view(bits))
    low = rng.integers(0, largest, count)
    below, above = (code.astype(bits).view(narrow).astype(np.float64) for code in (low, low + 1))
    with np.errstate(over="ignore"):  # bfloat has numbers that a half has not
        middle = ((below + above) / 2).astype(dtype)
    moved = np.nextafter(middle, rng.choice(np.array([np.inf, 0.0]), count).astype(dtype))
    return np.where(rng.random(count) < 0.3, middle, moved) * rng.choice(np.array([1, -1], dtype), count)


def within(rng: np.random.Generator, name: str, low: float, high: float) -> Array:
    """``COUNT`` elements from an interval, the special values among them."""
    dtype = numpy_dtype(name)
    values = rng.uniform(low, high, COUNT).astype(dtype)
    return np.where(rng.random(COUNT) < 0.1, rng.choice(np.array(SPECIAL, dtype), COUNT), values)


def operands(rng: np.random.Generator, names: tuple[str, ...]) -> list[Array]:
    """``COUNT`` elements of each: all tuples of edges where they fit, otherwise drawn ones; then random values, of a
    single operand ties as well."""
    choices = [edges(name) for name in names]
    total = int(np.prod([len(c) for c in choices]))
    if total <= COUNT - 32:
        picked = np.array(list(product(*(range(len(c)) for c in choices))))
    else:
        picked = np.stack([rng.integers(0, len(c), COUNT - 32) for c in choices], axis=1)
    rest = COUNT - len(picked)
    columns = [np.concatenate((c[picked[:, i]], random_values(rng, names[i], rest))) for i, c in enumerate(choices)]
    if len(names) == 1:
        columns[0][-(rest // 2) :] = ties(rng, names[0], rest // 2)
    order = rng.permutation(COUNT)
    return [np.ascontiguousarray(column[order]) for column in columns]
