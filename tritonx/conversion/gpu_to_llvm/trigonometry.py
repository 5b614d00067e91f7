"""sin, cos and tan of large f32 arguments: reduction by as many digits of 2/π as it takes (Payne and Hanek, 1983).

x = m · 2^(e - 31) with a 32-bit m. In m · W, with W = ⌊2/π · 2^192⌋, the two bits left of the binary point of x · 2/π
are the quadrant and the 62 behind them the position in it. The 224-bit product is LLVM's to expand. It becomes one
function of the module, called on a path that hardly any lane takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonx.conversion.llvm_text import float_literal
from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.mathlib import Code
from tritonx.conversion.mathlib.trigonometric import sin_cos

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

# The first 192 bits of 2/π behind the binary point.
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041
_HALF_PI_SCALED = 1.5707963267948966 * 2.0**-62

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
    mantissa = b.inst(f"or i32 {b.inst(f'shl i32 {word}, 8')}, -2147483648")
    biased = b.inst(f"and i32 {b.inst(f'lshr i32 {word}, 23')}, 255")
    product = b.inst(f"mul i224 {b.inst(f'zext i32 {mantissa} to i224')}, {_TWO_OVER_PI}")
    amount = b.inst(f"sub i32 {192 + 31 + 127 - 62}, {biased}")
    moved = b.inst(f"lshr i224 {product}, {b.inst(f'zext i32 {amount} to i224')}")
    turns = b.inst(f"trunc i224 {moved} to i64")
    # Add half a quadrant: the quadrant's number rounds to nearest, what is left is signed.
    rounded = b.inst(f"add i64 {turns}, {1 << 61}")
    quadrant = b.inst(f"trunc i64 {b.inst(f'lshr i64 {rounded}, 62')} to i32")
    rest = b.inst(f"sub i64 {b.inst(f'and i64 {rounded}, {(1 << 62) - 1}')}, {1 << 61}")
    scale = float_literal(_HALF_PI_SCALED, "double")
    angle = b.inst(f"sitofp i64 {rest} to double")
    negative = b.inst(f"icmp slt i32 {word}, 0")
    odd = b.inst(f"icmp ne i32 {b.inst(f'and i32 {quadrant}, 1')}, 0")
    # In f64, rounded at the end: hardly any lane comes here, and tan would sum up the errors of two functions
    # and a division.
    code = Code(b, 0, double=True)
    sine, cosine = sin_cos(code, b.inst(f"fmul double {angle}, {scale}"))
    if kind == 2:
        dividend = b.inst(f"select i1 {odd}, double {code.neg(cosine)}, double {sine}")
        value = code.div(dividend, b.inst(f"select i1 {odd}, double {sine}, double {cosine}"))
        flip = negative
    else:
        first, second = (sine, cosine) if kind == 0 else (cosine, sine)
        value = b.inst(f"select i1 {odd}, double {second}, double {first}")
        shifted = quadrant if kind == 0 else b.inst(f"add i32 {quadrant}, 1")
        flip = b.inst(f"icmp ne i32 {b.inst(f'and i32 {shifted}, 2')}, 0")
        if kind == 0:
            flip = b.inst(f"xor i1 {flip}, {negative}")
    value = b.inst(f"fptrunc double {b.inst(f'select i1 {flip}, double {code.neg(value)}, double {value}')} to float")
    special = b.inst(f"icmp eq i32 {biased}, 255")
    value = b.inst(f"select i1 {special}, float 0x7FF8000000000000, float {value}")
    return "\n".join(
        [f"define internal float {symbol}(float %x) noinline nounwind {{", *b.lines, f"  ret float {value}", "}"]
    )
