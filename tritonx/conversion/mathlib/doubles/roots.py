"""cbrt, rcbrt, rsqrt, hypot and the norms of three and four dimensions."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.pairs import Pair, exact, fast_two_sum, square
from tritonx.conversion.mathlib.doubles.values import Double, Truth, Word, select, select_word

_CBRT = (0.648054121, 0.422987353, -0.073348611, 0.00796909, -0.000347168)
"""m^(1/3) on [1, 8], to about 9 bits."""
_INFINITY, _NAN = float("inf"), float("nan")


def _third_root(size: Double) -> tuple[Pair, Word]:
    """(r, k): the root of a positive finite number is r · 2^k."""
    tiny = size < 2.0**-1022
    lifted = select(tiny, size * 2.0**54, size)
    bits = lifted.bits()
    e = (bits >> 52) - 1023 - select_word(tiny, size.word(54), size.word(0))
    # ⌊e / 3⌋ by a product: e lies in -1076 to 1024.
    k = ((e + 1200) * 21846 >> 16) - 400
    m = ((bits & (1 << 52) - 1) | 1023 << 52).double().scaled(e - k * 3)
    r = m.polynomial(_CBRT)
    for _ in range(3):  # Halley's: each has three times the digits
        cube = r * r * r
        r = r * ((cube + m + m) / (cube + cube + m))
    squared = square(r)
    cube = squared * r
    rest = (m - cube.hi) - cube.lo
    return fast_two_sum(r, rest / (squared.hi * 3.0)), k


def cbrt(x: Double) -> Double:
    size = abs(x)
    plain = (size > 0.0) & (size < _INFINITY)
    r, k = _third_root(select(plain, size, 1.0))
    return select(plain, r.value().scaled(k).signed_as(x), x)


def rcbrt(x: Double) -> Double:
    size = abs(x)
    plain = (size > 0.0) & (size < _INFINITY)
    r, k = _third_root(select(plain, size, 1.0))
    value = (exact(x.const(1.0)) / r).value().scaled(x.word(0) - k).signed_as(x)
    return select(plain, value, 1.0 / x)


def rsqrt(x: Double) -> Double:
    size = select((x > 0.0) & (x < _INFINITY), x, 1.0)
    tiny = size < 2.0**-1000
    size = select(tiny, size * 2.0**100, size)
    value = (exact(x.const(1.0)) / exact(size).sqrt()).value()
    value = select(tiny, value * 2.0**50, value)
    return select((x > 0.0) & (x < _INFINITY), value, 1.0 / x.sqrt())


def _length(xs: tuple[Double, ...]) -> tuple[Pair, Double, Double, Truth]:
    """(l, factor, largest, infinite): the length is l / factor where the largest coordinate is neither 0 nor
    infinite."""
    sizes = [abs(x) for x in xs]
    largest, infinite = sizes[0], sizes[0].equals(_INFINITY)
    for size in sizes[1:]:
        largest = select((size > largest) | size.is_nan(), size, largest)
        infinite = infinite | size.equals(_INFINITY)
    factor = select(largest > 2.0**450, 2.0**-600, select(largest < 2.0**-450, 2.0**600, 1.0))
    total = square(sizes[0] * factor)
    for size in sizes[1:]:
        total = total + square(size * factor)
    safe = select(total.hi > 0.0, total.hi, 1.0)
    return Pair(safe, total.lo).sqrt(), factor, largest, infinite


def _unknown(xs: tuple[Double, ...]) -> Truth:
    found = xs[0].is_nan()
    for x in xs[1:]:
        found = found | x.is_nan()
    return found


def norm(*xs: Double) -> Double:
    """√(x² + y² + …); infinite where a coordinate is, whatever the others are."""
    length, factor, largest, infinite = _length(xs)
    value = select(largest.equals(0.0), 0.0, _unscaled(length, factor))
    return select(infinite, _INFINITY, select(_unknown(xs), _NAN, value))


def _unscaled(length: Pair, factor: Double) -> Double:
    """factor is 1 or 2^±600."""
    return length.value() * select(factor.equals(1.0), 1.0, select(factor > 1.0, 2.0**-600, 2.0**600))


def rnorm(*xs: Double) -> Double:
    """1 / √(x² + y² + …)."""
    length, factor, largest, infinite = _length(xs)
    value = (exact(factor.const(1.0)) / length).value() * factor
    value = select(largest.equals(0.0), _INFINITY, value)
    return select(infinite, 0.0, select(_unknown(xs), _NAN, value))
