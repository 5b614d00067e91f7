"""Arithmetic that NumPy lacks: one rounding of a sum of a product, rounding to odd, subnormals flushed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

Array = Any


def flushed(x: Array) -> Array:
    """Subnormal f32 numbers as zeros of their sign."""
    tiny = np.abs(x) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), x), x).astype(np.float32)


def to_odd(x: Array, error: Array) -> Array:
    """f64 numbers that stand for x + error, |error| below x's last place: the last bit says that something is lost.
    Rounding that to less than half of the bits is rounding the exact sum."""
    bits = np.ascontiguousarray(x, np.float64).view(np.int64).copy()
    inexact = (error != 0) & np.isfinite(x) & np.isfinite(error)
    toward = np.where((error > 0) == (x > 0), 1, -1)
    even = (bits & 1) == 0
    # Of a power of two the neighbour towards zero is half a step away, and odd as well.
    return np.where(inexact & even, bits + toward, bits).view(np.float64)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error, exact for finite numbers (Knuth)."""
    s = a + b
    other = s - a
    return s, (a - (s - other)) + (b - other)


def fma(a: Array, b: Array, c: Array, dtype: Any) -> Array:
    """a·b + c rounded once to ``dtype``, of its numbers."""
    if dtype == np.float64:
        return np.array([_fma64(*t) for t in zip(a.ravel(), b.ravel(), c.ravel(), strict=True)]).reshape(a.shape)
    product = a.astype(np.float64) * b.astype(np.float64)  # exact: at most 48 bits
    return narrowed(to_odd(*two_sum(product, c.astype(np.float64))), dtype)


def _fma64(a: float, b: float, c: float) -> float:
    plain = float(a) * float(b) + float(c)
    if not all(map(math.isfinite, (a, b, c))):
        return plain
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return plain  # with its sign
    try:
        rounded = float(exact)
    except OverflowError:
        rounded = math.inf
    return math.copysign(rounded, 1 if exact > 0 else -1)


def narrowed(x: Array, dtype: Any) -> Array:
    """f64 (or wider) rounded once to ``dtype``."""
    if dtype in (np.float64, np.float32):
        return x.astype(dtype)
    single = x.astype(np.float32)
    back = single.astype(x.dtype)
    bits = np.ascontiguousarray(single).view(np.int32).copy()
    lost = (back != x) & np.isfinite(single) & np.isfinite(x)
    toward = np.where(np.abs(x) > np.abs(back), 1, -1)
    odd = np.where(lost & ((bits & 1) == 0), bits + toward, bits).astype(np.int32).view(np.float32)
    over = np.isinf(single) & np.isfinite(x)
    odd = np.where(over, np.copysign(np.finfo(np.float32).max, x), odd).astype(np.float32)
    return odd.astype(dtype)


def truncated(x: Array, dtype: Any) -> Array:
    """f32 or f64 rounded toward zero to a narrower type."""
    wide = x.astype(np.float64)
    made = narrowed(wide, dtype)
    back = made.astype(np.float64)
    away = np.abs(back) > np.abs(wide)
    size = np.dtype(dtype).itemsize
    bits = np.ascontiguousarray(made).view(f"u{size}")
    return np.where(away, bits - 1, bits).astype(f"u{size}").view(dtype)


def saturated(x: Array, dtype: Any) -> Array:
    """f32 to an 8-bit float: to nearest even, numbers beyond its range to the largest (cvt.satfinite)."""
    largest = float(ml_dtypes.finfo(dtype).max)
    clipped = np.where(np.isnan(x), x, np.clip(x, -largest, largest)).astype(np.float32)
    made = clipped.astype(dtype)
    nan = np.array([0x7F], np.uint8).view(dtype)
    return np.where(np.isnan(x), nan.view(np.uint8), made.view(np.uint8)).astype(np.uint8).view(dtype)
