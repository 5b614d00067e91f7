"""The types of the tile dialect: pointers and tensor descriptors. Tiles themselves are `tensor<...>` of xDSL's
builtin dialect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.spelling import Spellings, TextLevel, since
from tritonx.ir.types import PointerType, encoding_of, shape_of

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

__all__ = ["PointerType", "TensorDescType"]


@irdl_attr_definition
class TensorDescType(Data[tuple[TensorType[Attribute]]], TypeAttribute):
    """`!tt.tensordesc<tensor<128x64xf16, #shared>>`: a view of a tensor in global memory, read and written block by
    block.

    `block_type` is the type of one block; its encoding, if any, is the layout of the block in shared memory.
    """

    name = "tt.tensordesc"
    SPELLINGS: ClassVar[Spellings] = Spellings(
        {TextLevel.V3_6: "!tt.tensordesc<tensor<128x64xf16>>", TextLevel.V3_8: "!tt.tensordesc<128x64xf16>"}
    )

    def __init__(self, block_type: TensorType[Attribute]) -> None:
        super().__init__((block_type,))

    @property
    def block_type(self) -> TensorType[Attribute]:
        return self.data[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.data[0])

    @property
    def element_type(self) -> Attribute:
        return self.data[0].element_type

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[TensorType[Attribute]]:
        with parser.in_angle_brackets():
            block = parser.parse_optional_type()
            if block is None:
                shape, element = parser.parse_ranked_shape()
                if not isinstance(element, TypeAttribute):
                    parser.raise_error("expected an element type")
                block = (
                    TensorType(element, shape, parser.parse_attribute())
                    if parser.parse_optional_punctuation(",")
                    else TensorType(element, shape)
                )
            if not isinstance(block, TensorType):
                parser.raise_error("a tensor descriptor describes blocks of a tensor type")
        return (cast("TensorType[Attribute]", block),)

    def verify(self) -> None:
        if any(size < 1 for size in self.shape):
            raise VerifyException(f"a descriptor's block must have a static shape, got {self.block_type}")

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            if since(printer, TextLevel.V3_8):
                self._print_bare(printer)
            else:
                printer.print_attribute(self.block_type)

    def _print_bare(self, printer: Printer) -> None:
        printer.print_string("".join(f"{size}x" for size in self.shape))
        printer.print_attribute(self.element_type)
        if (encoding := encoding_of(self.block_type)) is not None:
            printer.print_string(", ")
            printer.print_attribute(encoding)
