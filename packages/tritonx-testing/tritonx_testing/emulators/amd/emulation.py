"""What tinygrad's instruction emulator lacks and kernels need, put into it from outside.

Each gap was found by reading the emulator against the instruction-set documents:

* it flushes subnormal numbers on the host whatever the kernel's descriptor says (its ``_MXCSRContext``);
* an atomic returns the old value where the field ``glc`` is set, which CDNA 3 and 4 call ``sc0`` and RDNA 4 ``th``;
* MFMA in tiles of 32 by 32 puts the results of a lane in rows 0–15 and 16–31 instead of fours that are 8 apart, the
  compile of integer MFMA fails, there is none in f64; WMMA reads 8-bit floats as f16, and v128 up for a constant
  accumulator: matrix instructions are done here as ``matrix_unit`` says;
* it takes any instruction of 8 bytes in front of an F8F6F4 product for the scales of it; such products are
  ``scaled_matrix``'s;
* a VOP1, VOP2 or VOPC instruction on 16 bits takes v128 and up for upper halves of v0 to v127 on CDNA too, where they
  are registers of their own;
* a 64-bit compare-and-swap takes both operands from one register pair (its code shifts 64 bits by 64);
* loads and additions in the LDS use the addresses of lanes that are not active, which may be anything;
* minima and maxima, sums with a constant zero, quotients, and NaNs that become bfloats are not what the documents say
  (``document_code``);
* all waves of a block share one scratch memory: each gets its own;
* it may take accumulation registers that an access to memory names for vector registers;
* it lacks RDNA's accesses through buffers, and takes CDNA's for those of whole words;
* it leaves out the last bits of addresses that are not multiples of what a load or store moves;
* it lacks S_GETPC_B64, by which code finds its constants, and the clocks (``clocks``);
* it lacks V_PERMLANE16_SWAP, V_PERMLANE32_SWAP, DS_READ_B64_TR and DS_SWIZZLE; DPP's ROW_BCAST is a row's first lane;
* it lacks RDNA's DPP control ROW_XMASK, DPP in instructions of the form VOP3, literals as selectors of PERMLANEX16,
  cache operations, and loads from the LDS of half a register;
* it loses the carry of SDWA additions and subtractions: kernels that have one are not run;
* loads to the LDS arrive at once, waits are nothing: they arrive as late as waits let them, or soon (``direct_loads``);
* it permutes lanes in place, lane after lane, so that a later one reads what an earlier one wrote.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import struct
from types import SimpleNamespace
from typing import Any

import numpy as np

from tritonx_testing.emulators.amd import gfx90a
from tritonx_testing.emulators.amd.clocks import Clock
from tritonx_testing.emulators.amd.direct_loads import (
    ACCESSES,
    LDS,
    Counted,
    DirectLoad,
    UnderWay,
    Waiting,
)
from tritonx_testing.emulators.amd.document_code import install
from tritonx_testing.emulators.amd.matrix_registers import MatrixMultiply
from tritonx_testing.emulators.amd.matrix_unit import Product
from tritonx_testing.emulators.amd.memory_access import (
    AddPairs,
    BufferAccess,
    CompareAndSwap64,
    GlobalAccess,
    GlobalFields,
    Moved,
)
from tritonx_testing.emulators.amd.register_files import (
    ACCUMULATORS,
    SCALARS,
    VECTORS,
    active,
    file_of,
    step,
)
from tritonx_testing.emulators.amd.scaled_matrix import LOAD_SCALES, ScaledMultiply, is_told_types

READS_OF_LDS = ("DS_LOAD", "DS_READ", "DS_ADD")
"""Instructions that read the LDS at every lane's address."""


def fill_gaps(processor: list[str], under_way: UnderWay) -> None:
    """Change the emulator that is in ``sys.path``; once a process. ``processor`` is a list of one, which names the
    processor whose code runs next: 8-bit floats are other formats on gfx942 than on gfx950. ``under_way`` are the loads
    of that code.
    """
    from test.mockgpu.amd import emu, pcode
    from tinygrad.dtype import dtypes
    from tinygrad.renderer.amd import _load_formats
    from tinygrad.runtime.autogen.amd.rdna3.ins import MUBUF
    from tinygrad.runtime.autogen.amd.rdna4.ins import VBUFFER
    from tinygrad.uop.ops import UOp

    _load_formats()["rdna3"].insert(0, MUBUF)
    _load_formats()["rdna4"].insert(0, VBUFFER)
    emu._MXCSRContext = contextlib.nullcontext
    buffer = emu.Buffer

    def apart(device: str, size: int, dtype: Any, **given: Any) -> Any:
        return ScratchMemory(size) if dtype == dtypes.uint8 else buffer(device, size, dtype, **given)

    emu.Buffer = apart
    attribute = emu._iattr

    def attribute_by_any_name(inst: Any, name: str, default: int = 0) -> int:
        if name == "glc" and not hasattr(inst, "glc"):
            return attribute(inst, "sc0") or attribute(inst, "th") & 1
        return attribute(inst, name, default)

    emu._iattr = attribute_by_any_name
    install(emu, pcode)
    known = emu._dpp16_ctrl

    def control(lane: Any, dpp: int, row_mask: int, bank_mask: int, wave_size: int) -> Any:
        if 0x160 <= dpp < 0x170:
            _, enabled, valid = known(lane, 0x140, row_mask, bank_mask, wave_size)
            return lane.cast(dtypes.int) ^ UOp.const(dpp & 15, dtypes.int), enabled, valid
        if dpp in (ROW_BCAST_15, ROW_BCAST_31):
            _, enabled, _ = known(lane, 0x140, row_mask, bank_mask, wave_size)
            number, rows = lane.cast(dtypes.int), 16 if dpp == ROW_BCAST_15 else 32
            last = (number & UOp.const(-rows, dtypes.int)) - UOp.const(1, dtypes.int)
            return last, enabled, last >= UOp.const(0, dtypes.int)
        return known(lane, dpp, row_mask, bank_mask, wave_size)

    emu._dpp16_ctrl = control
    decode, decode_bytes = emu._decode_at, emu.decode_inst
    emu.decode_inst = lambda data, arch: decode_bytes(own_bytes(data, arch, processor[0]), arch)

    def decode_out_of_place(pc: int, arch: str) -> Any:
        inst = emu.decode_inst(ctypes.string_at(pc, 16), arch)
        if getattr(getattr(inst, "op", None), "name", "") in CACHE_OPERATIONS:
            ctypes.memmove(pc, struct.pack("<I", S_NOP) * (inst.size() // 4), inst.size())
        operation = getattr(getattr(inst, "op", None), "name", "")
        lanes = emu._wave_size(arch)
        if processor[0] == gfx90a.PROCESSOR:
            operation = gfx90a.product_of(int.from_bytes(ctypes.string_at(pc + 2, 2), "little")) or operation
        if operation.startswith(("V_MFMA", "V_WMMA")):
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS, ACCUMULATORS)))
            if is_told_types(operation):
                return (program, ScaledMultiply(operation, ctypes.string_at(pc, 16))), inst
            return (program, MatrixMultiply(Product.of(operation, processor[0]), ctypes.string_at(pc, 8))), inst
        first, second, third = struct.unpack("<III", ctypes.string_at(pc, 12))
        if operation in ("GLOBAL_ATOMIC_CMPSWAP_X2", "GLOBAL_ATOMIC_CMPSWAP_B64"):
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS)))
            return (program, CompareAndSwap64(GlobalFields.of(arch, first, second, third), lanes)), inst
        if operation == "GLOBAL_ATOMIC_PK_ADD_BF16":
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS)))
            return (program, AddPairs(GlobalFields.of(arch, first, second, third), lanes)), inst
        if operation.startswith(("V_PERMLANE16_SWAP", "V_PERMLANE32_SWAP")):
            assert first >> 25 == 0b0111111, "the short form"
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS)))
            return (program, SwapRows(int(operation[10:12]), first >> 17 & 0xFF, first & 0xFF)), inst
        if operation == "DS_SWIZZLE_B32":
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS)))
            return (program, Swizzle(first & 0xFFFF, second & 0xFF, second >> 24, lanes)), inst
        if operation.startswith("DS_READ_B64_TR_B"):
            read = TransposedRead(int(operation.removeprefix("DS_READ_B64_TR_B")), first, second)
            return (SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS, LDS, ACCUMULATORS))), read), inst
        if operation == "S_GETPC_B64":
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS,)))
            return (program, OwnPlace(pc + 4, first >> 16 & 0x7F)), inst
        if (clock := Clock.of(operation, first)) is not None:
            return (SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS,))), clock), inst
        if (moved := Moved.of(operation, "BUFFER")) is not None:
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS, ACCUMULATORS)))
            return (program, BufferAccess(moved, arch).with_fields(first, second, third, lanes)), inst
        if "SDWA" in type(inst).__name__ and "_CO_" in operation:
            raise RuntimeError(f"[emu] Failed to compile {operation} of bytes or words: it loses the carry")
        spare = unused_registers(inst, 1, third & 0xFF)
        if first >> 26 in (0b110101, 0b110011) and second & 0x1FF == 250 and arch != "cdna":
            # The second dword's first source is "a DPP dword follows": it becomes a register with the permuted lanes.
            ctypes.memmove(pc + 4, (second & ~0x1FF | 256 + spare).to_bytes(4, "little"), 4)
            (program, runtime), inst = decode(pc, arch)
            places = list(program.arg.globals)
            moves = PermutedSource(runtime.fxn, places.index(SCALARS), places.index(VECTORS), third, spare)
            return (program, moves), inst
        kind = type(inst).__name__
        if arch == "cdna" and kind.startswith(("VOP1", "VOP2", "VOPC")) and "SDWA" not in kind:
            if 16 in inst.canonical_op_bits.values() and (moved := upper_registers(inst, kind, first)):
                word = first
                for shift, _, low in moved:
                    word = word & ~(0xFF << shift) | low << shift
                ctypes.memmove(pc, word.to_bytes(4, "little"), 4)
                (program, runtime), _ = decode_out_of_place(pc, arch)
                return (program, LowRegisters(runtime.fxn, program.arg.globals.index(VECTORS), moved)), inst
        (program, runtime), inst = decode(pc, arch)
        places = list(program.arg.globals)
        if (moved := Moved.of(operation, "GLOBAL")) is not None:
            access = GlobalAccess(runtime.fxn, places, moved, GlobalFields.of(arch, first, second, third), lanes)
            return (SimpleNamespace(arg=SimpleNamespace(globals=access.places)), access), inst
        if arch == "cdna" and not operation.startswith("V_") and attribute(inst, "acc"):
            # Without the bit, which the emulator heeds or not by what it has compiled before, and with the address in a
            # register that is none of the data's.
            bit = (pc, first & ~(1 << 25)) if kind.startswith("DS") else (pc + 4, second & ~(1 << 23))
            ctypes.memmove(bit[0], bit[1].to_bytes(4, "little"), 4)
            address = re.search(r"v\[(\d+)(:\d+)?", repr(getattr(inst, "addr", None) or inst.vaddr))
            assert address is not None
            begin, count = int(address[1]), 1 + int(address[2] is not None)
            registers = named_registers(inst)
            spare = unused_registers(inst, count)
            ctypes.memmove(pc + 4, spare.to_bytes(1, "little"), 1)
            (program, runtime), _ = decode(pc, arch)
            data = AccumulatorData(runtime.fxn, list(program.arg.globals), registers, begin, spare, count)
            return (SimpleNamespace(arg=SimpleNamespace(globals=data.places)), data), inst
        if operation.startswith(("DS_LOAD", "DS_READ")) and "D16" in operation:
            ctypes.memmove(pc + 7, spare.to_bytes(1, "little"), 1)
            upper = operation.endswith("HI")
            return (program, HalfLoad(runtime.fxn, places.index(VECTORS), second >> 24, spare, lanes, upper)), inst
        if operation.startswith(READS_OF_LDS):
            return (program, ActiveLanes(runtime.fxn, places, second & 0xFF, lanes)), inst
        permutes = "DPP" in kind or "PERMLANE" in operation
        if not permutes or not hasattr(inst, "vdst"):
            return (program, runtime), inst
        shift = 17 if kind.startswith(("VOP1", "VOP2")) else 0
        register = first >> shift & 0xFF
        # The emulator reads the fields of an instruction where it lies, so that is where the register is changed.
        ctypes.memmove(pc, (first & ~(0xFF << shift) | spare << shift).to_bytes(4, "little"), 4)
        return (program, OutOfPlace(runtime.fxn, places.index(VECTORS), register, spare, lanes)), inst

    def decode_counted(pc: int, arch: str) -> Any:
        """With the accesses of CDNA counted that are under way."""
        code = int.from_bytes(ctypes.string_at(pc + 2, 2), "little")
        if code in CACHE_INVALIDATIONS.get(processor[0] if arch == "cdna" else arch, ()):
            ctypes.memmove(pc, struct.pack("<II", S_NOP, S_NOP), 8)
        if processor[0] == gfx90a.PROCESSOR:
            ctypes.memmove(pc + 2, gfx90a.rounded_once(code).to_bytes(2, "little"), 2)
        first, second = struct.unpack("<II", ctypes.string_at(pc, 8))
        if arch != "cdna":
            return decode_out_of_place(pc, arch)
        if first >> 16 == S_WAITCNT:
            inst = emu.decode_inst(ctypes.string_at(pc, 16), arch)
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS,)))
            return (program, Waiting(under_way, first & 0xFFFF)), inst
        inst = emu.decode_inst(ctypes.string_at(pc, 16), arch)
        operation, lanes = getattr(getattr(inst, "op", None), "name", ""), emu._wave_size(arch)
        found = re.fullmatch(r"GLOBAL_LOAD_LDS_DWORD(X4)?|BUFFER_LOAD_DWORD(X4)?", operation)
        if found is not None and (operation.startswith("GLOBAL") or first >> 16 & 1):
            nbytes = 16 if operation.endswith("X4") else 4
            if operation.startswith("GLOBAL"):
                source: Any = GlobalFields.of(arch, first, second, 0)
            else:
                moved = Moved.of(operation, "BUFFER")
                assert moved is not None
                source = BufferAccess(moved, arch).with_fields(first, second, 0, lanes)
            program = SimpleNamespace(arg=SimpleNamespace(globals=(SCALARS, VECTORS, LDS)))
            return (program, DirectLoad(under_way, source, nbytes, lanes)), inst
        (program, runtime), inst = decode_out_of_place(pc, arch)
        if operation.startswith(ACCESSES):
            places = list(program.arg.globals)
            return (program, Counted(under_way, runtime.fxn, places.index(SCALARS))), inst
        return (program, runtime), inst

    emu._decode_at = decode_counted
    context = emu._Ctx
    compile_lane, read_source = context.compile_lane_pcode, context.rsrc_dyn

    def compile_with_literal(self: Any, op: Any, inst: Any) -> Any:
        literal = self.optional_field(inst, "literal")
        context.rsrc_dyn = lambda self, offset, lane: read_source(self, offset, lane, 32, literal)
        try:
            return compile_lane(self, op, inst)
        finally:
            context.rsrc_dyn = read_source

    context.compile_lane_pcode = compile_with_literal


CACHE_OPERATIONS = frozenset({"GLOBAL_INV", "GLOBAL_WB", "GLOBAL_WBINV", "BUFFER_INV", "BUFFER_WBL2"})
CACHE_INVALIDATIONS = {"rdna3": (0xE0AC, 0xE0B0), "gfx90a": (0xE0F8, 0xE0FC, 0xE0A4, 0xE0A0)}
"""BUFFER_GL0_INV and BUFFER_GL1_INV of RDNA 3: the upper halves of their first dwords. None of these operations does
anything where every access is made in order.
"""
S_NOP = 0xBF800000
S_WAITCNT = 0xBF8C
ROW_BCAST_15, ROW_BCAST_31 = 0x142, 0x143


def own_bytes(data: bytes, arch: str, processor: str) -> bytes:
    """Without what can be no part of the instruction: of CDNA one alone has more than 8 bytes. Products that
    are gfx90a's alone have the code of another one."""
    if arch != "cdna" or data[2:4] == LOAD_SCALES:
        return data
    if processor == gfx90a.PROCESSOR:
        code = gfx90a.readable(int.from_bytes(data[2:4], "little"))
        return data[:2] + code.to_bytes(2, "little") + data[4:8]
    return data[:8]


def unused_registers(inst: Any, count: int = 1, *others: int) -> int:
    """The first of so many vector registers side by side that ``inst`` does not name, nor are among ``others``. What
    they hold is kept for the kernel. They are below 128: from there up a field of RDNA's 16-bit instructions names
    upper halves."""
    taken = named_registers(inst) | {*others}
    return next(n for n in reversed(range(129 - count)) if taken.isdisjoint(range(n, n + count)))


def named_registers(inst: Any) -> set[int]:
    """The vector registers that ``inst`` names."""
    found: set[int] = set()
    for first, last in re.findall(r"v\[(\d+)(?::(\d+))?\]", repr(inst)):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def upper_registers(inst: Any, kind: str, word: int) -> list[tuple[int, int, int]]:
    """The registers from 128 up that the first dword of a VOP1, VOP2 or VOPC instruction names, as (place of the field,
    register, a free register below)."""
    fields = {"VOP1": [17], "VOP2": [17, 9], "VOPC": [9]}[kind[:4]]
    if "DPP" not in kind and word & 0x100:
        fields.append(0)
    used = {word >> shift & 0xFF for shift in fields} | named_registers(inst)
    free = iter(sorted(set(range(128)) - used, reverse=True))
    low = {r: next(free) for r in sorted(used) if r >= 128}
    return [(shift, r, low[r]) for shift in fields if (r := word >> shift & 0xFF) >= 128]


class ScratchMemory:
    """In place of the emulator's buffer of ``size`` bytes for the scratch memory of a wave's lanes: each wave asks once
    where it is, and gets other memory."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.waves: list[Any] = []

    def ensure_allocated(self) -> ScratchMemory:
        return self

    @property
    def _buf(self) -> ScratchMemory:
        return self

    @property
    def va_addr(self) -> int:
        self.waves.append(np.zeros(self.size, np.uint8))
        return self.waves[-1].ctypes.data


class ActiveLanes:
    """A load or an addition in the LDS for which lanes that are not active have the address 0."""

    def __init__(self, inner: Any, places: list[int], address: int, lanes: int) -> None:
        self.inner, self.address, self.lanes = inner, address, lanes
        self.scalars, self.vectors = places.index(SCALARS), places.index(VECTORS)

    def fxn(self, *buffers: Any) -> None:
        off = ~active(buffers[self.scalars], self.lanes)
        registers = file_of(buffers[self.vectors], self.lanes)
        kept = registers[self.address, off].copy()
        registers[self.address, off] = 0
        self.inner(*buffers)
        registers[self.address, off] = kept


class AccumulatorData:
    """An access to memory whose data are accumulation registers: they change places with the vector registers of the
    same numbers before and after. The address, in ``count`` registers from ``begin`` on, may have the data's numbers:
    the instruction takes it from ``spare`` on."""

    def __init__(self, inner: Any, places: list[int], registers: set[int], begin: int, spare: int, count: int) -> None:
        self.inner, self.count, self.registers = inner, len(places), sorted(registers)
        self.address, self.spare = slice(begin, begin + count), slice(spare, spare + count)
        self.places = (*places, *(() if ACCUMULATORS in places else (ACCUMULATORS,)))

    def exchange(self, buffers: tuple[Any, ...]) -> None:
        vectors, own = (file_of(buffers[self.places.index(place)], 64) for place in (VECTORS, ACCUMULATORS))
        kept = vectors[self.registers]
        vectors[self.registers] = own[self.registers]
        own[self.registers] = kept

    def fxn(self, *buffers: Any) -> None:
        vectors = file_of(buffers[self.places.index(VECTORS)], 64)
        came, kept = vectors[self.address].copy(), vectors[self.spare].copy()
        self.exchange(buffers)
        vectors[self.spare] = came
        self.inner(*buffers[: self.count])
        vectors[self.spare] = kept
        self.exchange(buffers)


class SwapRows:
    """V_PERMLANE16_SWAP, V_PERMLANE32_SWAP (CDNA 4 ISA): of each pair of rows of ``width`` lanes, the second operand's
    first changes places with the first operand's second."""

    def __init__(self, width: int, first: int, second: int) -> None:
        self.width, self.first, self.second = width, first, second

    def fxn(self, scalars: Any, vectors: Any) -> None:
        assert active(scalars, 64).all()
        registers = file_of(vectors, 64)
        upper = registers[self.first].reshape(-1, 2, self.width)[:, 1]
        lower = registers[self.second].reshape(-1, 2, self.width)[:, 0]
        kept = upper.copy()
        upper[:] = lower
        lower[:] = kept
        step(scalars, 4)


class Swizzle:
    """DS_SWIZZLE by a mask (CDNA 3 ISA, 11.4): a lane of 32 reads the one with number ((lane & and) | or) ^ xor."""

    def __init__(self, offset: int, source: int, target: int, lanes: int) -> None:
        assert not offset >> 15, "not by quads"
        self.source, self.target, self.lanes = source, target, lanes
        number = np.arange(lanes)
        self.lane = number & ~31 | (number & offset & 31 | offset >> 5 & 31) ^ offset >> 10

    def fxn(self, scalars: Any, vectors: Any) -> None:
        assert active(scalars, self.lanes).all()
        registers = file_of(vectors, self.lanes)
        registers[self.target] = registers[self.source][self.lane]
        step(scalars, 8)


class TransposedRead:
    """DS_READ_B64_TR_B16, _B8 and _B4 (CDNA 4 ISA): of each 16 lanes the chunks of 64 bits are rows of 16 elements, of
    which a lane gets one each."""

    def __init__(self, bits: int, first: int, second: int) -> None:
        self.bits, self.offset, self.accumulates = bits, first & 0xFFFF, bool(first >> 25 & 1)
        self.address, self.target = second & 0xFF, second >> 24

    def fxn(self, scalars: Any, vectors: Any, lds: Any, accumulators: Any) -> None:
        assert active(scalars, 64).all()
        places = file_of(vectors, 64)[self.address].astype(np.int64) + self.offset
        assert not (places % 8).any(), "an address is not aligned"
        read = np.array([int.from_bytes(ctypes.string_at(lds.value + int(p), 8), "little") for p in places], np.uint64)
        rows = 64 // self.bits
        shifts = np.arange(rows, dtype=np.uint64) * np.uint64(self.bits)
        elements = read.reshape(4, 16, 1) >> shifts & np.uint64((1 << self.bits) - 1)
        turned = elements.reshape(4, rows, 16).transpose(0, 2, 1)
        words = np.bitwise_or.reduce(turned << shifts, axis=2).reshape(64)
        own = file_of(accumulators if self.accumulates else vectors, 64)
        own[self.target : self.target + 2] = words.astype("<u8").view("<u4").reshape(64, 2).T
        step(scalars, 8)


class OwnPlace:
    """S_GETPC_B64: the address of the next instruction."""

    def __init__(self, address: int, target: int) -> None:
        self.address, self.target = address, target

    def fxn(self, scalars: Any) -> None:
        (ctypes.c_uint64).from_address(scalars.value + 4 * self.target).value = self.address
        step(scalars, 4)


class OutOfPlace:
    """An instruction that writes ``spare``, with moves of what it overwrites before and after."""

    def __init__(self, inner: Any, argument: int, register: int, spare: int, lanes: int) -> None:
        self.inner, self.argument, self.register, self.spare, self.lanes = inner, argument, register, spare, lanes

    def fxn(self, *buffers: Any) -> None:
        registers = file_of(buffers[self.argument], self.lanes)
        kept = registers[self.spare].copy()
        registers[self.spare] = registers[self.register]
        self.inner(*buffers)
        registers[self.register] = registers[self.spare]
        registers[self.spare] = kept


class LowRegisters:
    """An instruction with other registers in the place of some, which get their contents before and after."""

    def __init__(self, inner: Any, argument: int, moved: list[tuple[int, int, int]]) -> None:
        self.inner, self.argument, self.moved = inner, argument, {register: low for _, register, low in moved}

    def fxn(self, *buffers: Any) -> None:
        registers = file_of(buffers[self.argument], 64)
        kept = {low: registers[low].copy() for low in self.moved.values()}
        for register, low in self.moved.items():
            registers[low] = registers[register]
        self.inner(*buffers)
        for register, low in self.moved.items():
            registers[register] = registers[low]
        for low, value in kept.items():
            registers[low] = value


class HalfLoad:
    """A load of 16 bits, which goes to ``spare``, put into one half of its register."""

    def __init__(self, inner: Any, argument: int, register: int, spare: int, lanes: int, upper: bool) -> None:
        self.inner, self.argument, self.register, self.spare = inner, argument, register, spare
        self.lanes, self.upper = lanes, upper

    def fxn(self, *buffers: Any) -> None:
        registers = file_of(buffers[self.argument], self.lanes)
        own, spare = registers[self.register], registers[self.spare]
        kept = spare.copy()
        spare[:] = own >> 16 if self.upper else own & 0xFFFF
        self.inner(*buffers)
        own[:] = own & 0xFFFF | spare << 16 if self.upper else own & 0xFFFF0000 | spare & 0xFFFF
        spare[:] = kept


class PermutedSource:
    """A VOP3 instruction of RDNA whose first source is permuted by the DPP dword ``control`` (RDNA 3 ISA, 7.7)."""

    def __init__(self, inner: Any, scalars: int, vectors: int, control: int, spare: int) -> None:
        self.inner, self.scalars, self.vectors, self.spare = inner, scalars, vectors, spare
        self.register, code = control & 0xFF, control >> 8 & 0x1FF
        assert control >> 24 == 0xFF, "all rows and banks"
        lanes = np.arange(32)
        if code < 0x100:
            self.source = lanes & ~3 | code >> 2 * (lanes & 3) & 3
        elif code in (0x128, 0x140, 0x141):
            self.source = lanes ^ 8 if code == 0x128 else lanes ^ (15 if code == 0x140 else 7)
        else:
            assert 0x160 <= code < 0x170, f"DPP control {code:#x}"
            self.source = lanes ^ code & 15

    def fxn(self, *buffers: Any) -> None:
        registers = file_of(buffers[self.vectors], 32)
        kept = registers[self.spare].copy()
        registers[self.spare] = registers[self.register][self.source]
        self.inner(*buffers)
        registers[self.spare] = kept
        step(buffers[self.scalars], 4)
