"""One launch of a kernel, executed by the interpreter in several ways on the same memory.

`Runs` compiles the launch to a `tt` module once. Each run begins with the memory as it was given and leaves the
contents of the arrays:

    recorded()    in order, with everything watched
    poisoned()    undefined lanes of masked loads are NaN, or the largest or smallest value
    backwards()   the programs in reverse order
    wide()        every float format is float64
    compiled()    by the host's compiled code
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.written import written_arguments
from tritonx.dialects import scf, tile
from tritonx.interpreter import fresh_memory
from tritonx.interpreter.arguments import bind_arguments
from tritonx.interpreter.execution import Execution
from tritonx.interpreter.ir_launch import bind
from tritonx.interpreter.machine import Machine
from tritonx.interpreter.memory import Memory, Range
from tritonx.interpreter.options import InterpreterOptions
from tritonx.interpreter.values import Poison, dtype_of, is_float
from tritonx.interpreter.watched import Saved, Watch, WatchedMemory
from tritonx.interpreter.widen import NotWidened, widened
from tritonx.ir.types import PointerType, element_type
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.launch.grids import program_at, three
from tritonx.tools.checking.arguments import Contents, arrays_of
from tritonx.tools.checking.launches import Unwrapped, asked

_OPTIONS = InterpreterOptions(debug=True, sanitize_overflow=False)
"""The kernel's assertions are executed."""

_LOCKS = (scf.WhileOp, tile.AtomicPollOp)
"""Loops that may wait for another program."""


class Runs:
    """See the head of the file. Without `keep` the contents of memory are not kept, and no run begins with them. Raises
    what compiling raises."""

    def __init__(self, launch: Unwrapped, seconds: float, *, keep: bool = True) -> None:
        self.launch = launch
        self.watch = Watch(seconds)
        self.memory = WatchedMemory(self.watch)
        with fresh_memory.unwatched():
            found = bind(launch.kernel, (), launch.arguments, _OPTIONS, memory=self.memory)
        self.module = found.module
        self._arguments, self._names = found.arguments, found.names
        self.arrays = arrays_of(launch.arguments)
        extents = launch.grid
        if callable(grid := launch.grid):
            extents = asked("the grid", lambda: grid({**launch.arguments, **launch.options}))
        self.grid = three(extents)
        self.saved: Saved | None = self.memory.save() if keep else None
        self._machine: Machine | None = None
        self._execution = Execution(self.grid, self.memory, watch=self.watch.wrap)
        self.ops = list(self.module.walk())

    @property
    def programs(self) -> int:
        """How many programs the grid has."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    def has(self, *kinds: type[Operation]) -> bool:
        """Whether the module has an op of one of these classes."""
        return any(isinstance(op, kinds) for op in self.ops)

    def contents(self) -> Contents:
        """The arrays as they are."""
        return {name: np.array(array) for name, array in self.arrays.items()}

    def recorded(self) -> Contents:
        """Raises `KernelFault`."""
        self._run(recording=True)
        return self.contents()

    def poisoned(self, ops: Iterable[Operation], poison: Poison = True) -> Contents:
        """The undefined lanes of these ops are `poison`. Raises `KernelFault`."""
        self.watch.poisoned, self.watch.poison = frozenset(ops), poison
        try:
            return self._again(lambda: self._run(recording=False))
        finally:
            self.watch.poisoned = frozenset()

    def backwards(self) -> Contents | None:
        """None where programs may wait for each other. Raises `KernelFault`."""
        if self.has(*_LOCKS):
            return None
        return self._again(lambda: self._run(recording=False, backwards=True))

    def masked_loads(self) -> list[Operation]:
        """Loads whose masked lanes are undefined."""
        loads = [op for op in self.ops if isinstance(op, tile.LoadOp)]
        return [op for op in loads if op.mask is not None and op.other is None]

    def compiled(self) -> Contents:
        """Raises what the launch raises."""
        kernel = self.launch.kernel
        plain = JITFunction(kernel.fn) if type(kernel) is not JITFunction else kernel

        def run() -> None:
            with fresh_memory.unwatched():
                plain[self.grid](**self.launch.arguments, **self.launch.options)

        return self._again(run)

    def _again(self, run: Callable[[], None]) -> Contents:
        """Run on the memory as it was given, and put back what the recorded run left."""
        assert self.saved is not None
        left = self.memory.save()
        assert left is not None
        self.memory.restore(self.saved)
        try:
            run()
            return self.contents()
        finally:
            self.memory.restore(left)

    def _run(self, *, recording: bool, backwards: bool = False) -> None:
        self.watch.start(self._execution, recording=recording)
        if recording:
            self.memory.start()
        with fresh_memory.unwatched():
            if self._machine is None:
                self._machine = Machine(self.module, self._execution)
            execute(self._machine, self._arguments, self._names, self.watch.begin, backwards=backwards)

    def some(self, module: ModuleOp, execution: Execution, chosen: Iterable[int]) -> None:
        """Some programs of the launch by their numbers, of a module that does what `self.module` does, with the
        execution's own watch; memory is as before, if it could be kept. Raises `KernelFault`."""
        machine = Machine(module, execution)
        values = bind_arguments(machine.entry(None), self._arguments, self.memory, self._names)
        run = machine.function(machine.entry(None).sym_name.data)
        self.watch.start(execution, recording=False)
        try:
            with np.errstate(all="ignore"), fresh_memory.unwatched():
                for number in chosen:
                    program = program_at(number, self.grid)
                    self.watch.begin(program)
                    execution.program = program
                    run(*values)
        finally:
            if self.saved is not None:
                self.memory.restore(self.saved)

    # In float64 ------------------------------------------------------------------------------------------------------

    def wide(self) -> Contents:
        """Only arrays of floats. Raises `NotWidened`, `KernelFault`."""
        module = widened(self.module)
        kernel = Machine(self.module, self._execution).entry(None)
        pointers = {
            name: (cast(int, value), element.pointee)
            for name, value, type_ in zip(self._names, self._arguments, kernel.function_type.inputs.data, strict=True)
            if isinstance(element := element_type(type_), PointerType)
        }
        left = self.memory.save()
        assert left is not None and self.saved is not None
        self.memory.restore(self.saved)
        try:
            memory, moved, found = self._widened_memory({n: (a, dtype_of(t)) for n, (a, t) in pointers.items()})
            arguments = [moved.get(name, value) for name, value in zip(self._names, self._arguments, strict=True)]
            execution = Execution(self.grid, memory)
            with fresh_memory.unwatched():
                execute(Machine(module, execution), arguments, self._names, lambda p: _begin(execution, p))
            return found()
        finally:
            self.memory.restore(left)

    def _widened_memory(
        self, pointers: dict[str, tuple[int, np.dtype]]
    ) -> tuple[Memory, dict[str, object], Callable[[], Contents]]:
        memory, moved = Memory(), dict[str, object]()
        made: dict[str, tuple[np.ndarray, Range]] = {}
        for where in self.memory.ranges:
            inside = {n: (a, d) for n, (a, d) in pointers.items() if where.base <= a < where.end}
            kinds = {d for _, d in inside.values()}
            if not any(map(is_float, kinds)):
                memory.register_range(where.base, where.size, where.name, keeper=where.keeper)
                continue
            if len(kinds) > 1 or where.base % (size := min(d.itemsize for d in kinds)):
                raise NotWidened(f"{where.name} is memory of several formats")
            with np.errstate(all="ignore"):
                wide = where.elements(kinds.pop())[1].astype(np.float64)
            base = memory.register(wide, where.name)
            for name, (address, _) in inside.items():
                moved[name] = base + (address - where.base) // size * wide.itemsize
                made[name] = (wide, where)

        def found() -> Contents:
            return {n: _same_elements(self.arrays[n], *made[n]) for n in made if n in self.arrays}

        return memory, moved, found

    # Arguments -------------------------------------------------------------------------------------------------------

    def stored(self) -> list[str]:
        """The arrays that the kernel may write, in order, as far as pointers are followed."""
        kernel = Machine(self.module, self._execution).entry(None).sym_name.data
        written = [self._names[index] for index in written_arguments(self.module, kernel)]
        return [name for name in self.arrays if name in written]

    def loads(self) -> bool:
        """Whether the kernel loads anything."""
        kinds = (tile.LoadOp, tile.AtomicRMWOp, tile.AtomicCASOp, tile.AtomicLoadOp, tile.AtomicPollOp)
        return self.has(*kinds) or any(op.name.startswith("tt.descriptor") for op in self.ops)

    def waits(self) -> bool:
        """Whether programs may wait for each other, and are promised that all run at the same time."""
        return bool(self.launch.options.get("launch_cooperative_grid")) and self.has(*_LOCKS)

    def unknown(self) -> list[str]:
        """Pointers whose arrays are not known, and so not compared."""
        types = Machine(self.module, self._execution).entry(None).function_type.inputs.data
        pointers = (isinstance(element_type(t), PointerType | tile.TensorDescType) for t in types)
        return [n for n, p in zip(self._names, pointers, strict=True) if p and n not in self.arrays]


def _begin(execution: Execution, program: tuple[int, int, int]) -> None:
    execution.program = program


def execute(
    machine: Machine,
    arguments: list[object],
    names: list[str],
    begin: Callable[[tuple[int, int, int]], None],
    *,
    backwards: bool = False,
) -> None:
    """Run the kernel of a module over the grid of the machine's execution; `begin` is told of each program."""
    kernel = machine.entry(None)
    values = bind_arguments(kernel, arguments, machine.execution.memory, names)
    run = machine.function(kernel.sym_name.data)
    x, y, z = machine.execution.grid
    programs = itertools.product(range(z), range(y), range(x))
    with np.errstate(all="ignore"):
        for c, b, a in reversed(list(programs)) if backwards else programs:
            begin((a, b, c))
            run(*values)


def _same_elements(array: np.ndarray, wide: np.ndarray, where: Range) -> np.ndarray:
    """The elements of `wide` that are those of `array` in the range `where`."""
    start = (array.__array_interface__["data"][0] - where.base) // array.itemsize
    strides = [s // array.itemsize * wide.itemsize for s in array.strides]
    return np.lib.stride_tricks.as_strided(wide[start:], array.shape, strides).copy()
