"""Comparisons and selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.arith.checks import (
    CmpfPredicate,
    CmpiPredicate,
    check_compare,
    i1_like,
    is_float_like,
    is_integer_like,
)
from tritonx.dialects.arith.flags import NO_FAST_MATH, FastMathFlagsAttr
from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import ELEMENTWISE, LayoutConstraint
from tritonx.ir.declaration import EnumConstraint, TypeRules, same
from tritonx.ir.define import define
from tritonx.ir.types import i1, i64

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class _Compare(IRDLOperation):
    """A comparison of two values of one type."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same), "result": ("lhs", i1_like)}


@define
class CmpiOp(_Compare):
    """Compares integers."""

    name = "arith.cmpi"
    predicate = prop_def(EnumConstraint(CmpiPredicate, i64))
    FORMAT: ClassVar[str] = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"

    def verify_(self) -> None:
        check_compare(self, is_integer_like, "integer")


@define
class CmpfOp(_Compare):
    """Compares floating-point numbers."""

    name = "arith.cmpf"
    predicate = prop_def(EnumConstraint(CmpfPredicate, i64))
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FAST_MATH)
    FORMAT: ClassVar[str] = "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)"

    def verify_(self) -> None:
        check_compare(self, is_float_like, "floating-point")


@define
class SelectOp(IRDLOperation):
    """The first value where the condition is true, else the second; one condition for all elements or one for each."""

    name = "arith.select"
    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE

    def verify_(self) -> None:
        condition, a, b = (operand.type for operand in self.operands)
        result = self.results[0].type
        if not a == b == result:
            raise VerifyException(f"both values and the result must have one type, got {a}, {b} and {result}")
        if condition not in (i1, i1_like(a)):
            raise VerifyException(f"the condition must be i1 or {i1_like(a)}, got {condition}")

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        condition_type: Attribute = i1
        if parser.parse_optional_punctuation(","):
            condition_type, type_ = type_, parser.parse_type()
        operands = (
            parser.resolve_operand(condition, condition_type),
            parser.resolve_operand(lhs, type_),
            parser.resolve_operand(rhs, type_),
        )
        return cls.create(operands=operands, result_types=(type_,), attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.operands[0].type != i1:
            printer.print_attribute(self.operands[0].type)
            printer.print_string(", ")
        printer.print_attribute(self.results[0].type)
