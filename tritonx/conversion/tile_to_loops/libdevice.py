"""``tl.extra.libdevice`` on a host: name → overloads, and how each is computed.

Three kinds, in this order of preference: a few LLVM instructions (`RULES`), a vector function of `mathlib`, the C
library's function once a lane. A symbol is the C name (``expf``, ``exp``) or, for what C does not have, the libdevice
name. Arithmetic with a directed rounding (``add_ru``, …) is not offered: LLVM assumes the default rounding mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.mathlib import Code, emit_scalar_calls
from tritonx.conversion.scalar.conversions import float_to_integer, integer_to_float
from tritonx.conversion.tile_to_loops.libm import LIBM, SIGNATURES, VECTOR_FORMS
from tritonx.conversion.tile_to_loops.types import integer_bits, register_type
from tritonx.conversion.tile_to_loops.vector_functions import emit_function
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.ir.types import element_type, f64

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

Rule = Callable[["Emitter", list[Attribute], Attribute, list[Lanes]], Lanes]
"""(emitter, element types of the operands, of the result, operands at one width) → the result."""


def _floating(formula: Callable[..., str]) -> Rule:
    """A formula over `Code` in the operands' own format."""

    def rule(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
        code = Code(e.writer, args[0].width, double=operands[0] == f64)
        return Lanes(formula(code, *(a.text for a in args)), args[0].width)

    return rule


def _reciprocal(code: Code, x: str) -> str:
    return code.div(code.const(1.0), x)


def _reciprocal_root(code: Code, x: str) -> str:
    return _reciprocal(code, code.intrinsic("sqrt", x))


def _root(code: Code, x: str) -> str:
    return code.intrinsic("sqrt", x)


def _reciprocal_of(formula: Callable[..., str]) -> Callable[..., str]:
    def inverted(code: Code, *xs: str) -> str:
        return _reciprocal(code, formula(code, *xs))

    return inverted


def _c_function(name: str) -> Callable[..., str]:
    def called(code: Code, *xs: str) -> str:
        return _library(code, name, *xs)

    return called


def _saturate(code: Code, x: str) -> str:
    return code.intrinsic("minnum", code.intrinsic("maxnum", x, code.const(0.0)), code.const(1.0))


def _norm(code: Code, *xs: str) -> str:
    total = code.mul(xs[0], xs[0])
    for x in xs[1:]:
        total = code.fma(x, x, total)
    return code.intrinsic("sqrt", total)


def _library(code: Code, name: str, *xs: str) -> str:
    symbol = name if code.double else f"{name}f"
    return emit_scalar_calls(code.writer, symbol, list(xs), code.width, [code.scalar] * len(xs), code.scalar)


def _half_turns(function: str) -> Callable[[Code, str], str]:
    """sin(πx), cos(πx): x is reduced by its period 2 first, which is exact."""

    def formula(code: Code, x: str) -> str:
        periods = code.intrinsic("rint", code.mul(x, code.const(0.5)))
        reduced = code.fma(periods, code.const(-2.0), x)
        return _library(code, function, code.mul(reduced, code.const(3.141592653589793)))

    return formula


def _normal_distribution(code: Code, x: str) -> str:
    return code.mul(_library(code, "erfc", code.mul(x, code.const(-0.7071067811865476))), code.const(0.5))


def _vector_function(name: str) -> Rule:
    def rule(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
        width = args[0].width
        texts = [a.text for a in args]
        return Lanes(emit_function(e.writer, name, texts, width, e.isa), width)

    return rule


def _predicate(test: Callable[[Code, str], str]) -> Rule:
    """An i32 that is 0 or 1."""

    def rule(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
        code = Code(e.writer, args[0].width, double=operands[0] == f64)
        mask = test(code, args[0].text)
        return Lanes(e.writer.inst(f"zext {code.mask} {mask} to {vector('i32', code.width)}"), code.width)

    return rule


_INFINITY = float("inf")
_finite = _predicate(lambda code, x: code.compare("olt", code.abs(x), code.const(_INFINITY)))

# ---- integers


def _integer(formula: Callable[[Emitter, str, str, int, list[str]], str]) -> Rule:
    """A formula over (emitter, vector type, intrinsic suffix, bits, operands)."""

    def rule(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
        bits, width = integer_bits(operands[0]), args[0].width
        ty = vector(f"i{bits}", width)
        text = formula(e, ty, f"v{width}i{bits}" if width else f"i{bits}", bits, [a.text for a in args])
        given, wanted = vector(f"i{bits}", width), vector(register_type(result), width)
        if given != wanted:
            text = e.writer.inst(f"trunc {given} {text} to {wanted}")
        return Lanes(text, width)

    return rule


def _intrinsic(name: str, *flags: str) -> Rule:
    def formula(e: Emitter, ty: str, suffix: str, bits: int, args: list[str]) -> str:
        return e.writer.call(ty, f"@llvm.{name}.{suffix}", (ty, args[0]), *(("i1", f) for f in flags))

    return _integer(formula)


def _constant(ty: str, bits: int, value: int) -> str:
    return f"splat (i{bits} {value})" if ty[0] == "<" else str(value)


def _first_set(e: Emitter, ty: str, suffix: str, bits: int, args: list[str]) -> str:
    """The number of the lowest set bit, from 1; 0 for 0."""
    zeros = e.writer.call(ty, f"@llvm.cttz.{suffix}", (ty, args[0]), ("i1", "false"))
    position = e.writer.inst(f"add {ty} {zeros}, {_constant(ty, bits, 1)}")
    empty = e.writer.inst(f"icmp eq {ty} {args[0]}, {_constant(ty, bits, 0)}")
    mask = ty.replace(f"i{bits}", "i1")
    return e.writer.inst(f"select {mask} {empty}, {ty} {_constant(ty, bits, 0)}, {ty} {position}")


def _high_product(e: Emitter, ty: str, suffix: str, bits: int, args: list[str]) -> str:
    wide = ty.replace(f"i{bits}", f"i{2 * bits}")
    a, b = (e.writer.inst(f"sext {ty} {x} to {wide}") for x in args)
    high = e.writer.inst(f"lshr {wide} {e.writer.inst(f'mul {wide} {a}, {b}')}, {_constant(wide, 2 * bits, bits)}")
    return e.writer.inst(f"trunc {wide} {high} to {ty}")


def _average(*, up: bool) -> Rule:
    """(a + b) / 2 without overflow, rounded down or up."""

    def formula(e: Emitter, ty: str, suffix: str, bits: int, args: list[str]) -> str:
        w = e.writer
        common = w.inst(f"{'or' if up else 'and'} {ty} {args[0]}, {args[1]}")
        half = w.inst(f"ashr {ty} {w.inst(f'xor {ty} {args[0]}, {args[1]}')}, {_constant(ty, bits, 1)}")
        return w.inst(f"{'sub' if up else 'add'} {ty} {common}, {half}")

    return _integer(formula)


def _low_product(e: Emitter, ty: str, suffix: str, bits: int, args: list[str]) -> str:
    """The product of the low 24 bits, taken as signed."""
    shift = _constant(ty, bits, 8)
    low = [e.writer.inst(f"ashr {ty} {e.writer.inst(f'shl {ty} {x}, {shift}')}, {shift}") for x in args]
    return e.writer.inst(f"mul {ty} {low[0]}, {low[1]}")


# ---- conversions


def _to_integer(rounding: str, *, signed: bool) -> Rule:
    def rule(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
        code = Code(e.writer, args[0].width, double=operands[0] == f64)
        rounded = code.intrinsic(rounding, args[0].text)
        text = float_to_integer(e.ops(args), rounded, operands[0].name, register_type(result), signed=signed)
        return Lanes(text, code.width)

    return rule


def _from_integer(*, signed: bool) -> Rule:
    def rule(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
        held = register_type(operands[0])
        return Lanes(integer_to_float(e.ops(args), args[0].text, held, result.name, signed=signed), args[0].width)

    return rule


def _bits(e: Emitter, operands: list[Attribute], result: Attribute, args: list[Lanes]) -> Lanes:
    a, b = (vector(register_type(t), args[0].width) for t in (operands[0], result))
    return Lanes(e.writer.inst(f"bitcast {a} {args[0].text} to {b}"), args[0].width)


_ROUNDINGS = {"rn": "rint", "rd": "floor", "ru": "ceil", "rz": "trunc"}
_LETTERS = {"f": "fp32", "d": "fp64", "i": "int32", "l": "int64", "u": "uint32", "U": "uint64"}

_DEFINED: dict[str, tuple[str, Rule]] = {
    "isnan": ("f>i d>i", _predicate(lambda code, x: code.compare("uno", x, x))),
    "isinf": ("f>i d>i", _predicate(lambda code, x: code.compare("oeq", code.abs(x), code.const(_INFINITY)))),
    "signbit": ("f>i d>i", _predicate(lambda code, x: code.int_compare("slt", code.bits(x), 0))),
    "finitef": ("f>i", _finite),
    "isfinited": ("d>i", _finite),
    "rsqrt": ("f>f d>d", _floating(_reciprocal_root)),
    "rsqrt_rn": ("f>f", _floating(_reciprocal_root)),
    "rcp_rn": ("f>f d>d", _floating(_reciprocal)),
    "sqrt_rn": ("f>f d>d", _floating(_root)),
    "saturatef": ("f>f", _floating(_saturate)),
    "rcbrt": ("f>f d>d", _floating(_reciprocal_of(_c_function("cbrt")))),
    "rhypot": ("ff>f dd>d", _floating(_reciprocal_of(_c_function("hypot")))),
    "sinpi": ("f>f d>d", _floating(_half_turns("sin"))),
    "cospi": ("f>f d>d", _floating(_half_turns("cos"))),
    "normcdf": ("f>f d>d", _floating(_normal_distribution)),
    "norm3d": ("fff>f ddd>d", _floating(_norm)),
    "norm4d": ("ffff>f dddd>d", _floating(_norm)),
    "rnorm3d": ("fff>f ddd>d", _floating(_reciprocal_of(_norm))),
    "rnorm4d": ("ffff>f dddd>d", _floating(_reciprocal_of(_norm))),
    "add_rn": ("ff>f dd>d", _floating(Code.add)),
    "sub_rn": ("ff>f dd>d", _floating(Code.sub)),
    "mul_rn": ("ff>f dd>d", _floating(Code.mul)),
    "div_rn": ("ff>f dd>d", _floating(Code.div)),
    "fast_dividef": ("ff>f", _floating(Code.div)),
    "fma_rn": ("fff>f ddd>d", _floating(Code.fma)),
    "abs": ("i>i l>l", _intrinsic("abs", "false")),
    "clz": ("i>i l>i", _intrinsic("ctlz", "false")),
    "popc": ("i>i l>i", _intrinsic("ctpop")),
    "brev": ("i>i l>l", _intrinsic("bitreverse")),
    "ffs": ("i>i l>i", _integer(_first_set)),
    "mulhi": ("ii>i ll>l", _integer(_high_product)),
    "mul24": ("ii>i", _integer(_low_product)),
    "hadd": ("ii>i", _average(up=False)),
    "rhadd": ("ii>i", _average(up=True)),
    **{name: (signature, _bits) for name, signature in (
        ("float_as_int", "f>i"), ("float_as_uint", "f>u"), ("int_as_float", "i>f"), ("uint_as_float", "u>f"),
        ("double_as_longlong", "d>l"), ("longlong_as_double", "l>d"))},
    **{f"{source}2{target}_{suffix}": (f"{s}>{t}", _to_integer(rounding, signed=target[0] != "u"))
       for suffix, rounding in _ROUNDINGS.items()
       for source, s in (("float", "f"), ("double", "d"))
       for target, t in (("int", "i"), ("uint", "u"), ("ll", "l"), ("ull", "U"))},
    **{f"{source}2{target}_rn": (f"{s}>{t}", _from_integer(signed=source[0] != "u"))
       for source, s in (("int", "i"), ("uint", "u"), ("ll", "l"), ("ull", "U"))
       for target, t in (("float", "f"), ("double", "d"))},
    **{f"fast_{name}f": ("ff>f" if name == "pow" else "f>f", _vector_function(name))
       for name in ("exp", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "pow")},
}  # fmt: skip

RULES: dict[str, Rule] = {name: rule for name, (_, rule) in _DEFINED.items()}


def _overloads() -> dict[str, dict[tuple[str, ...], tuple[str, str]]]:
    table: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {}
    for symbol, (name, arguments, result) in SIGNATURES.items():
        table.setdefault(name, {})[arguments] = (symbol, result)
    for name, (signatures, _) in _DEFINED.items():
        for signature in signatures.split():
            arguments, result = signature.split(">")
            types = tuple(_LETTERS[a] for a in arguments)
            table.setdefault(name, {})[types] = (name, _LETTERS[result])
    for arguments, symbol in ((("fp32",), "fabsf"), (("fp64",), "fabs")):
        table["abs"][arguments] = (symbol, arguments[0])
    return table


OVERLOADS = _overloads()
"""name → argument types → (symbol, result type)."""


def call(e: Emitter, op: Operation, symbol: str, args: list[Lanes]) -> Lanes | None:
    """The function called `symbol` on operands of one width; None where the host has none of that name."""
    operands, result = [element_type(v.type) for v in op.operands], element_type(op.results[0].type)
    width = args[0].width
    if symbol in RULES:
        return RULES[symbol](e, operands, result, args)
    if symbol in VECTOR_FORMS:
        return _vector_function(VECTOR_FORMS[symbol])(e, operands, result, args)
    if symbol not in LIBM:
        return None
    types = [register_type(t) for t in operands]
    text = emit_scalar_calls(e.writer, symbol, [a.text for a in args], width, types, register_type(result))
    return Lanes(text, width)
