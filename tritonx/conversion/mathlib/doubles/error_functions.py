"""erf, erfc, erfcx, their inverses, and the normal distribution.

erfc(x) = e^(-x²) · erfcx(x) from 1/2 on, with x² in double-double. erfcx(x) · (1 + 2x) lies between 1 and 1.19 and is a
polynomial in (x - 3) / (x + 3). The inverse is a polynomial in x² up to 3/4, and further out of √(-log(1 - |x|))."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.exponential import exponential, finished
from tritonx.conversion.mathlib.doubles.logarithm import logarithm
from tritonx.conversion.mathlib.doubles.pairs import Constant, Pair, constant, exact, fast_two_sum
from tritonx.conversion.mathlib.doubles.values import Double, select

_ERF = (
    -0.37612638903183754, 0.11283791670955111, -0.026866170645123838, 0.005223977625303518, -0.0008548327010033328,
    0.00012055332214716276, -1.4925622504489842e-05, 1.6461446656928561e-06, -1.6355118610877705e-07,
    1.4692484859133263e-08, -1.1500357159785296e-09, 6.174097221305255e-11,
)  # fmt: skip
_ERFCX = (
    1.2530080582697296, -0.13562110612458117, -0.04756229435345087, 0.1296451587027606, -0.11927366341530699,
    0.06830802734397842, -0.023770514918645947, 0.0025293918160670084, 0.0018886903591569639, -0.000779832272114198,
    -0.00010515979982110902, 0.00012509935238210292, 4.949485020404755e-06, -2.010056800825956e-05,
    -7.31510597347354e-07, 3.472414748465152e-06, 3.568385446218421e-07, -6.166497860444189e-07,
    -1.4160083686165256e-07, 1.0187014218684821e-07, 4.180799018310733e-08, -1.3326423747154523e-08,
    -8.500459896845804e-09, 9.885909081313708e-10, 8.864334940396352e-10,
)  # fmt: skip
_ERFINV = (
    0.886226925452758, 0.23201366653467026, 0.12755617530110488, 0.08655212974969173, 0.06495958735227833,
    0.05173239361505708, 0.04280960646824566, 0.03693269913276047, 0.025791970326444334, 0.08418537584156148,
    -0.38708429238313685, 2.3786447323679734, -10.570744437314731, 37.60505578839407, -105.22332013646485,
    231.25179375988603, -394.102018454612, 510.76089315489645, -486.77426933250246, 322.22766776931553,
    -132.64291951467402, 25.720897842619948,
)  # fmt: skip
_ERFCINV = (
    0.9049203326464283, 0.2736645772262028, -0.3389693109555536, 0.2786589122689532, -0.17848352926748995,
    0.06947038107289863, 0.02013781480982609, -0.07776357111537772, 0.09887980592447158, -0.0886562572602685,
    0.056830317137024966, -0.01622315814845514, -0.021353224626273495, 0.04676553340135144, -0.05561557963546242,
    0.047824519511402305, -0.027760040164927037, 0.004473430396645567, 0.013416720377555568, -0.032465038616425954,
    0.06128534711300711, -0.05625162429479643, -0.03849404045228784, 0.11893942486046472, 0.003704498292939092,
    -0.2118442390832806, 0.15466788745976115, 0.13845560007782082, -0.27690606067075035, 0.1642000401291993,
    -0.035504892719660536,
)  # fmt: skip
_TWO_OVER_ROOT_PI: Constant = (1.1283791670955126, 1.533545961316588e-17)
_SQRT_HALF: Constant = (0.7071067811865476, -4.833646656726457e-17)
_SQRT_2: Constant = (1.4142135623730951, -9.667293313452913e-17)
_MIDDLE = 3.0
_INFINITY, _NAN = float("inf"), float("nan")


def _series(x: Pair) -> Pair:
    """erf of |x| ≤ 1."""
    z = x.hi * x.hi
    first = x * _TWO_OVER_ROOT_PI
    return fast_two_sum(first.hi, (x.hi * z).fma(z.polynomial(_ERF), first.lo))


def _scaled_complement(x: Pair) -> Pair:
    """erfcx of x ≥ 0."""
    t = (x.hi - _MIDDLE) / (x.hi + _MIDDLE)
    return exact(t.polynomial(_ERFCX)) / (x.times_power(2.0) + 1.0)


def _complement(x: Pair, shift: int) -> Double:
    """erfc · 2^-shift of x ≥ 1/2, up to 30."""
    m, n = exponential(-(x * x))
    return finished(m * _scaled_complement(x), n - shift)


def erf(x: Double) -> Double:
    size = abs(x)
    small = _series(exact(size.at_most(1.0))).value()
    large = 1.0 - _complement(exact(size.at_least(0.5).at_most(7.0)), 0)
    return select(size > 1.0, large, small).signed_as(x)


def _tail_of(x: Pair, shift: int) -> Double:
    """erfc · 2^-shift, of NaN NaN."""
    factor = 2.0**-shift
    size = abs(x.hi)
    low = select(x.hi < 0.0, -x.lo, x.lo)
    inside = size < 0.5
    y = select(size < 30.0, size, 30.0)
    far = _complement(Pair(select(inside, 0.5, y), select(inside | (size >= 30.0), 0.0, low)), shift)
    far = select(x.hi < 0.0, 2.0 * factor - far, far)
    near = (exact(x.hi.const(1.0)) - _series(Pair(select(inside, x.hi, 0.0), select(inside, x.lo, 0.0)))).value()
    return select(x.hi.is_nan(), x.hi, select(inside, near * factor, far))


def erfc(x: Double) -> Double:
    return _tail_of(exact(x), 0)


def normcdf(x: Double) -> Double:
    """erfc(-x / √2) / 2."""
    y = x.at_most(40.0).at_least(-40.0)
    return _tail_of(constant(x, _SQRT_HALF) * -y, 1)


def erfcx(x: Double) -> Double:
    """e^(x²) · erfc(x); of negative numbers 2 · e^(x²) - erfcx(-x)."""
    size = abs(x).at_most(2.0**1000)
    value = _scaled_complement(exact(size))
    y = size.at_most(27.0)
    m, n = exponential(exact(y) * y)
    grown = Pair(m.hi.scaled(n + 1), m.lo.scaled(n + 1))
    negative = select(size > 26.7, _INFINITY, (grown - value).value())
    inside = abs(x) < 0.5
    near = (m * (exact(x.const(1.0)) - _series(exact(select(inside, x, 0.0))))).value().scaled(n)
    negative = select(inside, near, negative)
    value = select(abs(x) > 2.0**600, 0.5641895835477563 / abs(x), select(inside, near, value.value()))
    return select(x.is_nan(), x, select(x < 0.0, negative, value))


def _central_inverse(x: Double) -> Double:
    """erfinv of |x| ≤ 3/4."""
    return x * (x * x).polynomial(_ERFINV)


def _tail_inverse(p: Double) -> Double:
    """erfcinv of 0 < p ≤ 1/4."""
    s = (-logarithm(exact(p)).value()).sqrt()
    return s * ((s - _MIDDLE) / (s + _MIDDLE)).polynomial(_ERFCINV)


def _inverse(central: Double, tail: Double, inside: Double) -> Double:
    safe = select((tail > 0.0) & (tail <= 0.25), tail, 0.25)
    value = select(tail.equals(0.0), _INFINITY, _tail_inverse(safe))
    return select(abs(central) <= 0.75, _central_inverse(central), value.signed_as(inside))


def erfinv(x: Double) -> Double:
    size = abs(x)
    value = _inverse(x, 1.0 - size, x)
    return select(size <= 1.0, value, _NAN)


def erfcinv(y: Double) -> Double:
    value = _inverse(1.0 - y, select(y > 1.0, 2.0 - y, y), 1.0 - y)
    return select((y >= 0.0) & (y <= 2.0), value, _NAN)


def normcdfinv(p: Double) -> Double:
    """-√2 · erfcinv(2p); below 2^-1022 the doubled number is exact as well."""
    value = erfcinv(p + p)
    finite = abs(value) < _INFINITY
    product = (constant(p, _SQRT_2) * -select(finite, value, 0.0)).value()
    return select(finite, product, -value)
