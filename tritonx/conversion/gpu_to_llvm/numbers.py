"""How a GPU's registers hold numbers, for the scalar rules."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.conversion.gpu_to_llvm.types import FORMATS, bits, llvm_type, space_of
from tritonx.conversion.scalar.ops import Target


class GpuNumbers(Target):
    """LLVM's own float types, with which it computes on every GPU; 8-bit floats, with which nothing does after
    `widen-float8`, as integers of their bits."""

    def __init__(self, machine: Machine, *, fuse: bool) -> None:
        self.fuse = fuse
        self._machine = machine
        self.shifts_saturate = machine.shifts_saturate
        self.orders_zeros = machine.orders_zeros
        self.bfloat_by_single = machine.bfloat_by_single
        self.converts_bytes_slowly = machine.converts_bytes_slowly
        self.widest_integer = machine.legal.integer
        self.orders_truth_values = machine.legal.orders_truth_values

    def held(self, element: Attribute) -> str:
        return llvm_type(element, self._machine.space)

    def in_memory(self, element: Attribute) -> str:
        return self.stored(self.held(element))

    def stored(self, held: str) -> str:
        """The LLVM type that an element of type ``held`` has in global memory: an i1 takes a byte, a pointer that has
        fewer bits in a register the 64 of the language."""
        if held.startswith("ptr"):
            return held if self._machine.pointer_bits(space_of(held)) == bits(held) else f"i{bits(held)}"
        return "i8" if held == "i1" else held

    def format(self, name: str) -> str:
        return FORMATS.get(name, "i8")
