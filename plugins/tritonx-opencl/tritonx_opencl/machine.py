"""The OpenCL side of the emission: work items, sub-groups and barriers. Memory and arithmetic have files of their own.

Functions of OpenCL C are called by their names in the Itanium ABI's mangling, as LLVM's SPIR-V target wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.ir.properties import stated_number
from tritonx_opencl import arithmetic, debug, matrix_unit, memory

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.product import DotProduct

LOCAL_FENCE, GLOBAL_FENCE = 1, 2
"""CLK_LOCAL_MEM_FENCE and CLK_GLOBAL_MEM_FENCE."""
CONVERGENT = " convergent nounwind"
PURE = " nounwind memory(none)"


@dataclass(frozen=True)
class OpenCLMachine(Machine):
    """``warp_size`` lanes, as many as a sub-group has work items or one; ``threads`` work items in a work group."""

    warp_size: int  # pyright: ignore[reportIncompatibleVariableOverride]  # a field here, an attribute there
    threads: int
    data_layout: str  # pyright: ignore[reportIncompatibleVariableOverride]  # a field here, an attribute there
    memory = memory
    functions = arithmetic
    messages = debug
    triple = "spirv64v1.4-unknown-unknown"
    kernel_convention = "spir_kernel"

    # ---- the frame of a kernel

    def parameter(self, type_: str, name: str, attributes: Mapping[str, Attribute]) -> str:
        divisibility = stated_number(attributes, "tt.divisibility")
        if not type_.startswith("ptr") or divisibility is None:
            return f"{type_} {name}"
        return f"{type_} align {min(divisibility, 16)} {name}"

    def kernel_attributes(self, threads: int) -> list[str]:
        lanes = ["!intel_reqd_sub_group_size !1"] if self.warp_size > 1 else []
        return ["nounwind", "!reqd_work_group_size !0", *lanes]

    def module_tail(self) -> list[str]:
        return [f"!0 = !{{i32 {self.threads}, i32 1, i32 1}}", f"!1 = !{{i32 {self.warp_size}}}"]

    def shared_memory(self, symbol: str, nbytes: int) -> str:
        return f"{symbol} = internal addrspace(3) global [{max(nbytes, 16)} x i8] undef, align 16"

    # ---- where the thread stands

    def _position(self, f: FunctionEmitter, symbol: str, axis: int) -> str:
        symbol = f.module.declare("i64", symbol, ["i32"], PURE)
        return f.inst(f"trunc i64 {f.inst(f'call i64 {symbol}(i32 {axis})')} to i32")

    def thread_id(self, f: FunctionEmitter) -> str:
        """Which work items make a sub-group is the implementation's affair, so threads are numbered by sub-group."""
        if self.warp_size == 1:
            return self._position(f, "@_Z12get_local_idj", 0)
        group = f.inst(f"call i32 {f.module.declare('i32', '@_Z16get_sub_group_idv', [], PURE)}()")
        lane = f.inst(f"call i32 {f.module.declare('i32', '@_Z22get_sub_group_local_idv', [], PURE)}()")
        return f.inst(f"add i32 {f.inst(f'mul i32 {group}, {self.warp_size}')}, {lane}")

    def uniform(self, f: FunctionEmitter, value: str) -> str:
        return value

    def program_id(self, f: FunctionEmitter, axis: int) -> str:
        return self._position(f, "@_Z12get_group_idj", axis)

    def num_programs(self, f: FunctionEmitter, axis: int) -> str:
        return self._position(f, "@_Z14get_num_groupsj", axis)

    # ---- threads talking to each other

    def _barrier(self, f: FunctionEmitter, symbol: str, fence: int) -> None:
        f.line(f"call void {f.module.declare('void', symbol, ['i32'], CONVERGENT)}(i32 {fence}) convergent")

    def barrier(self, f: FunctionEmitter) -> None:
        self._barrier(f, "@_Z7barrierj", LOCAL_FENCE | GLOBAL_FENCE)

    def local_barrier(self, f: FunctionEmitter) -> None:
        self._barrier(f, "@_Z7barrierj", LOCAL_FENCE)

    def warp_barrier(self, f: FunctionEmitter) -> None:
        if self.warp_size > 1:
            self._barrier(f, "@_Z17sub_group_barrierj", LOCAL_FENCE)

    def _shuffle(self, f: FunctionEmitter, symbol: str, value: str, other: str) -> str:
        symbol = f.module.declare("i32", symbol, ["i32", "i32"], CONVERGENT)
        return f.inst(f"call i32 {symbol}(i32 {value}, i32 {other}) convergent")

    def shuffle_xor(self, f: FunctionEmitter, value: str, mask: int, equal: int = 0) -> str:
        return self._shuffle(f, "@_Z21sub_group_shuffle_xorij", value, str(mask))

    def shuffle_up(self, f: FunctionEmitter, value: str, delta: int) -> str:
        return self._shuffle(f, "@_Z20sub_group_shuffle_upij", value, str(delta))

    def shuffle_index(self, f: FunctionEmitter, value: str, lane: str) -> str:
        return self._shuffle(f, "@_Z17sub_group_shuffleij", value, lane)

    # ---- arithmetic

    def dot(self, f: FunctionEmitter, product: DotProduct) -> bool:
        return matrix_unit.multiply(f, product)
