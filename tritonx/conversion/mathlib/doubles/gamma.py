"""tgamma and lgamma.

Both come of Stirling's series for log Γ(y) with y ≥ 10 in double-double: smaller arguments are moved up, y = x + k, and
the product x(x + 1)… of the k numbers on the way is divided by. Negative ones are reflected. log Γ near its zeros 1 and
2 is the distance to it times a polynomial."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.exponential import exponential, finished
from tritonx.conversion.mathlib.doubles.logarithm import logarithm
from tritonx.conversion.mathlib.doubles.pairs import Constant, Pair, exact, select_pair
from tritonx.conversion.mathlib.doubles.trigonometry import PI, cosine, half_turns, sine
from tritonx.conversion.mathlib.doubles.values import Double, Truth, branch, select

_LGAMMA1 = (
    -0.5772156649015329, 0.8224670334241132, -0.4006856343865422, 0.27058080842779486, -0.20738555102473696,
    0.16955717699364384, -0.14404989732657422, 0.12550967005800104, -0.11133422583960341, 0.1000994192400071,
    -0.09095566217499068, 0.08335541330907491, -0.07689155601321464, 0.07139378733392125, -0.06729490499300494,
    0.0630995651453415, -0.05312897280751773, 0.05011243437737915, -0.08019441175447228, 0.07633709188806316,
)  # fmt: skip
_LGAMMA2 = (
    0.32246703342411326, -0.06735230105319835, 0.020580808427777368, -0.007385551028648573,
    0.0028905103311887862, -0.0011927539126101192, 0.0005096695118652065, -0.0002231547441510555,
    9.945771687502075e-05, -4.492632942865244e-05, 2.0505287297670718e-05, -9.43958800920945e-06,
    4.38594243516515e-06, -2.0341311256670248e-06, 9.172407111454028e-07, -4.797551028825787e-07,
    2.817924786762465e-07, -2.0922794638501236e-08, -9.314310697398248e-10, -1.0428712512791148e-07,
)  # fmt: skip
_ONE_LESS_EULER: Constant = (0.42278433509846713, 4.942915152430645e-18)
"""The terms in front of `_LGAMMA2`: at 1.3 the sum is half of it."""
_STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400, 43867 / 244188,
    -174611 / 125400,
)  # fmt: skip
"""B(2k) / (2k (2k - 1))."""
_HALF_LOG_2_PI: Constant = (0.9189385332046728, -3.8782941580672414e-17)
_STEPS = 10
_TINY = 2.0**-60
"""Below, Γ(x) is 1/x."""
_INFINITY, _NAN = float("inf"), float("nan")


def _moved(x: Double) -> tuple[Pair, Pair]:
    """(log Γ(y), the product of what lies between) of x ≥ 2^-60, y = x + k ≥ 10."""
    y, product = exact(x), exact(x.const(1.0))
    for _ in range(_STEPS):
        low = y.hi < float(_STEPS)
        product = select_pair(low, product * y, product)
        y = select_pair(low, y + 1.0, y)
    inverse = 1.0 / y.hi
    series = inverse * (inverse * inverse).polynomial(_STIRLING)
    value = (y + -0.5) * logarithm(y) - y + _HALF_LOG_2_PI + series
    return value, product


def _sine(size: Double) -> Pair:
    """|sin πx|."""
    r, n = half_turns(size)
    s = select_pair((n & 1).differs(0), cosine(r), sine(r))
    return select_pair(s.hi < 0.0, -s, s)


def _is_pole(x: Double) -> Truth:
    return (x <= 0.0) & x.rounded("trunc").equals(x)


def tgamma(x: Double) -> Double:
    size = abs(x)
    small = size < _TINY
    pole = _is_pole(x)
    y = select((size >= _TINY) & (size < 190.0) & ~pole, size, 190.5)
    value, product = _moved(y)
    m, n = exponential(select_pair(x < 0.0, -value, value))

    def reflected() -> Double:
        made = finished(m * product * PI / (_sine(y) * y), n)
        return select((y * 0.5).rounded("floor").fma(-2.0, y) < 1.0, -made, made)

    value = branch(x < 0.0, reflected, lambda: finished(m / product, n))
    value = select(small, 1.0 / x, value)
    value = select(pole & x.differs(0.0), _NAN, value)
    value = select(x.equals(_INFINITY), x, value)
    return select(x.is_nan() | x.equals(-_INFINITY), _NAN, value)


def lgamma(x: Double) -> Double:
    """log |Γ(x)|; infinite at the poles."""
    size = abs(x)
    pole = _is_pole(x)
    y = select((size >= _TINY) & (size < 2.6e305) & ~pole, size, 3.5)
    value, product = _moved(y)
    negative = x < 0.0
    # log Γ(y), or what is more by reflection: the product of Γ(y) and Γ(-y) is -π / (y sin πy).
    divisor = select_pair(negative, product * PI / (_sine(y) * y), product)
    rest = logarithm(select_pair(size < _TINY, exact(select(size > 0.0, size, 1.0)), divisor))
    value = select_pair(size < _TINY, exact(x.const(0.0)), value)
    value = select(negative & (size >= _TINY), (rest - value).value(), (value - rest).value())
    one, two = x - 1.0, x - 2.0
    step = two.at_most(0.5).at_least(-0.7)
    about = (exact(step) * step.polynomial(_LGAMMA2) + _ONE_LESS_EULER) * step
    value = select((x > 1.3) & (x < 2.5), about.value(), value)
    near = (x >= 0.7) & (x <= 1.3)
    value = select(near, one * one.at_most(0.3).at_least(-0.3).polynomial(_LGAMMA1), value)
    value = select(one.equals(0.0) | two.equals(0.0), 0.0, value)
    value = select(pole | (x >= 2.6e305) | size.equals(_INFINITY), _INFINITY, value)
    return select(x.is_nan(), x, value)
