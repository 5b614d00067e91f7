"""sin, cos and tan of large f32 arguments: reduction by as many digits of 2/π as it takes (Payne and Hanek, 1983).

x = m · 2^(e - 31) with a 32-bit m. In m · W, with W = ⌊2/π · 2^192⌋, the two bits left of the binary point of x · 2/π
are the quadrant and the 62 behind them the position in it. The 224-bit product is LLVM's to expand. It becomes one
function of the module, called on a path that hardly any lane takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tritonx.conversion.gpu_to_llvm.types import float_literal
from tritonx.conversion.mathlib import Code
from tritonx.conversion.mathlib.trigonometric import sin_cos

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter

# The first 192 bits of 2/π behind the binary point.
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041
_HALF_PI_SCALED = 1.5707963267948966 * 2.0**-62

FUNCTIONS = {"sinf": 0, "cosf": 1, "tanf": 2}


class _Body:
    """The writer that ``Code`` needs, for one function's text."""

    def __init__(self, f: FunctionEmitter) -> None:
        self.f = f
        self.lines: list[str] = []

    def let(self, expression: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def call(self, result_type: str, name: str, *arguments: tuple[str, str]) -> str:
        symbol = self.f.module.declare(result_type, f"@{name}", [t for t, _ in arguments])
        return self.let(f"call {result_type} {symbol}({', '.join(f'{t} {v}' for t, v in arguments)})")


def large(f: FunctionEmitter, name: str, x: str) -> str:
    """``name`` (``sinf``, ``cosf``, ``tanf``) of a large scalar ``x``; NaN for NaN and infinities."""
    symbol = f"@tx.{name}.large"
    if symbol not in f.module.helpers:
        f.module.helpers[symbol] = _define(f, symbol, FUNCTIONS[name])
    return f.inst(f"call float {symbol}(float {x})")


def _define(f: FunctionEmitter, symbol: str, kind: int) -> str:
    b = _Body(f)
    word = b.let("bitcast float %x to i32")
    mantissa = b.let(f"or i32 {b.let(f'shl i32 {word}, 8')}, -2147483648")
    biased = b.let(f"and i32 {b.let(f'lshr i32 {word}, 23')}, 255")
    product = b.let(f"mul i224 {b.let(f'zext i32 {mantissa} to i224')}, {_TWO_OVER_PI}")
    amount = b.let(f"sub i32 {192 + 31 + 127 - 62}, {biased}")
    moved = b.let(f"lshr i224 {product}, {b.let(f'zext i32 {amount} to i224')}")
    turns = b.let(f"trunc i224 {moved} to i64")
    # Add half a quadrant: the quadrant's number rounds to nearest, what is left is signed.
    rounded = b.let(f"add i64 {turns}, {1 << 61}")
    quadrant = b.let(f"trunc i64 {b.let(f'lshr i64 {rounded}, 62')} to i32")
    rest = b.let(f"sub i64 {b.let(f'and i64 {rounded}, {(1 << 62) - 1}')}, {1 << 61}")
    scale = float_literal(_HALF_PI_SCALED, "double")
    angle = b.let(f"sitofp i64 {rest} to double")
    negative = b.let(f"icmp slt i32 {word}, 0")
    odd = b.let(f"icmp ne i32 {b.let(f'and i32 {quadrant}, 1')}, 0")
    # In f64, rounded at the end: hardly any lane comes here, and tan would sum up the errors of two functions
    # and a division.
    code = Code(cast(Any, b), 0, double=True)  # straight-line code: no labels are asked for
    sine, cosine = sin_cos(code, b.let(f"fmul double {angle}, {scale}"))
    if kind == 2:
        dividend = b.let(f"select i1 {odd}, double {code.neg(cosine)}, double {sine}")
        value = code.div(dividend, b.let(f"select i1 {odd}, double {sine}, double {cosine}"))
        flip = negative
    else:
        first, second = (sine, cosine) if kind == 0 else (cosine, sine)
        value = b.let(f"select i1 {odd}, double {second}, double {first}")
        shifted = quadrant if kind == 0 else b.let(f"add i32 {quadrant}, 1")
        flip = b.let(f"icmp ne i32 {b.let(f'and i32 {shifted}, 2')}, 0")
        if kind == 0:
            flip = b.let(f"xor i1 {flip}, {negative}")
    value = b.let(f"fptrunc double {b.let(f'select i1 {flip}, double {code.neg(value)}, double {value}')} to float")
    special = b.let(f"icmp eq i32 {biased}, 255")
    value = b.let(f"select i1 {special}, float 0x7FF8000000000000, float {value}")
    return "\n".join(
        [f"define internal float {symbol}(float %x) noinline nounwind {{", *b.lines, f"  ret float {value}", "}"]
    )
