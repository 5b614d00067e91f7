"""Which values of a module are offsets: what addresses are computed from by sums and products."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.control_flow import comes_from, is_per_element

_MOVES = (tile.AddPtrOp, tile.AdvanceOp, tile.DescriptorLoadOp, tile.DescriptorStoreOp)
"""Ops that add their operands behind the first one to an address."""

_ENDS = (
    *(arith.CmpiOp, arith.CmpfOp, arith.RemSIOp, arith.RemUIOp, arith.DivUIOp, arith.AndIOp, arith.ShRUIOp),
    *(arith.XOrIOp, tile.LoadOp, tile.DescriptorLoadOp, tile.DescriptorGatherOp, tile.AtomicRMWOp, tile.AtomicCASOp),
    *(tile.AtomicLoadOp, tile.AtomicPollOp, tile.FuncOp),
)
"""Ops whose result is no offset although an operand may be one: what was loaded or compared, and what is computed from
numbers that wrap around on purpose, such as hashes."""


def address_values(module: Operation) -> set[SSAValue]:
    """The values, of any type, that become part of an address."""
    left = [value for op in module.walk() if isinstance(op, _MOVES) for value in op.operands[1:]]
    found: set[SSAValue] = set()
    while left:
        value = left.pop()
        if value not in found:
            found.add(value)
            left += _behind(value)
    return found


def _behind(value: SSAValue) -> Sequence[SSAValue]:
    """One step back. What a loop carries is followed by its place; of a selection, the condition is not followed."""
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if isinstance(loop, scf.ForOp) and value.index == 0:
            return (loop.lb, loop.step)
        return comes_from(value)
    op = value.owner
    if not isinstance(op, Operation) or isinstance(op, _ENDS):
        return ()
    if isinstance(op, arith.SelectOp):
        return op.operands[1:]
    return comes_from(value) if op.regions and not is_per_element(op) else op.operands
