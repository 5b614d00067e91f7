"""Dtypes by the language's names, and random values of them."""

# NumPy's random numbers and selections are of no dtype that a checker knows.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tritonx_testing.conformance.case import Array

Shape = int | tuple[int, ...]
"""How many, or how many of each dimension."""

DTYPES: dict[str, Any] = {
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64,
    "fp8e4nv": ml_dtypes.float8_e4m3fn, "fp8e5": ml_dtypes.float8_e5m2,
    "fp8e4b8": ml_dtypes.float8_e4m3fnuz, "fp8e5b16": ml_dtypes.float8_e5m2fnuz,
}  # fmt: skip
"""The language's name → NumPy dtype."""

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("fp16", "bf16", "fp32", "fp64")
FP8 = ("fp8e4nv", "fp8e5")
ALL_FP8 = (*FP8, "fp8e4b8", "fp8e5b16")
"""With those that only some targets have. (fp8e4b15 is no format of NumPy's.)"""


SPECIAL = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 0.5, -2.0)
"""Values that every float array of ``floats`` may contain."""


def integers(rng: np.random.Generator, dtype: str, shape: Shape) -> Array:
    """Of the whole range, half of them small, the extremes among them."""
    kind = np.dtype(DTYPES[dtype])
    info = np.iinfo(kind)
    large = rng.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    small = rng.integers(0 if info.min == 0 else -20, 20, shape).astype(kind)
    extremes = rng.choice(np.array([info.min, info.max, 0, 1], kind), shape)
    return np.choose(rng.choice(3, shape, p=[0.45, 0.45, 0.1]), [large, small, extremes])


def small_integers(rng: np.random.Generator, dtype: str, shape: Shape, low: int = -8, high: int = 9) -> Array:
    """Whole numbers in [low, high), non-negative where the dtype is unsigned; sums of them are exact."""
    return rng.integers(max(low, 0) if dtype in UNSIGNED else low, high, shape).astype(DTYPES[dtype])


def floats(rng: np.random.Generator, dtype: str, shape: Shape, *, special: bool = False) -> Array:
    """Normally distributed over a few magnitudes; with ``special``, infinities, NaNs and zeros among them."""
    x = rng.standard_normal(shape) * rng.choice([0.01, 1.0, 30.0], shape)
    if special:
        x = np.where(rng.random(shape) < 0.15, rng.choice(np.array(SPECIAL), shape), x)
    with np.errstate(all="ignore"):
        return x.astype(DTYPES[dtype])


def values(rng: np.random.Generator, dtype: str, shape: Shape) -> Array:
    """Any finite values of the dtype."""
    return integers(rng, dtype, shape) if dtype in INTEGERS else floats(rng, dtype, shape)


def distinct(rng: np.random.Generator, dtype: str, count: int) -> Array:
    """Values whose bytes tell positions apart as far as the dtype can: a permutation of 0, 1, 2, ... wrapped."""
    numbers = rng.permutation(count)
    if dtype in INTEGERS:
        return numbers.astype(DTYPES[dtype])
    limit = {"fp16": 2048, "bf16": 256, "fp8e4nv": 16, "fp8e5": 8}.get(dtype, count)
    return (numbers % limit).astype(DTYPES[dtype])
