"""log, log2, log10, log1p, pow, and the inverse hyperbolic functions.

x = 2^e · m with √½ ≤ m < √2, and log m = 2s + s³(2/3 + s²(2/5 + s² · R(s²))) with s = (m - 1)/(m + 1), |s| ≤ 0.172: all
but R in double-double, to a relative error of 2^-68. That is what pow needs, whose exponent multiplies the error by
745; the logarithms themselves are off by the last rounding."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.exponential import (
    LN2,
    exponential,
    finished,
)
from tritonx.conversion.mathlib.doubles.pairs import (
    Constant,
    Pair,
    constant,
    exact,
    select_pair,
    square,
    two_sum,
)
from tritonx.conversion.mathlib.doubles.values import Double, Truth, Word, select

_LOG = (
    0.2857142857142857, 0.22222222222222976, 0.18181818181283266, 0.15384615528882667, 0.13333314253346026,
    0.11766073023707332, 0.10472288152327053, 0.10623477276739669,
)  # fmt: skip
_THIRD: Constant = (0.6666666666666666, 3.700743415417188e-17)
_FIFTH: Constant = (0.4, -2.2204460492503132e-17)
_LOG2_E: Constant = (1.4426950408889634, 2.0355273740931033e-17)
_LOG10_E: Constant = (0.4342944819032518, 1.098319650216765e-17)
_LOG10_2: Constant = (0.3010299956639812, -2.8037281277851704e-18)
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_INFINITY = float("inf")
_NAN = float("nan")


def parts(x: Pair) -> tuple[Double, Pair]:
    """(e, log m) of a positive finite number."""
    tiny = x.hi < 2.0**-1022
    hi = select(tiny, x.hi * 2.0**54, x.hi)
    lo = select(tiny, x.lo * 2.0**54, x.lo)
    bits = hi.bits()
    exponent = (bits - _SQRT_HALF_BITS).sar(52)
    m = (bits - (exponent << 52)).double()
    u = two_sum(m - 1.0, lo.scaled(x.hi.word(0) - exponent))
    s = u / (u + 2.0)
    z = s * s
    rest = two_sum(z.hi.const(_FIFTH[0]), z.hi * z.hi.polynomial(_LOG))
    third = z * Pair(rest.hi, rest.lo + _FIFTH[1]) + _THIRD
    value = s.times_power(2.0) + s * (z * third)
    return exponent.converted() + select(tiny, x.hi.const(-54.0), x.hi.const(0.0)), value


def logarithm(x: Pair) -> Pair:
    """log x of a positive finite number."""
    e, value = parts(x)
    return constant(e, LN2) * e + value


def special(x: Double, value: Double) -> Double:
    """The logarithm of 0, infinity, NaN and negative numbers; ``value`` of others."""
    value = select(x.equals(0.0), x.const(-_INFINITY), value)
    value = select(x.equals(_INFINITY), x, value)
    return select(~(x >= 0.0), x.const(_NAN), value)


def log(x: Double) -> Double:
    return special(x, logarithm(exact(x)).value())


def log2(x: Double) -> Double:
    e, value = parts(exact(x))
    return special(x, (value * _LOG2_E + e).value())


def log10(x: Double) -> Double:
    e, value = parts(exact(x))
    return special(x, (constant(x, _LOG10_2) * e + value * _LOG10_E).value())


def log1p(x: Double) -> Double:
    sum_ = two_sum(x.const(1.0), x)
    value = special(x + 1.0, logarithm(sum_).value())
    value = select(x.equals(_INFINITY), x, value)
    return select(abs(x) < 2.0**-54, x, value)


def asinh(x: Double) -> Double:
    """log(x + √(x² + 1)), of large numbers log x + log 2, of small ones x - x³/6."""
    size = abs(x)
    y = size.at_most(2.0**30)
    value = _of_sum(size, exact(y) + (square(y) + 1.0).sqrt())
    value = select(size < 2.0**-28, size.fma(size * size * (-1.0 / 6), size), value)
    return value.signed_as(x)


def _of_sum(x: Double, grown: Pair) -> Double:
    """log of ``grown``, but log 2x where x is large."""
    large = x > 2.0**30
    value = logarithm(select_pair(large, exact(x), grown))
    value = value + select_pair(large, constant(x, LN2), exact(x.const(0.0)))
    return select(x.equals(_INFINITY), x, value.value())


def acosh(x: Double) -> Double:
    """log(x + √((x - 1)(x + 1)))."""
    y = x.at_most(2.0**30).at_least(1.0)
    below = (exact(y) - 1.0) * (exact(y) + 1.0)
    root = select_pair(below.hi.equals(0.0), exact(x.const(0.0)), below.sqrt())
    return select(x >= 1.0, _of_sum(x, exact(y) + root), x.const(_NAN))


def atanh(x: Double) -> Double:
    """log((1 + x) / (1 - x)) / 2."""
    size = abs(x)
    y = select(size < 1.0, size, 0.5)
    one = x.const(1.0)
    value = logarithm(two_sum(one, y) / two_sum(one, -y)).value() * 0.5
    value = select(size.equals(1.0), _INFINITY, value)
    value = select(size < 2.0**-28, size.fma(size * size * (1.0 / 3), size), value)
    return select(size <= 1.0, value.signed_as(x), x.const(_NAN))


def power(magnitude: Double, y: Double) -> tuple[Pair, Word]:
    """magnitude^y of a positive finite base as (m, n): m · 2^n."""
    product = logarithm(exact(magnitude)) * y.at_most(2.0**65).at_least(-(2.0**65))
    limit = abs(product.hi) > 1000.0
    return exponential(select_pair(limit, exact(product.hi.const(1000.0).signed_as(product.hi)), product))


def pow(x: Double, y: Double) -> Double:
    """x^y with C's special cases (C23, F.10.4.4)."""
    magnitude = abs(x)
    zero, infinite = magnitude.equals(0.0), magnitude.equals(_INFINITY)
    safe = select(zero | infinite | magnitude.is_nan(), 1.0, magnitude)
    value = finished(*power(safe, select(y.is_nan(), 1.0, y)))
    growing = y > 0.0
    value = select(zero, select(growing, x.const(0.0), x.const(_INFINITY)), value)
    value = select(infinite, select(growing, x.const(_INFINITY), x.const(0.0)), value)
    whole, odd = integral(y)
    value = select(x.is_negative() & odd, -value, value)
    broken = (x < 0.0) & magnitude.differs(_INFINITY) & ~whole
    value = select(broken, x.const(_NAN), value)
    value = select(x.is_nan() | y.is_nan(), x.const(_NAN), value)
    one = x.equals(-1.0) & abs(y).equals(_INFINITY)
    return select(one | x.equals(1.0) | y.equals(0.0), x.const(1.0), value)


def integral(y: Double) -> tuple[Truth, Truth]:
    """Whether y is an integer (infinities are), and whether it is an odd one."""
    whole = y.rounded("trunc").equals(y)
    half = y * 0.5
    return whole, whole & half.rounded("trunc").differs(half)
