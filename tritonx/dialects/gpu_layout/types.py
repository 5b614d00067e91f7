"""Types of the GPU-layout dialect: memory descriptors, the token that links asynchronous copies to their wait, memory
spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.alias import Aliased

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

_Fields = tuple[tuple[int, ...], Attribute, Attribute, Attribute, bool, tuple[int, ...]]


@irdl_attr_definition
class SharedMemoryAttr(ParametrizedAttribute, Aliased):
    """`#ttg.shared_memory`: the memory that the threads of a block share."""

    name = "ttg.shared_memory"
    ALIAS: ClassVar[str] = "smem"


@irdl_attr_definition
class AsyncTokenType(ParametrizedAttribute, TypeAttribute):
    """`!ttg.async.token`: what an asynchronous copy gives and a wait takes."""

    name = "ttg.async.token"


@irdl_attr_definition
class MemDescType(Data[_Fields], TypeAttribute):
    """`!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>`: an address and how a tile lies there.

    `alloc_shape` is the shape of the allocation that a view is part of, so that the view keeps its swizzling; it is
    printed when it is not the shape itself. A memory descriptor that is not mutable is written once, by what makes
    it.
    """

    name = "ttg.memdesc"

    def __init__(
        self,
        shape: Sequence[int],
        element_type: Attribute,
        encoding: Attribute,
        memory_space: Attribute,
        mutable: bool = False,
        alloc_shape: Sequence[int] | None = None,
    ) -> None:
        shape = tuple(shape)
        alloc = shape if alloc_shape is None else tuple(alloc_shape)
        super().__init__((shape, element_type, encoding, memory_space, mutable, alloc))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data[0]

    @property
    def element_type(self) -> Attribute:
        return self.data[1]

    @property
    def encoding(self) -> Attribute:
        return self.data[2]

    @property
    def memory_space(self) -> Attribute:
        return self.data[3]

    @property
    def mutable(self) -> bool:
        return self.data[4]

    @property
    def alloc_shape(self) -> tuple[int, ...]:
        return self.data[5]

    def verify(self) -> None:
        shape, element, _, _, _, alloc = self.data
        if not shape or any(size < 1 for size in shape):
            raise VerifyException(f"a memory descriptor needs a shape of positive sizes, got {list(shape)}")
        if len(alloc) < len(shape) or any(size < 1 for size in alloc):
            raise VerifyException(f"the allocation's shape {list(alloc)} cannot hold {list(shape)}")
        if not isinstance(element, TypeAttribute):
            raise VerifyException(f"expected an element type, got {element}")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _Fields:
        with parser.in_angle_brackets():
            dims, element = parser.parse_ranked_shape()
            shape = tuple(dims)
            parser.parse_punctuation(",")
            encoding = parser.parse_attribute()
            parser.parse_punctuation(",")
            space = parser.parse_attribute()
            mutable, alloc = False, shape
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("mutable"):
                    mutable = True
                else:
                    alloc = tuple(parser.parse_dimension_list())
        return shape, element, encoding, space, mutable, alloc

    def print_parameter(self, printer: Printer) -> None:
        shape, element, encoding, space, mutable, alloc = self.data
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{size}x" for size in shape))
            printer.print_attribute(element)
            printer.print_string(", ")
            printer.print_attribute(encoding)
            printer.print_string(", ")
            printer.print_attribute(space)
            if mutable:
                printer.print_string(", mutable")
            if alloc != shape:
                printer.print_string(", " + "x".join(map(str, alloc)))


SHARED_MEMORY = SharedMemoryAttr()
ASYNC_TOKEN = AsyncTokenType()


@cache
def memdesc(
    shape: tuple[int, ...],
    element: Attribute,
    encoding: Attribute,
    *,
    space: Attribute = SHARED_MEMORY,
    mutable: bool = False,
    alloc_shape: tuple[int, ...] | None = None,
) -> MemDescType:
    """`!ttg.memdesc<...>`; equal arguments give the same object."""
    return MemDescType(shape, element, encoding, space, mutable, alloc_shape)
