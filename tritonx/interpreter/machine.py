"""Executes a tile module: function by function into a list of steps, program by program over the grid.

Every op is bound once (`execution.py` says what that means) and every value of a function gets a slot in one list,
its frame. Running a block is then a loop over (function, operand slots, result slots), about a microsecond an op
above NumPy's own time. A region is a function over the same frame, so that it sees the values around it. A frame is
reused for every program and call: device functions do not recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from tritonx.dialects import arith, cf, tile
from tritonx.interpreter.arguments import bind_arguments, normalise_grid
from tritonx.interpreter.errors import InvalidLaunch, KernelFault, RecursiveCall, UnsupportedInInterpreter
from tritonx.interpreter.execution import Execution, Function, LaneFunction
from tritonx.interpreter.frame import Code, Frame, Slots, is_terminator, lane_by_lane
from tritonx.interpreter.meanings import meaning_of
from tritonx.interpreter.memory import Memory
from tritonx.interpreter.values import Value, dtype_of
from tritonx.ir.source import source_of


@dataclass(slots=True)
class Step:
    """One op: call `function` on the operands' slots, put what it returns into the results' slots."""

    function: Function
    operands: Slots
    results: Slots
    op: Operation


class FunctionBinder:
    """Binds the ops of one function; the `Binder` that their meanings get."""

    def __init__(self, machine: Machine, function: tile.FuncOp) -> None:
        self.execution = machine.execution
        self._machine = machine
        self._slots = Frame()
        self._frame = self._slots.values
        self._running = False
        self._name: str = function.sym_name.data
        self._body = self.region(function.body)

    def __call__(self, *arguments: Value) -> tuple[Value, ...]:
        """Run the function."""
        if self._running:
            raise RecursiveCall(f"@{self._name} calls itself")
        self._running = True
        try:
            return self._body(*arguments)
        finally:
            self._running = False

    def function(self, name: str) -> Function:
        # Bound when it is called: the callee may be further down, or (wrongly) this very function.
        machine = self._machine
        return lambda *arguments: machine.function(name)(*arguments)

    def region(self, region: Region) -> Function:
        blocks = list(region.blocks)
        if not blocks:
            return lambda *arguments: ()
        numbers = {block: n for n, block in enumerate(blocks)}
        code = [self._block(block, numbers) for block in blocks]
        if len(code) == 1:
            return lambda *arguments: self._run(code[0], arguments)
        return lambda *arguments: self._walk(code, arguments)

    def lanewise(self, region: Region) -> LaneFunction:
        run = self.region(region)
        if is_straight_line(region, self._machine.callee):
            return LaneFunction(run, single_ufunc(region))

        return LaneFunction(lane_by_lane(run))

    def _block(self, block: Block, numbers: dict[Block, int]) -> Code[Step]:
        steps: list[Step] = []
        last = block.last_op
        for op in block.ops:
            if op is last and (
                isinstance(op, cf.BranchOp | cf.ConditionalBranchOp) or (not op.results and is_terminator(op))
            ):
                break
            meaning = meaning_of(type(op))
            if meaning is None:
                raise UnsupportedInInterpreter(f"the interpreter has no meaning for '{op.name}'").at(
                    position_of(op), None
                )
            results = self._slots.slots(op.results)
            operands = self._slots.slots(op.operands)
            try:
                function = meaning(op, self)
                watch = self.execution.watch
                steps.append(Step(function if watch is None else watch(op, function), operands, results, op))
            except KernelFault as fault:
                raise fault.at(position_of(op), None) from fault.__cause__
        return self._slots.code(block, steps, numbers)

    def _run(self, code: Code[Step], arguments: Sequence[Value]) -> tuple[Value, ...]:
        frame = self._frame
        for slot, value in zip(code.arguments, arguments, strict=True):
            frame[slot] = value
        step: Step | None = None
        try:
            for step in code.steps:
                value = step.function(*[frame[slot] for slot in step.operands])
                results = step.results
                if len(results) == 1:
                    frame[results[0]] = value[0] if type(value) is tuple else value
                elif results:
                    for slot, part in zip(results, value, strict=True):
                        frame[slot] = part
        except KernelFault as fault:
            assert step is not None
            raise fault.at(position_of(step.op), self.execution.program) from fault.__cause__
        return tuple([frame[slot] for slot in code.returned])

    def _walk(self, code: list[Code[Step]], arguments: Sequence[Value]) -> tuple[Value, ...]:
        current, frame = code[0], self._frame
        while True:
            returned = self._run(current, arguments)
            branch = current.branch
            if branch is None:
                return returned
            way = 0 if branch.condition is None or frame[branch.condition] else 1
            current = code[branch.targets[way]]
            arguments = [frame[slot] for slot in branch.passed[way]]


class Machine:
    """A module, bound for one execution."""

    def __init__(self, module: ModuleOp, execution: Execution) -> None:
        self.execution = execution
        self._functions: dict[str, tile.FuncOp] = {}
        for op in module.body.block.ops:
            if isinstance(op, tile.FuncOp):
                self._functions[op.sym_name.data] = op
        self._bound: dict[str, FunctionBinder] = {}

    def callee(self, name: str) -> tile.FuncOp:
        """The function of this name. Raises `InvalidLaunch` where there is none."""
        function = self._functions.get(name)
        if function is None:
            raise InvalidLaunch(
                f"the module has no function @{name}; it has {', '.join(f'@{n}' for n in self._functions)}"
            )
        return function

    def function(self, name: str) -> FunctionBinder:
        """The function of this name, bound at its first use."""
        bound = self._bound.get(name)
        if bound is None:
            bound = self._bound[name] = FunctionBinder(self, self.callee(name))
        return bound

    def entry(self, name: str | None) -> tile.FuncOp:
        """The kernel to run: the function called `name`, or the module's only public one."""
        if name is not None:
            return self.callee(name)
        kernels = [f for f in self._functions.values() if f.is_kernel]
        if len(kernels) != 1:
            names = ", ".join(f"@{f.sym_name.data}" for f in kernels) or "none"
            raise InvalidLaunch(f"say which function to run: the module has {names} that may be launched")
        return kernels[0]


def interpret(
    module: ModuleOp,
    grid: int | Sequence[int],
    args: Sequence[object],
    *,
    function: str | None = None,
    memory: Memory | None = None,
    poison: bool = False,
    check_assertions: bool = True,
    output: TextIO | None = None,
    arg_names: Sequence[str] | None = None,
) -> None:
    """Run a kernel of `module` over `grid`, the programs in order, x fastest.

    `args` has one value for each of the kernel's arguments: a NumPy array (or an address, an int) for a pointer, a
    number for a number, a `Descriptor` or host tensor descriptor for a descriptor. Arrays are read and written in
    place. `memory` may hold further ranges that the kernel reaches through pointers in memory. `poison` and `output`:
    see `Execution`.

    Raises a `KernelFault` with the kernel's line where the kernel does something wrong, `InvalidLaunch` where the
    arguments do not fit.

    >>> x = np.arange(4.0)
    >>> module = tritonx.interpreter.launch(double, (1,), x, BLOCK=4)
    >>> tritonx.interpreter.interpret(module, 1, [x])
    >>> x.tolist()
    [0.0, 4.0, 8.0, 12.0]
    """
    execution = Execution(
        grid=normalise_grid(grid),
        memory=Memory() if memory is None else memory,
        poison=poison,
        check_assertions=check_assertions,
        output=output,
    )
    machine = Machine(module, execution)
    kernel = machine.entry(function)
    values = bind_arguments(kernel, args, execution.memory, arg_names)
    run = machine.function(kernel.sym_name.data)
    x_extent, y_extent, z_extent = execution.grid
    with np.errstate(all="ignore"):
        for z in range(z_extent):
            for y in range(y_extent):
                for x in range(x_extent):
                    execution.program = (x, y, z)
                    run(*values)


def position_of(op: Operation) -> str | None:
    """`file:line` of the op in the kernel's source, with the lines of the calls it was inlined through."""
    positions = source_of(op)
    if not positions:
        return None
    head, *callers = positions
    text = f"{head.file}:{head.line}"
    return text + "".join(f" (called from {position.file}:{position.line})" for position in callers)


_ONE_UFUNC: dict[type[Operation], np.ufunc] = {
    arith.AddiOp: np.add,
    arith.AddfOp: np.add,
    arith.MuliOp: np.multiply,
    arith.MulfOp: np.multiply,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}


def single_ufunc(region: Region) -> np.ufunc | None:
    """The NumPy function that a combine region of one op is, for the dtypes on which NumPy repeats it step by step."""
    block = region.blocks.first
    if block is None or len(block.args) != 2 or block.first_op is None or block.first_op.next_op is not block.last_op:
        return None
    op = block.first_op
    dtype = dtype_of(op.results[0].type) if op.results else np.dtype(np.bool_)
    wide = dtype.kind == "i" or (dtype.kind == "f" and dtype.itemsize >= 4)
    same = (
        set(op.operands) == set(block.args)
        and block.last_op is not None
        and tuple(block.last_op.operands) == op.results
    )
    if not wide or not same:
        return None
    return _ONE_UFUNC.get(type(op))


def is_straight_line(region: Region, callee: Callable[[str], tile.FuncOp]) -> bool:
    """Whether the region, functions that it calls included, does the same on every lane: no branches, no nested
    regions."""
    blocks = list(region.blocks)
    if len(blocks) != 1:
        return False
    for op in blocks[0].ops:
        if op.regions:
            return False
        if isinstance(op, tile.CallOp) and not is_straight_line(callee(op.callee.root_reference.data).body, callee):
            return False
    return True
