"""Conversions between number types."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import arith as base
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.traits import Pure
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
from tritonx.ir.derive import derive


def _is_number(type_: Attribute) -> bool:
    return is_plain_integer(type_) or is_float_like(type_)


@derive(check=check_cast(is_plain_integer, is_plain_integer, int.__lt__, "a wider integer type"), traits=(Pure(),))
class ExtSIOp(base.ExtSIOp):
    """Widens an integer, copying the sign bit."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_plain_integer, is_plain_integer, int.__lt__, "a wider integer type"), traits=(Pure(),))
class ExtUIOp(base.ExtUIOp):
    """Widens an integer with zeros."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_plain_integer, is_plain_integer, int.__gt__, "a narrower integer type"), traits=(Pure(),))
class TruncIOp(base.TruncIOp):
    """Drops the upper bits of an integer."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_float_like, is_float_like, int.__lt__, "a wider floating-point type"), traits=(Pure(),))
class ExtFOp(base.ExtFOp):
    """Widens a floating-point number."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_float_like, is_float_like, int.__gt__, "a narrower floating-point type"), traits=(Pure(),))
class TruncFOp(base.TruncFOp):
    """Narrows a floating-point number, rounding to nearest even."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_plain_integer, is_float_like, None, "integer to floating point"), traits=(Pure(),))
class SIToFPOp(base.SIToFPOp):
    """Signed integer to floating point."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_plain_integer, is_float_like, None, "integer to floating point"), traits=(Pure(),))
class UIToFPOp(base.UIToFPOp):
    """Unsigned integer to floating point."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_float_like, is_plain_integer, None, "floating point to integer"), traits=(Pure(),))
class FPToSIOp(base.FPToSIOp):
    """Floating point to signed integer, towards zero."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(is_float_like, is_plain_integer, None, "floating point to integer"), traits=(Pure(),))
class FPToUIOp(base.FPToUIOp):
    """Floating point to unsigned integer, towards zero."""

    FORMAT: ClassVar[str] = CAST


@derive(check=check_cast(_is_number, _is_number, int.__eq__, "types of one width"), traits=(Pure(),))
class BitcastOp(base.BitcastOp):
    """The same bits under another type of the same width."""

    FORMAT: ClassVar[str] = CAST


def _check_index_cast(op: IRDLOperation) -> None:
    a, b = op.operands[0].type, op.results[0].type
    if (
        shape(a) != shape(b)
        or not {is_index(a), is_index(b)} == {True, False}
        or not (is_integer_like(a) and is_integer_like(b))
    ):
        raise VerifyException(f"expected a conversion between index and an integer type, got {a} to {b}")


@derive(check=_check_index_cast, traits=(Pure(),))
class IndexCastOp(base.IndexCastOp):
    """Between `index` and an integer type."""

    FORMAT: ClassVar[str] = CAST
