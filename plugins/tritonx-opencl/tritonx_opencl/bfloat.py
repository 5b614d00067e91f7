"""bfloat values as the i16 of their bits: OpenCL's SPIR-V has no such type. Arithmetic is done in f32 and rounded.

One operation of f32 on bfloat operands, rounded to bfloat, is the correctly rounded result for +, -, *, / and sqrt."""

from __future__ import annotations

from collections.abc import Callable

Write = Callable[[str], str]
"""Adds an instruction and names its result."""

QUIET = 0x400000
SIGN = -0x8000


def stored(type_: str) -> str:
    """The type that stands for ``type_``."""
    return type_.replace("bfloat", "i16")


def literal(value: str) -> str:
    """A bfloat constant as that integer; anything else as it is."""
    return str(int(value[3:], 16)) if value.startswith("0xR") else value


def widened(write: Write, value: str) -> str:
    """The float that bfloat bits stand for."""
    word = write(f"zext i16 {literal(value)} to i32")
    return write(f"bitcast i32 {write(f'shl i32 {word}, 16')} to float")


def narrowed(write: Write, value: str) -> str:
    """The bits of ``value``, a float, rounded to nearest even; a NaN stays one."""
    word = write(f"bitcast float {value} to i32")
    odd = write(f"and i32 {write(f'lshr i32 {word}, 16')}, 1")
    rounded = write(f"add i32 {write(f'add i32 {word}, {odd}')}, {0x7FFF}")
    quiet = write(f"or i32 {word}, {QUIET}")
    best = write(f"select i1 {write(f'fcmp uno float {value}, {value}')}, i32 {quiet}, i32 {rounded}")
    return write(f"trunc i32 {write(f'lshr i32 {best}, 16')} to i16")


def to_odd(write: Write, value: str) -> str:
    """A double as a float, toward zero and with the last bit set where that lost something: what is narrowed after it
    is rounded once (Boldo and Melquiond, 2008)."""
    nearest = write(f"fptrunc double {value} to float")
    back = write(f"fpext float {nearest} to double")
    size_back, size = (write(f"call double @llvm.fabs.f64(double {v})") for v in (back, value))
    away = write(f"zext i1 {write(f'fcmp ogt double {size_back}, {size}')} to i32")
    inexact = write(f"zext i1 {write(f'fcmp one double {back}, {value}')} to i32")
    word = write(f"sub i32 {write(f'bitcast float {nearest} to i32')}, {away}")
    return write(f"bitcast i32 {write(f'or i32 {word}, {inexact}')} to float")


def converted(write: Write, opcode: str, source: str, value: str, target: str) -> str:
    """A conversion from or to bfloat."""
    if opcode == "bitcast":
        kept = {source, target} <= {"bfloat", "i16"}
        return literal(value) if kept else write(f"bitcast {stored(source)} {literal(value)} to {stored(target)}")
    if source == "bfloat":
        wide = widened(write, value)
        return wide if target == "float" else write(f"{opcode} float {wide} to {target}")
    if source == "double":
        return narrowed(write, to_odd(write, value))
    return narrowed(write, value if source == "float" else write(f"{opcode} {source} {value} to float"))
