"""sin, cos and tan of large f32 arguments: reduction by as many digits of 2/π as it takes (Payne and Hanek, 1983).

x = m · 2^(e - 31) with a 32-bit m. Of x · 2/π the two bits left of the binary point are the quadrant, and the 62 behind
them the position in it. These 64 bits are those of m times a window of 96 bits of 2/π, which the exponent places.

It is one function of the module, called on a path that hardly any lane takes; but a kernel needs the registers of what
it calls, and with them room for fewer warps. So the words of the window are selected among constants (an integer of 224
bits, shifted, is an array in memory to LLVM), and sine and cosine are one polynomial whose coefficients are selected. A
kernel of two sines and a cosine of 512 elements in 256 threads takes 32 registers, and took 40."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tritonx.conversion.llvm_text import float_literal
from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.mathlib import Code
from tritonx.conversion.mathlib.trigonometric import COSINE, SINE, sin_cos

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

_TWO_OVER_PI = (0x3C439041, 0xDB629599, 0xF534DDC0, 0xFC2757D1, 0x4E441529, 0xA2F9836E, 0)
"""Words of the first 192 bits of 2/π behind the binary point, the lowest first, and one above them."""

_HALF_PI_SCALED = 1.5707963267948966 * 2.0**-62
_HIGH = 1.57079637050628662109375 * 2.0**-62
"""Its f32."""

FUNCTIONS = {"@sinf": 0, "@cosf": 1, "@tanf": 2}


def large(f: FunctionEmitter, name: str, x: str) -> str:
    """``name`` (``@sinf``, ``@cosf``, ``@tanf``) of a large scalar ``x``; NaN for NaN and infinities."""
    symbol = f"@tx.{name[1:]}.large"
    if symbol not in f.module.definitions:
        f.module.define(symbol, _define(f.module, symbol, FUNCTIONS[name]))
    return f.inst(f"call float {symbol}(float {x})")


def _define(module: Module, symbol: str, kind: int) -> str:
    b = Writer(module)
    word = b.inst("bitcast float %x to i32")
    biased = b.inst(f"and i32 {b.inst(f'lshr i32 {word}, 23')}, 255")
    quadrant, rest = _reduced(b, word, biased)
    negative = b.inst(f"icmp slt i32 {word}, 0")
    if kind == 2:
        value = _tangent(b, rest, _bit(b, quadrant, 1))
        flip = negative
    else:
        turned = b.inst(f"add i32 {quadrant}, {kind}")
        value = _sine_or_cosine(b, rest, _bit(b, turned, 1))
        flip = _bit(b, turned, 2)
        if kind == 0:
            flip = b.inst(f"xor i1 {flip}, {negative}")
    value = b.inst(f"select i1 {flip}, float {b.inst(f'fneg float {value}')}, float {value}")
    special = b.inst(f"icmp eq i32 {biased}, 255")
    value = b.inst(f"select i1 {special}, float 0x7FF8000000000000, float {value}")
    return "\n".join(
        [f"define internal float {symbol}(float %x) noinline nounwind {{", *b.lines, f"  ret float {value}", "}"]
    )


def _reduced(b: Writer, word: str, biased: str) -> tuple[str, str]:
    """The quadrant that |x| is nearest to the start of (i32), and what is left, in 2^-62 quadrants (i64, signed)."""
    mantissa = b.inst(f"or i32 {b.inst(f'shl i32 {word}, 8')}, -2147483648")
    low, middle, high = _window(b, b.inst(f"sub i32 {192 + 31 + 127 - 62 - 32}, {biased}"))
    wide = b.inst(f"zext i32 {mantissa} to i64")
    carried = b.inst(f"lshr i64 {b.inst(f'mul i64 {wide}, {_wide(b, low)}')}, 32")
    turns = b.inst(f"add i64 {b.inst(f'mul i64 {wide}, {_wide(b, middle)}')}, {carried}")
    above = b.inst(f"shl i64 {_wide(b, b.inst(f'mul i32 {mantissa}, {high}'))}, 32")
    turns = b.inst(f"add i64 {turns}, {above}")
    # Add half a quadrant: the quadrant's number rounds to nearest, what is left is signed.
    rounded = b.inst(f"add i64 {turns}, {1 << 61}")
    quadrant = b.inst(f"trunc i64 {b.inst(f'lshr i64 {rounded}, 62')} to i32")
    return quadrant, b.inst(f"sub i64 {b.inst(f'and i64 {rounded}, {(1 << 62) - 1}')}, {1 << 61}")


def _window(b: Writer, shift: str) -> list[str]:
    """Three words of 2/π from bit ``shift`` on, which is below 128."""
    first, second = _bit(b, shift, 32), _bit(b, shift, 64)

    def word(at: int) -> str:
        even, odd = (
            b.inst(f"select i1 {second}, i32 {_TWO_OVER_PI[i + 2]}, i32 {_TWO_OVER_PI[i]}") for i in (at, at + 1)
        )
        return b.inst(f"select i1 {first}, i32 {odd}, i32 {even}")

    words = [word(at) for at in range(4)]
    funnel = b.module.intrinsic("fshr", "i32", ["i32"] * 3)
    return [b.call("i32", funnel, ("i32", above), ("i32", below), ("i32", shift)) for below, above in pairwise(words)]


def _wide(b: Writer, word: str) -> str:
    return b.inst(f"zext i32 {word} to i64")


def _bit(b: Writer, word: str, bit: int) -> str:
    return b.inst(f"icmp ne i32 {b.inst(f'and i32 {word}, {bit}')}, 0")


def _angle(b: Writer, code: Code, rest: str) -> tuple[str, str]:
    """What is left in radians, as a sum of two."""
    near = b.inst(f"sitofp i64 {rest} to float")
    lost = b.inst(f"sub i64 {rest}, {b.inst(f'fptosi float {near} to i64')}")
    scale = code.const(_HIGH)
    angle = code.mul(near, scale)
    low = code.fma(b.inst(f"sitofp i64 {lost} to float"), scale, code.fma(near, scale, code.neg(angle)))
    return angle, code.fma(near, code.const(_HALF_PI_SCALED - _HIGH), low)


def _sine_or_cosine(b: Writer, rest: str, odd: str) -> str:
    """r + r³·S(r²), or 1 - r²/2 + r⁴·C(r²) in odd quadrants: one polynomial. What r, r² and 1 - r²/2 are rounded by is
    added."""
    code = Code(b, 0)
    angle, low = _angle(b, code, rest)
    square = code.mul(angle, angle)
    factor = code.mul(square, code.select(odd, square, angle))
    halved, one = code.mul(square, code.const(-0.5)), code.const(1.0)
    below_one = code.add(halved, one)
    rounded = code.add(code.sub(one, below_one), halved)
    squared = code.fma(angle, angle, code.neg(square))
    slope = code.fma(code.neg(angle), low, code.fma(squared, code.const(-0.5), rounded))
    tail = code.select(odd, slope, code.fma(halved, low, low))
    start = code.select(odd, below_one, angle)
    terms = [code.select(odd, code.const(c), code.const(s)) for s, c in zip(SINE, COSINE, strict=True)]
    value = terms[-1]
    for term in reversed(terms[:-1]):
        value = code.fma(value, square, term)
    return code.add(start, code.fma(factor, value, tail))


def _tangent(b: Writer, rest: str, odd: str) -> str:
    """In f64, since it sums up the errors of two functions and a division."""
    code = Code(b, 0, double=True)
    scale = float_literal(_HALF_PI_SCALED, "double")
    sine, cosine = sin_cos(code, code.mul(b.inst(f"sitofp i64 {rest} to double"), scale))
    dividend = code.select(odd, code.neg(cosine), sine)
    value = code.div(dividend, code.select(odd, sine, cosine))
    return b.inst(f"fptrunc double {value} to float")
