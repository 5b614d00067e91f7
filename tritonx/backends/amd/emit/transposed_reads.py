"""Operands that the LDS transposes as they are read (DS_READ_B64_TR_B16, _B8: CDNA 4 ISA). When they fit and which
registers they fill is decided by ``tritonx.layouts.transposed_access``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from tritonx.conversion.gpu_to_llvm.shared import placement, widest
from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters, swizzled_addresses
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.types import type_as
from tritonx.layouts.transposed_access import CHUNK_BITS, TransposedAccess, transposed_access

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.values import SharedView

_WORDS = "<2 x i32>"


class TransposedReads(SharedRegisters):
    """A tile that is read so."""

    def __init__(self, f: FunctionEmitter, view: SharedView, elem: str, access: TransposedAccess) -> None:
        super().__init__(f, elem, access.repeats)
        places = swizzled_addresses(f, view, elem, access.lanes, [one.offset for one in access.accesses])
        self._source = {
            r: (one.registers, address)
            for one, address in zip(access.accesses, places, strict=True)
            for r in one.registers
        }
        self._type = "<4 x i16>" if bits(elem) == 16 else _WORDS
        name = "tr16.b64.v4i16" if bits(elem) == 16 else "tr8.b64.v2i32"
        self._symbol = f.module.declare(self._type, f"@llvm.amdgcn.ds.read.{name}", ["ptr addrspace(3)"])
        self._read: dict[tuple[int, ...], str] = {}

    def brought_with(self, register: int) -> tuple[int, ...]:
        return self._source[self._repeats[register]][0]

    def load(self, register: int) -> None:
        f = self.f
        registers, address = self._source[register]
        scope = f.machine.scope_of_tiles
        read = f.inst(f"call {self._type} {self._symbol}(ptr addrspace(3) {address}){scope}")
        self._read[registers] = read
        self.keep(f.inst(f"bitcast {self._type} {read} to <{len(registers)} x {self.elem}>"), registers)

    def vector(self, registers: Sequence[int]) -> str:
        """Of several reads as their words side by side: LLVM would take bytes apart."""
        own = tuple(self._repeats[r] for r in registers)
        count = CHUNK_BITS // bits(self.elem)
        parts = [own[first : first + count] for first in range(0, len(own), count)]
        if len(parts) < 2 or any(self.brought_with(part[0]) != part for part in parts):
            return super().vector(registers)
        self.bring(own[0])
        words: list[str] = []
        for part in parts:
            self.bring(part[0])
            read = self._read[part]
            words.append(read if self._type == _WORDS else self.f.inst(f"bitcast {self._type} {read} to {_WORDS}"))
        size = 2
        while len(words) > 1:
            places = ", ".join(f"i32 {number}" for number in range(2 * size))
            words = [
                self.f.inst(f"shufflevector <{size} x i32> {a}, <{size} x i32> {b}, <{2 * size} x i32> <{places}>")
                for a, b in zip(words[::2], words[1::2], strict=True)
            ]
            size *= 2
        return self.f.inst(f"bitcast <{size} x i32> {words[0]} to <{len(own)} x {self.elem}>")


def transposed_reads(f: FunctionEmitter, type_: Attribute, memory: SSAValue) -> TransposedReads | None:
    """A tile of ``type_`` from a buffer; None where it does not fit."""
    elem, view = f.type(type_), f.view(memory)
    width = bits(elem)
    if view.padding or elem == "i1" or width not in (8, 16) or widest(view, width) < CHUNK_BITS:
        return None
    access = transposed_access(placement(f, type_, type_as(memory, MemDescType)), width)
    return None if access is None else TransposedReads(f, view, elem, access)
