"""Constants."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith as base
from xdsl.ir import Attribute
from xdsl.irdl import AnyAttr, IRDLOperation, PropertyDef
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.derive import derive


def _check_constant(op: IRDLOperation) -> None:
    value = op.properties.get("value")
    type_ = cast(Any, value).get_type() if hasattr(value, "get_type") else None
    if type_ != op.results[0].type:
        raise VerifyException(f"the value has type {type_}, the result {op.results[0].type}")


@derive(check=_check_constant, properties={"value": PropertyDef(AnyAttr())})
class ConstantOp(base.ConstantOp):
    """A constant; a tile's constant is a splat (`tritonx.ir.splat`) or lists its elements."""

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
        printer.print_attribute(cast(Attribute, self.value))
