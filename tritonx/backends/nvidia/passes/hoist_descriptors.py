"""Descriptors that a kernel makes of its arguments alone are made once, at its beginning."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tritonx.analysis.launch_values import launch_values, needed
from tritonx.dialects import tile
from tritonx.ir.contract import Contract
from tritonx.ir.edit import move_before
from tritonx.ir.walk import ops_in


@dataclass(frozen=True)
class HoistDescriptors(ModulePass):
    """Makes descriptors of a kernel's arguments once, outside all loops and branches.

    A `tt.make_tensor_descriptor` in a region of a kernel, whose operands are computed of the kernel's arguments and
    constants by integer arithmetic, moves in front of the statement of the kernel's first block that has it inside,
    with the ops that compute its operands; from another block it moves to the first one's end. These have a meaning
    for all operands, so it does not matter that the kernel might not have come to them."""

    name = "hoist-descriptors"
    contract = Contract(("tt",), on=("tt.make_tensor_descriptor",), after=("inline",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tile.FuncOp) and function.is_kernel:
                if (entry := function.body.blocks.first) is not None:
                    _hoist(function, entry)


def _hoist(function: tile.FuncOp, entry: Block) -> None:
    made = [op for op in ops_in(function) if isinstance(op, tile.MakeTensorDescOp) and op.parent is not entry]
    if not made:
        return
    formulas = launch_values(function)
    for op in made:
        if all(operand in formulas for operand in op.operands):
            place = _in_entry(op, entry)
            for value in needed(formulas, list(op.operands)):
                if isinstance(value.owner, Operation) and value.owner.parent is not entry:
                    move_before(value.owner, place)
            move_before(op, place)


def _in_entry(op: Operation, entry: Block) -> Operation:
    """The statement of a function's first block in front of which what ``op`` needs is known."""
    around: Operation | None = op
    while around is not None and around.parent is not entry:
        around = around.parent_op()
        if isinstance(around, tile.FuncOp):
            around = entry.last_op
    assert around is not None, "a function's first block ends with an op"
    return around
