"""Tiles that wait in registers, in the words that accesses to memory move.

A value that a loop loads in one iteration and stores to shared memory in the next has no use in between. As one vector
LLVM takes it apart where the iterations join, into single registers that it then moves to where a load wants them side
by side: and whoever moves what is loaded waits for it. In the words of a thread's widest access it stays where the load
puts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from xdsl.ir import Block

from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.conversion.gpu_to_llvm.values import Tile
from tritonx.dialects.gpu_layout import LocalStoreOp, MemDescType
from tritonx.ir.types import is_tensor, type_of

ACCESS_BITS = 128
WORD_BITS = 32


@dataclass(frozen=True)
class Words:
    """``n`` elements of type ``elem`` as ``count`` values of ``type``, each of ``each`` elements."""

    elem: str
    n: int
    each: int

    @property
    def count(self) -> int:
        return self.n // self.each

    @property
    def type(self) -> str:
        words = self.each * bits(self.elem) // WORD_BITS
        return f"i{WORD_BITS}" if words == 1 else f"<{words} x i{WORD_BITS}>"

    @property
    def part(self) -> str:
        return self.elem if self.each == 1 else f"<{self.each} x {self.elem}>"

    def of(self, f: FunctionEmitter, tile: Tile) -> list[str]:
        """A tile in this form."""
        whole, found = f.wide(tile), list[str]()
        for start in range(0, self.n, self.each):
            part = whole if self.count == 1 else self._run(f, whole, start, self.each)
            found.append(part if self.part == self.type else f.inst(f"bitcast {self.part} {part} to {self.type}"))
        return found

    def tile(self, f: FunctionEmitter, names: list[str]) -> Tile:
        """The tile that is in this form, taken out of it where it is asked for."""

        def write(first: int, count: int) -> str:
            parts = [
                name if self.part == self.type else f.inst(f"bitcast {self.type} {name} to {self.part}")
                for name in names
            ]
            whole = f.concat(self.elem, parts, self.each)
            return whole if count == self.n else self._run(f, whole, first, count)

        return Tile(self.elem, self.n, lazy=write)

    def _run(self, f: FunctionEmitter, whole: str, first: int, count: int) -> str:
        type_ = f"<{self.n} x {self.elem}>"
        if count == 1:
            return f.inst(f"extractelement {type_} {whole}, i32 {first}")
        mask = ", ".join(f"i32 {first + i}" for i in range(count))
        return f.inst(f"shufflevector {type_} {whole}, {type_} poison, <{count} x i32> <{mask}>")


@dataclass(frozen=True)
class Elements:
    """``n`` elements of type ``elem`` one by one: of what instructions name so, LLVM would take a vector apart and put
    it together again in each iteration."""

    elem: str
    n: int

    @property
    def count(self) -> int:
        return self.n

    @property
    def type(self) -> str:
        return self.elem

    def of(self, f: FunctionEmitter, tile: Tile) -> list[str]:
        """A tile in this form."""
        return list(f.scalars(tile))

    def tile(self, f: FunctionEmitter, names: list[str]) -> Tile:
        """The tile that is in this form."""
        return f.gathered(self.elem, names)


Form: TypeAlias = Words | Elements
"""What a loop carries otherwise than as one vector, or element by element."""


def words_of_stored(f: FunctionEmitter, body: Block) -> Mapping[int, Words]:
    """Of the values that a loop carries those that are only stored in shared memory, by their numbers."""
    found: dict[int, Words] = {}
    for number, value in enumerate(body.args[1:]):
        type_ = type_of(value)
        if isinstance(type_, MemDescType) or not is_tensor(type_) or value.first_use is None:
            continue
        if all(isinstance(use.operation, LocalStoreOp) for use in value.uses):
            elem, n = f.type(type_), f.registers(type_)
            access = gcd(n * bits(elem), ACCESS_BITS)
            if n > 1 and not elem.startswith("ptr") and access % max(WORD_BITS, bits(elem)) == 0:
                found[number] = Words(elem, n, access // bits(elem))
    return found
