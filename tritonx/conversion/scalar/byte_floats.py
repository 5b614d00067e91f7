"""Bytes as floats, for machines whose instructions for that are slow: a byte takes the place of the last digits of a
power of two whose unit is 1, and that power is subtracted, which is exact. Of vectors, one permutation of bytes makes
a float of f32, or two of a narrow format that has digits enough."""

from __future__ import annotations

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.scalar.ops import Ops

_SIGN = 0x80
"""Turned over, a signed byte is itself and 128."""

_UPPER = (0x00, 0x00, 0x4B)
"""Of the bits of 2^23 in f32, above the lowest byte."""


def byte_to_float(ops: Ops, value: str, target: str, *, signed: bool) -> tuple[str, str]:
    """The format that it is made in, `target` (f16, bf16 or f32) or f32, and the float."""
    in_pairs = ops.width > 0 and ops.width % 2 == 0
    if target == "f16" and in_pairs:
        return target, _pair_of_halves(ops, value, signed=signed)
    if target == "bf16" and in_pairs and signed:
        return target, _pair_of_bfloats(ops, value)
    bits = _words(ops, _shifted(ops, value, signed=signed), _UPPER)
    power = ops.splat("float", f"{2.0**23 + _SIGN * signed:e}")
    return "f32", ops.binary("fsub", "float", ops.cast("bitcast", "i32", bits, "float"), power)


def _shifted(ops: Ops, value: str, *, signed: bool) -> str:
    return ops.binary("xor", "i8", value, ops.number("i8", _SIGN)) if signed else value


def _pair_of_halves(ops: Ops, value: str, *, signed: bool) -> str:
    """f16 has all digits of 1024 + n."""
    words = _words(ops, _shifted(ops, value, signed=signed), (0x64,))
    sums = ops.inst(f"bitcast {vector('i32', ops.width // 2)} {words} to {ops.of('half')}")
    return ops.binary("fsub", "half", sums, ops.splat("half", "0xH6480" if signed else "0xH6400"))


def _pair_of_bfloats(ops: Ops, value: str) -> str:
    """bf16 has all digits of 128 + n for the seven lowest of a byte; of that 128, or twice that where the sign is set,
    is subtracted."""
    words, held = _words(ops, value, (0x43,)), vector("i32", ops.width // 2)
    parts = [ops.inst(f"and {held} {words}, splat (i32 {mask})") for mask in (0xFF7FFF7F, 0xFF80FF80)]
    sums, powers = (ops.inst(f"bitcast {held} {part} to {ops.of('bfloat')}") for part in parts)
    return ops.binary("fsub", "bfloat", sums, powers)


def _words(ops: Ops, value: str, above: tuple[int, ...]) -> str:
    """Words of i32 in which each byte has those `above` it. Each word is made by itself, out of the four bytes that lie
    in one register."""
    if not ops.width:
        upper = sum(byte << (8 * place) for place, byte in enumerate(above, 1))
        return ops.inst(f"or i32 {ops.cast('zext', 'i8', value, 'i32')}, {upper}")
    held, per = ops.of("i8"), 4 // (1 + len(above))
    constants = ", ".join(f"i8 {byte}" for byte in (*above, *[0] * (4 - len(above))))
    words = "poison"
    for first in range(0, ops.width, per):
        near = range(first // 4 * 4, first // 4 * 4 + 4)
        chosen = ", ".join(f"i32 {i if i < ops.width else 'poison'}" for i in near)
        four = ops.inst(f"shufflevector {held} {value}, {held} poison, <4 x i32> <{chosen}>")
        places = [place for i in range(first, first + per) for place in (i % 4, *range(4, 4 + len(above)))]
        order = ", ".join(f"i32 {place}" for place in places)
        mixed = ops.inst(f"shufflevector <4 x i8> {four}, <4 x i8> <{constants}>, <4 x i32> <{order}>")
        word = ops.inst(f"bitcast <4 x i8> {mixed} to i32")
        words = ops.inst(f"insertelement {vector('i32', ops.width // per)} {words}, i32 {word}, i32 {first // per}")
    return words
