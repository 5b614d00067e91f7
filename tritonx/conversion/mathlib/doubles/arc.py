"""atan, atan2, asin, acos: the angle of a point.

The ratio of the smaller coordinate to the larger one lies within 1/8 of c, a multiple of 1/4, and atan(a / b) = atan c
+ atan((a - c·b) / (b + c·a)). All in double-double but for the series of the last term behind its first."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.pairs import Constant, Pair, constant, exact, fast_two_sum, select_pair
from tritonx.conversion.mathlib.doubles.values import Double, Truth, select

_ATAN = (
    -0.3333333333333333, 0.19999999999998877, -0.14285714284590048, 0.11111110688893394, -0.09090833496841169,
    0.07685345244071307, -0.06347037836101323,
)  # fmt: skip
_POINTS: tuple[Constant, ...] = (
    (0.0, 0.0), (0.24497866312686414, 1.0698755618734451e-17), (0.4636476090008061, 2.2698777452961687e-17),
    (0.6435011087932844, 1.5834785051444286e-17), (0.7853981633974483, 3.061616997868383e-17),
)  # fmt: skip
"""The arcs of 0, 1/4, 1/2, 3/4 and 1."""
_HALF_PI: Constant = (1.5707963267948966, 6.123233995736766e-17)
_PI: Constant = (3.141592653589793, 1.2246467991473532e-16)
_INFINITY, _NAN = float("inf"), float("nan")


def steep(a: Pair, b: Pair) -> Pair:
    """atan(a / b) for 0 ≤ a ≤ b, 0 < b."""
    ratio = a.hi / b.hi
    c, point = ratio.const(0.0), constant(ratio, _POINTS[0])
    for k in range(1, 5):
        beyond = ratio > k / 4 - 0.125
        c = select(beyond, k / 4, c)
        point = select_pair(beyond, constant(ratio, _POINTS[k]), point)
    t = (a - b * c) / (b + a * c)
    z = t.hi * t.hi
    return point + fast_two_sum(t.hi, (t.hi * z).fma(z.polynomial(_ATAN), t.lo))


def angle(y: Pair, x: Pair, left: Truth) -> Pair:
    """Of the point (±x, y) with x, y ≥ 0, not both 0; ``left`` is where x counts as negative."""
    swapped = y.hi > x.hi
    first = steep(select_pair(swapped, x, y), select_pair(swapped, y, x))
    zero = exact(first.hi.const(0.0))
    base = select_pair(swapped, constant(first.hi, _HALF_PI), zero)
    minus = swapped ^ left
    base = select_pair(left & ~swapped, constant(first.hi, _PI), base)
    return base + select_pair(minus, -first, first)


def atan(x: Double) -> Double:
    size = abs(x)
    one = exact(x.const(1.0))
    y = size.at_most(2.0**70)
    value = angle(exact(y), one, (y < 0.0)).value()
    value = select(size < 2.0**-27, size.fma(size * size * (-1.0 / 3), size), value)
    return value.signed_as(x)


def atan2(y: Double, x: Double) -> Double:
    """C's special cases: an axis by its sign, the diagonals of infinities."""
    a, b = abs(y), abs(x)
    both = a.equals(b) & (a.equals(0.0) | a.equals(_INFINITY))
    axis = select(a.equals(0.0) & both, 0.0, 1.0)
    a, b = select(both, axis, a), select(both, 1.0, b)
    a, b = select(a.equals(_INFINITY), 2.0**1000, a), select(b.equals(_INFINITY), 2.0**1000, b)
    left = x.is_negative()
    ordinary = select(abs(y).equals(_INFINITY) ^ abs(x).equals(_INFINITY), 1.0, 0.0) > 0.5
    # Infinities are farther than all others: the other coordinate is 0 then.
    a = select(ordinary & abs(x).equals(_INFINITY), 0.0, a)
    b = select(ordinary & abs(y).equals(_INFINITY), 0.0, b)
    large = select(a > b, a, b)
    factor = select(large > 2.0**500, 2.0**-600, select(large < 2.0**-500, 2.0**600, 1.0))
    value = angle(exact(a * factor), exact(b * factor), left).value()
    quotient = a / b
    value = select((quotient < 2.0**-27) & ~left, quotient, value)
    return select(y.is_nan() | x.is_nan(), _NAN, value).signed_as(y)


def _other_leg(x: Double) -> Pair:
    """√(1 - x²) of |x| ≤ 1."""
    one = exact(x.const(1.0))
    below = (one - x) * (one + x)
    return select_pair(below.hi > 0.0, below.sqrt(), exact(x.const(0.0)))


def asin(x: Double) -> Double:
    size = abs(x)
    y = select(size <= 1.0, size, 0.0)
    value = angle(exact(y), _other_leg(y), (y < 0.0)).value()
    value = select(size < 2.0**-27, size.fma(size * size * (1.0 / 6), size), value)
    return select(size <= 1.0, value.signed_as(x), _NAN)


def acos(x: Double) -> Double:
    size = abs(x)
    y = select(size <= 1.0, size, 0.0)
    value = angle(_other_leg(y), exact(y), x < 0.0).value()
    return select(size <= 1.0, value, _NAN)
