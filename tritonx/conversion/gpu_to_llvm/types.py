"""IR types as LLVM types."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

from tritonx.dialects.gpu_layout import AsyncTokenType, MemDescType
from tritonx.dialects.tile import PointerType, TensorDescType
from tritonx.ir.types import bit_width, element_type

_FLOATS: dict[type[Attribute], str] = {
    Float16Type: "half",
    BFloat16Type: "bfloat",
    Float32Type: "float",
    Float64Type: "double",
}

FORMATS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}
"""The float formats of the IR that LLVM has, by name."""

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64}
"""Bits of an LLVM scalar; pointers are looked up with ``bits``."""


def llvm_type(attr: Attribute) -> str:
    """The LLVM type of a scalar, or of one element of a tensor. The fp8 formats are carried as ``i8``, a buffer in
    shared memory as its address (``FunctionEmitter.type`` says in which space).
    """
    if isinstance(attr, MemDescType):
        return "ptr addrspace(3)"
    attr = element_type(attr)
    if isinstance(attr, IntegerType):
        return f"i{bit_width(cast(Attribute, attr))}"
    if (name := _FLOATS.get(type(attr))) is not None:
        return name
    if isinstance(attr, PointerType):
        return f"ptr addrspace({attr.address_space})" if attr.address_space else "ptr"
    if isinstance(attr, IndexType):
        return "i64"
    if attr.name.startswith("f8"):
        return "i8"
    if isinstance(attr, TensorDescType):
        return "ptr"
    if isinstance(attr, AsyncTokenType):
        return "i32"
    raise TypeError(f"no LLVM type for {attr}")


@lru_cache(maxsize=1024)
def is_held(attr: Attribute) -> bool:
    """Whether registers can hold a value, or the elements of a tile, of a type."""
    try:
        llvm = llvm_type(attr)
    except TypeError:
        return False
    return llvm.startswith("ptr") or llvm in BITS


def bits(llvm: str) -> int:
    """Bits that one element of LLVM type ``llvm`` takes in memory (an ``i1`` takes a byte)."""
    if llvm.startswith("ptr"):
        return 32 if "addrspace(3)" in llvm else 64
    return max(8, BITS[llvm])
