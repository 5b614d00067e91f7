"""Constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

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


def _type_of(value: Attribute) -> Attribute | None:
    """The type of what an attribute holds; None for one that says none."""
    asked = getattr(value, "get_type", None)
    found: object = asked() if callable(asked) else None
    return found if isinstance(found, Attribute) else None


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
        type_ = _type_of(self.value)
        if type_ != self.results[0].type:
            raise VerifyException(f"the value has type {type_}, the result {self.results[0].type}")

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        type_ = _type_of(value)
        if type_ is None:
            parser.raise_error("a constant needs a value with a type", position)
        return cls.create(result_types=(type_,), properties={"value": value}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
