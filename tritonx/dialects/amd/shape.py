"""Operations on tiles in registers: slices, concatenation, transposition within a thread, microscaling conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, IntegerType, i32
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects, effects, reads_memory
from tritonx.dialects.gpu_layout.rules import MEMDESC, mem_desc
from tritonx.dialects.layout_constraints import (
    ANY_LAYOUTS,
    SAME_LAYOUT,
    BoxTaken,
    LayoutConstraint,
    PairsUnpacked,
    SameThreads,
    Tiled,
)
from tritonx.dialects.tile.elementwise import CAST
from tritonx.dialects.tile.enums import ScaleDotElemType
from tritonx.dialects.tile.rules import check_axis, tensor_type
from tritonx.ir.declaration import enum_prop
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel
from tritonx.ir.types import element_type, shape_of

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


@define
class ExtractSliceOp(IRDLOperation):
    """The box of a tile from fixed offsets on, which every thread holds already."""

    name = "amdg.extract_slice"
    source = operand_def()
    static_offsets = prop_def(DenseArrayBase.constr(IntegerType(64)))
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = BoxTaken()
    EFFECTS: ClassVar[Effects] = PURE

    def verify_(self) -> None:
        a, b = tensor_type(self.source.type), tensor_type(self.result.type, "result")
        if element_type(a) != element_type(b):
            raise VerifyException(f"the element type changes from {a} to {b}")
        offsets = [int(offset) for offset in self.static_offsets.get_values()]
        whole, box = shape_of(a), shape_of(b)
        if not len(offsets) == len(whole) == len(box):
            raise VerifyException(f"offsets {offsets}, {a} and {b} must have one rank")
        for axis, (offset, size, total) in enumerate(zip(offsets, box, whole, strict=True)):
            if offset < 0 or offset + size > total:
                raise VerifyException(f"[{offset}, {offset + size}) is outside of dimension {axis} of {a}")
            if offset % size:
                raise VerifyException(f"offset {offset} of dimension {axis} is no multiple of the slice's size {size}")

    @classmethod
    def parse(cls, parser: Parser) -> ExtractSliceOp:
        source = parser.parse_unresolved_operand()
        offsets = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        result = parser.parse_type()
        return cls.create(
            operands=(parser.resolve_operand(source, source_type),),
            result_types=(result,),
            properties={"static_offsets": DenseArrayBase.from_list(IntegerType(64), offsets)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        printer.print_string(f" [{', '.join(map(str, self.static_offsets.get_values()))}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@define
class ConcatOp(IRDLOperation):
    """Tiles of one type side by side, in row-major order of their positions."""

    name = "amdg.concat"
    sources = var_operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Tiled()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$sources attr-dict `:` type($sources) `->` type($result)"

    def verify_(self) -> None:
        if not self.sources:
            raise VerifyException("needs at least one tile")
        first = tensor_type(self.sources[0].type)
        result = tensor_type(self.result.type, "result")
        if any(source.type != first for source in self.sources):
            raise VerifyException("all tiles must have one type")
        if first.element_type != result.element_type:
            raise VerifyException(f"the element type changes from {first} to {result}")
        whole, part = shape_of(result), shape_of(first)
        if len(whole) != len(part) or any(a % b for a, b in zip(whole, part, strict=True)):
            raise VerifyException(f"{first} does not tile {result}")
        count = 1
        for a, b in zip(whole, part, strict=True):
            count *= a // b
        if count != len(self.sources):
            raise VerifyException(f"{result} takes {count} tiles of {first}, got {len(self.sources)}")


@define
class InThreadTransposeOp(IRDLOperation):
    """Changes the layout so that each thread's block of elements is transposed; no data moves between threads."""

    name = "amdg.in_thread_transpose"
    src = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SameThreads()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST

    def verify_(self) -> None:
        a, b = tensor_type(self.src.type), tensor_type(self.result.type, "result")
        if shape_of(a) != shape_of(b) or a.element_type != b.element_type:
            raise VerifyException(f"only the layout may change, got {a} -> {b}")


@define
class UpcastMXFPOp(IRDLOperation):
    """Widens microscaled numbers to bf16 or f16 and multiplies them by their scales."""

    name = "amdg.upcast_mxfp"
    src = operand_def()
    scale = operand_def()
    fp_type = enum_prop(ScaleDotElemType)
    fastMath = prop_def(BoolAttr)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = PURE
    SPELLINGS: ClassVar[Spellings] = Spellings({TextLevel.V3_6: "", TextLevel.V3_8: None})
    FORMAT: ClassVar[str] = (
        "$src `,` $scale `fp_type` `=` $fp_type attr-dict `:` type($src) `,` type($scale) `->` type($result)"
    )

    def verify_(self) -> None:
        a, scale = tensor_type(self.src.type), tensor_type(self.scale.type, "scale")
        tensor_type(self.result.type, "result")
        if len(shape_of(a)) != len(shape_of(scale)):
            raise VerifyException(f"the scale must have the operand's rank, got {a} and {scale}")


@define
class ScaledUpcastFp4Op(IRDLOperation):
    """Takes pairs of e2m1 numbers apart along `axis`, widens them and multiplies them by scales of the result's
    shape.
    """

    name = "amdg.scaled_upcast_fp4"
    input = operand_def()
    scale = operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    output = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = PairsUnpacked()
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)"

    def verify_(self) -> None:
        a, b = tensor_type(self.input.type), tensor_type(self.output.type, "result")
        axis = self.axis.value.data
        check_axis(axis, len(shape_of(a)))
        expected = tuple(size * 2 if i == axis else size for i, size in enumerate(shape_of(a)))
        if shape_of(b) != expected:
            raise VerifyException(f"dimension {axis} must double, got {a} -> {b}")
        if shape_of(self.scale.type) != expected:
            raise VerifyException(f"the scale must have the result's shape, got {self.scale.type}")


@define
class ScaledUpcastFp8Op(IRDLOperation):
    """Widens fp8 numbers and multiplies them by scales of the same shape."""

    name = "amdg.scaled_upcast_fp8"
    input = operand_def()
    scale = operand_def()
    output = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = SAME_LAYOUT
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)"

    def verify_(self) -> None:
        shapes = {shape_of(tensor_type(v.type)) for v in (self.input, self.scale, self.output)}
        if len(shapes) != 1:
            raise VerifyException("operand, scale and result must have one shape")


@define
class LocalLoadPackedTransposedOp(IRDLOperation):
    """Reads packed fp4 pairs from shared memory transposed."""

    name = "amdg.local_load_packed_tranposed"
    src = operand_def(MEMDESC)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = effects(reads_memory("src"))
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        source, result = mem_desc(self.src.type), tensor_type(self.result.type, "result")
        if source.element_type != result.element_type:
            raise VerifyException(f"the element type changes from {source} to {result}")
