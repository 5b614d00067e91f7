"""Unstructured control flow, `cf`: blocks that branch to blocks."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Attribute, Block, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.control_flow import Branch, ConditionalBranch, ControlFlow
from tritonx.dialects.effects import OUTPUT, PURE, Effects
from tritonx.dialects.layout_constraints import CARRIED_TYPES, NO_TENSORS, LayoutConstraint
from tritonx.ir.define import define


def _check_arguments(what: str, values: tuple[SSAValue, ...], block: Block) -> None:
    given: list[Attribute] = [value.type for value in values]
    taken: list[Attribute] = [argument.type for argument in block.args]
    if given != taken:
        raise VerifyException(
            f"{what} passes ({', '.join(map(str, given))}), the block takes ({', '.join(map(str, taken))})"
        )


@define
class BranchOp(IRDLOperation):
    """Goes to another block."""

    name = "cf.br"
    arguments = var_operand_def()
    successor = successor_def()
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = Branch()
    FORMAT: ClassVar[str] = "$successor (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"

    def verify_(self) -> None:
        _check_arguments("the branch", tuple(self.arguments), self.successor)


@define
class ConditionalBranchOp(IRDLOperation):
    """Goes to one of two blocks."""

    name = "cf.cond_br"
    cond = operand_def(i1)
    then_arguments = var_operand_def()
    else_arguments = var_operand_def()
    then_block = successor_def()
    else_block = successor_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = ConditionalBranch()
    FORMAT: ClassVar[str] = (
        "$cond `,` $then_block (`(` $then_arguments^ `:` type($then_arguments) `)`)? `,`"
        " $else_block (`(` $else_arguments^ `:` type($else_arguments) `)`)? attr-dict"
    )

    def verify_(self) -> None:
        _check_arguments("the branch taken when true", tuple(self.then_arguments), self.then_block)
        _check_arguments("the branch taken when false", tuple(self.else_arguments), self.else_block)


@define
class AssertOp(IRDLOperation):
    """Stops with a message unless a condition holds."""

    name = "cf.assert"
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = OUTPUT
    arg = operand_def(i1)
    msg = prop_def(StringAttr)
    FORMAT: ClassVar[str] = "$arg `,` $msg attr-dict"


Cf = Dialect("cf", [BranchOp, ConditionalBranchOp, AssertOp], [])

__all__ = ["AssertOp", "BranchOp", "Cf", "ConditionalBranchOp"]
