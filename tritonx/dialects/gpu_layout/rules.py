"""Type rules and checks about memory descriptors."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.irdl import BaseAttr
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.gpu_layout.types import MemDescType
from tritonx.ir.types import element_type, i1, i32, is_tensor, pointer, shape_of, with_element

MEMDESC = BaseAttr(MemDescType)


def mem_desc(type_: Attribute, what: str = "operand") -> MemDescType:
    """`type_` as a memory descriptor."""
    if not isinstance(type_, MemDescType):
        raise VerifyException(f"{what} must be a memory descriptor, got {type_}")
    return type_


def check_same_tile(tile: Attribute, memory: Attribute) -> None:
    """A tensor and a memory descriptor of one shape and element type."""
    descriptor = mem_desc(memory)
    if not is_tensor(tile):
        raise VerifyException(f"expected a tensor, got {tile}")
    if shape_of(tile) != descriptor.shape:
        raise VerifyException(f"the shapes differ: {tile} and {memory}")
    if element_type(tile) != descriptor.element_type:
        raise VerifyException(f"the element types differ: {tile} and {memory}")


def check_mutable(memory: Attribute, what: str = "the destination") -> None:
    """What is written after it was made must be mutable."""
    if not mem_desc(memory).mutable:
        raise VerifyException(f"{what} is written and must be mutable, got {memory}")


def check_view(source: Attribute, result: Attribute) -> tuple[MemDescType, MemDescType]:
    """A view keeps element type and memory space, and may not be written where its source may not."""
    a, b = mem_desc(source), mem_desc(result, "result")
    if a.element_type != b.element_type:
        raise VerifyException(f"the element type changes from {a} to {b}")
    if a.memory_space != b.memory_space:
        raise VerifyException(f"the memory space changes from {a} to {b}")
    if b.mutable and not a.mutable:
        raise VerifyException(f"a view of memory that is not mutable cannot be: {a} and {b}")
    return a, b


def i32_like(type_: Attribute) -> Attribute:
    """i32 in the shape and layout of a tensor."""
    return with_element(type_, i32)


def i1_like(type_: Attribute) -> Attribute:
    """i1 in the shape and layout of a tensor."""
    return with_element(type_, i1)


def pointer_to(type_: Attribute) -> Attribute:
    """A global-memory pointer to the element type."""
    return pointer(element_type(type_))
