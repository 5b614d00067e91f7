"""What the ops of `arith` have in common: predicates, assembly formats, and checks of their types."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.declaration import TypeRules, same
from tritonx.ir.types import bit_width, element_type, encoding_of, i1, is_float, is_tensor, shape_of, with_element

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


def scalar(type_: Attribute) -> Attribute:
    return cast(VectorType[Attribute], type_).element_type if isinstance(type_, VectorType) else element_type(type_)


def is_integer_like(type_: Attribute) -> bool:
    return isinstance(scalar(type_), IntegerType | IndexType)


def is_float_like(type_: Attribute) -> bool:
    return is_float(scalar(type_))


def shape(type_: Attribute) -> tuple[object, ...]:
    """The shape, marked with a leading word where it is a vector's: vectors and tensors do not mix."""
    if isinstance(type_, VectorType):
        return ("vector", *cast(VectorType[Attribute], type_).get_shape())
    return shape_of(type_)


def check_integer(op: IRDLOperation) -> None:
    """The first result, whose type the other ones share, is of an integer type."""
    type_ = op.results[0].type
    if not is_integer_like(type_):
        raise VerifyException(f"expected an integer type, got {type_}")


def check_float(op: IRDLOperation) -> None:
    """The first result, whose type the operands share, is of a floating-point type."""
    type_ = op.results[0].type
    if not is_float_like(type_):
        raise VerifyException(f"expected a floating-point type, got {type_}")


def check_compare(op: IRDLOperation, wanted: Callable[[Attribute], bool], kind: str) -> None:
    """The operands are of the wanted kind of type."""
    type_ = op.operands[0].type
    if not wanted(type_):
        raise VerifyException(f"operands must have one {kind} type, got {type_}")


def check_cast(
    source: Callable[[Attribute], bool],
    result: Callable[[Attribute], bool],
    width: Callable[[int, int], bool] | None,
    rule: str,
) -> Callable[[IRDLOperation], None]:
    def check(op: IRDLOperation) -> None:
        a, b = op.operands[0].type, op.results[0].type
        if shape(a) != shape(b) or is_tensor(a) != is_tensor(b) or encoding_of(a) != encoding_of(b):
            raise VerifyException(f"operand and result must agree in shape and layout, got {a} and {b}")
        if not source(a) or not result(b):
            raise VerifyException(f"expected {rule}, got {a} to {b}")
        if width is not None and not width(bit_width(scalar(a)), bit_width(scalar(b))):
            raise VerifyException(f"expected {rule}, got {a} to {b}")

    return check


def is_index(type_: Attribute) -> bool:
    return isinstance(scalar(type_), IndexType)


def is_plain_integer(type_: Attribute) -> bool:
    return isinstance(scalar(type_), IntegerType)
