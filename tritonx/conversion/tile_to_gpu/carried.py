"""Values that control flow carries: what enters a loop, is carried by it and comes out has one layout.

A `Group` is a set of SSA values (block arguments, results of loops and conditionals) that must agree, and the
operands that flow into them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from tritonx.dialects import tile
from tritonx.dialects.control_flow import control_flow_of, edges_from, edges_within, is_per_element
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
    """The groups of all tensors carried by these ops. Values with the same inputs are one group: what an
    `scf.for` carries and what it leaves behind."""
    inputs: dict[SSAValue, list[Input]] = {}
    for op in ops:
        if control_flow_of(op) is None or isinstance(op, tile.FuncOp) or is_per_element(op):
            continue
        for edge in edges_within(op) if op.regions else edges_from(op) if op.successors else ():
            for number, value in enumerate(edge.arguments, edge.first):
                if is_tensor(type_of(value)):
                    known = inputs.setdefault(value, [])
                    if (edge.source, number) not in known:
                        known.append((edge.source, number))
    groups: dict[tuple[Input, ...], Group] = {}
    for value, given in inputs.items():
        groups.setdefault(tuple(given), Group([], given)).values.append(value)
    return list(groups.values())
