"""The NVIDIA side of the emission: PTX's registers, shuffles, barriers and guarded accesses, for one compute
capability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from tritonx.backends.nvidia.emit import convert, debug, dot, math, mbarrier, memory, redux, shared, tensor_memory
from tritonx.backends.nvidia.tensor_maps.tensor_map_at_launch import maps_of, parameter
from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalStoreOp
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.ir.properties import stated_number

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.product import DotProduct
    from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters
    from tritonx.conversion.gpu_to_llvm.values import Tile
    from tritonx.dialects.tile import FuncOp

FULL_MASK = -1
"""The member mask of warp-wide instructions: all 32 lanes."""


@dataclass(frozen=True)
class NvidiaMachine(Machine):
    """``capability`` is 10·major + minor (75, 80, 90, …); ``data_layout`` LLVM's for the target machine."""

    capability: int
    data_layout: str  # pyright: ignore[reportIncompatibleVariableOverride]  # a field here, an attribute there
    maxnreg: int | None = None
    min_blocks: int | None = None
    cluster: int = 1
    reflect_ftz: bool = True
    functions = math
    messages = debug
    triple = "nvptx64-nvidia-cuda"
    kernel_convention = "ptx_kernel"
    warp_size = 32
    has_global_scratch = True
    shifts_saturate = 32
    """PTX ISA, shl and shr: amounts greater than the width are clamped to it. They have 32 bits: of an amount of 64
    only the lower half is seen."""
    orders_zeros = True
    """PTX ISA, min and max: +0.0 > -0.0."""
    converts_bytes_slowly = True
    """CUDA C++ programming guide, "Arithmetic instructions": 16 a cycle, against 64 permutations of bytes."""

    kept_in_loops = (WarpGroupDotOp,)
    """ptxas unrolls a loop of few iterations whole: sixteen times the instructions, up to four times as long to
    assemble, and no faster where warp groups multiply beside it (docs/history/measurements.md). `mma.sync` gains 3 % by
    it."""

    @property
    def bfloat_by_single(self) -> bool:
        """PTX ISA 9.0, cvt: there is one to bf16 from 9.0 on."""
        return self.capability < 90

    @property
    def memory(self) -> memory.NvidiaMemory:  # pyright: ignore[reportIncompatibleVariableOverride]  # derived here
        return memory.NvidiaMemory(self.capability)

    @property
    def paired_extrema(self) -> frozenset[str]:
        return frozenset({"half", "bfloat"} if self.capability >= 80 else ())

    # ---- the frame of a kernel

    def parameter(self, type_: str, name: str, attributes: Mapping[str, Attribute]) -> str:
        if type_ == "ptr":
            return f'ptr byval([128 x i8]) align 64 "nvvm.grid_constant" {name}'
        if type_.startswith("ptr"):
            divisibility = stated_number(attributes, "tt.divisibility")
            align = "" if divisibility is None else f" align {min(divisibility, 16)}"
            return f"{type_}{align} {name}"
        return f"{type_} {name}"

    def launch_parameters(self, function: FuncOp) -> list[str]:
        return [self.parameter("ptr", parameter(number), {}) for number, _ in enumerate(maps_of(function))]

    def begin(self, f: FunctionEmitter) -> list[str]:
        return tensor_memory.begin(f)

    def end(self, f: FunctionEmitter) -> None:
        tensor_memory.end(f)

    def kernel_attributes(self, threads: int) -> list[str]:
        out = [f'"nvvm.reqntid"="{threads},1,1"']
        if self.maxnreg is not None:
            out.append(f'"nvvm.maxnreg"="{self.maxnreg}"')
        if self.cluster > 1:
            out.append(f'"nvvm.cluster_dim"="{self.cluster},1,1"')
        return ["nounwind", *out]

    def module_tail(self, threads: int) -> list[str]:
        """Which of its two ways a function of the device library takes with subnormal f32 numbers: flush them, or
        keep them.
        """
        if not self.reflect_ftz:
            return []
        return ["!llvm.module.flags = !{!0}", '!0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}']

    def shared_memory(self, symbol: str, nbytes: int) -> str:
        return f"{symbol} = external addrspace(3) global [0 x i8], align 1024"

    # ---- the thread's position

    def _special(self, f: FunctionEmitter, register: str) -> str:
        symbol = f.module.declare("i32", f"@llvm.nvvm.read.ptx.sreg.{register}", [])
        return f.inst(f"call i32 {symbol}()")

    def thread_id(self, f: FunctionEmitter) -> str:
        symbol = f.module.declare("i32", "@llvm.nvvm.read.ptx.sreg.tid.x", [])
        return f.inst(f"call range(i32 0, {f.module.num_warps * 32}) i32 {symbol}()")

    def thread_id_anew(self, f: FunctionEmitter) -> str:
        """Each lane's own number out of a shuffle: of a moved register, and of a shuffle of what all lanes have alike,
        ptxas (13.0) knows that it is the same."""
        return self.shuffle_xor(f, self.thread_id(f), 0)

    def nanoseconds(self, f: FunctionEmitter) -> str:
        symbol = f.module.declare("i64", "@llvm.nvvm.read.ptx.sreg.globaltimer", [])
        return f.inst(f"call i64 {symbol}()")

    def clock(self, f: FunctionEmitter, *, nanoseconds: bool) -> str:
        """An intrinsic's read could be moved across loads."""
        register = "globaltimer" if nanoseconds else "clock64"
        return f.inst(f'call i64 asm sideeffect "mov.u64 $0, %{register};", "=l,~{{memory}}"()')

    def processor_number(self, f: FunctionEmitter) -> str:
        return self._special(f, "smid")

    def uniform(self, f: FunctionEmitter, value: str) -> str:
        return self.shuffle_index(f, value, "0")

    def opaque(self, f: FunctionEmitter, type_: str, value: str) -> str:
        return f.inst(f'call {type_} asm "", "=l,0"({type_} {value})') if type_.startswith("ptr") else value

    def program_id(self, f: FunctionEmitter, axis: int) -> str:
        return self._special(f, f"{'cluster' if self.cluster > 1 else 'cta'}id.{'xyz'[axis]}")

    def num_programs(self, f: FunctionEmitter, axis: int) -> str:
        return self._special(f, f"n{'cluster' if self.cluster > 1 else 'cta'}id.{'xyz'[axis]}")

    def cluster_rank(self, f: FunctionEmitter) -> str:
        return self._special(f, "cluster.ctarank") if self.cluster > 1 else "0"

    # ---- registers that groups of warps share out

    def set_registers(self, f: FunctionEmitter, count: int, *, more: bool) -> None:
        """PTX ISA, setmaxnreg: 24 to 256, in eights; all warps of a warp group. From 9.0 on."""
        if self.capability < 90:
            return
        mbarrier.assembly(f, f"setmaxnreg.{'inc' if more else 'dec'}.sync.aligned.u32 {count};")

    # ---- threads talking to each other

    def barrier(self, f: FunctionEmitter) -> None:
        f.module.attributes["#0"] = "convergent nounwind"
        group = f.threads.group
        if group.barrier is None:
            symbol = f.module.declare("void", "@llvm.nvvm.barrier.cta.sync.aligned.all", ["i32"], " #0")
            f.line(f"call void {symbol}(i32 0)")
        else:
            symbol = f.module.declare("void", "@llvm.nvvm.barrier.cta.sync.aligned.count", ["i32", "i32"], " #0")
            f.line(f"call void {symbol}(i32 {group.barrier}, i32 {f.threads.count})")

    def warp_barrier(self, f: FunctionEmitter) -> None:
        symbol = f.module.declare("void", "@llvm.nvvm.bar.warp.sync", ["i32"], " #0")
        f.module.attributes["#0"] = "convergent nounwind"
        f.line(f"call void {symbol}(i32 {FULL_MASK})")

    def _shuffle(self, f: FunctionEmitter, mode: str, value: str, lane: str, clamp: int) -> str:
        symbol = f.module.declare("i32", f"@llvm.nvvm.shfl.sync.{mode}.i32", ["i32"] * 4)
        return f.inst(f"call i32 {symbol}(i32 {FULL_MASK}, i32 {value}, i32 {lane}, i32 {clamp})")

    def shuffle_xor(self, f: FunctionEmitter, value: str, mask: int, equal: int = 0) -> str:
        return self._shuffle(f, "bfly", value, str(mask), 31)

    def shuffle_index(self, f: FunctionEmitter, value: str, lane: str) -> str:
        return self._shuffle(f, "idx", value, lane, 31)

    def reduce_lanes(self, f: FunctionEmitter, op: type[Operation], value: str, elem: str) -> str | None:
        return redux.over_lanes(f, self.capability, op, value, elem)

    def divides_reductions(self) -> bool:
        """ptxas takes time with the cube of the shuffles in a block for 8.0 to 8.9: 60 s for five reductions of 128x64
        int64 on two warps, and 6 if lanes divide them up. For 9.0 it does not, and row sums of f32 gain 1 % on an H200,
        but those of int64 lose 5 by the registers."""
        return self.capability < 90

    # ---- the rest, by subject

    def async_copy(
        self, f: FunctionEmitter, target: str, source: str, nbytes: int, mask: str | None, cache: int, by: str | None
    ) -> bool:
        return memory.async_copy(f, self.capability, target, source, nbytes, mask, cache, by)

    def async_commit(self, f: FunctionEmitter) -> None:
        if self.capability >= 80:
            f.line(f"call void {f.module.declare('void', '@llvm.nvvm.cp.async.commit.group', [])}()")

    def async_wait(self, f: FunctionEmitter, pending: int) -> None:
        if self.capability >= 80:
            symbol = f.module.declare("void", "@llvm.nvvm.cp.async.wait.group", ["i32"])
            f.line(f"call void {symbol}(i32 {pending})")

    def convert(self, f: FunctionEmitter, tile: Tile, source: str, target: str, rounding: int | None) -> Tile | None:
        return convert.convert(f, self.capability, tile, source, target, rounding)

    def to_integer(self, f: FunctionEmitter, tile: Tile, target: str, *, signed: bool) -> Tile | None:
        return convert.to_integer(f, tile, target, signed=signed)

    def dot(self, f: FunctionEmitter, product: DotProduct) -> bool:
        return dot.mma(f, self.capability, product)

    def local_load(self, f: FunctionEmitter, type_: Attribute, memory: SSAValue) -> SharedRegisters | None:
        return shared.matrix_loads(f, type_, memory)

    def local_store(self, f: FunctionEmitter, op: LocalAllocOp | LocalStoreOp) -> bool:
        return shared.matrix_store(f, self.capability, op)
