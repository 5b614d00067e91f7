"""LLVM's spelling of the element types, and how each is held.

bf16 and the 8-bit floats are held as integers of their width: LLVM would lower their conversions to library calls that
do not exist in a JIT process (which ends the process), so `conversion/scalar` rounds them with integer instructions.
f16 is LLVM's `half`, used for conversions alone; arithmetic on every type narrower than f32 happens in f32 and is
rounded after each op, which for +, -, *, / and sqrt gives the correctly rounded result (f32 has more than 2p+2 digits
of f16 and bf16). i1 is `i1` in a register and a byte in memory.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from tritonx.ir.types import FLOAT_BITS, PointerType, bf16, f16, f32, f64

INTEGERS = (1, 8, 16, 32, 64)
"""Widths of the integers that tiles hold."""


class UnsupportedElement(TypeError):
    """An element type that the host has no representation for."""


def register_type(element: Attribute) -> str:
    """The LLVM type of one element in a register."""
    if integer_bits(element) in INTEGERS and not isinstance(element, IndexType):
        return f"i{integer_bits(element)}"
    if element == f32:
        return "float"
    if element == f64:
        return "double"
    if element == f16:
        return "half"
    if element in FLOAT_BITS:
        return f"i{FLOAT_BITS[element]}"
    if isinstance(element, PointerType):
        return "ptr"
    if isinstance(element, IndexType):
        return "i64"
    raise UnsupportedElement(f"the CPU backend has no representation of {element}")


def memory_type(element: Attribute) -> str:
    """The LLVM type of one element in memory."""
    return "i8" if register_type(element) == "i1" else register_type(element)


def element_bytes(element: Attribute) -> int:
    """Bytes of one element in memory."""
    return _BYTES[memory_type(element)]


_BYTES = {"i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}


def type_bytes(llvm_type: str) -> int:
    """Bytes of an LLVM memory type."""
    return _BYTES[llvm_type]


def is_float(element: Attribute) -> bool:
    return element in FLOAT_BITS


def is_narrow_float(element: Attribute) -> bool:
    """f16, bf16 and the 8-bit formats: arithmetic on them is done in f32."""
    return element in FLOAT_BITS and FLOAT_BITS[element] < 32


def integer_bits(element: Attribute) -> int:
    """The width of an integer type (64 for `index`); 0 for any other type."""
    if isinstance(element, IntegerType):
        return cast("IntegerType[int]", element).width.data
    return 64 if isinstance(element, IndexType) else 0


__all__ = [
    "UnsupportedElement",
    "bf16",
    "element_bytes",
    "f16",
    "integer_bits",
    "is_float",
    "is_narrow_float",
    "memory_type",
    "register_type",
    "type_bytes",
]
