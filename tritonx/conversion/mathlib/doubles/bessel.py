"""Bessel functions: j0, j1, y0, y1, and the modified i0, i1.

Up to 8, a polynomial for each zero times the distance to it, so that the relative error stays small there too; of y0
and y1 the first one has 2/π · log(x / zero) times j0 or j1 as well. From 8 on amplitude and phase: √x · |H(x)| and x ·
phase are polynomials in (8/x)², and x + phase is reduced in double-double."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tritonx.conversion.mathlib.doubles.bessel_coefficients import (
    AMPLITUDES,
    I0,
    I0_LARGE,
    I1,
    I1_LARGE,
    J0_A,
    J0_B,
    J1_A,
    J1_B,
    LOG_ZEROS,
    PHASES,
    SQUARES,
    Y0_A,
    Y0_B,
    Y0_C,
    Y1_A,
    Y1_B,
    ZEROS,
)
from tritonx.conversion.mathlib.doubles.exponential import exponential, finished
from tritonx.conversion.mathlib.doubles.logarithm import logarithm
from tritonx.conversion.mathlib.doubles.pairs import Constant, Pair, constant, exact, square
from tritonx.conversion.mathlib.doubles.trigonometry import cosine, reduced, sine
from tritonx.conversion.mathlib.doubles.values import Double, branch, select, select_word

_QUARTER: Constant = (0.7853981633974483, 3.061616997868383e-17)
_HALF: Constant = (1.5707963267948966, 6.123233995736766e-17)
_TWO_OVER_PI: Constant = (0.6366197723675814, -3.935735335036497e-17)
_INFINITY, _NAN = float("inf"), float("nan")


def _near(x: Double, zero: Constant, coefficients: Sequence[float], center: float = 0.0) -> Double:
    """(x - zero) · polynomial in x - zero - center."""
    distance = (exact(x) - constant(x, zero)).value()
    return distance * (distance - center).polynomial(coefficients)


def _from_square(x: Double, square_: Constant, center: float, coefficients: Sequence[float]) -> Double:
    """(x² - zero²) · polynomial in x²."""
    z = square(x)
    return (z - constant(x, square_)).value() * (z.hi - center).polynomial(coefficients)


def _wave(x: Double, order: int, quarter: int) -> Double:
    """Amplitude · cos(x + phase - (order + quarter) · π/2 - π/4): j at quarter 0, y at 1; x ≥ 8."""
    far = x > 2.0**500
    inverse = 8.0 / select(far, _INFINITY, x)
    u = inverse * inverse
    amplitude = u.polynomial(AMPLITUDES[order]) / x.sqrt()
    r, n = reduced(x)
    phase = (inverse * 0.125) * u.polynomial(PHASES[order])
    angle = r + phase - constant(x, _QUARTER)
    low = angle.hi < -0.7853981633974483
    n = n + 1 - order - quarter
    angle = angle + Pair(select(low, _HALF[0], x.const(0.0)), select(low, _HALF[1], x.const(0.0)))
    n = select_word(low, n - 1, n)
    odd = (n & 1).differs(0)
    value = select(odd, cosine(angle).value(), sine(angle).value())
    return (value.bits() ^ ((n & 2) << 62)).double() * amplitude


def _pieces(x: Double, pieces: Sequence[tuple[float, Callable[[], Double]]], last: Callable[[], Double]) -> Double:
    """The first function whose limit x is not above."""
    if not pieces:
        return last()
    limit, function = pieces[0]
    return branch(x <= limit, function, lambda: _pieces(x, pieces[1:], last))


def _j0(x: Double) -> Double:
    return _from_square(x, SQUARES["j0"], 8.0, J0_A)


def _j1(x: Double) -> Double:
    return x * _from_square(x, SQUARES["j1"], 14.0, J1_A)


def j0(x: Double) -> Double:
    size = abs(x)
    pieces = ((4.0, lambda: _j0(size)), (8.0, lambda: _near(size, ZEROS["j0"][1], J0_B, 0.5)))
    value = _pieces(size, pieces, lambda: _wave(size, 0, 0))
    return select(size.equals(_INFINITY), 0.0, value)


def j1(x: Double) -> Double:
    size = abs(x)
    pieces = ((5.4, lambda: _j1(size)), (8.0, lambda: _near(size, ZEROS["j1"][1], J1_B)))
    value = _pieces(size, pieces, lambda: _wave(size, 1, 0))
    value = select(size.equals(_INFINITY), 0.0, value)
    return select(x.is_negative(), -value, value)


def _logarithmic(x: Double, order: int) -> Double:
    """2/π · log(x / zero)."""
    return ((logarithm(exact(x)) - constant(x, LOG_ZEROS[order])) * _TWO_OVER_PI).value()


def _y0(x: Double) -> Double:
    rest = _from_square(x, SQUARES["y0"], 3.0, Y0_A)
    return _logarithmic(x, 0).fma(_j0(x), rest)


def _y1(x: Double) -> Double:
    rest = _from_square(x, SQUARES["y1"], 7.0, Y1_A) / x
    return _logarithmic(x, 1).fma(_j1(x), rest)


def _second_kind(x: Double, value: Double) -> Double:
    value = select(x.equals(_INFINITY), 0.0, select(x.equals(0.0), -_INFINITY, value))
    return select(x >= 0.0, value, _NAN)


def y0(x: Double) -> Double:
    y = select(x > 0.0, x, 1.0)
    pieces = (
        (2.4, lambda: _y0(y)),
        (5.5, lambda: _near(y, ZEROS["y0"][1], Y0_B)),
        (8.0, lambda: _near(y, ZEROS["y0"][2], Y0_C)),
    )
    return _second_kind(x, _pieces(y, pieces, lambda: _wave(y, 0, 1)))


def y1(x: Double) -> Double:
    y = select(x > 0.0, x, 1.0)
    pieces = ((3.8, lambda: _y1(y)), (8.0, lambda: _near(y, ZEROS["y1"][1], Y1_B, 0.5)))
    return _second_kind(x, _pieces(y, pieces, lambda: _wave(y, 1, 1)))


def _modified(x: Double, small: Callable[[Double], Double], large: Sequence[float]) -> Double:
    """Up to 8 ``small``; beyond e^x / √x · a polynomial in 16/x - 1."""

    def grown() -> Double:
        y = select(x > 720.0, 720.0, x)
        m, n = exponential(exact(y))
        root = exact(y).sqrt()
        u = 16.0 / y - 1.0
        return finished(m * u.polynomial(large) / root, n)

    return branch(x <= 8.0, lambda: small(x), grown)


def i0(x: Double) -> Double:
    size = abs(x)
    value = _modified(size, lambda y: (y * y).polynomial(I0), I0_LARGE)
    return select(size.equals(_INFINITY) | size.is_nan(), size, value)


def i1(x: Double) -> Double:
    size = abs(x)
    value = _modified(size, lambda y: y * (y * y).polynomial(I1), I1_LARGE)
    return select(size.equals(_INFINITY) | size.is_nan(), size, value).signed_as(x)
