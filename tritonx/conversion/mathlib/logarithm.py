"""log, log2, log10, log1p, and the f64 logarithm behind `power`.

x = 2^e · m; with f = m - 1, log(1 + f) = f - f²/2 + f³·P(f). P is a weighted minimax fit of the series
Σ (-1)^k f^k / (k + 3). m is in [√½, √2), where e and log2 m never cancel much, and the error relative to log is 5e-10
for f32 and 3e-15 for f64; for `log` in [⅔, 4/3), where one coefficient less has an error of 5e-9.
"""

from __future__ import annotations

from tritonx.conversion.mathlib.code import Code

_P = (
    0.3333329856, -0.2500000894, 0.200028643, -0.1666853875, 0.1420692503, -0.1238945276, 0.1195595264, -0.1179148555,
    0.06745089591,
)  # fmt: skip
_P_OF_THIRDS = (
    0.3333321644, -0.2499979878, 0.2001040652, -0.1668048744, 0.1400586759, -0.1218426028, 0.1398444322, -0.1289168913,
)  # fmt: skip
_P_F64 = (
    0.33333333333846066, -0.24999999984777427, 0.19999999871730803, -0.16666668732288242, 0.14285726120753497,
    -0.1249989855570985, 0.11110570981793833, -0.10002277270922216, 0.09104243043852979, -0.08311685025922223,
    0.07514005939374464, -0.07143462452937255, 0.07830205813383262, -0.0756061574398852, 0.03648504115351425,
)  # fmt: skip
_LN2 = 0.6931471805599453
_LOG2_E = 1.4426950408889634
_LOG2_E_HI = 1.44140625  # 10 significant bits
_LOG2_E_LO = _LOG2_E - _LOG2_E_HI
_TWO_THIRDS_BITS = 0x3F2AAAAB
_SQRT_HALF_BITS = 0x3F3504F3
_INFINITY_BITS = 0x7F800000
_SQRT_HALF_BITS_F64 = 0x3FE6A09E667F3BCD


def _split(code: Code, x: str, least: int) -> tuple[str, str, str]:
    """(x, e as a float, f) of a positive finite x, with m from the number of these bits on; subnormal numbers are
    scaled up first, in the x that is returned too. e is taken where it lies in the number."""
    smallest, lift = (2.0**-1022, 54) if code.double else (2.0**-126, 25)
    tiny = code.compare("olt", x, code.const(smallest))
    x = code.select(tiny, code.mul(x, code.const(2.0**lift)), x)
    bits = code.bits(x)
    exponent = code.int_op("and", code.int_op("sub", bits, least), -(1 << code.mantissa_bits))
    m = code.from_bits(code.int_op("sub", bits, exponent))
    added = code.select(tiny, code.const(float(-lift)), code.const(0.0))
    e = code.fma(code.to_float(exponent), code.const(2.0**-code.mantissa_bits), added)
    return x, e, code.sub(m, code.const(1.0))


def _over_f(code: Code, f: str, coefficients: tuple[float, ...]) -> str:
    """log(1 + f) / f - 1."""
    return code.mul(f, code.polynomial(f, (-0.5, *coefficients)))


def _specials(code: Code, x: str, value: str) -> str:
    """0 gives -inf, negative numbers and NaN give NaN, +inf gives +inf: x·∞ + ∞ is right for all but 0."""
    ordinary = code.int_compare("ult", code.bits(x), _INFINITY_BITS)
    infinity = code.const(float("inf"))
    value = code.select(ordinary, value, code.fma(x, infinity, infinity))
    return code.select(code.compare("oeq", x, code.const(0.0)), code.const(float("-inf")), value)


def log(code: Code, x: str) -> str:
    x, e, f = _split(code, x, _TWO_THIRDS_BITS)
    return _specials(code, x, code.fma(e, code.const(_LN2), code.fma(_over_f(code, f, _P_OF_THIRDS), f, f)))


def log2(code: Code, x: str) -> str:
    x, e, f = _split(code, x, _SQRT_HALF_BITS)
    tail = code.mul(_over_f(code, f, _P), f)
    low = code.fma(f, code.const(_LOG2_E_LO), code.mul(tail, code.const(_LOG2_E)))
    value = code.add(e, code.fma(f, code.const(_LOG2_E_HI), low))
    return _specials(code, x, value)


def log10(code: Code, x: str) -> str:
    """log10 2 is split so that e·hi is exact; log10 e multiplies the rest."""
    x, e, f = _split(code, x, _SQRT_HALF_BITS)
    tail = code.mul(_over_f(code, f, _P), f)
    log10_e_hi, log10_e = 0.43359375, 0.4342944819032518
    low = code.fma(f, code.const(log10_e - log10_e_hi), code.mul(tail, code.const(log10_e)))
    low = code.fma(e, code.const(4.605038981195214e-06), low)
    value = code.fma(e, code.const(0.301025390625), code.fma(f, code.const(log10_e_hi), low))
    return _specials(code, x, value)


def log1p(code: Code, x: str) -> str:
    """log(u) with u = 1 + x, plus the rounding error of u over u; x itself where u is 1."""
    u = code.add(x, code.const(1.0))
    lost = code.sub(x, code.sub(u, code.const(1.0)))
    value = code.add(log(code, u), code.div(lost, u))
    value = code.select(code.compare("oeq", u, code.const(float("inf"))), u, value)
    value = code.select(code.compare("oeq", u, code.const(0.0)), code.const(float("-inf")), value)
    return code.select(code.compare("oeq", u, code.const(1.0)), x, value)


def log2_f64(code: Code, x: str) -> str:
    """log2 of a positive finite double; `code` is a double one. Absolute error about 1e-15 for |log2| below 1."""
    _, e, f = _split(code, x, _SQRT_HALF_BITS_F64)
    square = code.mul(f, f)
    cubic = code.mul(code.mul(square, f), code.polynomial(f, _P_F64))
    tail = code.fma(square, code.const(-0.5), cubic)
    return code.add(e, code.mul(code.add(f, tail), code.const(_LOG2_E)))
