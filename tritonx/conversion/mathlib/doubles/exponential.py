"""exp, exp2, exp10, expm1 and the hyperbolic functions that are made of them.

e^x = 2^n · e^r with |r| ≤ ln 2 / 2. What is computed of e^r is e^r - 1 as a pair: r + r²/2 in double-double, and
r³ · Q(r) in double, whose rounding weighs 2^-58. So exp and expm1 are off by little more than the last rounding, and
sums and quotients of exponentials have no cancellation that shows."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.pairs import (
    Constant,
    Pair,
    constant,
    exact,
    fast_two_sum,
    select_pair,
    square,
    two_product,
    two_sum,
)
from tritonx.conversion.mathlib.doubles.values import Double, Word, select

_EXP = (
    0.16666666666666666, 0.04166666666666667, 0.008333333333333333, 0.0013888888888883726, 0.000198412698412664,
    2.4801587325627418e-05, 2.7557319240010206e-06, 2.7557273542102106e-07, 2.5052077935004422e-08,
    2.0914728984148772e-09, 1.6084355888885255e-10,
)  # fmt: skip
LN2: Constant = (0.6931471805599453, 2.3190468138462996e-17)
LN10: Constant = (2.302585092994046, -2.1707562233822494e-16)
_LN2_HIGH = 0.6931471805598903
"""42 bits, so that products with n are exact."""
_LN2_MIDDLE, _LN2_LOW = 5.497923018708371e-14, 1.94704509238075e-31
_LOG2_E, _LOG2_10 = 1.4426950408889634, 3.321928094887362
_FLAT = 2.0**-28
"""Below, the first two terms of a series are the whole."""


def tail(r: Pair) -> Pair:
    """e^r - 1 for |r| ≤ 0.3468."""
    squared = square(r.hi)
    cubic = r.hi * squared.hi * r.hi.polynomial(_EXP)
    s = fast_two_sum(r.hi, squared.hi * 0.5)
    return fast_two_sum(s.hi, s.lo + squared.lo.fma(0.5, r.lo.fma(r.hi, r.lo)) + cubic)


def reduced(x: Pair) -> tuple[Pair, Word]:
    """(r, n) with x = n · ln 2 + r; |x| below 1100."""
    n, word = (x.hi * _LOG2_E).nearest()
    return without(x, n), word


def without(x: Pair, n: Double) -> Pair:
    """x - n · ln 2."""
    high = (-n).fma(_LN2_HIGH, x.hi)
    product = two_product(n, n.const(_LN2_MIDDLE))
    r = two_sum(high, -product.hi)
    return fast_two_sum(r.hi, r.lo + ((-n).fma(_LN2_LOW, x.lo) - product.lo))


def plus_one(t: Pair) -> Pair:
    s = two_sum(t.hi.const(1.0), t.hi)
    return fast_two_sum(s.hi, s.lo + t.lo)


def exponential(x: Pair) -> tuple[Pair, Word]:
    """e^x as (m, n): m · 2^n with m near 1; |x| below 1100."""
    r, n = reduced(x)
    return plus_one(tail(r)), n


def finished(m: Pair, n: Word) -> Double:
    return m.value().scaled(n)


def bounded(x: Double) -> Double:
    """Beyond, e^x is 0 or infinity anyway."""
    return x.at_most(720.0).at_least(-760.0)


def exp(x: Double) -> Double:
    return finished(*exponential(exact(bounded(x))))


def exp2(x: Double) -> Double:
    x = x.at_most(1030.0).at_least(-1090.0)
    whole, n = x.nearest()
    return finished(plus_one(tail(constant(x, LN2) * (x - whole))), n)


def exp10(x: Double) -> Double:
    x = x.at_most(320.0).at_least(-330.0)
    n, word = (x * _LOG2_10).nearest()
    return finished(plus_one(tail(without(constant(x, LN10) * x, n))), word)


def minus_one(x: Double) -> Pair:
    """e^x - 1 of |x| below 700 with a small relative error."""
    r, n = reduced(exact(x))
    t = tail(r)
    grown = plus_one(t)
    return select_pair(n.equals(0), t, Pair(grown.hi.scaled(n), grown.lo.scaled(n)) - 1.0)


def expm1(x: Double) -> Double:
    """e^x - 1. From 60 on that is e^x."""
    value = select(x > 60.0, exp(x), minus_one(x.at_most(60.0).at_least(-60.0)).value())
    return select(abs(x) < 2.0**-54, x, value)


def halved_exponential(magnitude: Double) -> Double:
    """e^x / 2 of a number from 40 on: a hyperbolic sine and cosine up to 710.47."""
    m, n = exponential(exact(bounded(magnitude)))
    return finished(m, n - 1)


def sinh(x: Double) -> Double:
    """(t + t / (t + 1)) / 2 with t = e^|x| - 1."""
    magnitude = abs(x)
    t = minus_one(magnitude.at_most(45.0))
    value = (t + t / plus_one(t)).value() * 0.5
    value = select(magnitude > 40.0, halved_exponential(magnitude), value)
    return select(magnitude < _FLAT, x.fma(magnitude * magnitude * (1.0 / 6), x), value.signed_as(x))


def cosh(x: Double) -> Double:
    magnitude = abs(x)
    m, n = exponential(exact(magnitude.at_most(45.0)))
    e = Pair(m.hi.scaled(n), m.lo.scaled(n))
    value = (e + exact(x.const(1.0)) / e).value() * 0.5
    return select(magnitude > 40.0, halved_exponential(magnitude), value)


def tanh(x: Double) -> Double:
    """t / (t + 2) with t = e^2|x| - 1."""
    magnitude = abs(x)
    t = minus_one(magnitude.at_most(25.0) * 2.0)
    value = (t / (t + 2.0)).value()
    small = magnitude.fma(magnitude * magnitude * (-1.0 / 3), magnitude)
    return select(magnitude < _FLAT, small, value).signed_as(x)
