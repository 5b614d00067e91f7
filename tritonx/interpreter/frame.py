"""The values of a function in slots of one list, and the end of its blocks: what both machines bind ops with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tritonx.dialects import cf
from tritonx.interpreter.execution import Function
from tritonx.interpreter.values import Array, Value

Slots = tuple[int, ...]
Step = TypeVar("Step")
"""What a machine makes of an op."""


@dataclass(slots=True)
class Branch:
    """How a block ends inside its region: the blocks it may go to, the slots it passes to each, the slot of the
    condition."""

    targets: tuple[int, ...]
    passed: tuple[Slots, ...]
    condition: int | None


@dataclass(slots=True)
class Code(Generic[Step]):
    """A block: slots of its arguments, its steps, and what it returns or where it goes."""

    arguments: Slots
    steps: list[Step]
    returned: Slots
    branch: Branch | None


class Frame:
    """The values of one function. A region is bound over the same frame, so that it sees the values around it."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._slots: dict[SSAValue, int] = {}

    def slot(self, value: SSAValue) -> int:
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = len(self.values)
            self.values.append(None)
        return found

    def slots(self, values: Iterable[SSAValue]) -> Slots:
        return tuple([self.slot(value) for value in values])

    def code(self, block: Block, steps: list[Step], numbers: dict[Block, int]) -> Code[Step]:
        """A block with the steps of all its ops but the terminator; ``numbers`` are those of its region's blocks."""
        arguments, last = self.slots(block.args), block.last_op
        if isinstance(last, cf.BranchOp):
            return Code(arguments, steps, (), Branch((numbers[last.successor],), (self.slots(last.arguments),), None))
        if isinstance(last, cf.ConditionalBranchOp):
            targets = numbers[last.then_block], numbers[last.else_block]
            passed = self.slots(last.then_arguments), self.slots(last.else_arguments)
            return Code(arguments, steps, (), Branch(targets, passed, self.slot(last.cond)))
        returned = self.slots(last.operands) if last is not None and is_terminator(last) else ()
        return Code(arguments, steps, returned, None)


def is_terminator(op: Operation) -> bool:
    """Whether the op ends a block and hands its operands to whoever runs the region."""
    return op.has_trait(IsTerminator)


def lane_by_lane(run: Function) -> Function:
    """A function of scalars, called for each lane of arrays."""

    def call(*lanes: Array) -> tuple[Array, ...]:
        arrays = np.broadcast_arrays(*lanes)
        outputs = [run(*(array[index] for array in arrays)) for index in np.ndindex(arrays[0].shape)]
        return tuple(np.array(column).reshape(arrays[0].shape) for column in zip(*outputs, strict=True))

    return call
