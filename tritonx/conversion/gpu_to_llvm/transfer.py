"""Moving a thread's registers to and from shared memory with the vector accesses that ``tritonx.layouts.access``
planned.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.indices import add_constant, apply_layout
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.layouts.access import SharedAccess, VectorAccess
from tritonx.layouts.dims import OFFSET


def memory_type(elem: str) -> str:
    """The type of an element in shared memory: an i1 takes a byte."""
    return "i8" if elem == "i1" else elem


@dataclass(frozen=True)
class Place:
    """Where a buffer, or a view into one, begins.

    ``start`` is XORed to every element offset: the corner of a sub-slice in its parent's (possibly swizzled) layout.
    ``padding`` holds (interval, amount) pairs of a padded layout, in elements.
    """

    pointer: str
    start: int = 0
    padding: tuple[tuple[int, int], ...] = ()


def padded(f: FunctionEmitter, index: str, padding: tuple[tuple[int, int], ...]) -> str:
    """``index`` moved by the padding of all complete intervals before it."""
    total = index
    for interval, amount in padding:
        passed = f.inst(f"lshr i32 {index}, {interval.bit_length() - 1}")
        total = f.inst(f"add i32 {total}, {f.inst(f'mul i32 {passed}, {amount}')}")
    return total


def addresses(f: FunctionEmitter, place: Place, elem: str, access: SharedAccess) -> list[str]:
    """The address of every access, in order; the thread's part is computed in the entry block.

    Of an access's offset the bits that the thread's part can have are XORed to it, and the others added: those become
    part of the instruction, so that there are only as many addresses in registers as there are different first parts.
    """
    memory = memory_type(elem)
    base = place.pointer
    if place.padding or place.start:
        return general_addresses(f, place, memory, access)
    f.touch_thread()
    with f.in_prologue():
        thread, reach = apply_layout(f, access.threads, OFFSET)
    starts: dict[int, str] = {}
    out: list[str] = []
    for one in access.accesses:
        turned = 0 if access.additive else reach & one.offset
        if turned not in starts:
            index = thread
            if turned:
                with f.in_prologue():
                    index = f.inst(f"xor i32 {thread}, {turned}")
            starts[turned] = element_at(f, memory, base, index)
        out.append(element_at(f, memory, starts[turned], str(one.offset ^ turned)))
    return out


def element_at(f: FunctionEmitter, memory: str, base: str, index: str) -> str:
    """The address of the element of type ``memory`` that is ``index`` behind ``base``."""
    return base if index == "0" else f.inst(f"getelementptr inbounds {memory}, ptr addrspace(3) {base}, i32 {index}")


def general_addresses(f: FunctionEmitter, place: Place, memory: str, access: SharedAccess) -> list[str]:
    """As ``addresses`` for a sub-slice or a padded buffer: every index on its own."""
    f.touch_thread()
    indices: list[str] = []
    with f.in_prologue():
        thread, reach = apply_layout(f, access.threads, OFFSET)
        for one in access.accesses:
            index = add_constant(f, thread, reach, one.offset ^ place.start)
            indices.append(padded(f, index, place.padding))
    return [
        f.inst(f"getelementptr inbounds {memory}, ptr addrspace(3) {place.pointer}, i32 {index}") for index in indices
    ]


def store_registers(f: FunctionEmitter, place: Place, elem: str, access: SharedAccess, names: list[str]) -> None:
    memory = memory_type(elem)
    align = access.vec * bits(elem) // 8
    type_ = memory if access.vec == 1 else f"<{access.vec} x {memory}>"
    for one, address in zip(access.accesses, addresses(f, place, elem, access), strict=True):
        own = [names[r] for r in one.registers]
        if elem == "i1":
            own = [f.inst(f"zext i1 {x} to i8") for x in own]
        f.line(f"store {type_} {f.pack(memory, own)}, ptr addrspace(3) {address}, align {align}")


class SharedRegisters:
    """A tile in shared memory whose registers are loaded where they are first asked for."""

    def __init__(self, f: FunctionEmitter, place: Place, elem: str, access: SharedAccess) -> None:
        self._f = f
        self._vec = access.vec
        self.elem = elem
        self._memory = memory_type(elem)
        self._repeats = access.repeats
        self._loaded: dict[int, str] = {}
        where = addresses(f, place, elem, access)
        self._source = {
            r: (one, address) for one, address in zip(access.accesses, where, strict=True) for r in one.registers
        }

    def __getitem__(self, register: int) -> str:
        """The name of a register's value; loads it, and what comes with it, at the first time."""
        register = self._repeats[register]
        if register not in self._loaded:
            self._load(*self._source[register])
        return self._loaded[register]

    def _load(self, one: VectorAccess, address: str) -> None:
        f, memory, vec = self._f, self._memory, self._vec
        type_ = memory if vec == 1 else f"<{vec} x {memory}>"
        align = vec * bits(self.elem) // 8
        value = f.inst(f"load {type_}, ptr addrspace(3) {address}, align {align}")
        for i, r in enumerate(one.registers):
            name = value if vec == 1 else f.inst(f"extractelement {type_} {value}, i32 {i}")
            self._loaded[r] = f.inst(f"trunc i8 {name} to i1") if self.elem == "i1" else name


def load_registers(f: FunctionEmitter, place: Place, elem: str, access: SharedAccess, out: list[str]) -> None:
    """Fill the registers of ``out`` that the access names, and those that repeat them."""
    tile = SharedRegisters(f, place, elem, access)
    for one in access.accesses:
        for r in one.registers:
            out[r] = tile[r]
    for r, same in enumerate(access.repeats):
        out[r] = out[same]
