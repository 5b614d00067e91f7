"""Regions of kernels that a profiler measures: Triton's `proton` dialect."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import ANYTHING, Effects, effects
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.ir.define import define
from tritonx.ir.types import i32


@define
class RecordOp(IRDLOperation):
    """A region of this name starts or ends here: each warp that runs the op records the time, where the compile has
    `instrumentation_mode`. A region is what a warp does between a start and the end of the same name that matches it.

    The clock may not be read earlier or later, so that the op counts as an access of any memory: nothing that accesses
    memory is moved across it.

    With the number of an `event` it is an end of an asynchronous event: the same, and nothing is inside of it. Two
    events of one name have two numbers."""

    name = "proton.record"
    isStart = opt_prop_def(UnitAttr)
    region = prop_def(StringAttr, prop_name="name")
    event = opt_prop_def(IntegerAttr[IntegerType])
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(ANYTHING)

    def verify_(self) -> None:
        if not self.region.data:
            raise VerifyException("a region has a name")

    @classmethod
    def parse(cls, parser: Parser) -> RecordOp:
        starts = parser.parse_optional_keyword("start") is not None
        if not starts:
            parser.parse_keyword("end")
        properties: dict[str, Attribute] = {"isStart": UnitAttr()} if starts else {}
        if parser.parse_optional_keyword("event") is not None:
            properties["event"] = IntegerAttr(parser.parse_integer(), i32)
        properties["name"] = StringAttr(parser.parse_str_literal())
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" start " if self.is_start else " end ")
        if self.event is not None:
            printer.print_string(f"event {self.event.value.data} ")
        printer.print_string_literal(self.region.data)
        printer.print_op_attributes(self.attributes)

    @property
    def is_start(self) -> bool:
        return self.isStart is not None


Proton = Dialect("proton", [RecordOp], [])

__all__ = ["Proton", "RecordOp"]
