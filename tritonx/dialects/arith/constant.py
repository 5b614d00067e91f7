"""Constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, prop_def, result_def, traits_def
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import FROM_SCALARS, LayoutConstraint
from tritonx.ir.define import define

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


@define
class ConstantOp(IRDLOperation):
    """A constant; a tile's constant is a splat (`tritonx.ir.splat`) or lists its elements."""

    name = "arith.constant"
    value = prop_def()
    result = result_def()
    traits = traits_def(ConstantLike())
    LAYOUTS: ClassVar[LayoutConstraint] = FROM_SCALARS
    EFFECTS: ClassVar[Effects] = PURE

    def verify_(self) -> None:
        value = cast(Any, self.value)
        type_ = value.get_type() if hasattr(value, "get_type") else None
        if type_ != self.results[0].type:
            raise VerifyException(f"the value has type {type_}, the result {self.results[0].type}")

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        type_ = cast(Any, value).get_type() if hasattr(value, "get_type") else None
        if not isinstance(type_, Attribute):
            parser.raise_error("a constant needs a value with a type", position)
        return cls.create(result_types=(type_,), properties={"value": value}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
