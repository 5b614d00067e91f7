"""A memory and a watch over the ops of a module: finds what a kernel does wrong beyond faults.

    watch = Watch(); memory = WatchedMemory(watch)
    bound = bind(kernel, args, {}, memory=memory)
    watch.start(execution := Execution(grid, memory, watch=watch.wrap))

`Watch.wrap` is `Execution.watch`: it tells the memory which op accesses it, and looks at the integer arithmetic of
addresses (`address_values.py`). What is found is a `Flaw` of the kind `race`, `barrier` (both by `shadow.py`), `lanes`,
`view`, `overflow` or `assertion` (`promised_accesses.py`): once for each kind and op, in `Watch.flaws`. A program that
takes longer than it may is ended by `EndlessProgram`. What the kinds are is in `tools/checking/report.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from tritonx import level
from tritonx.dialects import arith, tile
from tritonx.dialects.layout_constraints import (
    NO_TENSORS,
    AnyLayouts,
    Broadcast,
    CarriedTypes,
    Elementwise,
    ExpandDims,
    FromScalars,
    NoTensors,
    SameLayout,
)
from tritonx.dialects.tile.enums import MemSemantic
from tritonx.frontend.errors import LIBRARY
from tritonx.interpreter.address_values import address_values
from tritonx.interpreter.errors import KernelFault
from tritonx.interpreter.execution import Execution, Function
from tritonx.interpreter.memory import Lanes, Memory, Range, byte_bounds
from tritonx.interpreter.promised_accesses import WideAccess, wide_accesses
from tritonx.interpreter.scalar_loads import reaches_all_lanes
from tritonx.interpreter.shadow import ALL, Access, Conflict, Programs, Shadow, repeated
from tritonx.interpreter.values import Array, Poison
from tritonx.ir.source import source_of
from tritonx.ir.types import element_type, i32, is_tensor, type_of
from tritonx.runtime.errors import InterpreterError

MOST_SAVED = 1 << 28
"""Bytes of a memory whose contents are saved and compared."""


class EndlessProgram(KernelFault):
    """A program accesses memory after its time is over: a loop does not end."""


class LaunchTooLarge(InterpreterError):
    """The launch as a whole takes longer than it may."""


WHOLE_LAUNCH = 6
"""How often the time of one program a launch may take."""


@dataclass(frozen=True)
class Flaw:
    """What `op` does wrong."""

    kind: str
    message: str
    op: Operation | None


_ATOMIC = (tile.AtomicRMWOp, tile.AtomicCASOp, tile.AtomicLoadOp, tile.AtomicStoreOp, tile.AtomicPollOp,
           tile.DescriptorReduceOp)  # fmt: skip
_READING = (tile.LoadOp, tile.AtomicLoadOp, tile.AtomicPollOp)
_ACCESSES = (
    *(tile.LoadOp, tile.StoreOp, tile.DescriptorLoadOp, tile.DescriptorStoreOp),
    *(tile.DescriptorGatherOp, tile.DescriptorScatterOp, tile.AssertOp, *_ATOMIC),
)
_MAY_OVERFLOW: dict[type[Operation], np.ufunc] = {
    arith.AddiOp: np.add, arith.SubiOp: np.subtract, arith.MuliOp: np.multiply,
}  # fmt: skip

_LANEWISE = (AnyLayouts, Broadcast, CarriedTypes, Elementwise, ExpandDims, FromScalars, NoTensors)
"""Layout constraints of ops that leave values in their lanes."""


def synchronises_lanes(op: Operation) -> bool:
    """Whether lanes wait for each other at the op: a barrier, or an op that moves values between lanes."""
    if op.name in ("gpu.barrier", "ttg.barrier") or isinstance(op, tile.ReduceOp | tile.ScanOp):
        return True
    constraint: object = getattr(op, "LAYOUTS", NO_TENSORS)
    if isinstance(op, _ATOMIC):
        return _emits_barrier(op)
    if isinstance(op, _ACCESSES) or isinstance(constraint, _LANEWISE):
        return False
    return not isinstance(constraint, SameLayout) or bool(constraint.besides)


def _emits_barrier(op: Operation) -> bool:
    """Whether the code of an atomic operation has a barrier (`conversion/gpu_to_llvm/atomic.py`): a scalar result that
    is used reaches all lanes through shared memory; what acquires or releases does so for all lanes, updates only from
    level 3.9 on."""
    if isinstance(op, tile.AtomicPollOp):
        return True
    if op.results and op.results[0].first_use is not None and not is_tensor(type_of(op.results[0])):
        return True
    if _relaxed(op):
        return False
    return isinstance(op, tile.AtomicLoadOp | tile.AtomicStoreOp) or level.active().meets_at_updates


def user_line(op: Operation | None) -> tuple[str, int, int] | None:
    """File, line and column (from 1) of an op, of the innermost call that is not in tritonx's own library."""
    known = [] if op is None else [p for p in source_of(op) if not p.file.startswith(LIBRARY)]
    return (known[0].file, known[0].line, known[0].column) if known else None


class Watch:
    """See the head of the file. `seconds`: of one program; `poisoned`: ops whose undefined lanes hold `poison`."""

    def __init__(self, seconds: float = 10.0) -> None:
        self.flaws: list[Flaw] = []
        self.ops: list[Operation] = []
        self.op: Operation | None = None
        self.poisoned: frozenset[Operation] = frozenset()
        self.poison: Poison = True
        self.seconds = seconds
        self.deadline = self._over = time.monotonic() + seconds
        self.programs = Programs(0)
        self.recording = True
        self._numbers: dict[Operation, int] = {}
        self._reported: set[tuple[str, Operation | None]] = set()
        self._addresses: set[SSAValue] | None = None
        self._wide: dict[Operation, WideAccess] | None = None
        self._execution: Execution | None = None

    def start(self, execution: Execution, *, recording: bool) -> None:
        """A run begins; accesses are followed where `recording` is set."""
        x, y, z = execution.grid
        self._execution, self.recording = execution, recording
        self.programs = Programs(x * y * z)
        self._over = time.monotonic() + WHOLE_LAUNCH * self.seconds

    def begin(self, program: tuple[int, int, int]) -> None:
        """A program begins."""
        assert self._execution is not None
        self._execution.program = (x, y, z) = program
        if (now := time.monotonic()) > self._over:
            raise LaunchTooLarge(f"the launch was not over after {WHOLE_LAUNCH * self.seconds:g} s")
        self.deadline = now + self.seconds
        extents = self._execution.grid
        self.programs.begin(1 + x + extents[0] * (y + extents[1] * z))

    def report(self, kind: str, message: str, op: Operation | None = None) -> None:
        """Keep what the running op does wrong."""
        op = op or self.op
        if (kind, op) not in self._reported:
            self._reported.add((kind, op))
            self.flaws.append(Flaw(kind, message, op))

    def program_name(self, number: int) -> str:
        """The program of a number as its index in the grid."""
        assert self._execution is not None
        x, y, _ = self._execution.grid
        number -= 1
        return str((number % x, number // x % y, number // (x * y)))

    def number(self) -> int:
        """Of the running op in `ops`."""
        assert self.op is not None
        if self.op not in self._numbers:
            self._numbers[self.op] = len(self.ops)
            self.ops.append(self.op)
        return self._numbers[self.op]

    # Ops -------------------------------------------------------------------------------------------------------------

    def wrap(self, op: Operation, function: Function) -> Function:
        """`Execution.watch`."""
        if isinstance(op, _ACCESSES):
            return self._access(op, function)
        if synchronises_lanes(op):
            return self._synchronising(function)
        combine = _MAY_OVERFLOW.get(type(op))
        if combine is not None and element_type(type_of(op.results[0])) == i32 and self._in_address(op):
            return self._sum(op, function, combine)
        return function

    def _access(self, op: Operation, function: Function) -> Function:
        synchronises = synchronises_lanes(op)
        if self._wide is None:
            self._wide = wide_accesses(top) if isinstance(top := _top(op), ModuleOp) else {}
        wide = self._wide.get(op)
        masked = isinstance(op, tile.LoadOp | tile.StoreOp) and op.mask is not None
        mask = 1 if isinstance(op, tile.LoadOp) else 2

        def access(*operands: Array) -> object:
            self.op = op
            if wide is not None and self.recording and not wide.holds(operands[0], operands[mask] if masked else None):
                text = "what tl.multiple_of, tl.max_contiguous or tl.max_constancy promises does not hold"
                self.report("assertion", f"{text}: {wide.count} neighbours are accessed at once", op)
            execution = self._execution
            if execution is not None:
                execution.poison = self.poison if op in self.poisoned else False
            found = function(*operands)
            if synchronises:
                self.programs.epoch += 1
            return found

        return access

    def _synchronising(self, function: Function) -> Function:
        def synchronising(*operands: Array) -> object:
            self.programs.epoch += 1
            return function(*operands)

        return synchronising

    def _sum(self, op: Operation, function: Function, combine: np.ufunc) -> Function:
        def checked(left: Array, right: Array) -> object:
            found = function(left, right)
            wide = combine(left, right, dtype=np.int64)
            if self.recording and bool(np.any(wide != found)):
                worst = int(np.ravel(wide)[np.argmax(np.abs(np.ravel(wide)))])
                self.report("overflow", f"an offset of {worst} does not fit 32 bits", op)
            return found

        return checked

    def _in_address(self, op: Operation) -> bool:
        if self._addresses is None:
            self._addresses = address_values(_top(op))
        return op.results[0] in self._addresses


def _top(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


# Memory --------------------------------------------------------------------------------------------------------------


@dataclass
class _Gaps:
    """Bytes from the first to the last of a strided array, from `low`, that are no element of any array."""

    low: int
    flags: Array
    name: str


@dataclass
class Saved:
    """The contents of a memory: each range's bytes, and which of them were written."""

    contents: list[tuple[Range, Array, Array | None]] = field(default_factory=list[tuple[Range, Array, "Array | None"]])


_BYTES = np.dtype(np.uint8)
NO_LANES = Lanes((0,))
"""Of an access that is no tile's."""


class WatchedMemory(Memory):
    """A memory that follows its accesses for a `Watch`."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch
        self._shadows: dict[int, Shadow] = {}
        self._reaching: dict[Operation | None, bool] = {}
        self._arrays: list[tuple[np.ndarray, str]] = []
        self._gaps: list[_Gaps] | None = None
        """Made of `_arrays` when all are known."""
        self._inner = False

    @property
    def ranges(self) -> tuple[Range, ...]:
        """By address."""
        return tuple(self._ranges)

    def register(
        self, array: np.ndarray, name: str, *, initialised: bool = True, written: np.ndarray | None = None
    ) -> int:
        if array.size:
            self._arrays.append((array, name))
            self._gaps = None
        return super().register(array, name, initialised=initialised, written=written)

    def start(self) -> None:
        """Forget the accesses so far."""
        self._shadows.clear()

    def load(self, addresses: np.ndarray, dtype: np.dtype, lanes: Lanes = NO_LANES) -> np.ndarray:
        if self._inner:
            return super().load(addresses, dtype, lanes)
        self._tick()
        self._inner = True
        try:
            found = super().load(addresses, dtype, lanes)
        finally:
            self._inner = False
        if self.watch.recording and addresses.size:
            self._check_view(addresses, "reads", lanes)
            self._note(addresses, dtype.itemsize, lanes, None)
        return found

    def store(self, addresses: np.ndarray, values: np.ndarray, lanes: Lanes = NO_LANES) -> None:
        if self._inner or not self.watch.recording or not addresses.size:
            self._tick()
            return super().store(addresses, values, lanes)
        self._tick()
        self._inner = True
        try:
            if self._find(addresses, values.dtype, "writes", lanes) is None:
                old: Array | None = None
            else:
                old = self._peek(addresses, values.dtype)
            super().store(addresses, values, lanes)
        finally:
            self._inner = False
        self._check_view(addresses, "writes", lanes)
        if isinstance(self.watch.op, _ATOMIC) and not isinstance(self.watch.op, tile.AtomicStoreOp):
            return  # its load has been noted
        index = repeated(addresses, values)
        if index is not None:
            where = self._element(int(addresses[index]), values.dtype.itemsize)
            self.watch.report("lanes", f"several lanes of one store write different values to {where}")
        changes = np.ones(addresses.shape, np.bool_) if old is None else _bits(old) != _bits(values)
        self._note(addresses, values.dtype.itemsize, lanes, changes)

    def _peek(self, addresses: Array, dtype: np.dtype) -> Array:
        """What is there, written or not."""
        where = self._range_of(int(addresses[0]))
        assert where is not None
        start, elements = where.elements(dtype)
        return elements[(addresses - start) // dtype.itemsize]

    def _tick(self) -> None:
        if time.monotonic() > self.watch.deadline:
            raise EndlessProgram(f"the program was not over after {self.watch.seconds:g} s")

    def _note(self, addresses: Array, size: int, lanes: Lanes, changes: Array | None) -> None:
        """An access of elements of `size` bytes; `changes`: which ones a store changes, None for a load or atomic."""
        op = self.watch.op
        atomic = isinstance(op, _ATOMIC) or (isinstance(op, tile.LoadOp) and bool(op.isVolatile.value.data))
        number = self.watch.number()
        which = np.arange(addresses.size) if lanes.active is None else np.flatnonzero(lanes.active)
        if which.size != addresses.size:  # an atomic operation in rounds
            which = np.arange(addresses.size)
        if changes is None and not atomic and lanes.shape == () and self._reaches_all(op):
            which = np.full(addresses.size, ALL)
        acquires, releases = _orders(op) if atomic else (False, False)
        if acquires:
            self.watch.programs.acquire(addresses)
        if releases:
            self.watch.programs.release(addresses)
        bases = np.array(self._bases, dtype=np.int64)
        owners = np.searchsorted(bases, addresses, side="right") - 1
        for owner in [int(owners[0])] if bool((owners == owners[0]).all()) else np.unique(owners).tolist():
            mine = owners == owner
            shadow = self._shadow(self._ranges[owner], size)
            access = Access(number, which[mine].astype(np.int32), atomic)
            programs = self.watch.programs
            if changes is None and (not atomic or isinstance(op, _READING)):
                conflicts = shadow.read(addresses[mine], access, programs)
            else:
                changed = np.ones(int(mine.sum()), np.bool_) if changes is None else changes[mine]
                conflicts = shadow.write(addresses[mine], access, programs, changed)
            for conflict in conflicts:
                reads = changes is None and not atomic
                self._report(conflict, int(addresses[mine][conflict.index]), size, reads=reads)
        if releases:
            self.watch.programs.time += 1

    def _reaches_all(self, op: Operation | None) -> bool:
        if op not in self._reaching:
            self._reaching[op] = op is None or reaches_all_lanes(op)
        return self._reaching[op]

    def _shadow(self, where: Range, size: int) -> Shadow:
        known = self._shadows.get(where.base)
        if known is None or known.nbytes < where.size or size < known.size:
            known = self._shadows[where.base] = Shadow(where.base, where.size, size)
        return known

    def _report(self, conflict: Conflict, address: int, size: int, *, reads: bool) -> None:
        watch = self.watch
        other = user_line(watch.ops[conflict.op])
        place = "" if other is None else f" at line {other[1]}"
        here, there = ("reads" if reads else "writes"), ("writes" if conflict.writes else "reads")
        element = self._element(address, size)
        if conflict.program == watch.programs.current:
            text = f"a lane {here} {element}, which another lane {there}{place}; no barrier is between"
            watch.report("barrier", text)
            return
        mine, theirs = (watch.program_name(n) for n in (watch.programs.current, conflict.program))
        text = f"program {mine} {here} {element}, which program {theirs} {there}{place}; nothing orders the two"
        watch.report("race", text)

    def _element(self, address: int, size: int) -> str:
        where = self._range_of(address)
        return "memory" if where is None else f"element {(address - where.base) // size} of {where.name}"

    def _check_view(self, addresses: Array, action: str, lanes: Lanes) -> None:
        if self._gaps is None:
            self._gaps = list(_gaps(self._arrays))
        for gaps in self._gaps:
            offsets = addresses - gaps.low
            inside = (offsets >= 0) & (offsets < gaps.flags.size)
            wrong = inside.copy()
            wrong[inside] = gaps.flags[offsets[inside]]
            if wrong.any():
                index = int(np.flatnonzero(wrong)[0])
                where = f"byte {int(offsets[index])} of {gaps.name}, which is between its elements"
                self.watch.report("view", f"{lanes.name(index)} {action} {where} (wrong strides?)")

    def writer(self, address: int) -> Operation | None:
        """The op that wrote the element at `address` last."""
        for shadow in self._shadows.values():
            if shadow.base <= address < shadow.base + shadow.nbytes:
                number = shadow.writer(address)
                return None if number is None else self.watch.ops[number]
        return None

    # Contents --------------------------------------------------------------------------------------------------------

    def save(self) -> Saved | None:
        """The contents; None where they are too many."""
        if sum(r.size for r in self._ranges) > MOST_SAVED:
            return None
        return Saved([(r, r.elements(_BYTES)[1].copy(), None if r.written is None else r.written.copy())
                      for r in self._ranges])  # fmt: skip

    def restore(self, saved: Saved) -> None:
        """Put the contents back, into ranges that NumPy holds read-only as well."""
        for where, contents, written in saved.contents:
            if where.writeable:
                where.elements(_BYTES)[1][:] = contents
            if where.written is not None and written is not None:
                where.written[:] = written


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def _relaxed(op: Operation | None) -> bool:
    return _orders(op) == (False, False)


def _orders(op: Operation | None) -> tuple[bool, bool]:
    """Whether an atomic operation acquires and releases; a volatile load does both."""
    if isinstance(op, tile.DescriptorReduceOp):
        return False, False
    sem = None if op is None else op.properties.get("sem")
    value: Attribute | int | None = getattr(getattr(sem, "value", None), "data", None)
    acquires = value not in (MemSemantic.RELAXED.value, MemSemantic.RELEASE.value)
    return acquires, value not in (MemSemantic.RELAXED.value, MemSemantic.ACQUIRE.value)


def _gaps(arrays: Sequence[tuple[np.ndarray, str]]) -> Iterator[_Gaps]:
    for array, name in arrays:
        low, high = byte_bounds(array)
        if not array.nbytes < high - low <= MOST_SAVED:
            continue
        flags = ~element_flags(array)
        for other, _ in arrays:
            start, end = byte_bounds(other)
            first, last = max(low, start), min(high, end)
            if other is not array and first < last and end - start <= MOST_SAVED:
                flags[first - low : last - low] &= ~element_flags(other)[first - start : last - start]
        if flags.any():
            yield _Gaps(low, flags, name)


def element_flags(array: np.ndarray) -> Array:
    """For each byte from the first to the last of `array`, whether it belongs to an element."""
    low, high = byte_bounds(array)
    flags = np.zeros(high - low, np.bool_)
    start = array.__array_interface__["data"][0] - low
    shape, strides = (*array.shape, array.itemsize), (*array.strides, 1)
    np.lib.stride_tricks.as_strided(flags[start:], shape, strides)[...] = True
    return flags
