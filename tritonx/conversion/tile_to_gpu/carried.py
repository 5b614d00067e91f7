"""Values that control flow carries: what enters a loop, goes round it and comes out has one layout.

A `Group` is a set of SSA values (block arguments, results of loops and conditionals) that must agree, and the
operands that flow into them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from tritonx.dialects import cf, scf
from tritonx.ir.types import is_tensor, type_of

Input = tuple[Operation, int]
"""An operand: the op and the operand's number."""


@dataclass(eq=False)
class Group:
    """`inputs` in program order: what enters before what comes back."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    inputs: list[Input] = field(default_factory=list[Input])

    def operands(self) -> list[SSAValue]:
        return [op.operands[number] for op, number in self.inputs]


def carried_groups(ops: Iterable[Operation]) -> list[Group]:
    """The groups of all tensors carried by these ops."""
    groups: list[Group] = []
    branches: dict[SSAValue, Group] = {}

    def add(values: Iterable[SSAValue], inputs: Iterable[Input]) -> None:
        kept = list(values)
        if kept and is_tensor(type_of(kept[0])):
            groups.append(Group(kept, list(inputs)))

    for op in ops:
        match op:
            case scf.ForOp():
                body = op.body.block
                end = _end(body)
                for i, result in enumerate(op.results):
                    add((body.args[1 + i], result), ((op, 3 + i), (end, i)))
            case scf.WhileOp():
                before, after = op.before_region.block, op.after_region.block
                condition, end = _end(before), _end(after)
                for i, argument in enumerate(before.args):
                    add((argument,), ((op, i), (end, i)))
                for i, result in enumerate(op.results):
                    add((after.args[i], result), ((condition, 1 + i),))
            case scf.IfOp() | scf.ExecuteRegionOp():
                ends = [_end(block) for region in op.regions if (block := region.blocks.last) is not None]
                for i, result in enumerate(op.results):
                    add((result,), [(end, i) for end in ends])
            case cf.BranchOp() | cf.ConditionalBranchOp():
                for block, first, count in _targets(op):
                    for i in range(count):
                        argument = block.args[i]
                        if not is_tensor(type_of(argument)):
                            continue
                        if argument not in branches:
                            branches[argument] = Group([argument])
                            groups.append(branches[argument])
                        branches[argument].inputs.append((op, first + i))
            case _:
                pass
    return groups


def _end(block: Block) -> Operation:
    last = block.last_op
    if last is None:
        raise ValueError("a block of structured control flow is empty")
    return last


def _targets(op: cf.BranchOp | cf.ConditionalBranchOp) -> list[tuple[Block, int, int]]:
    """(successor, number of its first operand, how many) for a branch."""
    if isinstance(op, cf.BranchOp):
        return [(op.successors[0], 0, len(op.operands))]
    taken = len(op.then_arguments)
    return [(op.successors[0], 1, taken), (op.successors[1], 1 + taken, len(op.else_arguments))]
