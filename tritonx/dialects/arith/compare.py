"""Comparisons and selection."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import arith as base
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, PropertyDef
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.arith.checks import (
    CmpfPredicate,
    CmpiPredicate,
    check_compare,
    i1_like,
    is_float_like,
    is_integer_like,
)
from tritonx.ir.define import EnumConstraint, TypeRules, same
from tritonx.ir.derive import derive
from tritonx.ir.types import i1, i64


@derive(
    check=check_compare(is_integer_like, "integer"),
    properties={"predicate": PropertyDef(EnumConstraint(CmpiPredicate, i64))},
)
class CmpiOp(base.CmpiOp):
    """Compares integers."""

    FORMAT: ClassVar[str] = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same), "result": ("lhs", i1_like)}


@derive(
    check=check_compare(is_float_like, "floating-point"),
    properties={"predicate": PropertyDef(EnumConstraint(CmpfPredicate, i64))},
)
class CmpfOp(base.CmpfOp):
    """Compares floating-point numbers."""

    FORMAT: ClassVar[str] = "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)"
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same), "result": ("lhs", i1_like)}


def _check_select(op: IRDLOperation) -> None:
    condition, a, b = (operand.type for operand in op.operands)
    if not a == b == op.results[0].type:
        raise VerifyException(f"both values and the result must have one type, got {a}, {b} and {op.results[0].type}")
    if condition not in (i1, i1_like(a)):
        raise VerifyException(f"the condition must be i1 or {i1_like(a)}, got {condition}")


@derive(check=_check_select)
class SelectOp(base.SelectOp):
    """The first value where the condition is true, else the second; one condition for all elements or one for each."""

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
