"""Functions of the device mathematics libraries, by the names that kernels call them by.

The vendors' symbols differ in prefix and suffix only (`__nv_erff`, `__ocml_erf_f32`): the table is keyed by the C
name. Floats arrive in f64 and the result is rounded to the op's format, so that the f32 functions are correctly
rounded but for rare cases; integers arrive as they are. What the table lacks (directed rounding, byte permutations)
is a typed error at the kernel's line.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from tritonx.interpreter import arithmetic
from tritonx.interpreter.values import Array, signless, unsigned

Function = Callable[..., Any]


def _each(function: Function, arguments: int = 1) -> Function:
    """A scalar function on every element; where Python raises, the C library would give NaN or an infinity."""

    def guarded(*xs: float) -> float:
        try:
            return function(*xs)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    ufunc = np.frompyfunc(guarded, arguments, 1)
    return lambda *xs: np.asarray(ufunc(*xs)).astype(np.float64)


def _c(name: str, arguments: int = 1) -> Function:
    """A function on doubles of the C library, found when it is first called."""
    return lambda *xs: np.asarray(arithmetic.c_function(name, arguments)(*xs)).astype(np.float64)


def _ordered(name: str) -> Function:
    """A Bessel function of integer order: jn(n, x)."""

    def function(n: Array, x: Array) -> Array:
        library = getattr(arithmetic.c_library(), name)

        library.restype, library.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_double]
        return np.asarray(np.frompyfunc(lambda i, v: library(int(i), v), 2, 1)(n, x)).astype(np.float64)

    return function


def _sin_pi(x: Array) -> Array:
    reduced = np.fmod(x, 2.0)
    return np.where(np.trunc(reduced) == reduced, np.copysign(0.0, x), np.sin(math.pi * reduced))


def _cos_pi(x: Array) -> Array:
    reduced = np.fmod(np.abs(x), 2.0)
    return np.where((reduced == 0.5) | (reduced == 1.5), 0.0, np.cos(math.pi * reduced))


def _inverse_erf(x: float) -> float:
    """Start from the normal quantile, then two Newton steps on erf."""
    if x != x or abs(x) > 1:
        return math.nan
    if abs(x) == 1:
        return math.copysign(math.inf, x)
    if x == 0:
        return x
    if abs(x) < 1e-8:
        return x * math.sqrt(math.pi) / 2
    y = (
        NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)
        if abs(x) < 0.9
        else math.copysign(_inverse_erfc(1 - abs(x)), x)
    )
    for _ in range(2):
        y -= (math.erf(y) - x) / (2 / math.sqrt(math.pi) * math.exp(-y * y))
    return y


def _inverse_erfc(x: float) -> float:
    if x != x or x < 0 or x > 2:
        return math.nan
    if x in (0.0, 2.0):
        return math.inf if x == 0 else -math.inf
    if x > 1:
        return -_inverse_erfc(2 - x)
    y = -NormalDist().inv_cdf(x / 2) / math.sqrt(2) if x > 1e-300 else math.sqrt(-math.log(x))
    for _ in range(3):
        y += (math.erfc(y) - x) / (2 / math.sqrt(math.pi) * math.exp(-y * y))
    return y


def _scaled_erfc(x: float) -> float:
    """exp(x²) erfc(x); a continued fraction where erfc underflows."""
    if x < 20:
        return math.exp(x * x) * math.erfc(x)
    tail = 0.0
    for k in range(40, 0, -1):
        tail = (k / 2) / (x + tail)
    return 1 / (math.sqrt(math.pi) * (x + tail))


def _normal_quantile(p: float) -> float:
    if p in (0.0, 1.0):
        return -math.inf if p == 0 else math.inf
    return -math.sqrt(2) * _inverse_erfc(2 * p) if p == p else p


def _bessel_i1(x: float) -> float:
    """The modified Bessel function by its series: all terms have one sign."""
    term = total = x / 2
    k = 1
    while abs(term) > 1e-18 * abs(total) and math.isfinite(total):
        term *= (x / 2) * (x / 2) / (k * (k + 1))
        total += term
        k += 1
    return total


def _bessel_i0(x: float) -> float:
    term = total = 1.0
    k = 1
    while abs(term) > 1e-18 * abs(total) and math.isfinite(total):
        term *= (x / 2) * (x / 2) / (k * k)
        total += term
        k += 1
    return total


def _log_b(x: Array) -> Array:
    mantissa, exponent = np.frexp(x)
    result = np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, exponent - 1.0))
    return np.where(np.isnan(mantissa), np.nan, result)


def _per_element(function: Callable[[int], int], x: Array) -> Array:
    """A function of Python integers on the unsigned elements of `x`; an array of objects."""
    return np.asarray(np.frompyfunc(function, 1, 1)(unsigned(x)))


def _count_leading_zeros(x: Array) -> Array:
    bits = x.dtype.itemsize * 8
    return bits - _per_element(lambda v: int(v).bit_length(), x).astype(np.int64)


def _first_set(x: Array) -> Array:
    return _per_element(lambda v: (int(v) & -int(v)).bit_length(), x).astype(np.int64)


def _reverse_bits(x: Array) -> Array:
    bits = x.dtype.itemsize * 8
    reverse = _per_element(lambda v: int(f"{int(v):0{bits}b}"[::-1], 2), x)
    return signless(reverse.astype(unsigned(x).dtype))


def _multiply_high_signed(x: Array, y: Array) -> Array:
    zero = x.dtype.type(0)
    return arithmetic.multiply_high_unsigned(x, y) - np.where(x < 0, y, zero) - np.where(y < 0, x, zero)


def _average_down(x: Array, y: Array) -> Array:
    return (x & y) + ((x ^ y) >> x.dtype.type(1))


def _average_up(x: Array, y: Array) -> Array:
    return (x | y) - ((x ^ y) >> x.dtype.type(1))


_ONE_ARGUMENT: dict[str, Function] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh,
    "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "cospi": _cos_pi, "erf": arithmetic.erf,
    "erfc": _each(math.erfc), "erfcinv": _each(_inverse_erfc), "erfcx": _each(_scaled_erfc),
    "erfinv": _each(_inverse_erf),
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1, "fabs": np.abs,
    "floor": np.floor, "j0": _c("j0"), "j1": _c("j1"), "lgamma": _each(math.lgamma), "log": np.log, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "logb": _log_b, "nearbyint": np.rint, "rint": np.rint,
    "normcdf": lambda x: 0.5 * _each(math.erfc)(-x / math.sqrt(2)), "normcdfinv": _each(_normal_quantile),
    "cyl_bessel_i0": _each(_bessel_i0), "cyl_bessel_i1": _each(_bessel_i1), "rcbrt": lambda x: 1.0 / np.cbrt(x),
    "round": arithmetic.round_half_away, "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "saturate": lambda x: np.fmin(np.fmax(x, 0.0), 1.0),
    "sin": np.sin, "sinh": np.sinh, "sinpi": _sin_pi, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "tgamma": _each(math.gamma), "trunc": np.trunc, "y0": _c("y0"), "y1": _c("y1"), "rcp_rn": np.reciprocal,
    "sqrt_rn": np.sqrt, "rsqrt_rn": lambda x: 1.0 / np.sqrt(x),
}  # fmt: skip

_SEVERAL_ARGUMENTS: dict[str, Function] = {
    "add_rn": np.add, "sub_rn": np.subtract, "mul_rn": np.multiply, "div_rn": np.divide, "atan2": np.arctan2,
    "copysign": np.copysign,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0)),
    "fdivide": np.divide, "fmod": np.fmod, "hypot": np.hypot, "pow": np.power, "powi": np.power,
    "remainder": _c("remainder", 2), "fmin": arithmetic.minimum_number, "fmax": arithmetic.maximum_number,
    "rhypot": lambda x, y: 1.0 / np.hypot(x, y), "norm3d": lambda x, y, z: np.sqrt(x * x + y * y + z * z),
    "rnorm3d": lambda x, y, z: 1.0 / np.sqrt(x * x + y * y + z * z),
    "norm4d": lambda x, y, z, w: np.sqrt(x * x + y * y + z * z + w * w),
    "rnorm4d": lambda x, y, z, w: 1.0 / np.sqrt(x * x + y * y + z * z + w * w),
    "fma": arithmetic.fused_multiply_add, "ldexp": np.ldexp, "scalbn": np.ldexp,
    "jn": _ordered("jn"), "yn": _ordered("yn"),
}  # fmt: skip

_PREDICATES: dict[str, Function] = {
    "finite": np.isfinite, "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "signbit": np.signbit,
    "ilogb": _log_b, "llrint": np.rint, "llround": arithmetic.round_half_away, "lrint": np.rint,
    "lround": arithmetic.round_half_away,
}  # fmt: skip

_INTEGERS: dict[str, Function] = {
    "abs": np.abs, "llabs": np.abs, "brev": _reverse_bits, "brevll": _reverse_bits, "clz": _count_leading_zeros,
    "clzll": _count_leading_zeros, "ffs": _first_set, "ffsll": _first_set,
    "popc": lambda x: np.bitwise_count(unsigned(x)), "popcll": lambda x: np.bitwise_count(unsigned(x)),
    "mulhi": _multiply_high_signed, "mul64hi": _multiply_high_signed, "umulhi": arithmetic.multiply_high_unsigned,
    "umul64hi": arithmetic.multiply_high_unsigned, "hadd": _average_down, "rhadd": _average_up,
    "uhadd": lambda x, y: signless(_average_down(unsigned(x), unsigned(y))),
    "urhadd": lambda x, y: signless(_average_up(unsigned(x), unsigned(y))),
    "mul24": lambda x, y: ((x << 8) >> 8) * ((y << 8) >> 8), "umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "sad": lambda x, y, z: np.abs(x.astype(np.int64) - y) + z,
    "usad": lambda x, y, z: np.abs(unsigned(x).astype(np.int64) - unsigned(y)) + z,
}  # fmt: skip

_TABLE: dict[str, Function] = {**_ONE_ARGUMENT, **_SEVERAL_ARGUMENTS, **_PREDICATES, **_INTEGERS}

_SYMBOL = re.compile(r"^__(?:nv|ocml|ockl)_(?:fast_|native_)?(.*?)(?:_[fui](?:16|32|64))?$")

# f32 and f64 forms of the arithmetic that is named after its rounding: fadd_rn, dadd_rn, frcp_rn, ...
_ROUNDED = re.compile(r"^[fd]((?:add|sub|mul|div|rcp|sqrt|rsqrt)_rn)$")


def c_name(symbol: str) -> str:
    """The C name behind a device library's symbol: `__nv_erff` and `__ocml_erf_f32` are `erf`."""
    match = _SYMBOL.match(symbol)
    name = match.group(1) if match else symbol
    rounded = _ROUNDED.match(name)
    if rounded:
        return rounded.group(1)
    if name in _TABLE:
        return name
    if name.endswith(("f", "d")) and name[:-1] in _TABLE:
        return name[:-1]
    return name


class _BySymbol(Mapping[str, Function]):
    """The table seen through the vendors' symbols."""

    def __getitem__(self, symbol: str) -> Function:
        return _TABLE[c_name(symbol)]

    def __contains__(self, symbol: object) -> bool:
        return isinstance(symbol, str) and c_name(symbol) in _TABLE

    def __iter__(self) -> Iterator[str]:
        return iter(_TABLE)

    def __len__(self) -> int:
        return len(_TABLE)


EXTERN_FUNCTIONS: Mapping[str, Function] = _BySymbol()
