"""Conversions between the 8-bit floating-point formats and the wider ones in integer arithmetic.

For machines, or formats, without an instruction. Widening is exact: the bits are moved into place and an exact power
of two corrects the exponent's bias, which also makes subnormal numbers come out right. Narrowing rounds to nearest
even and saturates at the largest finite value, keeping NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tritonx.conversion.float8 import FLOAT8, Float8
from tritonx.conversion.gpu_to_llvm.elementwise import call_intrinsic, combine, convert_tile, of, select_tile
from tritonx.conversion.gpu_to_llvm.types import float_literal
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.tile.enums import RoundingMode

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter


_LLVM = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


class Bits:
    """Arithmetic on i32 and float tiles of one size."""

    def __init__(self, f: FunctionEmitter, n: int) -> None:
        self.f = f
        self.n = n

    def const(self, value: int) -> Tile:
        return Tile.splat("i32", self.n, str(value - (1 << 32) if value >> 31 else value))

    def op(self, opcode: str, a: Tile, b: Tile | int, elem: str = "i32") -> Tile:
        right = self.const(b) if isinstance(b, int) else b
        return combine(self.f, elem, [a, right], lambda s, x: f"{opcode} {of(s, a.elem)} {x[0]}, {x[1]}")

    def select(self, c: Tile, a: Tile, b: Tile | int) -> Tile:
        right = self.const(b) if isinstance(b, int) else b
        return select_tile(self.f, c, a, right)

    def cast(self, a: Tile, elem: str, opcode: str = "bitcast") -> Tile:
        return convert_tile(self.f, opcode, a, elem)


def convert(f: FunctionEmitter, tile: Tile, source: str, target: str, *, toward_zero: bool) -> Tile | None:
    """fp8 to or from f16, bf16, f32 or f64, or between two fp8 formats; None for formats it does not know."""
    if source in FLOAT8:
        wide = widen(f, tile, FLOAT8[source])
        if target in FLOAT8:
            return narrow(f, wide, FLOAT8[target], toward_zero=toward_zero)
        if target not in _LLVM:
            return None
        opcode = "fpext" if target == "f64" else "fptrunc"
        return convert_tile(f, opcode, wide, _LLVM[target])
    if source in _LLVM and target in FLOAT8:
        single = to_odd(f, tile) if source == "f64" else convert_tile(f, "fpext", tile, "float")
        return narrow(f, single, FLOAT8[target], toward_zero=toward_zero)
    return None


def convert_any(f: FunctionEmitter, tile: Tile, source: str, target: str, rounding: int | None) -> Tile | None:
    """Every conversion of the language without special instructions; None where LLVM's fpext or fptrunc will do."""
    toward_zero = rounding == RoundingMode.RTZ
    if source in FLOAT8 or target in FLOAT8:
        return convert(f, tile, source, target, toward_zero=toward_zero)
    if {source, target} == {"f16", "bf16"}:
        tile = convert_tile(f, "fpext", tile, "float")
        source = "f32"
    if toward_zero and target in ("f16", "bf16"):
        return truncate(f, tile, target)
    if rounding is None and source != "f32":
        return None
    return convert_tile(f, "fpext" if _BITS[target] > _BITS[source] else "fptrunc", tile, _LLVM[target])


def to_odd(f: FunctionEmitter, tile: Tile) -> Tile:
    """f64 to f32, toward zero and with the last bit set where that lost something: rounding this to a narrower format
    is the only rounding (Boldo and Melquiond, 2008).
    """
    b = Bits(f, tile.n)
    nearest = convert_tile(f, "fptrunc", tile, "float")
    back = convert_tile(f, "fpext", nearest, "double")
    away = b.op("fcmp ogt", call_intrinsic(f, "fabs", [back]), call_intrinsic(f, "fabs", [tile]), "i1")
    inexact = b.op("fcmp one", back, tile, "i1")
    truncated = b.op("sub", b.cast(nearest, "i32"), b.cast(away, "i32", "zext"))
    return b.cast(b.op("or", truncated, b.cast(inexact, "i32", "zext")), "float")


def truncate(f: FunctionEmitter, tile: Tile, target: str) -> Tile:
    """Toward zero: bf16 is the upper half of the f32; for f16 the bits that do not fit are cleared before rounding."""
    if tile.elem == "double":
        tile = to_odd(f, tile)
    b = Bits(f, tile.n)
    word = b.cast(tile, "i32")
    if target == "bf16":
        return b.cast(b.cast(b.op("lshr", word, 16), "i16", "trunc"), "bfloat")
    magnitude = b.op("and", word, 0x7FFFFFFF)
    kept = b.op("and", word, 0xFFFFE000)
    # Subnormal halves lose one bit more for each step of the exponent below 2^-14.
    exponent = b.op("lshr", magnitude, 23)
    lost = b.op("sub", b.const(113), exponent)
    bounded = b.select(b.op("icmp ugt", lost, 10, "i1"), b.const(10), lost)
    mask = b.op("shl", b.const(0xFFFFE000), bounded)
    kept = b.select(b.op("icmp ult", exponent, 113, "i1"), b.op("and", word, mask), kept)
    sign = b.op("and", word, 0x80000000)
    kept = b.select(b.op("icmp ult", magnitude, 0x33800000, "i1"), sign, kept)
    largest = b.op("or", sign, 0x477FE000)
    finite = b.op("icmp ult", magnitude, 0x7F800000, "i1")
    over = b.op("icmp ugt", magnitude, 0x477FE000, "i1")
    both = combine(f, "i1", [finite, over], lambda s, x: f"and {of(s, 'i1')} {x[0]}, {x[1]}")
    special = b.select(finite, kept, word)
    return convert_tile(f, "fptrunc", b.cast(b.select(both, largest, special), "float"), "half")


def widen(f: FunctionEmitter, tile: Tile, format_: Float8) -> Tile:
    """To f32, exactly."""
    b = Bits(f, tile.n)
    word = b.cast(tile, "i32", "zext")
    magnitude = b.op("and", word, 0x7F)
    shifted = b.cast(b.op("shl", magnitude, 23 - format_.mantissa), "float")
    factor = Tile.splat("float", tile.n, float_literal(2.0 ** (127 - format_.bias), "float"))
    value = b.cast(combine(f, "float", [shifted, factor], lambda s, x: f"fmul {of(s, 'float')} {x[0]}, {x[1]}"), "i32")
    if format_.unsigned_zero:
        special, pattern = b.op("icmp eq", word, format_.nan, "i1"), 0x7FC00000
        value = b.select(special, b.const(pattern), value)
    elif format_.infinities:
        value = b.select(b.op("icmp eq", magnitude, format_.largest + 1, "i1"), b.const(0x7F800000), value)
        value = b.select(b.op("icmp ugt", magnitude, format_.largest + 1, "i1"), b.const(0x7FC00000), value)
    else:
        value = b.select(b.op("icmp eq", magnitude, format_.nan, "i1"), b.const(0x7FC00000), value)
    sign = b.op("shl", b.op("and", word, 0x80), 24)
    return b.cast(b.op("or", value, sign), "float")


def narrow(f: FunctionEmitter, tile: Tile, format_: Float8, *, toward_zero: bool) -> Tile:
    """From f32: round to nearest even (or toward zero), saturate, keep NaN."""
    b = Bits(f, tile.n)
    word = b.cast(tile, "i32")
    sign = b.op("and", b.op("lshr", word, 24), 0x80)
    magnitude = b.op("and", word, 0x7FFFFFFF)
    shift = 23 - format_.mantissa
    smallest = (127 - format_.bias + 1) << 23
    # Normal numbers: add half a unit (less one where the last kept bit is even), move the exponent, drop the rest.
    odd = b.op("and", b.op("lshr", magnitude, shift), 1)
    half = b.const((1 << (shift - 1)) - 1)
    rounded = magnitude if toward_zero else b.op("add", magnitude, b.op("add", half, odd))
    rebased = b.op("sub", rounded, (127 - format_.bias) << 23)
    normal = b.op("lshr", rebased, shift)
    # Subnormal numbers: adding a power of two whose unit is the format's smallest step lets the adder round.
    step = 127 - format_.bias + 1 + shift
    subnormal = subnormals(f, b, magnitude, step, toward_zero)
    value = b.select(b.op("icmp ult", magnitude, smallest, "i1"), subnormal, normal)
    limit = ((format_.largest >> format_.mantissa) - format_.bias + 127 << 23) | (
        (format_.largest & (1 << format_.mantissa) - 1) << shift
    )
    value = b.select(b.op("icmp uge", magnitude, limit, "i1"), b.const(format_.largest), value)
    signed = b.op("or", value, sign)
    if format_.unsigned_zero:
        signed = b.select(b.op("icmp eq", value, 0, "i1"), b.const(0), signed)
        nan = b.const(format_.nan)
    else:
        nan = b.op("or", sign, format_.nan)
    signed = b.select(b.op("icmp ugt", magnitude, 0x7F800000, "i1"), nan, signed)
    return b.cast(signed, "i8", "trunc")


def subnormals(f: FunctionEmitter, b: Bits, magnitude: Tile, step: int, toward_zero: bool) -> Tile:
    """The number of smallest steps in ``magnitude``; ``step`` is the biased exponent of the power of two to add."""
    if toward_zero:
        scale = Tile.splat("float", b.n, float_literal(2.0 ** (127 + 23 - step), "float"))
        product = combine(
            f, "float", [b.cast(magnitude, "float"), scale], lambda s, x: f"fmul {of(s, 'float')} {x[0]}, {x[1]}"
        )
        inside = b.op("icmp ult", magnitude, 0x7F800000, "i1")
        zero = Tile.splat("float", b.n, float_literal(0.0, "float"))
        product = b.select(inside, product, zero)
        bounded = combine(f, "float", [product], clamp_writer(f))
        return b.cast(bounded, "i32", "fptoui")
    magic = b.const(step << 23)
    power = b.cast(magic, "float")
    total = combine(
        f, "float", [b.cast(magnitude, "float"), power], lambda s, x: f"fadd {of(s, 'float')} {x[0]}, {x[1]}"
    )
    return b.op("sub", b.cast(total, "i32"), magic)


def clamp_writer(f: FunctionEmitter) -> Callable[[str, list[str]], str]:
    """min(x, 256): keeps lanes whose value is not used inside the range of the conversion that follows."""

    def write(shape: str, x: list[str]) -> str:
        type_ = of(shape, "float")
        limit = float_literal(256.0, "float")
        bound = f"splat (float {limit})" if shape else limit
        return f"call {type_} {f.module.intrinsic('minnum', type_, [type_, type_])}({type_} {x[0]}, {type_} {bound})"

    return write


def widen_fp4(f: FunctionEmitter, nibble: Tile, target: str) -> Tile:
    """e2m1 in the low four bits of an i8, to the LLVM type ``target``; exact."""
    b = Bits(f, nibble.n)
    word = b.cast(nibble, "i32", "zext")
    magnitude = b.cast(b.op("shl", b.op("and", word, 7), 22), "float")
    factor = Tile.splat("float", nibble.n, float_literal(2.0**126, "float"))
    value = combine(f, "float", [magnitude, factor], lambda s, x: f"fmul {of(s, 'float')} {x[0]}, {x[1]}")
    sign = b.op("shl", b.op("and", word, 8), 28)
    return convert_tile(f, "fptrunc", b.cast(b.op("or", b.cast(value, "i32"), sign), "float"), target)
