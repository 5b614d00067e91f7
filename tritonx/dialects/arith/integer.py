"""Integer arithmetic."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Commutative

from tritonx.dialects.arith.checks import FROM_RESULT, INTEGER_BINARY, OVERFLOW_BINARY, check_integer, i1_like
from tritonx.dialects.arith.flags import MAY_OVERFLOW, IntegerOverflowAttr
from tritonx.dialects.effects import MAY_TRAP, PURE, Effects
from tritonx.dialects.layout_constraints import ELEMENTWISE, LayoutConstraint
from tritonx.ir.declaration import TypeRules, same
from tritonx.ir.define import define


class _IntegerBinary(IRDLOperation):
    """Two operands and a result of one integer type."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = INTEGER_BINARY
    TYPES: ClassVar[TypeRules] = FROM_RESULT

    def verify_(self) -> None:
        check_integer(self)


class _OverflowingBinary(_IntegerBinary):
    """One that can promise not to overflow."""

    overflow_flags = prop_def(IntegerOverflowAttr, default_value=MAY_OVERFLOW, prop_name="overflowFlags")
    FORMAT: ClassVar[str] = OVERFLOW_BINARY


@define
class AddiOp(_OverflowingBinary):
    """Sum, modulo 2^n."""

    name = "arith.addi"
    traits = traits_def(Commutative())


@define
class SubiOp(_OverflowingBinary):
    """Difference, modulo 2^n."""

    name = "arith.subi"


@define
class MuliOp(_OverflowingBinary):
    """Product, modulo 2^n."""

    name = "arith.muli"
    traits = traits_def(Commutative())


@define
class ShLIOp(_OverflowingBinary):
    """Shift left; shifting by the width or more is poison."""

    name = "arith.shli"


@define
class DivSIOp(_IntegerBinary):
    """Signed quotient, rounded towards zero."""

    name = "arith.divsi"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class DivUIOp(_IntegerBinary):
    """Unsigned quotient."""

    name = "arith.divui"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class RemSIOp(_IntegerBinary):
    """Remainder of the signed quotient; it has the sign of the dividend."""

    name = "arith.remsi"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class RemUIOp(_IntegerBinary):
    """Remainder of the unsigned quotient."""

    name = "arith.remui"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class FloorDivSIOp(_IntegerBinary):
    """Signed quotient, rounded down."""

    name = "arith.floordivsi"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class CeilDivSIOp(_IntegerBinary):
    """Signed quotient, rounded up."""

    name = "arith.ceildivsi"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class CeilDivUIOp(_IntegerBinary):
    """Unsigned quotient, rounded up."""

    name = "arith.ceildivui"
    EFFECTS: ClassVar[Effects] = MAY_TRAP


@define
class AndIOp(_IntegerBinary):
    """Bitwise and."""

    name = "arith.andi"
    traits = traits_def(Commutative())


@define
class OrIOp(_IntegerBinary):
    """Bitwise or."""

    name = "arith.ori"
    traits = traits_def(Commutative())


@define
class XOrIOp(_IntegerBinary):
    """Bitwise exclusive or."""

    name = "arith.xori"
    traits = traits_def(Commutative())


@define
class ShRSIOp(_IntegerBinary):
    """Shift right that copies the sign bit."""

    name = "arith.shrsi"


@define
class ShRUIOp(_IntegerBinary):
    """Shift right that shifts zeros in."""

    name = "arith.shrui"


@define
class MaxSIOp(_IntegerBinary):
    """Signed maximum."""

    name = "arith.maxsi"


@define
class MinSIOp(_IntegerBinary):
    """Signed minimum."""

    name = "arith.minsi"


@define
class MaxUIOp(_IntegerBinary):
    """Unsigned maximum."""

    name = "arith.maxui"


@define
class MinUIOp(_IntegerBinary):
    """Unsigned minimum."""

    name = "arith.minui"


class _ExtendedBinary(IRDLOperation):
    """A product of twice the width, as two numbers."""

    lhs = operand_def()
    rhs = operand_def()
    low = result_def()
    high = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$lhs `,` $rhs attr-dict `:` type($lhs)"
    TYPES: ClassVar[TypeRules] = {"rhs": ("lhs", same), "low": ("lhs", same), "high": ("lhs", same)}

    def verify_(self) -> None:
        check_integer(self)


@define
class MulSIExtendedOp(_ExtendedBinary):
    """Signed product: its low and its high half."""

    name = "arith.mulsi_extended"


@define
class MulUIExtendedOp(_ExtendedBinary):
    """Unsigned product: its low and its high half."""

    name = "arith.mului_extended"


@define
class AddUIExtendedOp(IRDLOperation):
    """Unsigned sum modulo 2^n, and whether it overflowed."""

    name = "arith.addui_extended"
    lhs = operand_def()
    rhs = operand_def()
    sum = result_def()
    overflow = result_def()
    traits = traits_def(Commutative())
    LAYOUTS: ClassVar[LayoutConstraint] = ELEMENTWISE
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"
    TYPES: ClassVar[TypeRules] = {"lhs": ("sum", same), "rhs": ("sum", same), "overflow": ("sum", i1_like)}

    def verify_(self) -> None:
        check_integer(self)
