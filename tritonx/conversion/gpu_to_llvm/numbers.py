"""How a GPU's registers hold numbers, for the scalar rules."""

from __future__ import annotations

from xdsl.ir import Attribute

from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.conversion.gpu_to_llvm.types import FORMATS, llvm_type
from tritonx.conversion.scalar.ops import Target


class GpuNumbers(Target):
    """LLVM's own float types, with which it computes on every GPU; 8-bit floats, with which nothing does after
    `widen-float8`, as integers of their bits."""

    def __init__(self, machine: Machine, *, fuse: bool) -> None:
        self.fuse = fuse
        self.shifts_saturate = machine.shifts_saturate
        self.orders_zeros = machine.orders_zeros
        self.bfloat_by_single = machine.bfloat_by_single
        self.converts_bytes_slowly = machine.converts_bytes_slowly
        self.widest_integer = machine.legal.integer
        self.orders_truth_values = machine.legal.orders_truth_values

    def held(self, element: Attribute) -> str:
        return llvm_type(element)

    def in_memory(self, element: Attribute) -> str:
        held = llvm_type(element)
        return "i8" if held == "i1" else held

    def format(self, name: str) -> str:
        return FORMATS.get(name, "i8")
