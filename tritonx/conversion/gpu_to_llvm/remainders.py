"""Remainders of floats as C's fmod has them: exact, with the sign of the dividend, NaN where there is none.

LLVM's expansion for targets without the instruction, x - trunc(x / y)·y, is wrong where the quotient does not fit the
mantissa, or rounds up to an integer: 1e10 % 7 is 256 by it.

    q = trunc(|x| / |y|)                 rounded to nearest: the quotient's integer, or the next one
    r = fma(-q, |y|, |x|)                exact, where q fits the mantissa: a multiple of y's last bit below |y|
    r < 0  →  r + |y|

Other lanes, of a quotient of 2^24 (2^53) and more, zeros, NaN and infinities, call a function of the module, which
divides the mantissas as integers: x = a·2^n·u and y = b·u with the same power of two u, and a·2^n mod b takes as many
bits of n at a time as a 64-bit integer has beside b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.conversion.llvm_text import float_literal

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


@dataclass(frozen=True)
class _Format:
    """A format of ``bits`` bits, ``fraction`` of them behind the point."""

    llvm: str
    name: str
    bits: int
    fraction: int

    @property
    def step(self) -> int:
        """Bits of a 64-bit integer beside a mantissa."""
        return 64 - (self.fraction + 1)


_FORMATS = {"float": _Format("float", "f32", 32, 23), "double": _Format("double", "f64", 64, 52)}


def remainder(f: FunctionEmitter, operands: list[Tile]) -> Tile:
    """``x % y`` of f32 or f64 tiles."""
    form = _FORMATS[operands[0].elem]
    pairs = list(zip(*(f.scalars(operand) for operand in operands), strict=True))
    made = {pair: _scalar(f, form, *pair) for pair in dict.fromkeys(pairs)}
    return Tile.of(form.llvm, [made[pair] for pair in pairs])


def _scalar(f: FunctionEmitter, form: _Format, x: str, y: str) -> str:
    type_ = form.llvm

    def function(name: str, *values: str) -> str:
        symbol = f.module.intrinsic(name, type_, [type_] * len(values))
        return f.inst(f"call {type_} {symbol}({', '.join(f'{type_} {value}' for value in values)})")

    a, b = function("fabs", x), function("fabs", y)
    quotient = function("trunc", f.inst(f"fdiv {type_} {a}, {b}"))
    rest = function("fma", f.inst(f"fneg {type_} {quotient}"), b, a)
    negative = f.inst(f"fcmp olt {type_} {rest}, {float_literal(0.0, type_)}")
    rest = f.inst(f"select i1 {negative}, {type_} {f.inst(f'fadd {type_} {rest}, {b}')}, {type_} {rest}")
    smaller = f.inst(f"fcmp olt {type_} {a}, {b}")
    quick = function("copysign", f.inst(f"select i1 {smaller}, {type_} {a}, {type_} {rest}"), x)
    large = f.inst(f"fcmp uge {type_} {quotient}, {float_literal(2.0 ** (form.fraction + 1), type_)}")
    before, then, done = f.block, f.new_label("do"), f.new_label("done")
    f.branch_if(large, then, done)
    f.label(then)
    symbol = f"@tx.fmod.{form.name}"
    if symbol not in f.module.definitions:
        _declare(f, form)
        f.module.define(symbol, _definition(symbol, form))
    exact = f.inst(f"call {type_} {symbol}({type_} {x}, {type_} {y})")
    after = f.block
    f.enter(done)
    return f.inst(f"phi {type_} [ {quick}, %{before} ], [ {exact}, %{after} ]")


def _declare(f: FunctionEmitter, form: _Format) -> None:
    i = f"i{form.bits}"
    for name in ("umin", "umax"):
        f.module.intrinsic(name, i, [i, i])
    f.module.intrinsic("ctlz", i, [i, "i1"])


def _definition(symbol: str, form: _Format) -> str:
    i, t, fraction = f"i{form.bits}", form.llvm, form.fraction
    sign, hidden = 1 << (form.bits - 1), 1 << fraction
    infinity = ((1 << (form.bits - 1 - fraction)) - 1) << fraction
    return f"""define internal {t} {symbol}({t} %x, {t} %y) noinline nounwind {{
  %xw = bitcast {t} %x to {i}
  %yw = bitcast {t} %y to {i}
  %sign = and {i} %xw, {sign}
  %a = and {i} %xw, {sign - 1}
  %b = and {i} %yw, {sign - 1}
  %infinite = icmp uge {i} %a, {infinity}
  %nan = icmp ugt {i} %b, {infinity}
  %zero = icmp eq {i} %b, 0
  %either = or i1 %infinite, %nan
  %none = or i1 %either, %zero
  br i1 %none, label %undefined, label %finite
undefined:
  ret {t} {float_literal(float("nan"), t)}
finite:
  %less = icmp ult {i} %a, %b
  br i1 %less, label %same, label %divide
same:
  ret {t} %x
divide:
  %ae.0 = lshr {i} %a, {fraction}
  %be.0 = lshr {i} %b, {fraction}
  %ae = call {i} @llvm.umax.{i}({i} %ae.0, {i} 1)
  %be = call {i} @llvm.umax.{i}({i} %be.0, {i} 1)
  %af = and {i} %a, {hidden - 1}
  %bf = and {i} %b, {hidden - 1}
  %an = icmp ne {i} %ae.0, 0
  %bn = icmp ne {i} %be.0, 0
  %ai = select i1 %an, {i} {hidden}, {i} 0
  %bi = select i1 %bn, {i} {hidden}, {i} 0
  %am = or {i} %af, %ai
  %bm = or {i} %bf, %bi
  %n.0 = sub {i} %ae, %be
  {_wide("m.0", "am", form)}
  {_wide("d", "bm", form)}
  %r.0 = urem i64 %m.0, %d
  br label %head
head:
  %n = phi {i} [ %n.0, %divide ], [ %n.next, %body ]
  %r = phi i64 [ %r.0, %divide ], [ %r.next, %body ]
  %more = icmp ne {i} %n, 0
  br i1 %more, label %body, label %end
body:
  %k = call {i} @llvm.umin.{i}({i} %n, {i} {form.step})
  {_wide("k.wide", "k", form)}
  %shifted = shl i64 %r, %k.wide
  %r.next = urem i64 %shifted, %d
  %n.next = sub {i} %n, %k
  br label %head
end:
  %r.low = {"add i64 %r, 0" if form.bits == 64 else "trunc i64 %r to i32"}
  %nothing = icmp eq {i} %r.low, 0
  br i1 %nothing, label %whole, label %some
whole:
  %signed.zero = bitcast {i} %sign to {t}
  ret {t} %signed.zero
some:
  %leading = call {i} @llvm.ctlz.{i}({i} %r.low, i1 true)
  %up = sub {i} %leading, {form.bits - 1 - fraction}
  %e = sub {i} %be, %up
  %is.normal = icmp sgt {i} %e, 0
  %down = sub {i} %be, 1
  %by = select i1 %is.normal, {i} %up, {i} %down
  %mantissa.0 = shl {i} %r.low, %by
  %mantissa = and {i} %mantissa.0, {hidden - 1}
  %e.0 = select i1 %is.normal, {i} %e, {i} 0
  %exponent = shl {i} %e.0, {fraction}
  %magnitude = or {i} %exponent, %mantissa
  %bits = or {i} %magnitude, %sign
  %result = bitcast {i} %bits to {t}
  ret {t} %result
}}"""


def _wide(name: str, source: str, form: _Format) -> str:
    return f"%{name} = add i64 %{source}, 0" if form.bits == 64 else f"%{name} = zext i32 %{source} to i64"
