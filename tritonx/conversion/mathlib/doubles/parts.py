"""Functions that look at the parts of a number, of f32 and f64 alike: logb, ilogb, ldexp, nextafter, fdim,
predicates."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.values import Double, Truth, Word, select, select_word

_INFINITY, _NAN = float("inf"), float("nan")


def _exponent(x: Double) -> Word:
    """⌊log2 |x|⌋ of a finite number that is not 0."""
    code = x.code
    size = abs(x)
    tiny = size < 2.0 ** (1 - code.bias)
    lifted = select(tiny, size * 2.0 ** (code.mantissa_bits + 1), size)
    lift = select_word(tiny, x.word(code.mantissa_bits + 1), x.word(0))
    return (lifted.bits() >> code.mantissa_bits) - code.bias - lift


def logb(x: Double) -> Double:
    value = select(x.equals(0.0), -_INFINITY, _exponent(x).converted())
    return select(abs(x) < _INFINITY, value, abs(x))


def ilogb(x: Double) -> Word:
    """-2^31 of 0 and NaN, 2^31 - 1 of infinities, as HIP has them."""
    least = -(1 << 31)
    value = select_word(x.equals(0.0) | x.is_nan(), x.word(least), _exponent(x))
    return select_word(abs(x).equals(_INFINITY), x.word((1 << 31) - 1), value)


def ldexp(x: Double, n: Word) -> Double:
    """x · 2^n of f64, rounded once: steps that are exact come first."""
    n = select_word(n > 2200, 2200, select_word(n < -2200, x.word(-2200), n))
    for _ in range(2):
        up, down = n > 1023, n < -1022
        x = select(up, x * 2.0**1023, select(down, x * 2.0**-969, x))
        n = select_word(up, n - 1023, select_word(down, n + 969, n))
    n = select_word(n > 1023, 1023, select_word(n < -1022, x.word(-1022), n))
    return x * (((n + 1023) << 52).double())


def nextafter(x: Double, y: Double) -> Double:
    code = x.code
    bits = x.bits()
    outward = (y > x) ^ x.is_negative()
    stepped = select_word(outward, bits + 1, bits - 1).double()
    least = x.const(2.0 ** (1 - code.bias - code.mantissa_bits)).signed_as(y)
    value = select(x.equals(0.0), least, stepped)
    return select(x.equals(y), y, select(x.is_nan() | y.is_nan(), _NAN, value))


def fdim(x: Double, y: Double) -> Double:
    value = select(x > y, x - y, 0.0)
    return select(x.is_nan() | y.is_nan(), _NAN, value)


def isnan(x: Double) -> Truth:
    return x.is_nan()


def isinf(x: Double) -> Truth:
    return abs(x).equals(_INFINITY)


def signbit(x: Double) -> Truth:
    return x.is_negative()
