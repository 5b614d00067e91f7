"""IR types as LLVM types."""

from __future__ import annotations

import re
from collections.abc import Callable
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

GENERIC, GLOBAL, SHARED, CONSTANT = 0, 1, 3, 4
"""Address spaces of the IR, as `!tt.ptr` names them; `Machine.space` says what a target's LLVM calls each."""

_SPACE = re.compile(r"ptr(?: addrspace\((\d+)\))?")


def pointer_to(space: int) -> str:
    """The LLVM type of a pointer into an address space of the target's."""
    return f"ptr addrspace({space})" if space else "ptr"


def space_of(llvm: str) -> int:
    """The address space of an LLVM pointer type."""
    found = _SPACE.fullmatch(llvm)
    assert found is not None, llvm
    return int(found[1] or 0)


def _same(space: int) -> int:
    return space


def llvm_type(attr: Attribute, space: Callable[[int], int] = _same) -> str:
    """The LLVM type of a scalar, or of one element of a tensor. The fp8 formats are carried as ``i8``, a buffer in
    shared memory as its address. ``space`` gives the target's numbers of the IR's address spaces.
    """
    if isinstance(attr, MemDescType):
        return pointer_to(space(SHARED))
    attr = element_type(attr)
    if isinstance(attr, IntegerType):
        return f"i{bit_width(cast(Attribute, attr))}"
    if (name := _FLOATS.get(type(attr))) is not None:
        return name
    if isinstance(attr, PointerType):
        return pointer_to(space(attr.address_space))
    if isinstance(attr, IndexType):
        return "i64"
    if attr.name.startswith("f8"):
        return "i8"
    if isinstance(attr, TensorDescType):
        return pointer_to(space(GENERIC))
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
    """Bits that one element of LLVM type ``llvm`` takes in global memory: an ``i1`` a byte, a pointer the language's
    64, whatever a register holds of it."""
    return 64 if llvm.startswith("ptr") else max(8, BITS[llvm])
