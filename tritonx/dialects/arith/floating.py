"""Floating-point arithmetic."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import arith as base
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.irdl import AnyAttr, IRDLOperation, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tritonx.dialects.arith.checks import FLOAT_BINARY, FROM_RESULT, check_float
from tritonx.ir.define import TypeRules, define, same
from tritonx.ir.derive import derive


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
