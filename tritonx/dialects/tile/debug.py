"""Printing and assertions on the device."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, StringAttr, i32
from xdsl.irdl import IRDLOperation, operand_def, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import OUTPUT, Effects
from tritonx.dialects.layout_constraints import ANY_LAYOUTS, LayoutConstraint
from tritonx.ir.define import define
from tritonx.ir.types import element_type, i1


@define
class PrintOp(IRDLOperation):
    """Prints scalars and tiles after a prefix; `isSigned` has one entry for each operand."""

    name = "tt.print"
    prefix = prop_def(StringAttr)
    hex = prop_def(BoolAttr)
    isSigned = prop_def(DenseArrayBase.constr(i32))
    args = var_operand_def()
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = OUTPUT
    FORMAT: ClassVar[str] = "$prefix attr-dict (`:` $args^ `:` type($args))?"

    def verify_(self) -> None:
        if len(self.isSigned.get_values()) != len(self.args):
            raise VerifyException(
                f"'isSigned' has {len(self.isSigned.get_values())} entries for {len(self.args)} operands"
            )


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
