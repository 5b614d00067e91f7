"""The threads of a block as columns: a register is an array with an element for each of them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tritonx_testing.emulators.ptx.text import Address, Instruction, Inverted, Name, Number, Operand, Register

Array = Any
"""An array of NumPy, whose types do not carry far."""

TYPES: dict[str, tuple[Any, int]] = {
    **{f"{name}{n}": (np.dtype(f"{kind}{n // 8}"), n) for n in (8, 16, 32, 64) for name, kind in ("bu", "uu", "si")},
    "f16": (np.dtype(np.float16), 16), "bf16": (np.dtype(ml_dtypes.bfloat16), 16),
    "f32": (np.dtype(np.float32), 32), "f64": (np.dtype(np.float64), 64),
    "f16x2": (np.dtype(np.float16), 32), "bf16x2": (np.dtype(ml_dtypes.bfloat16), 32),
    "u16x2": (np.dtype(np.uint16), 32), "s16x2": (np.dtype(np.int16), 32), "f32x2": (np.dtype(np.float32), 64),
    "tf32": (np.dtype(np.float32), 32),
}  # fmt: skip
"""Type → NumPy's type of an element, and the bits of a register with one or two of them."""

LANES = 32


class Fault(Exception):
    """What a GPU would do wrong, or an instruction that is not known here, with the instruction."""


class Threads:
    """Of one block. ``mask`` says who runs the current instruction. Registers begin with anything."""

    def __init__(self, count: int, special: dict[str, Any], addresses: dict[str, int], random: Any) -> None:
        self.count, self.special, self.addresses, self.random = count, special, addresses, random
        self.registers: dict[tuple[str, str], Array] = {}
        self.mask: Array = np.ones(count, bool)
        self.carry: Array = np.zeros(count, np.uint64)
        self.function = ""

    def register(self, operand: Register) -> Array:
        key = self.function, operand.name
        found = self.registers.get(key)
        if found is None:
            if operand.bits == 1:
                found = self.random.integers(0, 2, self.count).astype(bool)
            else:
                found = np.frombuffer(self.random.bytes(self.count * operand.bits // 8), f"u{operand.bits // 8}").copy()
            self.registers[key] = found
        return found

    def read(self, operand: Operand, type_: str) -> Array:
        """As NumPy's numbers; of a type of two, an array of two columns."""
        dtype, width = TYPES[type_]
        bits = self.bits(operand, width)
        return bits.view(dtype).reshape(self.count, 2) if type_.endswith("x2") else bits.view(dtype)

    def bits(self, operand: Operand, width: int) -> Array:
        unsigned = np.dtype(f"u{width // 8}")
        if isinstance(operand, Register):
            found = self.register(operand)
            return found if found.dtype == unsigned else found.astype(unsigned)
        if isinstance(operand, Number):
            value = operand.value
            if operand.bits == 32 and width == 64:
                raise Fault("an f32 constant of 64 bits")
            return np.full(self.count, value % (1 << width), unsigned)
        if isinstance(operand, Name):
            if operand.text in self.special:
                held = self.special[operand.text]
                return np.broadcast_to(np.asarray(held() if callable(held) else held), self.count).astype(unsigned)
            if operand.text in self.addresses:
                return np.full(self.count, self.addresses[operand.text], unsigned)
        raise Fault(f"cannot read {operand}")

    def predicate(self, operand: Operand) -> Array:
        if isinstance(operand, Inverted):
            return ~self.predicate(operand.of)
        if isinstance(operand, Number):
            return np.full(self.count, bool(operand.value))
        assert isinstance(operand, Register)
        return self.register(operand)

    def write(self, operand: Operand, type_: str, value: Array) -> None:
        """A narrower integer fills a wider register by its sign."""
        if isinstance(operand, Name) and operand.text == "_":
            return
        assert isinstance(operand, Register), operand
        dtype, width = TYPES[type_]
        given = np.ascontiguousarray(value, dtype)
        target = self.register(operand)
        if target.dtype.itemsize * 8 > width and type_.startswith("s"):
            given = given.astype(f"i{target.dtype.itemsize}")
        else:
            given = given.view(f"u{width // 8}").reshape(self.count).astype(target.dtype)
        np.copyto(target, given.view(target.dtype), where=self.mask)

    def write_predicate(self, operand: Operand, value: Array) -> None:
        if isinstance(operand, Name) and operand.text == "_":
            return
        assert isinstance(operand, Register) and operand.bits == 1
        np.copyto(self.register(operand), value, where=self.mask)

    def address(self, operand: Operand) -> Array:
        """Of a memory operand, in 64 bits; the sum of a 32-bit register and an offset has 32 itself."""
        assert isinstance(operand, Address)
        base = operand.base
        width = base.bits if isinstance(base, Register) else 64
        total = self.bits(base, width).astype(np.int64) + operand.offset
        return total & 0xFFFFFFFF if width == 32 else total

    def placed(self, operand: Operand) -> list[tuple[int, int]]:
        """(thread, address) of those who run the instruction."""
        where = self.address(operand)
        return [(int(n), int(where[n])) for n in np.flatnonzero(self.mask)]

    def whole_warps(self, instruction: Instruction) -> Array:
        """The warps that run the instruction, which must be with all lanes."""
        lanes = self.mask.reshape(-1, LANES)
        if (lanes.any(1) != lanes.all(1)).any():
            raise Fault(f"lanes are missing: {instruction.text}")
        return np.flatnonzero(lanes.any(1))
