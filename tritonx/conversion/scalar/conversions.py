"""Conversions between float formats, and between floats and integers, in instructions that every machine has.

Rounding is decided as in `interpreter/rounding.py`: one rounding, to nearest even or towards zero; f16, bf16 and f32
overflow to infinity under round-to-nearest; the 8-bit formats saturate to their largest finite value, infinities
included. A conversion from f64 to a format narrower than f32 goes through f32 *rounded to odd* (truncated, with the
last bit set if anything was lost), which makes the second rounding the only one (Boldo & Melquiond 2008).

Widening an 8-bit float is exact: the bits are moved into place and an exact power of two corrects the exponent's bias,
which also makes subnormal numbers come out right. bf16 is the upper half of that f32; f16 has the exponent of f8E5M2,
which is its upper half.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tritonx.conversion.float8 import FLOAT8, Float8
from tritonx.conversion.llvm_text import is_float
from tritonx.conversion.mathlib import Code
from tritonx.conversion.scalar.byte_floats import byte_to_float
from tritonx.conversion.scalar.ops import Ops, Rule, operand_element, result_element

_ORDER = {"half": 0, "bfloat": 0, "float": 1, "double": 2}
_QUIET, _INFINITY = 0x7FC00000, 0x7F800000
"""Patterns of f32."""


def convert(ops: Ops, value: str, source: str, target: str, *, toward_zero: bool = False) -> str:
    """``value`` of one float format in another, by their names in the IR (``f32``, ``bf16``, ``f8E4M3FN``)."""
    if source == target:
        return value
    given, wanted = ops.target.format(source), ops.target.format(target)
    if is_float(given) and is_float(wanted):
        if _ORDER[given] < _ORDER[wanted]:
            return ops.cast("fpext", given, value, wanted)
        direct = ops.target.narrows_double or source != "f64" or target == "f32"
        if not toward_zero and _ORDER[given] > _ORDER[wanted] and direct:
            return ops.cast("fptrunc", given, value, wanted)
    if source in FLOAT8 and target == "bf16":
        return upper_half(ops, widened(ops, value, source), wanted)
    if source == "f8E5M2" and target == "f16":
        word = ops.binary("shl", "i16", ops.cast("zext", "i8", value, "i16"), ops.number("i16", 8))
        return ops.cast("bitcast", "i16", word, wanted)
    if target == "f64":
        return ops.cast("fpext", "float", widened(ops, value, source), "double")
    if source == "f64" and target == "f32":  # towards zero
        code, wide = ops.code(), ops.code(double=True)
        return code.from_bits(_truncated(ops, code, wide, value)[0])
    single = to_odd(ops, value) if source == "f64" else widened(ops, value, source)
    return narrowed(ops, single, target, toward_zero=toward_zero)


def widened(ops: Ops, value: str, source: str) -> str:
    """A float no wider than f32, exactly, as f32."""
    held = ops.target.format(source)
    if is_float(held):
        return ops.cast("fpext", held, value, "float")
    code = ops.code()
    if source == "bf16":
        return bfloat_to_float(ops, code, value)
    return small_to_float(ops, code, value, FLOAT8[source])


def narrowed(ops: Ops, value: str, target: str, *, toward_zero: bool = False) -> str:
    """f32 rounded to a format that is no wider."""
    if target == "f32":
        return value
    code = ops.code()
    if target == "f16":
        return ops.cast("fptrunc", "float", truncated_for_half(code, value) if toward_zero else value, "half")
    if target in FLOAT8:
        return float_to_small(ops, code, value, FLOAT8[target], toward_zero=toward_zero)
    held = ops.target.format(target)
    if is_float(held) and not toward_zero:
        return ops.cast("fptrunc", "float", value, held)
    return ops.cast("bitcast", "i16", float_to_bfloat(ops, code, value, toward_zero=toward_zero), held)


# ---- bf16, the upper half of f32


def bfloat_to_float(ops: Ops, code: Code, value: str) -> str:
    """The float of bf16 bits, an i16."""
    return code.from_bits(code.int_op("shl", ops.cast("zext", "i16", value, "i32"), 16))


def upper_half(ops: Ops, x: str, held: str) -> str:
    """f32 whose lower half is 0, as bf16 in ``held``: nothing is rounded."""
    code = ops.code()
    return ops.cast("bitcast", "i16", ops.cast("trunc", "i32", code.int_op("lshr", code.bits(x), 16), "i16"), held)


def float_to_bfloat(ops: Ops, code: Code, x: str, *, toward_zero: bool) -> str:
    """The bits of bf16, an i16; a NaN stays one."""
    bits = code.bits(x)
    rounded = bits
    if not toward_zero:
        even = code.int_op("and", code.int_op("lshr", bits, 16), 1)
        rounded = code.int_op("add", bits, code.int_op("add", even, 0x7FFF))
    quiet = code.int_op("or", bits, 0x400000)
    rounded = code.int_select(code.compare("uno", x, x), quiet, rounded)
    return ops.cast("trunc", "i32", code.int_op("lshr", rounded, 16), "i16")


# ---- f16 and f32 towards zero


def truncated_for_half(code: Code, x: str) -> str:
    """Drop the bits that f16 cannot hold, so that converting is exact; beyond the largest finite value, that value."""
    magnitude = code.abs(x)
    normal = code.from_bits(code.int_op("and", code.bits(magnitude), 0xFFFFE000 - (1 << 32)))
    unit = 2.0**24  # the least subnormal number of f16 is 2^-24
    small = code.mul(code.intrinsic("trunc", code.mul(magnitude, code.const(unit))), code.const(1 / unit))
    value = code.select(code.compare("olt", magnitude, code.const(2.0**-14)), small, normal)
    finite = code.compare("olt", magnitude, code.const(float("inf")))
    value = code.select(finite, code.at_most(value, 65504.0), magnitude)
    return code.copysign(value, x)


def to_odd(ops: Ops, value: str) -> str:
    """f64 to f32 rounded to odd: an intermediate that loses no information which a later rounding needs."""
    code, wide = ops.code(), ops.code(double=True)
    truncated, inexact = _truncated(ops, code, wide, value)
    return code.from_bits(code.int_op("or", truncated, ops.cast("zext", "i1", inexact, "i32")))


def _truncated(ops: Ops, code: Code, wide: Code, x: str) -> tuple[str, str]:
    """(the bits of the f32 that an f64 is towards zero, whether the nearest one differs from the f64)."""
    nearest = ops.cast("fptrunc", "double", x, "float")
    back = ops.cast("fpext", "float", nearest, "double")
    away = wide.compare("ogt", wide.abs(back), wide.abs(x))
    return code.int_op("sub", code.bits(nearest), ops.cast("zext", "i1", away, "i32")), wide.compare("one", back, x)


# ---- the 8-bit formats


def small_to_float(ops: Ops, code: Code, value: str, form: Float8) -> str:
    """An 8-bit float, by its bits, as f32."""
    word = ops.cast("zext", "i8", value, "i32")
    magnitude = code.int_op("and", word, 0x7F)
    scaled = code.from_bits(code.int_op("shl", magnitude, 23 - form.mantissa))
    bits = code.bits(code.mul(scaled, code.const(2.0 ** (127 - form.bias))))
    quiet = code.int_const(_QUIET)
    if form.unsigned_zero:
        bits = code.int_select(code.int_compare("eq", word, form.nan), quiet, bits)
    elif form.infinities:
        infinity = code.int_const(_INFINITY)
        bits = code.int_select(code.int_compare("eq", magnitude, form.largest + 1), infinity, bits)
        bits = code.int_select(code.int_compare("ugt", magnitude, form.largest + 1), quiet, bits)
    else:
        bits = code.int_select(code.int_compare("eq", magnitude, form.nan), quiet, bits)
    sign = code.int_op("shl", code.int_op("and", word, 0x80), 24)
    return code.from_bits(code.int_op("or", bits, sign))


def float_to_small(ops: Ops, code: Code, x: str, form: Float8, *, toward_zero: bool) -> str:
    """The bits of f32 in an 8-bit format: to nearest even or towards zero, saturated; a NaN stays one.

    Magnitudes are compared as integers, of which none has the upper bit."""
    word = code.bits(x)
    sign = code.int_op("and", code.int_op("lshr", word, 24), 0x80)
    magnitude = code.int_op("and", word, 0x7FFFFFFF)
    drop = 23 - form.mantissa
    # Normal numbers: add half a unit (less one where the last kept bit is even), move the exponent, drop the rest.
    rounded = magnitude
    if not toward_zero:
        odd = code.int_op("and", code.int_op("lshr", magnitude, drop), 1)
        half = code.int_const((1 << (drop - 1)) - 1)
        rounded = code.int_op("add", magnitude, code.int_op("add", half, odd))
    normal = code.int_op("lshr", code.int_op("sub", rounded, (127 - form.bias) << 23), drop)
    least_normal = (form.least_normal + 127) << 23
    subnormal = _subnormal(ops, code, magnitude, form, toward_zero)
    value = code.int_select(code.int_compare("ult", magnitude, least_normal), subnormal, normal)
    largest = form.largest << drop
    limit = largest + ((127 - form.bias) << 23)
    value = code.int_select(code.int_compare("uge", magnitude, limit), code.int_const(form.largest), value)
    signed = code.int_op("or", value, sign)
    if form.unsigned_zero:
        signed = code.int_select(code.int_compare("eq", value, 0), code.int_const(0), signed)
    nan = code.int_const(form.nan) if form.unsigned_zero else code.int_op("or", sign, form.nan)
    signed = code.int_select(code.int_compare("ugt", magnitude, _INFINITY), nan, signed)
    return ops.cast("trunc", "i32", signed, "i8")


def _subnormal(ops: Ops, code: Code, magnitude: str, form: Float8, toward_zero: bool) -> str:
    """The number of smallest steps in a subnormal magnitude; some number for others."""
    step = form.least_normal - form.mantissa
    size = code.from_bits(magnitude)
    if toward_zero:
        inside = code.int_compare("ult", magnitude, (form.least_normal + 127) << 23)
        scaled = code.select(inside, code.mul(size, code.const(2.0**-step)), code.const(0.0))
        return ops.cast("fptosi", "float", scaled, "i32")
    # Adding a power of two whose unit is the smallest step lets the adder round.
    magic = (step + 23 + 127) << 23
    return code.int_op("sub", code.bits(code.add(size, code.const(2.0 ** (step + 23)))), magic)


def nibble_to_float(ops: Ops, nibble: str) -> str:
    """e2m1 in the low four bits of an i8, as f32; exact."""
    code, word = ops.code(), ops.cast("zext", "i8", nibble, "i32")
    magnitude = code.from_bits(code.int_op("shl", code.int_op("and", word, 7), 22))
    value = code.bits(code.mul(magnitude, code.const(2.0**126)))
    sign = code.int_op("shl", code.int_op("and", word, 8), 28)
    return code.from_bits(code.int_op("or", value, sign))


# ---- integers


def from_integer(*, signed: bool) -> Rule:
    """sitofp and uitofp: rounded once."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        return integer_to_float(ops, x[0], ops.target.held(operand_element(op)), result_element(op).name, signed=signed)

    return rule


def integer_to_float(ops: Ops, value: str, held: str, target: str, *, signed: bool) -> str:
    """An integer of LLVM type ``held`` in a float format.

    What has too many digits for an f32 is beyond the range of f16 and of the 8-bit formats, however it is rounded
    there. To bf16 it would be rounded twice."""
    opcode, bits, wanted = "sitofp" if signed else "uitofp", int(held[1:]), ops.target.format(target)
    if bits == 8 and ops.target.converts_bytes_slowly and target in ("f16", "bf16", "f32"):
        made, exact = byte_to_float(ops, value, target, signed=signed)
        return exact if made == target else narrowed(ops, exact, target)
    if target == "bf16" and bits > 16 and ops.target.bfloat_by_single:
        if bits > 32:
            return narrowed(ops, _wide_integer_to_odd(ops, value, opcode), target)
        value = _folded(ops, value, held, 8, signed=signed)
    if ops.target.converts_integers(target):
        return ops.cast(opcode, held, value, wanted)
    return narrowed(ops, ops.cast(opcode, held, value, "float"), target)


def _folded(ops: Ops, value: str, held: str, few: int, *, signed: bool) -> str:
    """An integer of ``few`` digits less that a float of many less rounds alike: of one that is large, the lowest become
    0, and the one above them says whether any was set."""
    unit, top = 1 << few, 1 << (int(held[1:]) - few - signed)
    low = ops.binary("and", held, value, ops.number(held, unit - 1))
    carried = ops.binary("or", held, value, ops.binary("add", held, low, ops.number(held, unit - 1)))
    folded = ops.binary("and", held, carried, ops.number(held, -unit))
    size = ops.binary("add", held, value, ops.number(held, top)) if signed else value
    is_large = ops.test("ugt", held, size, 2 * top if signed else top)
    return ops.select(is_large, held, folded, value)


def _wide_integer_to_odd(ops: Ops, value: str, opcode: str) -> str:
    """A 64-bit integer as f32 rounded to odd, by way of f64, which holds all but eleven of its digits."""
    return to_odd(ops, ops.cast(opcode, "i64", _folded(ops, value, "i64", 20, signed=opcode == "sitofp"), "double"))


def to_integer(*, signed: bool) -> Rule:
    """fptosi and fptoui, saturating."""

    def rule(ops: Ops, op: Operation, x: Sequence[str]) -> str:
        element = operand_element(op)
        return float_to_integer(ops, x[0], element.name, ops.target.held(result_element(op)), signed=signed)

    return rule


def float_to_integer(ops: Ops, value: str, source: str, wanted: str, *, signed: bool) -> str:
    """Truncated towards zero; out of range saturates and NaN gives 0 (LLVM's `fptosi.sat`)."""
    held = ops.target.format(source)
    if not ops.target.converts_integers(source):
        value, held = widened(ops, value, source), "float"
    return ops.overloaded(f"fpto{'s' if signed else 'u'}i.sat", wanted, held, value)
