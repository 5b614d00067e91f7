"""Moving a thread's registers to and from shared memory with the vector accesses that ``tritonx.layouts.access``
planned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from tritonx.conversion.gpu_to_llvm.byte_words import ByteWords
from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import add_constant, apply_layout
from tritonx.conversion.gpu_to_llvm.values import SharedView, Tile
from tritonx.layouts import LinearLayout
from tritonx.layouts.access import SharedAccess
from tritonx.layouts.dims import BLOCK, LANE, OFFSET, WARP


def memory_type(elem: str) -> str:
    """The type of an element in shared memory: an i1 takes a byte."""
    return "i8" if elem == "i1" else elem


def padded(f: FunctionEmitter, index: str, padding: tuple[tuple[int, int], ...]) -> str:
    """``index`` moved by the padding of all complete intervals before it."""
    total = index
    for interval, amount in padding:
        passed = f.inst(f"lshr i32 {index}, {interval.bit_length() - 1}")
        total = f.inst(f"add i32 {total}, {f.inst(f'mul i32 {passed}, {amount}')}")
    return total


def addresses(f: FunctionEmitter, view: SharedView, elem: str, access: SharedAccess) -> list[str]:
    """The address of every access, in order; the thread's part is computed in the entry block."""
    memory = memory_type(elem)
    if view.padding:
        return general_addresses(f, view, memory, access)
    return swizzled_addresses(f, view, memory, access.threads, [one.offset for one in access.accesses])


def swizzled_addresses(
    f: FunctionEmitter, view: SharedView, memory: str, threads: LinearLayout, offsets: Iterable[int]
) -> list[str]:
    """The addresses, in order, of the elements at ``offsets`` from where ``threads`` puts the thread's first one, of a
    buffer without padding.

    Of an offset the bits that the thread's part can have are XORed to it, in the entry block, and the others added:
    those become part of the instruction, so that there are only as many addresses in registers as there are different
    first parts.
    """
    f.threads.touch()
    with f.in_prologue():
        thread, reach = apply_layout(f, threads, OFFSET)
    starts: dict[int, str] = {}
    out: list[str] = []
    for each in offsets:
        offset = each ^ view.start
        turned = reach & offset
        if turned not in starts:
            index = thread
            if turned:
                with f.in_prologue():
                    index = f.inst(f"xor i32 {thread}, {turned}")
            starts[turned] = element_at(f, memory, view.pointer, index)
        out.append(element_at(f, memory, starts[turned], str(offset ^ turned)))
    return out


def element_at(f: FunctionEmitter, memory: str, base: str, index: str) -> str:
    """The address of the element of type ``memory`` that is ``index`` behind ``base``."""
    return base if index == "0" else f.inst(f"getelementptr inbounds {memory}, {f.shared} {base}, i32 {index}")


def general_addresses(f: FunctionEmitter, view: SharedView, memory: str, access: SharedAccess) -> list[str]:
    """As ``addresses`` for a padded buffer: every index on its own."""
    f.threads.touch()
    indices: list[str] = []
    with f.in_prologue():
        thread, reach = apply_layout(f, access.threads, OFFSET)
        for one in access.accesses:
            index = add_constant(f, thread, reach, one.offset ^ view.start)
            indices.append(padded(f, index, view.padding))
    return [f.inst(f"getelementptr inbounds {memory}, {f.shared} {view.pointer}, i32 {index}") for index in indices]


def store_registers(f: FunctionEmitter, view: SharedView, access: SharedAccess, tile: Tile) -> None:
    is_held = ByteWords.hold(f, tile)
    operand = ByteWords(f, tile).operand if is_held else partial(_operand, f, tile.elem, f.scalars(tile))
    align = access.vec * f.bits(tile.elem) // 8
    for one, address in zip(access.accesses, addresses(f, view, tile.elem, access), strict=True):
        type_, value = operand(one.registers)
        f.line(f"store {type_} {value}, {f.shared} {address}, align {align}{f.machine.scope_of_tiles}")


def _operand(f: FunctionEmitter, elem: str, names: Sequence[str], registers: Sequence[int]) -> tuple[str, str]:
    """``registers`` one after another, as type and name."""
    memory, own = memory_type(elem), [names[r] for r in registers]
    if elem == "i1":
        own = [f.inst(f"zext i1 {x} to i8") for x in own]
    return (memory if len(own) == 1 else f"<{len(own)} x {memory}>"), f.pack(memory, own)


class SharedRegisters(ABC):
    """A tile in shared memory whose registers are loaded where they are first asked for, in the block that is being
    written. ``repeats`` names for every register the one that is loaded for it."""

    def __init__(self, f: FunctionEmitter, elem: str, repeats: Sequence[int]) -> None:
        self.f = f
        self.elem = elem
        self._repeats = repeats
        self._runs: dict[int, tuple[str, int, int]] = {}
        self._names: dict[int, str] = {}

    @abstractmethod
    def load(self, register: int) -> None:
        """Load a register, and what comes with it: ``keep`` all of them."""

    @abstractmethod
    def brought_with(self, register: int) -> tuple[int, ...]:
        """What one load brings, ``register`` or the one it repeats among it."""

    def is_loaded(self, register: int) -> bool:
        return self._repeats[register] in self._runs

    def bring(self, register: int) -> None:
        """Load a register, unless it is loaded."""
        self._run(self._repeats[register])

    def keep(self, vector: str, registers: Sequence[int]) -> None:
        """``registers`` are loaded: the elements of ``vector``."""
        for i, r in enumerate(registers):
            self._runs[r] = (vector, len(registers), i)

    def _run(self, register: int) -> tuple[str, int, int]:
        """The vector that a register is in, its length, and the place there."""
        if register not in self._runs:
            self.load(register)
        return self._runs[register]

    def __getitem__(self, register: int) -> str:
        """The name of a register's value."""
        register = self._repeats[register]
        if register not in self._names:
            self._names[register] = self._element(register)
        return self._names[register]

    def _element(self, register: int) -> str:
        vector, length, place = self._run(register)
        return self.f.slice(self.elem, length, vector, place, 1)

    def vector(self, registers: Sequence[int]) -> str:
        """``registers`` as one operand."""
        runs = [self._run(self._repeats[r]) for r in registers]
        vector, length, first = runs[0]
        if all(run == (vector, length, first + i) for i, run in enumerate(runs)):
            return self.f.slice(self.elem, length, vector, first, len(runs))
        return self.f.pack(self.elem, [self[r] for r in registers])

    def load_all(self) -> None:
        """Load what has not been loaded."""
        for register in self._repeats:
            self._run(register)

    def whole(self) -> Tile:
        """All registers, loaded here."""
        names = [self[r] for r in range(len(self._repeats))]
        return self.f.gathered(self.elem, names)


class VectorLoads(SharedRegisters):
    """By the vector accesses of a plan."""

    def __init__(self, f: FunctionEmitter, view: SharedView, elem: str, access: SharedAccess) -> None:
        super().__init__(f, elem, access.repeats)
        self._view, self._access = view, access
        memory, vec = memory_type(elem), access.vec
        self._type = memory if vec == 1 else f"<{vec} x {memory}>"
        self._align = vec * f.bits(elem) // 8
        self._source = {
            r: (one, address)
            for one, address in zip(access.accesses, addresses(f, view, elem, access), strict=True)
            for r in one.registers
        }

    def halved(self) -> VectorLoads:
        """The same by accesses of half as many elements."""
        return VectorLoads(self.f, self._view, self.elem, self._access.halved())

    def moved(self, registers: Sequence[int], elements: str) -> VectorLoads:
        """The loads of ``registers`` alone, so many elements (i32) further on."""
        pointer = element_at(self.f, memory_type(self.elem), self._view.pointer, elements)
        kept = {self._repeats[r] for r in registers}
        accesses = tuple(one for one in self._access.accesses if kept.issuperset(one.registers))
        view, access = replace(self._view, pointer=pointer), replace(self._access, accesses=accesses)
        return VectorLoads(self.f, view, self.elem, access)

    def offset(self, register: int) -> int:
        """Where a register's element is in memory, if the thread's own is 0."""
        one = self._source[self._repeats[register]][0]
        return one.offset + one.registers.index(self._repeats[register])

    def moves_by(self, steps: Sequence[int], registers: Sequence[int]) -> bool:
        """Whether ``registers`` are loaded without others, and adding any of ``steps``, single bits of an offset,
        leads to other registers: none of their places has these bits, nor a thread's part of them."""
        view, moving = self._view, sum(set(steps))
        kept = {self._repeats[r] for r in registers}
        return (
            not (view.padding or view.start)
            and all(step.bit_count() == 1 for step in steps)
            and moving.bit_count() == len(steps)
            and not any(basis & moving for basis in thread_offsets(self._access))
            and all(self.offset(r) & moving == 0 and kept.issuperset(self.brought_with(r)) for r in kept)
        )

    def brought_with(self, register: int) -> tuple[int, ...]:
        return self._source[self._repeats[register]][0].registers

    def load(self, register: int) -> None:
        one, address = self._source[register]
        scope = self.f.machine.scope_of_tiles
        value = self.f.inst(f"load {self._type}, {self.f.shared} {address}, align {self._align}{scope}")
        if self.elem == "i1":
            value = self.f.inst(f"trunc {self._type} {value} to {self._type.replace('i8', 'i1')}")
        self.keep(value, one.registers)


def thread_offsets(access: SharedAccess) -> list[int]:
    """What each bit of the lane's, the warp's and the block's number adds to a thread's offset."""
    layout = access.threads
    return [layout.coordinate(column, OFFSET) for dim in (LANE, WARP, BLOCK) for column in layout.columns(dim)]


def load_registers(f: FunctionEmitter, view: SharedView, elem: str, access: SharedAccess, out: list[str]) -> None:
    """Fill the registers of ``out`` that the access names, and those that repeat them."""
    tile = VectorLoads(f, view, elem, access)
    for one in access.accesses:
        for r in one.registers:
            out[r] = tile[r]
    for r, same in enumerate(access.repeats):
        out[r] = out[same]
