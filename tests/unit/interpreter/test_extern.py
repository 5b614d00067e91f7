"""The functions of device libraries against other ways to compute them: integers of Python, sums of many digits,
integrals, and inverses that lead back."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from decimal import Decimal, localcontext
from random import Random
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from tritonx.interpreter.extern import EXTERN_FUNCTIONS, c_name

SEED = int(os.environ["TRITONX_SEED"])


def call(name: str, *values: Any, dtype: Any = np.float64) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(EXTERN_FUNCTIONS[name](*(np.asarray(v, dtype) for v in values)))


def erfc_of_many_digits(x: float) -> Decimal:
    """By the series of erf, with as many digits as cancel."""
    big = Decimal(x)
    term = total = big
    k = 0
    while abs(term) > Decimal(10) ** -380:
        k += 1
        term *= -big * big / k
        total += term / (2 * k + 1)
    pi = Decimal(
        "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
    )
    return 1 - 2 * total / pi.sqrt()


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 0.3, 1.0, 2.5, 5.0, 9.5])
def test_scaled_erfc(x: float) -> None:
    with localcontext() as context:
        context.prec = 90
        wanted = float((Decimal(x) * Decimal(x)).exp() * erfc_of_many_digits(x))
    assert call("__nv_erfcx", x) == pytest.approx(wanted, rel=2e-14)


@pytest.mark.parametrize("x", [20.0, 25.5, 100.0, 1e8])
def test_scaled_erfc_where_erfc_underflows(x: float) -> None:
    """Its asymptotic series: 1 - 1/2x² + 3/4x⁴ - 15/8x⁶ + 105/16x⁸."""
    t = 1 / (2 * x * x)
    series = 1 - t + 3 * t**2 - 15 * t**3 + 105 * t**4 - 945 * t**5
    assert call("erfcx", x) == pytest.approx(series / (x * math.sqrt(math.pi)), rel=1e-11 if x < 25 else 1e-13)


def test_inverses_lead_back() -> None:
    rng = Random(SEED)
    for x in [1e-300, 1e-40, 1e-9, 0.02, 0.5, 0.999, 1.0, 1.3, 1.9999, *(rng.uniform(0, 2) for _ in range(50))]:
        assert math.erfc(call("erfcinv", x)) == pytest.approx(x, rel=1e-11), (x, SEED)
    for x in [1e-12, -1e-9, 0.3, -0.89, 0.91, 0.99999, *(rng.uniform(-1, 1) for _ in range(50))]:
        assert math.erf(call("erfinv", x)) == pytest.approx(x, rel=1e-13), (x, SEED)
    for p in [1e-200, 1e-5, 0.5, 0.75, 1 - 1e-9, *(rng.random() for _ in range(50))]:
        assert call("normcdf", call("normcdfinv", p)) == pytest.approx(p, rel=1e-11, abs=0), (p, SEED)
        assert call("normcdf", NormalDist().inv_cdf(p)) == pytest.approx(p, rel=1e-9), (p, SEED)


@pytest.mark.parametrize(
    ("name", "x", "wanted"),
    [
        ("erfcinv", 0.0, math.inf),
        ("erfcinv", 2.0, -math.inf),
        ("erfcinv", -0.1, math.nan),
        ("erfcinv", 2.1, math.nan),
        ("erfinv", 1.0, math.inf),
        ("erfinv", -1.0, -math.inf),
        ("erfinv", 1.1, math.nan),
        ("erfinv", 0.0, 0.0),
        ("normcdfinv", 0.0, -math.inf),
        ("normcdfinv", 1.0, math.inf),
        ("normcdfinv", math.nan, math.nan),
        ("normcdfinv", -0.5, math.nan),
        ("logb", 0.0, -math.inf),
        ("logb", -math.inf, math.inf),
        ("logb", math.nan, math.nan),
        ("logb", 8.0, 3.0),
        ("logb", -7.9, 2.0),
        ("ilogb", 0.26, -2.0),
        ("saturate", 1.5, 1.0),
        ("saturate", -1.0, 0.0),
        ("saturate", 0.25, 0.25),
        ("saturate", math.nan, 0.0),
        ("rcbrt", 8.0, 0.5),
        ("rsqrt", 16.0, 0.25),
        ("exp10", 3.0, 1000.0),
        ("rcp_rn", 4.0, 0.25),
        ("rsqrt_rn", 4.0, 0.5),
        ("tgamma", 5.0, 24.0),
        ("lgamma", 5.0, math.log(24)),
        ("tgamma", -1.0, math.nan),
        ("tgamma", 1e4, math.inf),
        ("round", 2.5, 3.0),
        ("round", -2.5, -3.0),
        ("rint", 2.5, 2.0),
        ("llround", -0.5, -1.0),
        ("llrint", 3.5, 4.0),
    ],
)
def test_values(name: str, x: float, wanted: float) -> None:
    assert float(call(name, x)) == pytest.approx(wanted, rel=1e-15, nan_ok=True)


@pytest.mark.parametrize("x", [-20.0, -1.5, 0.0, 1e-9, 0.7, 3.0, 15.0, 40.0])
def test_modified_bessel_functions(x: float) -> None:
    """Means of exp(x cos t) and exp(x cos t) cos t over a turn: sums at equal steps are exact to rounding."""
    t = np.arange(400) * 2 * math.pi / 400
    scale = math.exp(-abs(x))
    for name, weight in (("cyl_bessel_i0", np.ones(400)), ("cyl_bessel_i1", np.cos(t))):
        wanted = float(np.mean(np.exp(x * np.cos(t) - abs(x)) * weight))
        assert float(call(name, x)) * scale == pytest.approx(wanted, rel=1e-12, abs=1e-16)


def test_half_turns() -> None:
    for x in [-7.5, -2.0, -1.5, -0.25, 0.0, 0.5, 1.0, 1.25, 3.5, 1001.5, 1e9 + 0.5]:
        turn = math.fmod(x, 2.0) * math.pi
        sine, cosine = float(call("sinpi", x)), float(call("cospi", x))
        assert (sine, cosine) == pytest.approx((math.sin(turn), math.cos(turn)), abs=1e-14)
        assert (sine == 0) == (x % 1 == 0) and (cosine == 0) == (x % 1 == 0.5)


FLOATS: dict[str, tuple[int, Callable[..., float]]] = {
    "fdim": (2, lambda x, y: max(x - y, 0.0)),
    "remainder": (2, math.remainder),
    "fmod": (2, math.fmod),
    "copysign": (2, math.copysign),
    "atan2": (2, math.atan2),
    "hypot": (2, math.hypot),
    "rhypot": (2, lambda x, y: 1 / math.hypot(x, y)),
    "norm3d": (3, math.hypot),
    "rnorm3d": (3, lambda *v: 1 / math.hypot(*v)),
    "norm4d": (4, math.hypot),
    "rnorm4d": (4, lambda *v: 1 / math.hypot(*v)),
    "add_rn": (2, lambda x, y: x + y),
    "sub_rn": (2, lambda x, y: x - y),
    "mul_rn": (2, lambda x, y: x * y),
    "div_rn": (2, lambda x, y: x / y),
    "fdivide": (2, lambda x, y: x / y),
}


@pytest.mark.parametrize("name", FLOATS)
def test_functions_of_several_floats(name: str) -> None:
    rng = Random(SEED)
    count, wanted = FLOATS[name]
    for _ in range(40):
        values = [rng.choice([-1, 1]) * 2 ** rng.uniform(-6, 6) for _ in range(count)]
        assert float(call(name, *values)) == pytest.approx(wanted(*values), rel=1e-14, abs=1e-300), (values, SEED)


def _signed(v: int, bits: int) -> int:
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


INTEGERS: dict[str, tuple[int, Callable[..., int]]] = {
    "clz": (1, lambda b, x: b - (x & (1 << b) - 1).bit_length()),
    "ffs": (1, lambda b, x: ((x & (1 << b) - 1) & -(x & (1 << b) - 1)).bit_length()),
    "popc": (1, lambda b, x: (x & (1 << b) - 1).bit_count()),
    "brev": (1, lambda b, x: sum((x >> i & 1) << (b - 1 - i) for i in range(b))),
    "abs": (1, lambda b, x: abs(x)),
    "mulhi": (2, lambda b, x, y: x * y >> b),
    "umulhi": (2, lambda b, x, y: (x % (1 << b)) * (y % (1 << b)) >> b),
    "hadd": (2, lambda b, x, y: (x + y) >> 1),
    "rhadd": (2, lambda b, x, y: (x + y + 1) >> 1),
    "uhadd": (2, lambda b, x, y: (x % (1 << b) + y % (1 << b)) >> 1),
    "urhadd": (2, lambda b, x, y: (x % (1 << b) + y % (1 << b) + 1) >> 1),
}


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_integers(name: str, bits: int) -> None:
    rng = Random(SEED)
    count, wanted = INTEGERS[name]
    edges = [0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 255, 256]
    symbol = {"mulhi": "mul64hi", "umulhi": "umul64hi"}.get(name, name) if bits == 64 else name
    for _ in range(80):
        values = [rng.choice([*edges, _signed(rng.getrandbits(bits), bits)]) for _ in range(count)]
        found = int(call(symbol, *values, dtype=f"i{bits // 8}"))
        assert _signed(found, bits) == _signed(wanted(bits, *values), bits), (values, SEED)


def test_integers_of_24_bits_and_differences() -> None:
    rng = Random(SEED)
    for _ in range(80):
        x, y, z = (_signed(rng.getrandbits(32), 32) for _ in range(3))
        a, b = _signed(x, 24), _signed(y, 24)
        assert _signed(int(call("mul24", x, y, dtype=np.int32)), 32) == _signed(a * b, 32), (x, y, SEED)
        assert _signed(int(call("umul24", x, y, dtype=np.int32)), 32) == _signed((x % 2**24) * (y % 2**24), 32)
        assert _signed(int(call("sad", x, y, z, dtype=np.int32)), 32) == _signed(abs(x - y) + z, 32), (x, y, z, SEED)
        unsigned = abs(x % 2**32 - y % 2**32) + z % 2**32
        assert _signed(int(call("usad", x, y, z, dtype=np.int32)), 32) == _signed(unsigned, 32), (x, y, z, SEED)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__nv_erff", "erf"),
        ("__nv_erf", "erf"),
        ("__ocml_erf_f32", "erf"),
        ("__ocml_erf_f64", "erf"),
        ("__nv_fast_sinf", "sin"),
        ("__ocml_native_exp2_f32", "exp2"),
        ("__nv_fadd_rn", "add_rn"),
        ("__nv_drcp_rn", "rcp_rn"),
        ("__nv_isinfd", "isinf"),
        ("__nv_nosuchthing", "nosuchthing"),
        ("__ockl_clz_u32", "clz"),
        ("__nv_finitef", "finite"),
        ("erff", "erf"),
    ],
)
def test_names(symbol: str, name: str) -> None:
    assert c_name(symbol) == name
    assert (symbol in EXTERN_FUNCTIONS) == (name != "nosuchthing")
