"""LLVM's spelling of types, constants and of what an op holds as a number, for the emitters of GPUs and of hosts."""

from __future__ import annotations

import struct

from xdsl.dialects.builtin import BFloat16Type, Float16Type

from tritonx.dialects.arith import CmpfPredicate, CmpiPredicate
from tritonx.dialects.tile.enums import MemSemantic, RMWOp
from tritonx.ir.fold.constants import FORMATS, round_to

ICMP_PREDICATES: dict[int, str] = {predicate: predicate.name.lower() for predicate in CmpiPredicate}
"""The word after ``icmp`` for each predicate of ``arith.cmpi``: the enum has LLVM's names."""

FCMP_PREDICATES: dict[int, str] = {predicate: predicate.name.lower() for predicate in CmpfPredicate}
"""The word after ``fcmp`` for each predicate of ``arith.cmpf``; likewise."""

RMW_OPERATIONS: dict[int, str] = {operation: operation.name.lower() for operation in RMWOp}
"""The word after ``atomicrmw`` for each operation of ``tt.atomic_rmw``; likewise."""

MEMORY_ORDERS: dict[int, str] = {
    MemSemantic.RELAXED: "monotonic",
    MemSemantic.ACQUIRE: "acquire",
    MemSemantic.RELEASE: "release",
    MemSemantic.ACQUIRE_RELEASE: "acq_rel",
}

FAILURE_ORDERS = {"monotonic": "monotonic", "acquire": "acquire", "release": "monotonic", "acq_rel": "acquire"}
"""The order of a ``cmpxchg`` that did not store, which may not release, from that of one that did."""


def vector(llvm_type: str, width: int) -> str:
    """`<16 x float>`; the type itself for width 0."""
    return f"<{width} x {llvm_type}>" if width else llvm_type


def mangle(llvm_type: str) -> str:
    """A type as it stands in the name of an overloaded intrinsic."""
    if llvm_type.startswith("<"):
        count, element = llvm_type[1:-1].split(" x ")
        return f"v{count}{mangle(element)}"
    if llvm_type.startswith("ptr"):
        return f"p{llvm_type[llvm_type.index('(') + 1 : -1]}" if "(" in llvm_type else "p0"
    return {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}.get(llvm_type, llvm_type)


def float_constant(value: float, *, double: bool) -> str:
    """LLVM's spelling: the bits of the double nearest to the constant, rounded to f32 first unless `double`."""
    if not double:
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:  # beyond f32: the infinity of that sign
            value = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def is_float(llvm: str) -> bool:
    """Whether an LLVM scalar type is one of floats."""
    return llvm in ("half", "bfloat", "float", "double")


def float_literal(value: float, llvm: str) -> str:
    """The exact LLVM literal of ``value`` rounded to nearest even in the format ``llvm``."""
    if llvm in ("half", "bfloat"):
        rounded = round_to(value, FORMATS[Float16Type if llvm == "half" else BFloat16Type])
        code = struct.pack("<e", rounded) if llvm == "half" else struct.pack("<f", rounded)[2:]
        pattern = int.from_bytes(code, "little")
        return f"0x{'H' if llvm == 'half' else 'R'}{pattern:04X}"
    return float_constant(value, double=llvm == "double")


def int_literal(value: int, width: int) -> str:
    """The literal of ``value`` wrapped to ``width`` bits, printed signed; an i1 is ``true`` or ``false``."""
    if width == 1:
        return "true" if value & 1 else "false"
    value &= (1 << width) - 1
    return str(value - (1 << width) if value >> (width - 1) else value)


def quoted(data: bytes) -> str:
    """Bytes between quotes, as LLVM writes them.

    >>> print(quoted(b'a "b"'))
    "a \\22b\\22"
    """
    characters = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'"{characters}"'


def string_constant(text: str) -> str:
    """The type and value of a zero-terminated C string: `[3 x i8] c"hi\\00"`."""
    data = text.encode() + b"\0"
    return f"[{len(data)} x i8] c{quoted(data)}"
