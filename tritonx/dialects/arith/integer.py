"""Integer arithmetic."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import arith as base
from xdsl.traits import Pure

from tritonx.dialects.arith.checks import FROM_RESULT, INTEGER_BINARY, OVERFLOW_BINARY, check_integer
from tritonx.ir.define import TypeRules
from tritonx.ir.derive import derive


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
