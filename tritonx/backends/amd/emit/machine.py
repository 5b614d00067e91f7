"""The AMD side of the emission: waves, the LDS, DPP and bpermute, for one processor.

Source: LLVM's AMDGPU usage guide; the CDNA 2–4 and RDNA 3–4 instruction-set documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.backends.amd.emit import debug, dot, math
from tritonx.backends.amd.emit.memory import AmdMemory
from tritonx.backends.amd.targets import SWAPPED_LANES, Processor
from tritonx.conversion.gpu_to_llvm.machine import Machine
from tritonx.dialects import arith
from tritonx.dialects.gpu_layout import LocalAllocOp, LocalStoreOp
from tritonx.dialects.tile.enums import MemSyncScope
from tritonx.ir.properties import stated_number

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
    from tritonx.conversion.gpu_to_llvm.loop_vectors import LoopBody
    from tritonx.conversion.gpu_to_llvm.product import DotProduct
    from tritonx.conversion.gpu_to_llvm.transfer import SharedRegisters

# DPP controls (CDNA 3 ISA, section 3.10.2.1; RDNA 3 ISA, section 7.7): permutations inside a row of 16 lanes that cost
# no LDS traffic. The key is what the lane's number is XORed with; quads, a rotation by half a row, and mirrors.
_ROW_XOR = {1: 0xB1, 2: 0x4E, 3: 0x1B, 7: 0x141, 8: 0x128, 15: 0x140}
_ROW_BCAST_15, _ROW_BCAST_31 = 0x142, 0x143  # CDNA: to the next row, to the upper half
_ROW_XMASK = 0x160  # RDNA has every mask as one control


_SCOPES = ("!2 = distinct !{!2}", "!3 = distinct !{!3, !2}", "!4 = distinct !{!4, !2}", "!5 = !{!3}", "!6 = !{!4}")
"""Of accesses to the LDS: copies that go there by themselves, and what threads load and store."""
_LDS_ALONE = 0xC07F
"""S_WAITCNT for all accesses to the LDS, and for nothing else (CDNA 3 ISA, S_WAITCNT)."""
_GLOBAL_ALONE = 0x0F70
"""The same for all accesses to global memory."""
_MOST_LOADS = 63
_THREES: dict[type[Operation], str] = {
    **dict.fromkeys((arith.MaxnumfOp, arith.MinnumfOp), "float"),
    **dict.fromkeys((arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp), "i32"),
    **dict.fromkeys((arith.AddiOp, arith.OrIOp), "i32"),
}
"""Ops of three 32-bit elements that are an instruction: V_MAX3_F32, V_ADD3_U32, V_OR3_B32 and so on (CDNA 2 ISA, RDNA 3
ISA)."""
_MEMORY = AmdMemory()
_COPIED = ("float", "double")
"""Types of what a loop copies. Integers would lose what LLVM knows of their bits (shifts of int4 weights, 128×256×64 on
gfx1201: 658 instructions an iteration for 516), and two halves share a register."""
_COUNTERS = ("i32", "i64")
"""Types that assembly takes in scalar registers."""
_ALU = 0x40F
"""Of LLVM's kinds of instructions those that are no memory accesses (AMDGPU usage, llvm.amdgcn.sched.barrier)."""


@dataclass(frozen=True)
class AmdMachine(Machine):
    """``waves_per_eu`` is 0 where the register allocator may choose, ``scheduler`` the name of one of LLVM's, "" for
    its own choice; ``flush_subnormal`` is for f32 arithmetic. ``copies``: there may be copies to the LDS past the
    registers."""

    processor: Processor
    data_layout: str  # pyright: ignore[reportIncompatibleVariableOverride]  # a field here, an attribute there
    waves_per_eu: int = 0
    scheduler: str = ""
    flush_subnormal: bool = False
    copies: bool = False
    memory = _MEMORY
    functions = math
    messages = debug
    triple = "amdgcn-amd-amdhsa"
    kernel_convention = "amdgpu_kernel"
    picks_bytes = True
    holds_vectors_whole = True
    orders_zeros = True
    """CDNA3 and RDNA3 ISA, V_MIN_F32 and V_MAX_F32: -0.0 is less than +0.0."""

    @property
    def warp_size(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]  # derived here
        return self.processor.wave

    @property
    def is_cdna(self) -> bool:
        return self.processor.wave == 64

    # ---- the frame of a kernel

    def parameter(self, type_: str, name: str, attributes: Mapping[str, Attribute]) -> str:
        align = ""
        if type_.startswith("ptr") and (divisibility := stated_number(attributes, "tt.divisibility")) is not None:
            align = f" align {min(divisibility, 16)}"
        return f"{type_} inreg{align} {name}"

    def kernel_attributes(self, threads: int) -> list[str]:
        out = [
            "nounwind",
            f'"amdgpu-flat-work-group-size"="{threads},{threads}"',
            '"uniform-work-group-size"="true"',
        ]
        if self.waves_per_eu:
            out.append(f'"amdgpu-waves-per-eu"="{self.waves_per_eu},{self.waves_per_eu}"')
        if self.scheduler:
            out.append(f'"amdgpu-sched-strategy"="{self.scheduler}"')
        if self.flush_subnormal:
            out.append('"denormal-fp-math-f32"="preserve-sign,preserve-sign"')
        return out

    def module_tail(self, threads: int) -> list[str]:
        return [
            "!llvm.module.flags = !{!0}",
            '!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}',
            '!1 = !{!"amdgpu-synchronize-as", !"local"}',
            *(_SCOPES if self.copies else ()),
        ]

    def shared_memory(self, symbol: str, nbytes: int) -> str:
        return f"{symbol} = internal addrspace(3) global [{max(nbytes, 4)} x i8] poison, align 16"

    def lane_registers(self, threads: int) -> int:
        return self.processor.lane_registers(threads)

    # ---- the thread's position

    def thread_id(self, f: FunctionEmitter) -> str:
        symbol = f.module.declare("i32", "@llvm.amdgcn.workitem.id.x", [])
        return f.inst(f"call range(i32 0, {f.module.num_warps * self.warp_size}) i32 {symbol}()")

    def thread_id_anew(self, f: FunctionEmitter) -> str:
        """Through an empty piece of assembly, of which no two are merged and none moves across a barrier."""
        return f.inst(f'call i32 asm sideeffect "", "=v,0"(i32 {self.thread_id(f)})')

    def copied_within(self, f: FunctionEmitter, elem: str, value: str, body: LoopBody) -> str:
        """Through an empty piece of assembly that takes the loop's counter as well, a move at most."""
        if elem not in _COPIED or body.type not in _COUNTERS:
            return value
        return f.inst(f'call {elem} asm "", "=v,0,s"({elem} {value}, {body.type} {body.counter})')

    def nanoseconds(self, f: FunctionEmitter) -> str:
        """The counter goes up 100 million times a second (CDNA 3 ISA, "S_MEMREALTIME"; RDNA 3 ISA, "S_SENDMSG_RTN")."""
        symbol = f.module.declare("i64", "@llvm.readsteadycounter", [])
        return f.inst(f"mul i64 {f.inst(f'call i64 {symbol}()')}, 10")

    def clock(self, f: FunctionEmitter, *, nanoseconds: bool) -> str:
        """LLVM takes both counters for accesses to any memory. RDNA 3 has no counter of cycles of 64 bits (RDNA 3 ISA,
        "SHADER_CYCLES"): there the steady one's ticks are what cycles are."""
        if nanoseconds:
            return self.nanoseconds(f)
        steady = self.processor.name.startswith("gfx11")
        symbol = f.module.declare("i64", f"@llvm.{'readsteadycounter' if steady else 'readcyclecounter'}", [])
        return f.inst(f"call i64 {symbol}()")

    def uniform(self, f: FunctionEmitter, value: str) -> str:
        symbol = f.module.declare("i32", "@llvm.amdgcn.readfirstlane.i32", ["i32"])
        return f.inst(f"call i32 {symbol}(i32 {value})")

    def program_id(self, f: FunctionEmitter, axis: int) -> str:
        symbol = f.module.declare("i32", f"@llvm.amdgcn.workgroup.id.{'xyz'[axis]}", [])
        return f.inst(f"call i32 {symbol}()")

    def num_programs(self, f: FunctionEmitter, axis: int) -> str:
        """``hidden_block_count_*``: the first three words of the implicit arguments of code object 5."""
        symbol = f.module.declare("ptr addrspace(4)", "@llvm.amdgcn.implicitarg.ptr", [])
        base = f.inst(f"call ptr addrspace(4) {symbol}()")
        place = f.inst(f"getelementptr i32, ptr addrspace(4) {base}, i64 {axis}")
        return f.inst(f"load i32, ptr addrspace(4) {place}, align 4")

    # ---- threads talking to each other

    def barrier(self, f: FunctionEmitter) -> None:
        f.line('fence syncscope("workgroup") release')
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.barrier', [])}()")
        f.line('fence syncscope("workgroup") acquire')

    def barrier_to_release(self, f: FunctionEmitter, scope: int) -> None:
        """Each wave waits for its own stores, since the one that releases waits for no others': LLVM's fence of a work
        group leaves them under way on CDNA. There LLVM waits for a write-back of the L2 only where stores are under
        way (22.1), hence the wait that it may not drop."""
        if MemSyncScope(scope) is not MemSyncScope.CTA:
            f.line(f"fence {_MEMORY.scope(scope)}release")
            if self.processor.matrix == "mfma":
                f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.waitcnt', ['i32'])}(i32 {_GLOBAL_ALONE})")
        f.threads.barrier()

    def local_barrier(self, f: FunctionEmitter) -> None:
        """The fences name the LDS alone: accesses to global memory stay under way. LLVM takes copies to the LDS for
        such as a fence of it must wait for, though they have waits of their own."""
        if self.copies:
            self._wait_for_lds(f)
            f.line('fence syncscope("wavefront") release')
            f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.barrier', [])}()")
            f.line('fence syncscope("wavefront") acquire')
            return
        f.line('fence syncscope("workgroup") release, !mmra !1')
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.barrier', [])}()")
        f.line('fence syncscope("workgroup") acquire, !mmra !1')

    def warp_barrier(self, f: FunctionEmitter) -> None:
        """The LDS serves a wave's accesses in order; the compiler must keep them so. Copies come on another way."""
        if self.copies:
            self._wait_for_lds(f)
        f.line('fence syncscope("wavefront") release, !mmra !1')
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.wave.barrier', [])}()")
        f.line('fence syncscope("wavefront") acquire, !mmra !1')

    def _wait_for_lds(self, f: FunctionEmitter) -> None:
        f.line('fence syncscope("wavefront") release')
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.waitcnt', ['i32'])}(i32 {_LDS_ALONE})")

    # ---- copies to the LDS past the registers

    @property
    def scope_of_copies(self) -> str:
        return ", !alias.scope !5, !noalias !6" if self.copies else ""

    @property
    def scope_of_tiles(self) -> str:
        return ", !alias.scope !6, !noalias !5" if self.copies else ""

    def async_commit(self, f: FunctionEmitter) -> None:
        """Waits count the loads of groups: what is issued before stays before."""
        if self.copies:
            f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.sched.barrier', ['i32'])}(i32 {_ALU})")

    def async_wait(self, f: FunctionEmitter, pending: int) -> None:
        """For groups of an unknown number of instructions: for all."""
        if self.copies:
            self.wait_for_copies(f, 0)

    def wait_for_copies(self, f: FunctionEmitter, pending: int) -> None:
        """Until at most so many of this wave's loads are under way; other counters stay (CDNA 3 ISA, S_WAITCNT)."""
        most = min(pending, _MOST_LOADS)
        fields = most & 15 | most >> 4 << 14 | 0xF70
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.s.waitcnt', ['i32'])}(i32 {fields})")

    def keep_order(self, f: FunctionEmitter) -> None:
        """LLVM's scheduler would move all loads from the LDS in front of the first product that uses one."""
        f.line(f"call void {f.module.declare('void', '@llvm.amdgcn.sched.barrier', ['i32'])}(i32 0)")

    def local_load(self, f: FunctionEmitter, type_: Attribute, memory: SSAValue) -> SharedRegisters | None:
        """By reads that transpose, where the processor has them and they fit."""
        from tritonx.backends.amd.emit.transposed_reads import transposed_reads

        return transposed_reads(f, type_, memory) if self.processor.reads_transposed else None

    def local_store(self, f: FunctionEmitter, op: LocalAllocOp | LocalStoreOp) -> bool:
        """What was loaded ahead is waited for where the loop stores it. LLVM's scheduler would pack it for that as soon
        as it can, which is where the products are that the loads should run beside."""
        if isinstance(op, LocalStoreOp):
            self.keep_order(f)
        return False

    def _permute(self, f: FunctionEmitter, value: str, lane: str) -> str:
        symbol = f.module.declare("i32", "@llvm.amdgcn.ds.bpermute", ["i32", "i32"])
        return f.inst(f"call i32 {symbol}(i32 {f.inst(f'shl i32 {lane}, 2')}, i32 {value})")

    def _dpp(self, f: FunctionEmitter, value: str, control: int) -> str:
        symbol = f.module.declare("i32", "@llvm.amdgcn.update.dpp.i32", ["i32", "i32", "i32", "i32", "i32", "i1"])
        return f.inst(f"call i32 {symbol}(i32 poison, i32 {value}, i32 {control}, i32 15, i32 15, i1 true)")

    def _row_xor(self, f: FunctionEmitter, value: str, mask: int) -> str:
        """The lane whose number differs in ``mask`` (below 16): one DPP, or two on CDNA."""
        if mask == 0:
            return value
        if mask in _ROW_XOR or not self.is_cdna:
            return self._dpp(f, value, _ROW_XOR.get(mask, _ROW_XMASK + mask))
        first = next(m for m in _ROW_XOR if mask ^ m in _ROW_XOR)  # every mask of four bits is a product of two
        return self._dpp(f, self._dpp(f, value, _ROW_XOR[first]), _ROW_XOR[mask ^ first])

    def shuffle_xor(self, f: FunctionEmitter, value: str, mask: int, equal: int = 0) -> str:
        if mask < 16:
            # Where neighbours hold the same, CDNA's mirror of half a row does for a step of 4, which would take two.
            if mask not in _ROW_XOR and mask | equal & 7 in _ROW_XOR:
                mask |= equal & 7
            return self._row_xor(f, value, mask)
        if not self.is_cdna:
            return self._other_row(f, value, mask & 15)
        if mask < 32:
            symbol = f.module.declare("i32", "@llvm.amdgcn.ds.swizzle", ["i32", "i32"])
            return f.inst(f"call i32 {symbol}(i32 {value}, i32 {mask << 10 | 31})")
        return self._permute(f, value, f.inst(f"xor i32 {f.threads.lane}, {mask}"))

    def _other_row(self, f: FunctionEmitter, value: str, mask: int) -> str:
        """The lane of the other row of 16 whose place in it differs in ``mask``: one permutation on RDNA, with 4 bits
        for the place that each lane of a row reads."""
        places = sum((lane ^ mask) << 4 * lane for lane in range(16))
        low, high = (part - (part >> 31 << 32) for part in (places & 0xFFFFFFFF, places >> 32))
        symbol = f.module.declare("i32", "@llvm.amdgcn.permlanex16.i32", ["i32", "i32", "i32", "i32", "i1", "i1"])
        return f.inst(f"call i32 {symbol}(i32 poison, i32 {value}, i32 {low}, i32 {high}, i1 false, i1 false)")

    def combines_three(self, how: type[Operation], elem: str) -> bool:
        return _THREES.get(how) == elem

    def swaps(self, mask: int) -> bool:
        return self.processor.swaps_rows and mask in SWAPPED_LANES

    def swap(self, f: FunctionEmitter, first: str, second: str, mask: int) -> tuple[str, str]:
        symbol = f.module.declare("{ i32, i32 }", f"@llvm.amdgcn.permlane{mask}.swap", ["i32", "i32", "i1", "i1"])
        pair = f.inst(f"call {{ i32, i32 }} {symbol}(i32 {first}, i32 {second}, i1 false, i1 false)")
        return f.inst(f"extractvalue {{ i32, i32 }} {pair}, 0"), f.inst(f"extractvalue {{ i32, i32 }} {pair}, 1")

    def pick_bytes(self, f: FunctionEmitter, low: str, high: str, chosen: Sequence[int]) -> str:
        """CDNA 3 ISA, V_PERM_B32: bytes 0 to 3 are the second operand's."""
        symbol = f.module.declare("i32", "@llvm.amdgcn.perm", ["i32", "i32", "i32"])
        places = sum(place << 8 * i for i, place in enumerate(chosen))
        return f.inst(f"call i32 {symbol}(i32 {high}, i32 {low}, i32 {places})")

    def reads_both(self, mask: int) -> bool:
        return self.swaps(mask) or (mask == 16 and not self.is_cdna)

    def both(self, f: FunctionEmitter, value: str, mask: int) -> tuple[str, str]:
        """Two equal words that are swapped; on RDNA one permutation and two selects."""
        if self.swaps(mask):
            return self.swap(f, value, value, mask)
        lane = f.threads.lane
        with f.in_prologue():
            lower = f.inst(f"icmp ult i32 {lane}, {mask}")
        other = self.shuffle_xor(f, value, mask)
        low = f.inst(f"select i1 {lower}, i32 {value}, i32 {other}")
        return low, f.inst(f"select i1 {lower}, i32 {other}, i32 {value}")

    def across_rows(self, f: FunctionEmitter) -> tuple[Callable[[str], str], ...]:
        """CDNA's permutations that hand the last lane of a row, and that of a half, to the rows after it: the last lane
        of all ends up with everything."""
        if not self.is_cdna:
            return ()
        symbol = f.module.declare("i32", "@llvm.amdgcn.readlane.i32", ["i32", "i32"])
        return (
            partial(self._dpp, f, control=_ROW_BCAST_15),
            partial(self._dpp, f, control=_ROW_BCAST_31),
            lambda value: f.inst(f"call i32 {symbol}(i32 {value}, i32 {self.warp_size - 1})"),
        )

    def shuffle_index(self, f: FunctionEmitter, value: str, lane: str) -> str:
        return self._permute(f, value, lane)

    # ---- the rest, by subject

    def dot(self, f: FunctionEmitter, product: DotProduct) -> bool:
        return dot.matrix(f, self.processor, product)
