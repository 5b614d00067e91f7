"""Printing and assertions on the device."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, i32
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import OUTPUT, Effects
from tritonx.dialects.layout_constraints import ANY_LAYOUTS, LayoutConstraint
from tritonx.ir.define import define
from tritonx.ir.types import element_type, i1, shape_of


@define
class PrintOp(IRDLOperation):
    """Prints scalars and tiles after a prefix; `isSigned` has one entry for each operand. `extents`, if it is there,
    has a shape for each: what lies behind it along an axis is not printed."""

    name = "tt.print"
    prefix = prop_def(StringAttr)
    hex = prop_def(BoolAttr)
    isSigned = prop_def(DenseArrayBase.constr(i32))
    extents = opt_prop_def(ArrayAttr[ArrayAttr[IntegerAttr]])
    args = var_operand_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = OUTPUT
    FORMAT: ClassVar[str] = "$prefix attr-dict (`:` $args^ `:` type($args))?"

    def verify_(self) -> None:
        if len(self.isSigned.get_values()) != len(self.args):
            raise VerifyException(
                f"'isSigned' has {len(self.isSigned.get_values())} entries for {len(self.args)} operands"
            )
        if self.extents is not None and [*map(len, self.extents)] != [len(shape_of(v.type)) for v in self.args]:
            raise VerifyException("'extents' has other ranks than the operands")

    def printed_shape(self, number: int) -> tuple[int, ...]:
        """The shape in front of an operand that is printed."""
        if self.extents is None:
            return shape_of(self.args[number].type)
        return tuple([extent.value.data for extent in self.extents.data[number]])


@define
class AssertOp(IRDLOperation):
    """Stops the kernel with a message unless every element of the condition is true."""

    name = "tt.assert"
    condition = operand_def()
    message = prop_def(StringAttr)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = OUTPUT
    FORMAT: ClassVar[str] = "$condition `,` $message attr-dict `:` type($condition)"

    def verify_(self) -> None:
        if element_type(self.condition.type) != i1:
            raise VerifyException(f"the condition must be i1, got {self.condition.type}")
