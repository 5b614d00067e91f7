"""Elementwise ops: one LLVM instruction, or a few, on scalars and on vectors alike.

A rule gets its operands as `Lanes` of one width (0: the same value in every lane, computed once as a scalar).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Operation

from tritonx.conversion.llvm_text import FCMP_PREDICATES, ICMP_PREDICATES, vector
from tritonx.conversion.mathlib import Code, emit_scalar_calls
from tritonx.conversion.tile_to_loops import convert
from tritonx.conversion.tile_to_loops.types import integer_bits, is_narrow_float, register_type
from tritonx.conversion.tile_to_loops.vector_functions import emit_function
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.dialects import arith, math, tile
from tritonx.ir.types import PointerType, element_type, f32, f64, i64

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter

Rule = Callable[["Emitter", Any, list[Lanes]], Lanes]


def operand_element(op: Operation, i: int = 0) -> Attribute:
    return element_type(op.operands[i].type)


def result_element(op: Operation) -> Attribute:
    return element_type(op.results[0].type)


# ---- integers and pointers


def _integer(instruction: str) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        ty = vector(register_type(result_element(op)), args[0].width)
        return Lanes(e.writer.inst(f"{instruction} {ty} {args[0].text}, {args[1].text}"), args[0].width)

    return rule


def _shift(instruction: str) -> Rule:
    """A count of the width or more, which is poison to LLVM, leaves 0, or the sign in every bit."""

    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        element = result_element(op)
        scalar, width = register_type(element), args[0].width
        ty = vector(scalar, width)
        bits, w = integer_bits(element), e.writer
        last = w.splat(scalar, str(bits - 1), width)
        suffix = f"v{width}{scalar}" if width else scalar
        count = w.call(ty, f"@llvm.umin.{suffix}", (ty, args[1].text), (ty, last))
        shifted = w.inst(f"{instruction} {ty} {args[0].text}, {count}")
        if instruction == "ashr":
            return Lanes(shifted, width)
        inside = w.inst(f"icmp ule {ty} {args[1].text}, {last}")
        zero = w.splat(scalar, "0", width)
        return Lanes(w.inst(f"select {vector('i1', width)} {inside}, {ty} {shifted}, {ty} {zero}"), width)

    return rule


def _integer_extremum(name: str) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        scalar, width = register_type(result_element(op)), args[0].width
        ty = vector(scalar, width)
        suffix = f"v{width}{scalar}" if width else scalar
        return Lanes(e.writer.call(ty, f"@llvm.{name}.{suffix}", (ty, args[0].text), (ty, args[1].text)), width)

    return rule


def divide(e: Emitter, a: str, b: str, bits: int, width: int, *, signed: bool) -> tuple[str, str]:
    """(quotient, remainder) towards zero. By zero the quotient is 0, and INT_MIN / -1 wraps: x86 would trap on both.

    Vectors of up to 32 bits divide in f64, whose quotient truncates to the right integer: it differs from one by at
    least 1/divisor, which is 2^-31 of the quotient or more.
    """
    w = e.writer
    ty, mask = vector(f"i{bits}", width), vector("i1", width)

    def const(value: int) -> str:
        return w.splat(f"i{bits}", str(value), width)

    zero = w.inst(f"icmp eq {ty} {b}, {const(0)}")
    if width and bits <= 32:
        wide = vector("double", width)
        to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        safe = w.inst(f"select {mask} {zero}, {ty} {const(1)}, {ty} {b}")
        x = w.inst(f"{to} {ty} {a} to {wide}")
        y = w.inst(f"{to} {ty} {safe} to {wide}")
        middle = vector("i64", width) if bits == 32 else vector("i32", width)
        q = w.inst(f"{back} {wide} {w.inst(f'fdiv {wide} {x}, {y}')} to {middle}")
        quotient = w.inst(f"trunc {middle} {q} to {ty}")
    else:
        unsafe = zero
        if signed:
            minus_one = w.inst(f"icmp eq {ty} {b}, {const(-1)}")
            unsafe = w.inst(f"or {mask} {zero}, {minus_one}")
        safe = w.inst(f"select {mask} {unsafe}, {ty} {const(1)}, {ty} {b}")
        quotient = w.inst(f"{'sdiv' if signed else 'udiv'} {ty} {a}, {safe}")
        if signed:
            negated = w.inst(f"sub {ty} {const(0)}, {a}")
            quotient = w.inst(f"select {mask} {minus_one}, {ty} {negated}, {ty} {quotient}")  # pyright: ignore[reportPossiblyUnboundVariable]
    product = w.inst(f"mul {ty} {quotient}, {b}")
    remainder = w.inst(f"sub {ty} {a}, {product}")
    return w.inst(f"select {mask} {zero}, {ty} {const(0)}, {ty} {quotient}"), remainder


def _division(which: int, *, signed: bool) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        bits, width = integer_bits(result_element(op)), args[0].width
        ty = vector(f"i{bits}", width)
        text = args[1].text
        constant = text.removeprefix(f"splat (i{bits} ").removesuffix(")")
        if constant.isdigit() and int(constant) > 0:
            name = ("s" if signed else "u") + ("rem" if which else "div")
            return Lanes(e.writer.inst(f"{name} {ty} {args[0].text}, {text}"), width)
        return Lanes(divide(e, args[0].text, text, bits, width, signed=signed)[which], width)

    return rule


def _rounded_division(*, up: bool, signed: bool) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        bits, width = integer_bits(result_element(op)), args[0].width
        w, ty, mask = e.writer, vector(f"i{bits}", width), vector("i1", width)
        a, b = args[0].text, args[1].text
        quotient, remainder = divide(e, a, b, bits, width, signed=signed)
        zero = w.splat(f"i{bits}", "0", width)
        adjust = w.inst(f"icmp ne {ty} {remainder}, {zero}")
        if signed:
            signs = w.inst(f"xor {ty} {a}, {b}")
            same = w.inst(f"icmp {'sge' if up else 'slt'} {ty} {signs}, {zero}")
            adjust = w.inst(f"and {mask} {adjust}, {same}")
        exists = w.inst(f"icmp ne {ty} {b}, {zero}")  # by zero there is nothing to round
        adjust = w.inst(f"and {mask} {adjust}, {exists}")
        one = w.inst(f"zext {mask} {adjust} to {ty}")
        return Lanes(w.inst(f"{'add' if up else 'sub'} {ty} {quotient}, {one}"), width)

    return rule


def _cmpi(e: Emitter, op: arith.CmpiOp, args: list[Lanes]) -> Lanes:
    ty = vector(register_type(operand_element(op)), args[0].width)
    predicate = ICMP_PREDICATES[op.predicate.value.data]
    return Lanes(e.writer.inst(f"icmp {predicate} {ty} {args[0].text}, {args[1].text}"), args[0].width)


def _cmpf(e: Emitter, op: arith.CmpfOp, args: list[Lanes]) -> Lanes:
    element = operand_element(op)
    a, b = (compute_form(e, x, element) for x in args)
    ty = vector(register_type(compute_type(element)), a.width)
    return Lanes(e.writer.inst(f"fcmp {FCMP_PREDICATES[op.predicate.value.data]} {ty} {a.text}, {b.text}"), a.width)


def _select(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    width = args[0].width
    ty = vector(register_type(result_element(op)), width)
    condition = vector("i1", width)
    text = e.writer.inst(f"select {condition} {args[0].text}, {ty} {args[1].text}, {ty} {args[2].text}")
    return Lanes(text, width)


def _cast(instruction: str) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        return cast_to(e, instruction, args[0], operand_element(op), result_element(op))

    return rule


def cast_to(e: Emitter, instruction: str, value: Lanes, source: Attribute, target: Attribute) -> Lanes:
    a, b = (vector(register_type(t), value.width) for t in (source, target))
    return value if a == b else Lanes(e.writer.inst(f"{instruction} {a} {value.text} to {b}"), value.width)


def _index_cast(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    source, target = operand_element(op), result_element(op)
    instruction = "sext" if integer_bits(source) < integer_bits(target) else "trunc"
    return cast_to(e, instruction, args[0], source, target)


def _bitcast(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    return cast_to(e, "bitcast", args[0], operand_element(op), result_element(op))


def _mulhi(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    bits, width = integer_bits(result_element(op)), args[0].width
    narrow, wide = vector(f"i{bits}", width), vector(f"i{2 * bits}", width)
    w = e.writer
    a, b = (w.inst(f"zext {narrow} {x.text} to {wide}") for x in args)
    high = w.inst(f"lshr {wide} {w.inst(f'mul {wide} {a}, {b}')}, {w.splat(f'i{2 * bits}', str(bits), width)}")
    return Lanes(w.inst(f"trunc {wide} {high} to {narrow}"), width)


def _abs_integer(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    scalar, width = register_type(result_element(op)), args[0].width
    ty = vector(scalar, width)
    suffix = f"v{width}{scalar}" if width else scalar
    return Lanes(e.writer.call(ty, f"@llvm.abs.{suffix}", (ty, args[0].text), ("i1", "false")), width)


def _addptr(e: Emitter, op: tile.AddPtrOp, args: list[Lanes]) -> Lanes:
    pointer, offset = args
    pointee = operand_element(op)
    assert isinstance(pointee, PointerType)
    offset = cast_to(e, "sext", offset, operand_element(op, 1), i64)
    scalar, width = e.pointee_type(pointee), pointer.width
    text = e.writer.inst(
        f"getelementptr {scalar}, {vector('ptr', width)} {pointer.text}, {vector('i64', width)} {offset.text}"
    )
    return Lanes(text, width)


# ---- floats


def compute_type(element: Attribute) -> Attribute:
    """The type in which arithmetic on `element` is done."""
    return f32 if is_narrow_float(element) else element


def compute_form(e: Emitter, value: Lanes, element: Attribute) -> Lanes:
    return convert.to_f32(e.writer, value, element) if is_narrow_float(element) else value


def storage_form(e: Emitter, value: Lanes, element: Attribute) -> Lanes:
    return convert.from_f32(e.writer, value, element) if is_narrow_float(element) else value


def _float(instruction: str, *, contracts: bool = False) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        element = result_element(op)
        values = [compute_form(e, a, element) for a in args]
        ty = vector(register_type(compute_type(element)), args[0].width)
        flags = " contract" if contracts and e.fuse and not is_narrow_float(element) else ""
        text = e.writer.inst(f"{instruction}{flags} {ty} {', '.join(v.text for v in values)}")
        return storage_form(e, Lanes(text, args[0].width), element)

    return rule


def _float_intrinsic(name: str) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        element = result_element(op)
        values = [compute_form(e, a, element) for a in args]
        code = Code(e.writer, args[0].width, double=element == f64)
        return storage_form(e, Lanes(code.intrinsic(name, *(v.text for v in values)), args[0].width), element)

    return rule


def _fma(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    """On narrow floats the product and sum are exact in f64, and rounding to odd keeps the single rounding."""
    element = result_element(op)
    if not is_narrow_float(element):
        return _float_intrinsic("fma")(e, op, args)
    wide = [convert.convert_float(e.writer, a, element, f64) for a in args]
    code = Code(e.writer, args[0].width, double=True)
    result = Lanes(code.fma(*(v.text for v in wide)), args[0].width)
    return convert.convert_float(e.writer, result, f64, element)


def _function(name: str) -> Rule:
    """A vector function in f32 (and narrower types by way of it), libm's in f64."""

    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        return call_function(e, name, result_element(op), args)

    return rule


def call_function(e: Emitter, name: str, element: Attribute, args: list[Lanes]) -> Lanes:
    width = args[0].width
    if element == f64:
        kinds = ["double"] * len(args)
        return Lanes(emit_scalar_calls(e.writer, name, [a.text for a in args], width, kinds, "double"), width)
    values = [compute_form(e, a, element).text for a in args]
    text = emit_function(e.writer, name, values, width, e.isa.function_attributes())
    return storage_form(e, Lanes(text, width), element)


def _remainder(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    element = result_element(op)
    values = [compute_form(e, a, element).text for a in args]
    double = element == f64
    scalar = "double" if double else "float"
    text = emit_scalar_calls(e.writer, "fmod" if double else "fmodf", values, args[0].width, [scalar] * 2, scalar)
    return storage_form(e, Lanes(text, args[0].width), element)


def _rsqrt(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    element = result_element(op)
    value = compute_form(e, args[0], element)
    code = Code(e.writer, value.width, double=element == f64)
    return storage_form(e, Lanes(code.div(code.const(1.0), code.intrinsic("sqrt", value.text)), value.width), element)


def _clamp(e: Emitter, op: tile.ClampFOp, args: list[Lanes]) -> Lanes:
    """min(max(x, low), high): a number wins over NaN, unless `propagateNan` is set."""
    element = result_element(op)
    x, low, high = (compute_form(e, a, element) for a in args)
    code = Code(e.writer, x.width, double=element == f64)
    if op.propagateNan.value.data:
        value = code.intrinsic("minimum", code.intrinsic("maximum", x.text, low.text), high.text)
    else:
        value = code.intrinsic("minimumnum", code.intrinsic("maximumnum", x.text, low.text), high.text)
    return storage_form(e, Lanes(value, x.width), element)


def _fp_to_fp(e: Emitter, op: tile.FpToFpOp, args: list[Lanes]) -> Lanes:
    rounding = op.rounding
    towards_zero = rounding is not None and rounding.value.data == 0
    return convert.convert_float(e.writer, args[0], operand_element(op), result_element(op), towards_zero=towards_zero)


def _convert_float(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
    return convert.convert_float(e.writer, args[0], operand_element(op), result_element(op))


def _integer_to_float(*, signed: bool) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        bits = integer_bits(operand_element(op))
        return convert.integer_to_float(e.writer, args[0], bits, result_element(op), signed=signed)

    return rule


def _float_to_integer(*, signed: bool) -> Rule:
    def rule(e: Emitter, op: Operation, args: list[Lanes]) -> Lanes:
        bits = integer_bits(result_element(op))
        return convert.float_to_integer(e.writer, args[0], operand_element(op), bits, signed=signed)

    return rule


ELEMENTWISE: dict[type[Operation], Rule] = {
    arith.AddiOp: _integer("add"),
    arith.SubiOp: _integer("sub"),
    arith.MuliOp: _integer("mul"),
    arith.AndIOp: _integer("and"),
    arith.OrIOp: _integer("or"),
    arith.XOrIOp: _integer("xor"),
    arith.ShLIOp: _shift("shl"),
    arith.ShRSIOp: _shift("ashr"),
    arith.ShRUIOp: _shift("lshr"),
    arith.MaxSIOp: _integer_extremum("smax"),
    arith.MinSIOp: _integer_extremum("smin"),
    arith.MaxUIOp: _integer_extremum("umax"),
    arith.MinUIOp: _integer_extremum("umin"),
    arith.DivSIOp: _division(0, signed=True),
    arith.DivUIOp: _division(0, signed=False),
    arith.RemSIOp: _division(1, signed=True),
    arith.RemUIOp: _division(1, signed=False),
    arith.FloorDivSIOp: _rounded_division(up=False, signed=True),
    arith.CeilDivSIOp: _rounded_division(up=True, signed=True),
    arith.CeilDivUIOp: _rounded_division(up=True, signed=False),
    arith.CmpiOp: _cmpi,
    arith.CmpfOp: _cmpf,
    arith.SelectOp: _select,
    arith.ExtSIOp: _cast("sext"),
    arith.ExtUIOp: _cast("zext"),
    arith.TruncIOp: _cast("trunc"),
    arith.IndexCastOp: _index_cast,
    arith.BitcastOp: _bitcast,
    arith.AddfOp: _float("fadd", contracts=True),
    arith.SubfOp: _float("fsub", contracts=True),
    arith.MulfOp: _float("fmul", contracts=True),
    arith.DivfOp: _float("fdiv"),
    arith.NegfOp: _float("fneg"),
    arith.RemFOp: _remainder,
    arith.MaximumfOp: _float_intrinsic("maximum"),
    arith.MinimumfOp: _float_intrinsic("minimum"),
    arith.MaxnumfOp: _float_intrinsic("maximumnum"),
    arith.MinnumfOp: _float_intrinsic("minimumnum"),
    arith.ExtFOp: _convert_float,
    arith.TruncFOp: _convert_float,
    arith.SIToFPOp: _integer_to_float(signed=True),
    arith.UIToFPOp: _integer_to_float(signed=False),
    arith.FPToSIOp: _float_to_integer(signed=True),
    arith.FPToUIOp: _float_to_integer(signed=False),
    math.AbsFOp: _float_intrinsic("fabs"),
    math.CeilOp: _float_intrinsic("ceil"),
    math.FloorOp: _float_intrinsic("floor"),
    math.RoundOp: _float_intrinsic("round"),
    math.RoundEvenOp: _float_intrinsic("rint"),
    math.TruncOp: _float_intrinsic("trunc"),
    math.SqrtOp: _float_intrinsic("sqrt"),
    math.RsqrtOp: _rsqrt,
    math.FmaOp: _fma,
    math.AbsIOp: _abs_integer,
    math.ExpOp: _function("exp"),
    math.Exp2Op: _function("exp2"),
    math.ExpM1Op: _function("expm1"),
    math.LogOp: _function("log"),
    math.Log2Op: _function("log2"),
    math.Log10Op: _function("log10"),
    math.Log1pOp: _function("log1p"),
    math.SinOp: _function("sin"),
    math.CosOp: _function("cos"),
    math.TanOp: _function("tan"),
    math.TanhOp: _function("tanh"),
    math.ErfOp: _function("erf"),
    tile.AddPtrOp: _addptr,
    tile.BitcastOp: _bitcast,
    tile.IntToPtrOp: _cast("inttoptr"),
    tile.PtrToIntOp: _cast("ptrtoint"),
    tile.FpToFpOp: _fp_to_fp,
    tile.ClampFOp: _clamp,
    tile.PreciseSqrtOp: _float_intrinsic("sqrt"),
    tile.PreciseDivFOp: _float("fdiv"),
    tile.MulhiUIOp: _mulhi,
}
