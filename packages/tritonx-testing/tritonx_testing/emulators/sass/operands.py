"""What the operands of instructions name: registers, predicates, numbers, constant memory; of all threads at once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

Array = Any
LANES = 32
WORD, LONG = np.uint32, np.uint64
_REGISTER = re.compile(r"(U?R)(\d+)(?:\.64)?")
_CONSTANT = re.compile(r"c\[0x0\]\[0x([0-9a-f]+)\]")
_NUMBER = re.compile(r"-?0x[0-9a-f]+|-?\d+")


class NotKnown(Exception):
    """An instruction, or an operand, that is not executed here."""


def signed(x: Array) -> Array:
    return x.astype(WORD).view(np.int32)


class Threads:
    """Registers and predicates of a block's threads; ``constants`` is constant memory, where the parameters are.
    Registers that were never written hold a pattern: the upper half of a 16-bit number is read, and not used."""

    def __init__(self, count: int, constants: bytes) -> None:
        self.count, self.constants = count, constants
        self.registers: dict[str, Array] = {}
        self.predicates: dict[str, Array] = {}
        self.mask: Array = np.ones(count, bool)
        """Those that execute the instruction."""

    def register(self, name: str) -> Array:
        if name in ("RZ", "URZ"):
            return np.zeros(self.count, WORD)
        return self.registers.setdefault(name, np.full(self.count, 0xDEADBEEF, WORD))

    def constant(self, offset: int, nbytes: int) -> int:
        return int.from_bytes(self.constants[offset : offset + nbytes], "little")

    def known(self, text: str, kind: Any) -> Array:
        """A number, or one in constant memory, as it stands in the code."""
        bits = 8 * np.dtype(kind).itemsize
        if found := _CONSTANT.fullmatch(text):
            return np.full(self.count, self.constant(int(found[1], 16), bits // 8), kind)
        if _NUMBER.fullmatch(text):
            return np.full(self.count, int(text, 0) & (1 << bits) - 1, kind)
        raise NotKnown(text)

    def word(self, text: str) -> Array:
        """A source of 32 bits; a minus or a tilde in front of a register is part of it."""
        if text.startswith("~"):
            return ~self.word(text[1:])
        if text.startswith("-") and "R" in text:
            return ~self.word(text[1:]) + WORD(1)
        if text in ("RZ", "URZ") or re.fullmatch(r"U?R\d+", text):
            return self.register(text)
        return self.known(text, WORD)

    def addend(self, text: str) -> Array:
        """As it is added with a carry: less than nothing is 2^32 less the number, which for zero is a carry."""
        if text.startswith("-") and "R" in text:
            return LONG(1 << 32) - self.word(text[1:]).astype(LONG)
        return self.word(text).astype(LONG)

    def pair(self, text: str) -> Array:
        """A source of 64 bits: a register and the next one."""
        if text in ("RZ", "URZ"):
            return np.zeros(self.count, LONG)
        if text.startswith("-") and "R" in text:
            return ~self.pair(text[1:]) + LONG(1)
        if found := _REGISTER.fullmatch(text):
            low, high = (self.register(f"{found[1]}{int(found[2]) + n}").astype(LONG) for n in (0, 1))
            return low | high << LONG(32)
        return self.known(text, LONG)

    def predicate(self, text: str) -> Array:
        if text.startswith("!"):
            return ~self.predicate(text[1:])
        if text in ("PT", "UPT"):
            return np.ones(self.count, bool)
        return self.predicates.setdefault(text, np.zeros(self.count, bool))

    def write(self, name: str, value: Array, offset: int = 0) -> None:
        if name in ("RZ", "URZ"):
            return
        found = _REGISTER.fullmatch(name)
        if found is None:
            raise NotKnown(name)
        name = f"{found[1]}{int(found[2]) + offset}"
        self.registers[name] = np.where(self.mask, value.astype(WORD), self.register(name))

    def write_pair(self, name: str, value: Array) -> None:
        self.write(name, value & LONG(0xFFFFFFFF))
        self.write(name, value >> LONG(32), 1)

    def write_predicate(self, name: str, value: Array) -> None:
        if name not in ("PT", "UPT"):
            self.predicates[name] = np.where(self.mask, value, self.predicate(name))
