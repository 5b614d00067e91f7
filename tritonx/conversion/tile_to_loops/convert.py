"""Conversions between float formats, and between floats and integers, in instructions that every host has.

Rounding is decided as in `interpreter/rounding.py`: one rounding, to nearest even or towards zero; f16, bf16 and f32
overflow to infinity under round-to-nearest; the 8-bit formats saturate to their largest finite value, infinities
included. A conversion from f64 to a format narrower than f32 goes through f32 *rounded to odd* (truncated, with the
last bit set if anything was lost), which makes the second rounding the only one (Boldo & Melquiond 2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from tritonx.conversion.float8 import FLOAT8, Float8
from tritonx.conversion.llvm_text import vector
from tritonx.conversion.mathlib import Code
from tritonx.conversion.tile_to_loops.types import register_type
from tritonx.conversion.tile_to_loops.writer import Lanes
from tritonx.ir.types import bf16, f16, f32, f64

if TYPE_CHECKING:
    from tritonx.conversion.llvm_writer import Writer


def to_f32(writer: Writer, value: Lanes, element: Attribute) -> Lanes:
    """A float narrower than f32, exactly, as f32."""
    code = Code(writer, value.width)
    if element == f32:
        return value
    if element == f16:
        return Lanes(writer.inst(f"fpext {vector('half', value.width)} {value.text} to {code.type}"), value.width)
    if element == bf16:
        bits = writer.inst(f"zext {vector('i16', value.width)} {value.text} to {code.integer}")
        return Lanes(code.from_bits(code.int_op("shl", bits, 16)), value.width)
    return Lanes(_small_to_f32(code, value.text, FLOAT8[element.name]), value.width)


def _small_to_f32(code: Code, value: str, form: Float8) -> str:
    """Put the magnitude into f32's fields and multiply by 2^(127 - bias): exact, subnormal numbers included."""
    bits = code.writer.inst(f"zext {vector('i8', code.width)} {value} to {code.integer}")
    magnitude = code.int_op("and", bits, 0x7F)
    scaled = code.from_bits(code.int_op("shl", magnitude, 23 - form.mantissa))
    result = code.mul(scaled, code.const(2.0 ** (127 - form.bias)))
    sign = code.int_op("shl", code.int_op("and", bits, 0x80), 24)
    result = code.from_bits(code.int_op("or", code.bits(result), sign))
    if form.unsigned_zero:
        return code.select(code.int_compare("eq", bits, 0x80), code.const(float("nan")), result)
    if form.infinities:
        infinity = code.int_compare("eq", magnitude, form.largest + 1)
        infinite = code.intrinsic("copysign", code.const(float("inf")), result)
        result = code.select(infinity, infinite, result)
    nan = code.int_compare("ugt", magnitude, form.largest + form.infinities)
    return code.select(nan, code.const(float("nan")), result)


def from_f32(writer: Writer, value: Lanes, element: Attribute, *, towards_zero: bool = False) -> Lanes:
    """f32 rounded to `element`, in that type's register representation."""
    code = Code(writer, value.width)
    if element == f32:
        return value
    if element == f16:
        text = value.text
        if towards_zero:
            text = _truncate_for_half(code, text)
        return Lanes(writer.inst(f"fptrunc {code.type} {text} to {vector('half', value.width)}"), value.width)
    if element == bf16:
        return Lanes(_to_bf16(code, value.text, towards_zero), value.width)
    return Lanes(_to_small(code, value.text, FLOAT8[element.name], towards_zero), value.width)


def _to_bf16(code: Code, x: str, towards_zero: bool) -> str:
    bits = code.bits(x)
    rounded = bits
    if not towards_zero:
        even = code.int_op("and", code.int_op("lshr", bits, 16), 1)
        rounded = code.int_op("add", bits, code.int_op("add", even, 0x7FFF))
    quiet = code.int_op("or", bits, 0x400000)
    rounded = code.int_select(code.compare("uno", x, x), quiet, rounded)
    return code.writer.inst(f"trunc {code.integer} {code.int_op('lshr', rounded, 16)} to {vector('i16', code.width)}")


def _truncate_for_half(code: Code, x: str) -> str:
    """Drop the bits that f16 cannot hold, so that converting is exact; beyond the largest finite value, that value."""
    magnitude = code.abs(x)
    normal = code.from_bits(code.int_op("and", code.bits(magnitude), ~0x1FFF & 0xFFFFFFFF))
    unit = 2.0**24  # the least subnormal number of f16 is 2^-24
    small = code.mul(code.intrinsic("trunc", code.mul(magnitude, code.const(unit))), code.const(1 / unit))
    value = code.select(code.compare("olt", magnitude, code.const(2.0**-14)), small, normal)
    finite = code.compare("olt", magnitude, code.const(float("inf")))
    value = code.select(finite, code.at_most(value, 65504.0), magnitude)
    return code.copysign(value, x)


def _to_small(code: Code, x: str, form: Float8, towards_zero: bool) -> str:
    """Round the mantissa in place for normal results; subnormal ones by adding (or truncating at) the format's unit."""
    sign = code.int_op("and", code.int_op("lshr", code.bits(x), 24), 0x80)
    magnitude = code.abs(x)
    bits = code.bits(magnitude)
    drop = 23 - form.mantissa
    rounded = bits
    if not towards_zero:
        even = code.int_op("and", code.int_op("lshr", bits, drop), 1)
        rounded = code.int_op("add", bits, code.int_op("add", even, (1 << (drop - 1)) - 1))
    normal = code.int_op("sub", code.int_op("lshr", rounded, drop), (127 - form.bias) << form.mantissa)
    unit_exponent = form.least_normal - form.mantissa
    if towards_zero:
        scaled = code.mul(code.at_most(magnitude, 2.0**form.least_normal), code.const(2.0**-unit_exponent))
        shifted = code.add(code.intrinsic("trunc", scaled), code.const(2.0**23))
        subnormal = code.int_op("sub", code.bits(shifted), 0x4B000000)
    else:
        magic = 2.0 ** (unit_exponent + 23)
        shifted = code.add(magnitude, code.const(magic))
        subnormal = code.int_op("sub", code.bits(shifted), (unit_exponent + 23 + 127) << 23)
    small = code.compare("olt", magnitude, code.const(2.0**form.least_normal))
    value = code.int_select(small, subnormal, normal)
    too_large = code.int_compare("sgt", value, form.largest)
    huge = code.compare("oge", magnitude, code.const(2.0**127))  # the subtraction above may wrap for these
    too_large = code.writer.inst(f"or {code.mask} {too_large}, {huge}")
    value = code.int_select(too_large, code.int_const(form.largest), value)
    if form.unsigned_zero:
        zero = code.int_compare("eq", value, 0)
        sign = code.int_select(zero, code.int_const(0), sign)
    value = code.int_op("or", value, sign)
    nan = code.int_const(form.nan) if form.unsigned_zero else code.int_op("or", sign, form.nan)
    value = code.int_select(code.compare("uno", x, x), nan, value)
    return code.writer.inst(f"trunc {code.integer} {value} to {vector('i8', code.width)}")


def f64_to_f32_odd(writer: Writer, value: Lanes) -> Lanes:
    """f64 to f32 rounded to odd: an intermediate that loses no information which a later rounding needs."""
    code, wide = Code(writer, value.width), Code(writer, value.width, double=True)
    bits, back, truncated = _truncated_bits(code, wide, value.text)
    inexact = wide.compare("one", back, value.text)
    odd = code.int_op("or", truncated, 1)
    return Lanes(code.from_bits(code.int_select(inexact, odd, bits)), value.width)


def _truncated_bits(code: Code, wide: Code, x: str) -> tuple[str, str, str]:
    """(the bits of the f32 nearest to an f64, that f32 as f64, the bits of the f32 towards zero)."""
    nearest = code.writer.inst(f"fptrunc {wide.type} {x} to {code.type}")
    back = code.writer.inst(f"fpext {code.type} {nearest} to {wide.type}")
    away = wide.compare("ogt", wide.abs(back), wide.abs(x))
    bits = code.bits(nearest)
    return bits, back, code.int_select(away, code.int_op("sub", bits, 1), bits)


def convert_float(
    writer: Writer, value: Lanes, source: Attribute, target: Attribute, *, towards_zero: bool = False
) -> Lanes:
    """Any float format to any other."""
    if source == target:
        return value
    width = value.width
    if source == f64:
        if target == f32 and not towards_zero:
            return Lanes(
                writer.inst(f"fptrunc {vector('double', width)} {value.text} to {vector('float', width)}"), width
            )
        if target == f32:
            return _f64_to_f32_truncated(writer, value)
        return from_f32(writer, f64_to_f32_odd(writer, value), target, towards_zero=towards_zero)
    single = to_f32(writer, value, source)
    if target == f64:
        return Lanes(writer.inst(f"fpext {vector('float', width)} {single.text} to {vector('double', width)}"), width)
    return from_f32(writer, single, target, towards_zero=towards_zero)


def _f64_to_f32_truncated(writer: Writer, value: Lanes) -> Lanes:
    code, wide = Code(writer, value.width), Code(writer, value.width, double=True)
    return Lanes(code.from_bits(_truncated_bits(code, wide, value.text)[2]), value.width)


def integer_to_float(writer: Writer, value: Lanes, bits: int, target: Attribute, *, signed: bool) -> Lanes:
    """An integer of `bits` to any float format, rounded once."""
    width = value.width
    op = "sitofp" if signed else "uitofp"
    source = vector(f"i{bits}", width)
    if target in (f32, f64):
        return Lanes(writer.inst(f"{op} {source} {value.text} to {vector(register_type(target), width)}"), width)
    if bits <= 16:  # exact in f32
        return from_f32(
            writer, Lanes(writer.inst(f"{op} {source} {value.text} to {vector('float', width)}"), width), target
        )
    if bits <= 32:  # exact in f64
        wide = Lanes(writer.inst(f"{op} {source} {value.text} to {vector('double', width)}"), width)
        return convert_float(writer, wide, f64, target)
    return from_f32(writer, _wide_integer_to_odd(writer, value, op), target)


def _wide_integer_to_odd(writer: Writer, value: Lanes, op: str) -> Lanes:
    """A 64-bit integer as f32 rounded to odd, by way of f64: keep 40 leading bits, fold the rest into the last one."""
    code = Code(writer, value.width, double=True)
    low = code.int_op("and", value.text, (1 << 20) - 1)
    sticky = code.int_select(code.int_compare("ne", low, 0), code.int_const(1 << 20), code.int_const(0))
    magnitude_is_large = code.int_compare("ugt", code.int_op("add", value.text, 1 << 40), 1 << 41)
    folded = code.int_op("or", code.int_op("sub", value.text, low), sticky)
    safe = code.int_select(magnitude_is_large, folded, value.text)
    wide = writer.inst(f"{op} {code.integer} {safe} to {code.type}")
    return f64_to_f32_odd(writer, Lanes(wide, value.width))


def float_to_integer(writer: Writer, value: Lanes, source: Attribute, bits: int, *, signed: bool) -> Lanes:
    """Truncated towards zero; out of range saturates and NaN gives 0 (LLVM's `fptosi.sat`)."""
    width = value.width
    if source not in (f32, f64):
        value, source = to_f32(writer, value, source), f32
    llvm_type = register_type(source)
    name = f"@llvm.fpto{'s' if signed else 'u'}i.sat"
    result, operand = vector(f"i{bits}", width), vector(llvm_type, width)
    short = "f64" if source == f64 else "f32"
    suffix = f"v{width}i{bits}.v{width}{short}" if width else f"i{bits}.{short}"
    return Lanes(writer.call(result, f"{name}.{suffix}", (operand, value.text)), width)
