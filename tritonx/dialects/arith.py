"""The arithmetic dialect, `arith`: xDSL's ops on scalars and, as in MLIR, on tensors elementwise. See
`tritonx.ir.derive`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, cast

from xdsl.dialects import arith as base
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import AnyAttr, IRDLOperation, PropertyDef, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.define import EnumConstraint, TypeRules, define, same
from tritonx.ir.derive import derive
from tritonx.ir.types import bit_width, element_type, encoding_of, i1, i64, is_float, is_tensor, shape_of, with_element

INTEGER_BINARY = "$lhs `,` $rhs attr-dict `:` type($result)"
OVERFLOW_BINARY = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
FLOAT_BINARY = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
CAST = "$input attr-dict `:` type($input) `to` type($result)"
FROM_RESULT: TypeRules = {"lhs": ("result", same), "rhs": ("result", same)}


class CmpiPredicate(IntEnum):
    """Integer comparisons."""

    EQ = 0
    NE = 1
    SLT = 2
    SLE = 3
    SGT = 4
    SGE = 5
    ULT = 6
    ULE = 7
    UGT = 8
    UGE = 9


class CmpfPredicate(IntEnum):
    """Floating-point comparisons; `O...` is false and `U...` true where an operand is NaN."""

    FALSE = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UEQ = 8
    UGT = 9
    UGE = 10
    ULT = 11
    ULE = 12
    UNE = 13
    UNO = 14
    TRUE = 15


def i1_like(type_: Attribute) -> Attribute:
    """The type of a comparison of two values of `type_`."""
    if isinstance(type_, VectorType):
        vector = cast(VectorType[Attribute], type_)
        return VectorType(i1, vector.shape, vector.scalable_dims)
    return with_element(type_, i1)


def _scalar(type_: Attribute) -> Attribute:
    return cast(VectorType[Attribute], type_).element_type if isinstance(type_, VectorType) else element_type(type_)


def _is_integer_like(type_: Attribute) -> bool:
    return isinstance(_scalar(type_), IntegerType | IndexType)


def _is_float_like(type_: Attribute) -> bool:
    return is_float(_scalar(type_))


def _shape(type_: Attribute) -> tuple[object, ...]:
    """The shape, marked with a leading word where it is a vector's: vectors and tensors do not mix."""
    if isinstance(type_, VectorType):
        return ("vector", *cast(VectorType[Attribute], type_).get_shape())
    return shape_of(type_)


def _check_same_type(op: IRDLOperation) -> Attribute:
    type_ = op.results[0].type
    for operand in op.operands:
        if operand.type != type_:
            raise VerifyException(f"operands and result must have one type, got {operand.type} and {type_}")
    return type_


def check_integer(op: IRDLOperation) -> None:
    """Operands and result of one integer type."""
    type_ = _check_same_type(op)
    if not _is_integer_like(type_):
        raise VerifyException(f"expected an integer type, got {type_}")


def check_float(op: IRDLOperation) -> None:
    """Operands and result of one floating-point type."""
    type_ = _check_same_type(op)
    if not _is_float_like(type_):
        raise VerifyException(f"expected a floating-point type, got {type_}")


def _check_compare(wanted: Callable[[Attribute], bool], kind: str) -> Callable[[IRDLOperation], None]:
    def check(op: IRDLOperation) -> None:
        a, b = (operand.type for operand in op.operands)
        if a != b or not wanted(a):
            raise VerifyException(f"operands must have one {kind} type, got {a} and {b}")
        if op.results[0].type != i1_like(a):
            raise VerifyException(f"the result must be {i1_like(a)}, got {op.results[0].type}")

    return check


def _check_cast(
    source: Callable[[Attribute], bool],
    result: Callable[[Attribute], bool],
    width: Callable[[int, int], bool] | None,
    rule: str,
) -> Callable[[IRDLOperation], None]:
    def check(op: IRDLOperation) -> None:
        a, b = op.operands[0].type, op.results[0].type
        if _shape(a) != _shape(b) or is_tensor(a) != is_tensor(b) or encoding_of(a) != encoding_of(b):
            raise VerifyException(f"operand and result must agree in shape and layout, got {a} and {b}")
        if not source(a) or not result(b):
            raise VerifyException(f"expected {rule}, got {a} to {b}")
        if width is not None and not width(bit_width(_scalar(a)), bit_width(_scalar(b))):
            raise VerifyException(f"expected {rule}, got {a} to {b}")

    return check


def _is_index(type_: Attribute) -> bool:
    return isinstance(_scalar(type_), IndexType)


def _is_plain_integer(type_: Attribute) -> bool:
    return isinstance(_scalar(type_), IntegerType)


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


@derive(check=check_integer)
class AddiOp(base.AddiOp):
    """Sum, modulo 2^n."""

    FORMAT: ClassVar[str] = OVERFLOW_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer)
class SubiOp(base.SubiOp):
    """Difference, modulo 2^n."""

    FORMAT: ClassVar[str] = OVERFLOW_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer)
class MuliOp(base.MuliOp):
    """Product, modulo 2^n."""

    FORMAT: ClassVar[str] = OVERFLOW_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer)
class ShLIOp(base.ShLIOp):
    """Shift left; shifting by the width or more is poison."""

    FORMAT: ClassVar[str] = OVERFLOW_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class DivSIOp(base.DivSIOp):
    """Signed quotient, rounded towards zero."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class DivUIOp(base.DivUIOp):
    """Unsigned quotient."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class RemSIOp(base.RemSIOp):
    """Remainder of the signed quotient; it has the sign of the dividend."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class RemUIOp(base.RemUIOp):
    """Remainder of the unsigned quotient."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class FloorDivSIOp(base.FloorDivSIOp):
    """Signed quotient, rounded down."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class CeilDivSIOp(base.CeilDivSIOp):
    """Signed quotient, rounded up."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class CeilDivUIOp(base.CeilDivUIOp):
    """Unsigned quotient, rounded up."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class AndIOp(base.AndIOp):
    """Bitwise and."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class OrIOp(base.OrIOp):
    """Bitwise or."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class XOrIOp(base.XOrIOp):
    """Bitwise exclusive or."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class ShRSIOp(base.ShRSIOp):
    """Shift right that copies the sign bit."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class ShRUIOp(base.ShRUIOp):
    """Shift right that shifts zeros in."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class MaxSIOp(base.MaxSIOp):
    """Signed maximum."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class MinSIOp(base.MinSIOp):
    """Signed minimum."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class MaxUIOp(base.MaxUIOp):
    """Unsigned maximum."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_integer, traits=(Pure(),))
class MinUIOp(base.MinUIOp):
    """Unsigned minimum."""

    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class AddfOp(base.AddfOp):
    """Sum."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class SubfOp(base.SubfOp):
    """Difference."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class MulfOp(base.MulfOp):
    """Product."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class DivfOp(base.DivfOp):
    """Quotient."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class MaximumfOp(base.MaximumfOp):
    """Maximum; NaN if either is NaN."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class MinimumfOp(base.MinimumfOp):
    """Minimum; NaN if either is NaN."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class MaxnumfOp(base.MaxnumfOp):
    """Maximum; the other one if one is NaN."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@derive(check=check_float)
class MinnumfOp(base.MinnumfOp):
    """Minimum; the other one if one is NaN."""

    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT


@define
class RemFOp(IRDLOperation):
    """Remainder with the sign of the dividend, as C's `fmod`."""

    name = "arith.remf"
    lhs = operand_def()
    rhs = operand_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    result = result_def(AnyAttr())
    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT

    def verify_(self) -> None:
        check_float(self)


@derive(check=check_float)
class NegfOp(base.NegfOp):
    """Negation."""

    FORMAT: ClassVar[str] = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"operand": ("result", same)}


@derive(
    check=_check_compare(_is_integer_like, "integer"),
    properties={"predicate": PropertyDef(EnumConstraint(CmpiPredicate, i64))},
)
class CmpiOp(base.CmpiOp):
    """Compares integers."""

    FORMAT: ClassVar[str] = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same), "result": ("lhs", i1_like)}


@derive(
    check=_check_compare(_is_float_like, "floating-point"),
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


def _is_number(type_: Attribute) -> bool:
    return _is_plain_integer(type_) or _is_float_like(type_)


@derive(check=_check_cast(_is_plain_integer, _is_plain_integer, int.__lt__, "a wider integer type"), traits=(Pure(),))
class ExtSIOp(base.ExtSIOp):
    """Widens an integer, copying the sign bit."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_plain_integer, _is_plain_integer, int.__lt__, "a wider integer type"), traits=(Pure(),))
class ExtUIOp(base.ExtUIOp):
    """Widens an integer with zeros."""

    FORMAT: ClassVar[str] = CAST


@derive(
    check=_check_cast(_is_plain_integer, _is_plain_integer, int.__gt__, "a narrower integer type"), traits=(Pure(),)
)
class TruncIOp(base.TruncIOp):
    """Drops the upper bits of an integer."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_float_like, _is_float_like, int.__lt__, "a wider floating-point type"), traits=(Pure(),))
class ExtFOp(base.ExtFOp):
    """Widens a floating-point number."""

    FORMAT: ClassVar[str] = CAST


@derive(
    check=_check_cast(_is_float_like, _is_float_like, int.__gt__, "a narrower floating-point type"), traits=(Pure(),)
)
class TruncFOp(base.TruncFOp):
    """Narrows a floating-point number, rounding to nearest even."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_plain_integer, _is_float_like, None, "integer to floating point"), traits=(Pure(),))
class SIToFPOp(base.SIToFPOp):
    """Signed integer to floating point."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_plain_integer, _is_float_like, None, "integer to floating point"), traits=(Pure(),))
class UIToFPOp(base.UIToFPOp):
    """Unsigned integer to floating point."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_float_like, _is_plain_integer, None, "floating point to integer"), traits=(Pure(),))
class FPToSIOp(base.FPToSIOp):
    """Floating point to signed integer, towards zero."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_float_like, _is_plain_integer, None, "floating point to integer"), traits=(Pure(),))
class FPToUIOp(base.FPToUIOp):
    """Floating point to unsigned integer, towards zero."""

    FORMAT: ClassVar[str] = CAST


@derive(check=_check_cast(_is_number, _is_number, int.__eq__, "types of one width"), traits=(Pure(),))
class BitcastOp(base.BitcastOp):
    """The same bits under another type of the same width."""

    FORMAT: ClassVar[str] = CAST


def _check_index_cast(op: IRDLOperation) -> None:
    a, b = op.operands[0].type, op.results[0].type
    if (
        _shape(a) != _shape(b)
        or not {_is_index(a), _is_index(b)} == {True, False}
        or not (_is_integer_like(a) and _is_integer_like(b))
    ):
        raise VerifyException(f"expected a conversion between index and an integer type, got {a} to {b}")


@derive(check=_check_index_cast, traits=(Pure(),))
class IndexCastOp(base.IndexCastOp):
    """Between `index` and an integer type."""

    FORMAT: ClassVar[str] = CAST


_OPS: tuple[type[IRDLOperation], ...] = (
    ConstantOp,
    AddiOp,
    SubiOp,
    MuliOp,
    ShLIOp,
    DivSIOp,
    DivUIOp,
    RemSIOp,
    RemUIOp,
    FloorDivSIOp,
    CeilDivSIOp,
    CeilDivUIOp,
    AndIOp,
    OrIOp,
    XOrIOp,
    ShRSIOp,
    ShRUIOp,
    MaxSIOp,
    MinSIOp,
    MaxUIOp,
    MinUIOp,
    AddfOp,
    SubfOp,
    MulfOp,
    DivfOp,
    MaximumfOp,
    MinimumfOp,
    MaxnumfOp,
    MinnumfOp,
    RemFOp,
    NegfOp,
    CmpiOp,
    CmpfOp,
    SelectOp,
    ExtSIOp,
    ExtUIOp,
    TruncIOp,
    ExtFOp,
    TruncFOp,
    SIToFPOp,
    UIToFPOp,
    FPToSIOp,
    FPToUIOp,
    BitcastOp,
    IndexCastOp,
)

_REPLACED = {op.name for op in _OPS}

Arith = Dialect(
    "arith",
    [*_OPS, *(op for op in base.Arith.operations if op.name not in _REPLACED)],
    list(base.Arith.attributes),
)

__all__ = [
    "AddfOp",
    "AddiOp",
    "AndIOp",
    "Arith",
    "BitcastOp",
    "CeilDivSIOp",
    "CeilDivUIOp",
    "CmpfOp",
    "CmpfPredicate",
    "CmpiOp",
    "CmpiPredicate",
    "ConstantOp",
    "DivSIOp",
    "DivUIOp",
    "DivfOp",
    "ExtFOp",
    "ExtSIOp",
    "ExtUIOp",
    "FPToSIOp",
    "FPToUIOp",
    "FastMathFlagsAttr",
    "FloorDivSIOp",
    "IndexCastOp",
    "IntegerOverflowAttr",
    "MaxSIOp",
    "MaxUIOp",
    "MaximumfOp",
    "MaxnumfOp",
    "MinSIOp",
    "MinUIOp",
    "MinimumfOp",
    "MinnumfOp",
    "MulfOp",
    "MuliOp",
    "NegfOp",
    "OrIOp",
    "RemFOp",
    "RemSIOp",
    "RemUIOp",
    "SIToFPOp",
    "SelectOp",
    "ShLIOp",
    "ShRSIOp",
    "ShRUIOp",
    "SubfOp",
    "SubiOp",
    "TruncFOp",
    "TruncIOp",
    "UIToFPOp",
    "XOrIOp",
    "i1_like",
]
