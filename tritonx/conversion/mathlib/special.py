"""tanh, erf, pow: functions whose f32 result needs more than f32 on the way.

tanh stays in f32: x + x³·P(x²) up to 0.55 (weighted minimax fit, relative error 1.2e-9), 1 - 2 / (exp(2x) + 1) from
there on, where the subtraction takes no digits. erf and pow are evaluated in f64, half the lanes at a time, which
is simpler than compensated f32 arithmetic and at ~20 instructions a half no slower.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonx.conversion.mathlib.code import Code
from tritonx.conversion.mathlib.exponential import exp, exp_f64
from tritonx.conversion.mathlib.logarithm import log2_f64

# erf(x)/x on 0 <= x² <= 15.6 in powers of (x² - 8)/8; minimax fit, relative error 2.2e-10.
_ERF = (
    0.3535309956259071, -0.17657623475112097, 0.13167512101968445, -0.10771035004477174, 0.09020884122592107,
    -0.07472958597062072, 0.05988902589498304, -0.04575064778716752, 0.033046119418088694, -0.02253904419330074,
    0.01440517036118748, -0.008433371277840843, 0.004727369927254405, -0.002850952040540597, 0.001464640887538675,
    -0.0003625763432727936, 0.0001396995908621669, -0.00023681700717104377, 0.0001026034859479553,
)  # fmt: skip
_ERF_LIMIT = 3.92  # from here on erf rounds to 1 in f32
_TANH = (-0.3333331645, 0.1333255619, -0.05384964496, 0.0210620109, -0.006261896342)
_TANH_LIMIT = 0.55


def tanh(code: Code, x: str) -> str:
    magnitude = code.at_most(code.abs(x), 10.0)  # tanh is 1 in f32 from 9.02 on
    square = code.mul(magnitude, magnitude)
    small = code.fma(code.mul(square, magnitude), code.polynomial(square, _TANH), magnitude)
    above = code.add(exp(code, code.mul(magnitude, code.const(2.0))), code.const(1.0))
    large = code.sub(code.const(1.0), code.div(code.const(2.0), above))
    value = code.select(code.compare("olt", magnitude, code.const(_TANH_LIMIT)), small, large)
    return code.copysign(value, x)


def _in_double(code: Code, function: Callable[..., str], *args: str) -> str:
    """Apply `function(double code, *args)` to halves of the lanes converted to double, and convert back."""
    writer = code.writer
    if code.width < 2:
        wide = Code(writer, code.width, double=True)
        extended = [writer.inst(f"fpext {code.type} {a} to {wide.type}") for a in args]
        return writer.inst(f"fptrunc {wide.type} {function(wide, *extended)} to {code.type}")
    half = code.width // 2
    wide, narrow = Code(writer, half, double=True), Code(writer, half)
    parts: list[str] = []
    for start in (0, half):
        lanes = list(range(start, start + half))
        pieces = [code.lanes(a, "poison", lanes) for a in args]
        extended = [writer.inst(f"fpext {narrow.type} {p} to {wide.type}") for p in pieces]
        parts.append(writer.inst(f"fptrunc {wide.type} {function(wide, *extended)} to {narrow.type}"))
    return narrow.lanes(parts[0], parts[1], range(code.width))


def _erf_f64(code: Code, x: str) -> str:
    square = code.mul(x, x)
    t = code.fma(square, code.const(0.125), code.const(-1.0))
    return code.mul(x, code.polynomial(t, _ERF))


def erf(code: Code, x: str) -> str:
    clamped = code.at_least(code.at_most(x, _ERF_LIMIT), -_ERF_LIMIT)
    value = _in_double(code, _erf_f64, clamped)
    beyond = code.compare("oge", code.abs(x), code.const(_ERF_LIMIT))
    return code.select(beyond, code.copysign(code.const(1.0), x), value)


def _pow_f64(code: Code, magnitude: str, y: str) -> str:
    product = code.mul(y, log2_f64(code, magnitude))
    bounded = code.at_least(code.at_most(product, 1000.0), -1000.0)
    return exp_f64(code, code.mul(bounded, code.const(0.6931471805599453)))


def pow(code: Code, x: str, y: str) -> str:
    """x^y with C's special cases (C23 F.10.4.4): exact signs for integer y, NaN for a negative base otherwise."""
    const = code.const
    magnitude = code.abs(x)
    size = code.abs(y)
    # 0 and infinity have no logarithm: log2 is taken of 1 there and the limit is put in afterwards.
    zero = code.compare("oeq", magnitude, const(0.0))
    infinite = code.compare("oeq", magnitude, const(float("inf")))
    safe = code.select(zero, const(1.0), code.select(infinite, const(1.0), magnitude))
    value = _in_double(code, _pow_f64, safe, code.at_least(code.at_most(y, 3.0e38), -3.0e38))
    growing = code.compare("ogt", y, const(0.0))
    value = code.select(zero, code.select(growing, const(0.0), const(float("inf"))), value)
    value = code.select(infinite, code.select(growing, const(float("inf")), const(0.0)), value)
    # Integers: floats from 2^23 on are integers, from 2^24 on even ones.
    whole = code.compare("oeq", code.intrinsic("trunc", y), y)
    halved = code.mul(y, const(0.5))
    odd = code.compare("one", code.intrinsic("trunc", halved), halved)
    negative = code.int_compare("slt", code.bits(x), 0)
    flip = code.writer.inst(f"and {code.mask} {negative}, {odd}")
    flip = code.writer.inst(f"and {code.mask} {flip}, {whole}")
    value = code.select(flip, code.neg(value), value)
    below_zero = code.compare("olt", x, const(0.0))
    finite_base = code.compare("one", magnitude, const(float("inf")))
    bad = code.writer.inst(f"and {code.mask} {below_zero}, {finite_base}")
    fraction = code.compare("one", code.intrinsic("trunc", y), y)
    value = code.select(code.writer.inst(f"and {code.mask} {bad}, {fraction}"), const(float("nan")), value)
    value = code.select(code.compare("uno", x, y), const(float("nan")), value)
    minus_one = code.compare("oeq", x, const(-1.0))
    unbounded = code.compare("oeq", size, const(float("inf")))
    value = code.select(code.writer.inst(f"and {code.mask} {minus_one}, {unbounded}"), const(1.0), value)
    value = code.select(code.compare("oeq", x, const(1.0)), const(1.0), value)
    return code.select(code.compare("oeq", y, const(0.0)), const(1.0), value)
