"""Special functions of ``tl.extra.libdevice`` for targets whose library lacks them, in double precision.

All are computed in fp64, whatever their type is, and rounded once: those of fp32 are correctly rounded but for rare
cases, those of fp64 within 16 units in the last place. ``erfcinv`` and ``erfinv`` are one function of q = erfc(y) and
x = 1 - q, of which the caller has both without cancellation: a guess (S. Winitzki, "A handy approximation for the error
function and its inverse", 2008; a relative error of 2e-3), then two of Halley's steps on erf where x is less than 1/2,
and else three of Newton's on log(erfc(y)), whose derivative neither vanishes nor underflows for the smallest q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tritonx.language.types.dtypes import float64, int32, int64, uint32
from tritonx.language.values.tensor import tensor

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

Composition = Callable[["Semantics", Sequence[tensor]], tensor]

_BESSEL_TERMS = 56
"""Of the power series: the next one is less than 1e-17 of the sum for arguments up to `_BESSEL_SPLIT`."""
_BESSEL_SPLIT = 20.0
"""From here the asymptotic series has terms as small as exp(-2x) = 4e-18."""
_BESSEL_TAIL_TERMS = 30
_BESSEL_OVERFLOW = 720.0
"""Here both functions are beyond the largest double (they are from 714 on)."""
_ERFCX_SPLIT = 10.0
_ERFCX_TAIL_TERMS = 14
"""Of the asymptotic series in 1/(2x²), at least 1/200: the next one is less than 1e-17."""
_ERFCX_OVERFLOW = -30.0


def _number(sem: Semantics, value: float) -> tensor:
    return sem.scalar_constant(value, float64)


def _polynomial(sem: Semantics, x: tensor, coefficients: Sequence[float]) -> tensor:
    """By Horner's scheme; the constant term comes first."""
    total = _number(sem, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = sem.fma(total, x, _number(sem, coefficient))
    return total


def _in_double(function: Callable[[Semantics, tensor], tensor]) -> Composition:
    return lambda sem, args: sem.cast(function(sem, sem.cast(args[0], float64)), args[0].dtype)


@cache
def _bessel_series(order: int) -> tuple[float, ...]:
    """Of I(x) / (x/2)^order in x²/4: 1 / (k! (k + order)!)."""
    return tuple([1 / (math.factorial(k) * math.factorial(k + order)) for k in range(_BESSEL_TERMS)])


@cache
def _bessel_tail(order: int) -> tuple[float, ...]:
    """Of I(x) sqrt(2 pi x) / exp(x) in 1/x, after Hankel (NIST DLMF 10.40.1)."""
    found, numerator = [1.0], 1
    for k in range(1, _BESSEL_TAIL_TERMS):
        numerator *= (2 * k - 1) ** 2 - 4 * order * order
        found.append(numerator / (math.factorial(k) * 8**k))
    return tuple(found)


def _bessel(order: int) -> Callable[[Semantics, tensor], tensor]:
    """The modified Bessel function of the first kind. exp(x) overflows before it does, so exp(x/2) comes in twice."""

    def function(sem: Semantics, x: tensor) -> tensor:
        size = sem.abs(x)
        near = sem.where(sem.less_than(size, _BESSEL_SPLIT), size, _number(sem, 0.0))
        series = _polynomial(sem, sem.mul(sem.mul(near, near), 0.25), _bessel_series(order))
        if order:
            series = sem.mul(series, sem.mul(near, 0.5))
        far = sem.where(sem.less_than(size, _BESSEL_SPLIT), _number(sem, _BESSEL_SPLIT), size)
        half = sem.extern_function("exp", (sem.mul(far, 0.5),))
        root = sem.extern_function("sqrt", (sem.mul(far, 2 * math.pi),))
        tail = _polynomial(sem, sem.truediv(1.0, far), _bessel_tail(order))
        tail = sem.mul(half, sem.mul(half, sem.truediv(tail, root)))
        tail = sem.where(sem.greater_than(size, _BESSEL_OVERFLOW), _number(sem, math.inf), tail)
        found = sem.where(sem.less_than(size, _BESSEL_SPLIT), series, tail)
        return sem.extern_function("copysign", (found, x)) if order else found

    return function


def _scaled_erfc(sem: Semantics, x: tensor) -> tensor:
    """exp(x²) erfc(x); the rounding error of x² is a factor of its own."""
    low = sem.where(sem.less_than(x, _ERFCX_OVERFLOW), _number(sem, _ERFCX_OVERFLOW), x)
    near = sem.where(sem.greater_than(low, _ERFCX_SPLIT), _number(sem, _ERFCX_SPLIT), low)
    square = sem.mul(near, near)
    rest = sem.fma(near, near, sem.minus(square))
    power = sem.mul(sem.extern_function("exp", (square,)), sem.add(rest, 1.0))
    found = sem.mul(power, sem.extern_function("erfc", (near,)))
    far = sem.where(sem.greater_than(x, _ERFCX_SPLIT), x, _number(sem, _ERFCX_SPLIT))
    inverse = sem.truediv(1.0, far)
    series = [1.0]
    for k in range(1, _ERFCX_TAIL_TERMS):
        series.append(-series[-1] * (2 * k - 1) / 2)
    tail = sem.mul(_polynomial(sem, sem.mul(inverse, inverse), series), sem.mul(inverse, 1 / math.sqrt(math.pi)))
    return sem.where(sem.greater_than(x, _ERFCX_SPLIT), tail, found)


def _inverse_of_both(sem: Semantics, x: tensor, q: tensor) -> tensor:
    """y with erf(y) = x and erfc(y) = q, for x in [0, 1] and q = 1 - x."""
    a = 0.147
    log = sem.extern_function("log", (sem.mul(q, sem.add(x, 1.0)),))
    t = sem.add(sem.mul(log, 0.5), 2 / (math.pi * a))
    w = sem.mul(log, -1 / a)
    root = sem.extern_function("sqrt", (sem.fma(t, t, w),))
    positive = sem.greater_than(t, 0.0)  # the sum or the difference, whichever does not cancel
    low = sem.truediv(w, sem.add(root, sem.where(positive, t, _number(sem, 1.0))))
    square = sem.where(positive, low, sem.sub(root, t))
    guess = sem.extern_function("sqrt", (square,))
    central = sem.less_than(x, 0.5)
    y = sem.where(central, guess, _number(sem, 0.0))
    for _ in range(2):
        slope = sem.mul(sem.extern_function("exp", (sem.mul(y, y),)), math.sqrt(math.pi) / 2)
        u = sem.mul(sem.sub(sem.extern_function("erf", (y,)), x), slope)
        y = sem.sub(y, sem.truediv(u, sem.fma(y, u, _number(sem, 1.0))))
    z, wanted = guess, sem.extern_function("log", (q,))
    for _ in range(3):
        scaled = _scaled_erfc(sem, z)
        excess = sem.sub(sem.sub(sem.extern_function("log", (scaled,)), wanted), sem.mul(z, z))
        z = sem.fma(sem.mul(excess, scaled), _number(sem, math.sqrt(math.pi) / 2), z)
    found = sem.where(central, y, z)
    found = sem.where(sem.equal(q, 0.0), _number(sem, math.inf), found)
    return sem.where(sem.less_than(q, 0.0), _number(sem, math.nan), found)


def _inverse_erf(sem: Semantics, x: tensor) -> tensor:
    size = sem.abs(x)
    return sem.extern_function("copysign", (_inverse_of_both(sem, size, sem.sub(1.0, size)), x))


def _inverse_erfc(sem: Semantics, q: tensor) -> tensor:
    mirrored = sem.greater_than(q, 1.0)
    small = sem.where(mirrored, sem.sub(2.0, q), q)
    found = _inverse_of_both(sem, sem.sub(1.0, small), small)
    return sem.where(mirrored, sem.minus(found), found)


def _normal_quantile(sem: Semantics, p: tensor) -> tensor:
    return sem.mul(_inverse_erfc(sem, sem.mul(p, 2.0)), -math.sqrt(2))


def _high_word_of_reciprocal(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """1/x as far as the upper 32 bits have it; the lower ones are zero."""
    bits = sem.bitcast(sem.truediv(1.0, args[0]), int64)
    return sem.bitcast(sem.and_(bits, sem.scalar_constant(-(2**32), int64)), float64)


def _byte_perm(sem: Semantics, args: Sequence[tensor]) -> tensor:
    """Byte k of the result is the one of y:x that the nibble k of the selector names, or eight of its sign bit where
    the nibble's highest bit is set (PTX ISA 9.0, ``prmt``)."""
    x, y, selector = (sem.bitcast(value, uint32) for value in args)
    result = None
    for k in range(4):
        nibble = sem.shr(selector, 4 * k)
        word = sem.where(sem.equal(sem.and_(nibble, 4), 0), x, y)
        byte = sem.and_(sem.shr(word, sem.shl(sem.and_(nibble, 3), 3)), 255)
        sign = sem.mul(sem.shr(byte, 7), 255, False)
        byte = sem.where(sem.equal(sem.and_(nibble, 8), 0), byte, sign)
        placed = sem.shl(byte, 8 * k)
        result = placed if result is None else sem.or_(result, placed)
    assert result is not None
    return sem.bitcast(result, int32)


SPECIAL: Mapping[str, Composition] = {
    "cyl_bessel_i0": _in_double(_bessel(0)),
    "cyl_bessel_i1": _in_double(_bessel(1)),
    "erfcx": _in_double(_scaled_erfc),
    "erfinv": _in_double(_inverse_erf),
    "erfcinv": _in_double(_inverse_erfc),
    "normcdfinv": _in_double(_normal_quantile),
    "rcp64h": _high_word_of_reciprocal,
    "byte_perm": _byte_perm,
}
