"""Arithmetic that NumPy lacks or defines otherwise, on signless integers and on floats of every format.

What other languages leave undefined has a value here, as docs/guide.md says ("Integers"), and `divisor` is where
quotients get it: kernels compute them in masked-off lanes and never use them, so they must not stop the kernel.

* A quotient by 0 is 0, and the remainder the dividend: dividend = quotient * divisor + remainder always holds.
* The quotient of the least integer by -1 wraps to itself, the remainder is 0.
* A shift by the width or more gives 0, or the sign in every bit for an arithmetic shift to the right.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import ctypes
import ctypes.util
import math
from functools import lru_cache

import numpy as np

from tritonx.interpreter.rounding import round_to
from tritonx.interpreter.values import Array, signless, unsigned


def divisor(dividend: Array, by: Array) -> tuple[Array, Array]:
    """(dividend, divisor) whose quotient exists and is the one wanted: 0 by 1 where `by` is 0; where a signed quotient
    wraps, the dividend by 1."""
    none = by == 0
    wraps = none
    if dividend.dtype.kind == "i":
        wraps = none | ((by == -1) & (dividend == np.iinfo(dividend.dtype).min))
    return np.where(none, dividend.dtype.type(0), dividend), np.where(wraps, by.dtype.type(1), by)


def divide_signed(x: Array, y: Array) -> Array:
    """The quotient truncated towards zero."""
    x, y = divisor(x, y)
    return np.floor_divide(x - np.fmod(x, y), y)


def remainder_signed(x: Array, y: Array) -> Array:
    """The remainder of the quotient truncated towards zero: it has the dividend's sign."""
    return x - divide_signed(x, y) * y


def divide_unsigned(x: Array, y: Array) -> Array:
    return signless(np.floor_divide(*divisor(unsigned(x), unsigned(y))))


def remainder_unsigned(x: Array, y: Array) -> Array:
    return x - divide_unsigned(x, y) * y


def floor_divide_signed(x: Array, y: Array) -> Array:
    """The quotient rounded down."""
    return np.floor_divide(*divisor(x, y))


def ceil_divide_signed(x: Array, y: Array) -> Array:
    """The quotient rounded up."""
    x, y = divisor(x, y)
    return np.floor_divide(x, y) + (np.remainder(x, y) != 0)


def ceil_divide_unsigned(x: Array, y: Array) -> Array:
    """The unsigned quotient rounded up."""
    x, y = divisor(unsigned(x), unsigned(y))
    return signless(np.floor_divide(x, y) + (np.remainder(x, y) != 0))


def round_half_away(x: Array) -> Array:
    """To the nearest integer, halves away from zero."""
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(np.ones_like(x), x), np.zeros_like(x))


def shift_right_unsigned(x: Array, count: Array) -> Array:
    return signless(np.right_shift(unsigned(x), unsigned(count)))


def multiply_high_unsigned(x: Array, y: Array) -> Array:
    """The upper half of the product of two unsigned integers of up to 64 bits."""
    x, y = unsigned(x), unsigned(y)
    bits = x.dtype.itemsize * 8
    if bits < 64:
        product = x.astype(np.uint64) * y.astype(np.uint64)
        return signless((product >> np.uint64(bits)).astype(x.dtype))
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    x_low, x_high, y_low, y_high = x & mask, x >> half, y & mask, y >> half
    middle = x_high * y_low + ((x_low * y_low) >> half)
    other = x_low * y_high + (middle & mask)
    return signless(x_high * y_high + (middle >> half) + (other >> half))


def maximum_number(x: Array, y: Array) -> Array:
    """The larger one; a number wins over a NaN; +0 is larger than -0 (IEEE 754-2019 maximumNumber)."""
    return np.where((x == 0) & (y == 0), x + y, np.fmax(x, y))


def minimum_number(x: Array, y: Array) -> Array:
    """The smaller one; a number wins over a NaN; -0 is smaller than +0."""
    return np.where((x == 0) & (y == 0), -(-x + -y), np.fmin(x, y))


def maximum(x: Array, y: Array) -> Array:
    """The larger one; a NaN wins; +0 is larger than -0."""
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def minimum(x: Array, y: Array) -> Array:
    """The smaller one; a NaN wins; -0 is smaller than +0."""
    return np.where((x == 0) & (y == 0), -(-x + -y), np.minimum(x, y))


def remainder_float(x: Array, y: Array) -> Array:
    """C's fmod: exact, with the sign of `x`."""
    if x.dtype.itemsize >= 4:
        return np.fmod(x, y)
    return np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)


def fused_multiply_add(x: Array, y: Array, z: Array) -> Array:
    """`x * y + z` of equal dtypes, rounded once."""
    dtype = np.result_type(x)
    if dtype == np.float64:
        return _fma_double(x, y, z)
    if dtype == np.float32:
        return fma_single(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), z)
    return round_to(_sum_to_odd(_wide(x) * _wide(y), _wide(z)), dtype)


def fma_single(x: Array, y: Array, z: Array) -> Array:
    """f32(x * y + z) rounded once, of f32 values; `x` and `y` come already widened to f64.

    The product is exact in f64, the sum is rounded to 53 digits. Rounding that again to 24 goes wrong only where the
    first rounding landed exactly between two f32 (or where f32 has fewer digits, below its normal range): those
    lanes, one in 2**29, are added again with the f64 rounded to odd.
    """
    product = x * y
    wide = product + z
    single = wide.astype(np.float32)
    tie = (np.asarray(wide).view(np.int64) & 0x1FFFFFFF) == 0x10000000
    tie |= np.abs(wide) < 2.0**-125
    if tie.any():
        exact = _sum_to_odd(product, np.asarray(z, dtype=np.float64)).astype(np.float32)
        return np.where(tie, exact, single)
    return single


def _wide(x: Array) -> Array:
    return np.asarray(x).astype(np.float64)


def _sum_to_odd(a: Array, b: Array) -> Array:
    """a + b in f64, rounded to odd: where it is inexact, the neighbour whose last bit is set (Boldo and Melquiond,
    2008)."""
    total = np.asarray(a + b)
    part = total - a
    error = (a - (total - part)) + (b - part)  # Knuth's two-sum: the exact rounding error
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & ((bits & 1) == 0)
    # One step towards the exact sum: away from zero where the error has the sum's sign, else towards zero.
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact, bits + step, bits).view(np.float64)


@lru_cache(maxsize=1)
def c_library() -> ctypes.CDLL:
    """The C library's mathematics: for functions that neither NumPy nor `math` has."""
    return ctypes.CDLL(ctypes.util.find_library("m") or None)


@lru_cache(maxsize=64)
def c_function(name: str, arguments: int) -> np.ufunc:
    """A function on doubles of the C library, applied to every element (slow; result of dtype object)."""
    function = getattr(c_library(), name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * arguments
    return np.frompyfunc(function, arguments, 1)


def _fma_double(x: Array, y: Array, z: Array) -> Array:
    return np.asarray(c_function("fma", 3)(x, y, z)).astype(np.float64)


_erf = np.frompyfunc(math.erf, 1, 1)


def erf(x: Array) -> Array:
    """The error function in f64."""
    return np.asarray(_erf(x)).astype(np.float64)
