"""Conversions between number types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.arith.checks import (
    CAST,
    check_cast,
    is_float_like,
    is_index,
    is_integer_like,
    is_plain_integer,
    shape,
)
from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import ELEMENTWISE, LayoutConstraint
from tritonx.ir.define import define


def _is_number(type_: Attribute) -> bool:
    return is_plain_integer(type_) or is_float_like(type_)


class _Cast(IRDLOperation):
    """From one type of number to another; `CHECK` raises where there is no such conversion."""

    input = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = CAST
    CHECK: ClassVar[Callable[[IRDLOperation], None]]

    def verify_(self) -> None:
        type(self).CHECK(self)


@define
class ExtSIOp(_Cast):
    """Widens an integer, copying the sign bit."""

    name = "arith.extsi"
    CHECK = staticmethod(check_cast(is_plain_integer, is_plain_integer, int.__lt__, "a wider integer type"))


@define
class ExtUIOp(_Cast):
    """Widens an integer with zeros."""

    name = "arith.extui"
    CHECK = staticmethod(check_cast(is_plain_integer, is_plain_integer, int.__lt__, "a wider integer type"))


@define
class TruncIOp(_Cast):
    """Drops the upper bits of an integer."""

    name = "arith.trunci"
    CHECK = staticmethod(check_cast(is_plain_integer, is_plain_integer, int.__gt__, "a narrower integer type"))


@define
class ExtFOp(_Cast):
    """Widens a floating-point number."""

    name = "arith.extf"
    CHECK = staticmethod(check_cast(is_float_like, is_float_like, int.__lt__, "a wider floating-point type"))


@define
class TruncFOp(_Cast):
    """Narrows a floating-point number, rounding to nearest even."""

    name = "arith.truncf"
    CHECK = staticmethod(check_cast(is_float_like, is_float_like, int.__gt__, "a narrower floating-point type"))


@define
class SIToFPOp(_Cast):
    """Signed integer to floating point."""

    name = "arith.sitofp"
    CHECK = staticmethod(check_cast(is_plain_integer, is_float_like, None, "integer to floating point"))


@define
class UIToFPOp(_Cast):
    """Unsigned integer to floating point."""

    name = "arith.uitofp"
    CHECK = staticmethod(check_cast(is_plain_integer, is_float_like, None, "integer to floating point"))


@define
class FPToSIOp(_Cast):
    """Floating point to signed integer, towards zero."""

    name = "arith.fptosi"
    CHECK = staticmethod(check_cast(is_float_like, is_plain_integer, None, "floating point to integer"))


@define
class FPToUIOp(_Cast):
    """Floating point to unsigned integer, towards zero."""

    name = "arith.fptoui"
    CHECK = staticmethod(check_cast(is_float_like, is_plain_integer, None, "floating point to integer"))


@define
class BitcastOp(_Cast):
    """The same bits under another type of the same width."""

    name = "arith.bitcast"
    CHECK = staticmethod(check_cast(_is_number, _is_number, int.__eq__, "types of one width"))


def _check_index_cast(op: IRDLOperation) -> None:
    a, b = op.operands[0].type, op.results[0].type
    if (
        shape(a) != shape(b)
        or not {is_index(a), is_index(b)} == {True, False}
        or not (is_integer_like(a) and is_integer_like(b))
    ):
        raise VerifyException(f"expected a conversion between index and an integer type, got {a} to {b}")


@define
class IndexCastOp(_Cast):
    """Between `index` and an integer type."""

    name = "arith.index_cast"
    CHECK = staticmethod(_check_index_cast)
