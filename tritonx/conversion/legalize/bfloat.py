"""bfloat values as the i16 of their bits, for a compiler without the type. Arithmetic is done in f32 and rounded.

One operation of f32 on bfloat operands, rounded to bfloat, is the correctly rounded result for +, -, *, / and sqrt."""

from __future__ import annotations

from collections.abc import Callable

from tritonx.analysis.axis_value import scalar
from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.scalar.conversions import bfloat_to_float, float_to_bfloat, to_odd
from tritonx.conversion.scalar.ops import Ops, Target

Write = Callable[[str], str]
"""Adds an instruction and names its result."""

SIGN = -0x8000


def stored(type_: str) -> str:
    """The type that stands for ``type_``."""
    return type_.replace("bfloat", "i16")


def literal(value: str) -> str:
    """A bfloat constant as that integer; anything else as it is."""
    return str(int(value[3:], 16)) if value.startswith("0xR") else value


class _Lines(Writer):
    """The shared rules write through this."""

    def __init__(self, write: Write) -> None:
        super().__init__(Module())
        self._write = write

    def inst(self, text: str) -> str:
        return self._write(text)


def shared_rules(write: Write) -> Ops:
    """What the rules of `tritonx.conversion.scalar` write through."""
    return Ops(_Lines(write), 0, Target(), lambda _: scalar())


def widened(write: Write, value: str) -> str:
    """The float that bfloat bits stand for."""
    ops = shared_rules(write)
    return bfloat_to_float(ops, ops.code(), literal(value))


def narrowed(write: Write, value: str) -> str:
    """The bits of ``value``, a float, rounded to nearest even; a NaN stays one."""
    ops = shared_rules(write)
    return float_to_bfloat(ops, ops.code(), value, toward_zero=False)


def converted(write: Write, opcode: str, source: str, value: str, target: str) -> str:
    """A conversion from or to bfloat."""
    if opcode == "bitcast":
        kept = {source, target} <= {"bfloat", "i16"}
        return literal(value) if kept else write(f"bitcast {stored(source)} {literal(value)} to {stored(target)}")
    if source == "bfloat":
        wide = widened(write, value)
        return wide if target == "float" else write(f"{opcode} float {wide} to {target}")
    if source == "double":
        return narrowed(write, to_odd(shared_rules(write), value))
    return narrowed(write, value if source == "float" else write(f"{opcode} {source} {value} to float"))
