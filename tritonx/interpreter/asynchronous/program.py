"""A function bound for one group of warps: a coroutine that executes its ops and stops where it may have to wait.

As `interpreter/machine.py` does, every op is bound once and every value gets a slot in a frame. What differs is that a
step may *suspend*: its function is a generator, and so is everything around it. Tiles are whole: an op on tiles is
executed once for all warps of the group, by its meaning of `interpreter/meanings`. What warps do each by themselves,
touching shared memory and waiting, the functions of `asynchronous/meanings` do for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, cast

from xdsl.ir import Block, Operation, Region

from tritonx.dialects import tile
from tritonx.interpreter.asynchronous.by_effects import meaning_alone, meaning_by_effects
from tritonx.interpreter.asynchronous.group import Operations
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.interpreter.errors import KernelFault, UnsupportedInInterpreter
from tritonx.interpreter.execution import Execution, Function, LaneFunction
from tritonx.interpreter.frame import Code, Frame, Slots, is_terminator, lane_by_lane
from tritonx.interpreter.machine import is_straight_line, position_of, single_ufunc
from tritonx.interpreter.meanings import meaning_of
from tritonx.interpreter.values import Array, Value

if TYPE_CHECKING:
    from tritonx.interpreter.asynchronous.group import Group
    from tritonx.interpreter.asynchronous.machine import Machine

Wait = Callable[[], bool] | None
"""What a coroutine yields: None where others may go first, else what must hold before it goes on."""

Coroutine = Generator[Wait, None, tuple[Value, ...]]

Meaning = Callable[[Operation, "Program"], Function]
"""What an op does in the machine, bound for a group: a function of the op's operands, or a generator function."""

Table = dict[type[Operation], Meaning]


@dataclass(frozen=True)
class InFlight:
    """The result of a product that has been issued: the tile it is going to be, and the product."""

    value: Array
    product: Operations


@dataclass(slots=True)
class Step:
    """One op: call `function` on the operands' slots, put what it returns into the results' slots. `plain`: it is
    given tiles, never products under way."""

    function: Function
    operands: Slots
    results: Slots
    op: Operation
    suspends: bool
    plain: bool


class Program:
    """Binds the ops of one function, or of one partition, for a group; the `Binder` that meanings get."""

    def __init__(self, machine: Machine, group: Group) -> None:
        self.machine = machine
        self.group = group
        self._slots = Frame()
        self._frame = self._slots.values

    @property
    def execution(self) -> Execution:
        return self.machine.execution

    def coroutine(self, region: Region) -> Callable[..., Coroutine]:
        """The region as a function of its first block's arguments that gives a coroutine, whose result is what the
        terminator returns."""
        blocks = list(region.blocks)
        numbers = {block: n for n, block in enumerate(blocks)}
        code = [self._block(block, numbers) for block in blocks]

        def walk(*arguments: Value) -> Coroutine:
            if not code:
                return ()
            current, passed = code[0], arguments
            while True:
                returned = yield from self._run(current, passed)
                if current.branch is None:
                    return returned
                way = 0 if current.branch.condition is None or self._frame[current.branch.condition] else 1
                passed = tuple(self._frame[slot] for slot in current.branch.passed[way])
                current = code[current.branch.targets[way]]
                yield None

        return walk

    def region(self, region: Region) -> Function:
        """A region that never waits."""
        walk = self.coroutine(region)

        def run(*arguments: Value) -> tuple[Value, ...]:
            steps = walk(*arguments)
            try:
                while True:
                    next(steps)
            except StopIteration as end:
                return end.value

        return run

    def lanewise(self, region: Region) -> LaneFunction:
        run = self.region(region)
        if is_straight_line(region, self.machine.callee):
            return LaneFunction(run, single_ufunc(region))

        return LaneFunction(lane_by_lane(run))

    def callee(self, name: str) -> Callable[..., Coroutine]:
        """The module's function of this name, bound anew for each op that calls it."""
        bound: list[Callable[..., Coroutine]] = []

        def call(*arguments: Value) -> Coroutine:
            if not bound:
                function: tile.FuncOp = self.machine.callee(name)
                bound.append(Program(self.machine, self.group).coroutine(function.body))
            return bound[0](*arguments)

        return call

    def function(self, name: str) -> Function:
        """A function of the module that never waits: what combine regions call."""
        return Program(self.machine, self.group).region(self.machine.callee(name).body)

    # --- binding

    def _block(self, block: Block, numbers: dict[Block, int]) -> Code[Step]:
        steps: list[Step] = []
        last = block.last_op
        for op in block.ops:
            if op is last and is_terminator(op) and not op.results:
                break
            steps.append(self._step(op))
        return self._slots.code(block, steps, numbers)

    def _step(self, op: Operation) -> Step:
        own = self.machine.meanings.get(type(op))
        if self.machine.meeting is not None:
            own = meaning_alone(op) or own
        meaning = own or meaning_of(type(op)) or meaning_by_effects(op)
        if meaning is None:
            raise UnsupportedInInterpreter(f"the machine has no meaning for '{op.name}'").at(position_of(op), None)
        operands = self._slots.slots(op.operands)
        results = self._slots.slots(op.results)
        try:
            function = meaning(op, self)
        except KernelFault as fault:
            raise fault.at(position_of(op), None) from fault.__cause__
        return Step(function, operands, results, op, isgeneratorfunction(function), own is None)

    # --- running

    def _run(self, code: Code[Step], arguments: Sequence[Value]) -> Coroutine:
        frame = self._frame
        for slot, value in zip(code.arguments, arguments, strict=True):
            frame[slot] = value
        for step in code.steps:
            values: list[Value] = [frame[slot] for slot in step.operands]
            if step.plain:
                values = [self._settled(step.op, v) if type(v) is InFlight else v for v in values]
            self.machine.time += 1
            try:
                value: Value = step.function(*values)
                if step.suspends:
                    value = yield from cast(Coroutine, value)
            except KernelFault as fault:
                raise fault.at(position_of(step.op), self.execution.program) from fault.__cause__
            self._put(step.results, value)
        return tuple([frame[slot] for slot in code.returned])

    def _put(self, results: Slots, value: Value) -> None:
        """The only result, or a tuple of all of them."""
        if len(results) == 1:
            self._frame[results[0]] = value[0] if type(value) is tuple else value
        elif results:
            for slot, part in zip(results, cast(tuple[Value, ...], value), strict=True):
                self._frame[slot] = part

    def _settled(self, op: Operation, value: InFlight) -> Array:
        """The tile of a product, which must be over."""
        if not self.group.finished(value.product):
            self.machine.reports.add(Kind.IN_FLIGHT, op, "uses a result before a wait for it", value.product.op)
        return value.value
