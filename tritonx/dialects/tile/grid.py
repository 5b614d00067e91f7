"""Grids that begin before the one in front of them is over (programmatic dependent launch)."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from tritonx.dialects.effects import ANYTHING, Effects, effects
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint
from tritonx.dialects.tile.elementwise import ElementwiseInlineAsmOp
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, spellings

WAIT, LAUNCH = "griddepcontrol.wait", "griddepcontrol.launch_dependents"
"""PTX ISA, "griddepcontrol": the assembly by which versions before 3.9 say it."""


def _assembly(instruction: str) -> str:
    """The op that versions before 3.9 have, as text."""
    attributes = '{constraints = "=r", packed_element = 1 : i32, pure = false}'
    return f'%0 = tt.elementwise_inline_asm "{instruction}; // dummy $0" {attributes} -> i32'


def _write(op: Operation, level: TextLevel, instruction: str) -> None:
    if level >= TextLevel.V3_9 or op.parent is None:
        return
    properties = {
        "asm_string": StringAttr(f"{instruction}; // dummy $0"),
        "constraints": StringAttr("=r"),
        "packed_element": IntegerAttr(1, i32),
        "pure": BoolAttr.from_bool(False),
    }
    made = ElementwiseInlineAsmOp.create(result_types=[i32], properties=properties, location=op.location)
    op.parent.insert_op_before(made, op)
    op.parent.erase_op(op)


@define
class GridDependencyWaitOp(IRDLOperation):
    """Waits until the grids that this one depends on are over, and sees what they wrote.

    Does nothing where no launch begins early: in launches without `launch_pdl`, and on targets without such
    launches."""

    name = "tt.grid_dependency_wait"
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(ANYTHING)
    FORMAT: ClassVar[str] = "attr-dict"
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: _assembly(WAIT), TextLevel.V3_9: "tt.grid_dependency_wait"},
        write=lambda op, level: _write(op, level, WAIT),
    )


@define
class GridDependencyLaunchDependentsOp(IRDLOperation):
    """Lets the grids that depend on this one begin, when all its programs have come here or are over."""

    name = "tt.grid_dependency_launch_dependents"
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(ANYTHING)
    FORMAT: ClassVar[str] = "attr-dict"
    SPELLINGS: ClassVar[Spellings] = spellings(
        {TextLevel.V3_6: _assembly(LAUNCH), TextLevel.V3_9: "tt.grid_dependency_launch_dependents"},
        write=lambda op, level: _write(op, level, LAUNCH),
    )
