"""Floating-point arithmetic."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def

from tritonx.dialects.arith.checks import FLOAT_BINARY, FROM_RESULT, check_float
from tritonx.dialects.arith.flags import NO_FAST_MATH, FastMathFlagsAttr
from tritonx.dialects.effects import PURE, Effects
from tritonx.dialects.layout_constraints import ELEMENTWISE, LayoutConstraint
from tritonx.ir.declaration import TypeRules, same
from tritonx.ir.define import define


class FloatUnary(IRDLOperation):
    """A function of one floating-point number."""

    operand = operand_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FAST_MATH)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    TYPES: ClassVar[TypeRules] = {"operand": ("result", same)}

    def verify_(self) -> None:
        check_float(self)


class _FloatBinary(IRDLOperation):
    """Two operands and a result of one floating-point type."""

    lhs = operand_def()
    rhs = operand_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=NO_FAST_MATH)
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = FLOAT_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT

    def verify_(self) -> None:
        check_float(self)


@define
class AddfOp(_FloatBinary):
    """Sum."""

    name = "arith.addf"


@define
class SubfOp(_FloatBinary):
    """Difference."""

    name = "arith.subf"


@define
class MulfOp(_FloatBinary):
    """Product."""

    name = "arith.mulf"


@define
class DivfOp(_FloatBinary):
    """Quotient."""

    name = "arith.divf"


@define
class MaximumfOp(_FloatBinary):
    """Maximum; NaN if either is NaN."""

    name = "arith.maximumf"


@define
class MinimumfOp(_FloatBinary):
    """Minimum; NaN if either is NaN."""

    name = "arith.minimumf"


@define
class MaxnumfOp(_FloatBinary):
    """Maximum; the other one if one is NaN."""

    name = "arith.maxnumf"


@define
class MinnumfOp(_FloatBinary):
    """Minimum; the other one if one is NaN."""

    name = "arith.minnumf"


@define
class RemFOp(_FloatBinary):
    """Remainder with the sign of the dividend, as C's `fmod`."""

    name = "arith.remf"


@define
class NegfOp(FloatUnary):
    """Negation."""

    name = "arith.negf"
