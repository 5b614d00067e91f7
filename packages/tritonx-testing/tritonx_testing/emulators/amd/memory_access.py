"""Accesses to global memory that the emulator does otherwise than hardware, or not at all."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from tritonx_testing.emulators.amd.register_files import (
    ACCUMULATORS,
    SCALARS,
    VECTORS,
    active,
    file_of,
    step,
)


@dataclass(frozen=True)
class Moved:
    """What a load or store moves between memory and a lane's registers: ``half`` of one for 16 bits that leave the
    other half as it is."""

    stores: bool
    nbytes: int
    signed: bool
    half: str

    NAME: ClassVar[re.Pattern[str]] = re.compile(
        r"(BUFFER|GLOBAL)_(LOAD|STORE)_(D16_HI_|D16_)?(U|I|B|S)?(BYTE|SHORT|DWORD|8|16|32|64|96|128)"
        r"(_D16_HI|_D16|X[234])?"
    )

    @staticmethod
    def of(operation: str, prefix: str) -> Moved | None:
        """What the instruction of this name moves, if it is a load or store that begins with ``prefix``."""
        found = Moved.NAME.fullmatch(operation)
        if found is None or found[1] != prefix:
            return None
        _, kind, before, sign, size, after = found.groups()
        nbytes = {"BYTE": 1, "SHORT": 2, "DWORD": 4}.get(size) or int(size) // 8
        if after and after.startswith("X"):
            nbytes *= int(after[1])
        half = (before or after or "").strip("_") if nbytes < 4 else ""
        return Moved(kind == "STORE", nbytes, sign in ("I", "S"), half)

    @property
    def registers(self) -> int:
        return max(1, self.nbytes // 4)

    def move(self, own: Any, place: int, inside: bool = True) -> None:
        """Between a lane's registers ``own`` and memory from ``place``; beyond a buffer, zeros are read."""
        if self.stores:
            if inside:
                data = own.tobytes()[2 if self.half.endswith("HI") else 0 :][: self.nbytes]
                ctypes.memmove(place, data, self.nbytes)
            return
        came = ctypes.string_at(place, self.nbytes) if inside else bytes(self.nbytes)
        if self.nbytes >= 4:
            own[:] = np.frombuffer(came, np.uint32)
            return
        value = int.from_bytes(came, "little", signed=self.signed)
        kept = int(own[0])
        if not self.half:
            own[0] = value & 0xFFFFFFFF
        elif self.half.endswith("HI"):
            own[0] = kept & 0xFFFF | (value & 0xFFFF) << 16
        else:
            own[0] = kept & 0xFFFF0000 | value & 0xFFFF


@dataclass(frozen=True)
class GlobalFields:
    """The fields of a GLOBAL instruction (CDNA 3 ISA, 13.9; RDNA 3 ISA, 15.9; RDNA 4 ISA, 15.11): registers, and the
    address that their lanes have."""

    address: int
    data: int
    base: int
    result: int
    offset: int
    returns: bool
    accumulators: bool
    size: int

    @staticmethod
    def of(arch: str, first: int, second: int, third: int) -> GlobalFields:
        if arch == "rdna4":
            address, data, base, result = third & 0xFF, second >> 23 & 0xFF, first & 0x7F, second & 0xFF
            offset, width, returns, size = third >> 8, 24, second >> 20, 12
        else:
            address, data, base, result = second & 0xFF, second >> 8 & 0xFF, second >> 16 & 127, second >> 24
            offset, width, returns, size = first & 0x1FFF, 13, first >> (16 if arch == "cdna" else 14), 8
        accumulators = arch == "cdna" and second >> 23 & 1
        signed = offset - (offset >> width - 1 << width)
        return GlobalFields(address, data, base, result, signed, bool(returns & 1), bool(accumulators), size)

    def addresses(self, scalars: Any, registers: Any) -> Any:
        """Of all lanes: a register pair, or a scalar pair and a register."""
        start, address = 0, registers[self.address].astype(np.uint64)
        if self.base < 124:
            start = (ctypes.c_uint64).from_address(scalars.value + 4 * self.base).value
        else:
            address |= registers[self.address + 1].astype(np.uint64) << np.uint64(32)
        return address + np.uint64(start + self.offset & (1 << 64) - 1)


class GlobalAccess:
    """A GLOBAL load or store. Hardware takes any address (LLVM's ``unaligned-access-mode``, which HSA requires); the
    emulator leaves out its last bits, and takes accumulation registers for vector registers."""

    def __init__(self, inner: Any, places: list[int], moved: Moved, fields: GlobalFields, lanes: int) -> None:
        self.inner, self.count, self.moved, self.fields, self.lanes = inner, len(places), moved, fields, lanes
        self.places = (*places, *(() if ACCUMULATORS in places else (ACCUMULATORS,)))

    def fxn(self, *buffers: Any) -> None:
        def file(place: int) -> Any:
            return file_of(buffers[self.places.index(place)], self.lanes)

        scalars, fields, moved = buffers[self.places.index(SCALARS)], self.fields, self.moved
        on = active(scalars, self.lanes)
        addresses = fields.addresses(scalars, file(VECTORS))
        if not fields.accumulators and not (addresses[on] % np.uint64(min(moved.nbytes, 4))).any():
            self.inner(*buffers[: self.count])
            return
        data = file(ACCUMULATORS if fields.accumulators else VECTORS)
        first = fields.data if moved.stores else fields.result
        for lane in np.flatnonzero(on):
            moved.move(data[first : first + moved.registers, lane], int(addresses[lane]))
        step(scalars, fields.size)


class CompareAndSwap64:
    """GLOBAL_ATOMIC_CMPSWAP of 64 bits: the new value in the first pair of registers, the compared in the second."""

    def __init__(self, fields: GlobalFields, lanes: int) -> None:
        self.fields, self.lanes = fields, lanes

    def fxn(self, scalars: Any, vectors: Any) -> None:
        registers, own = file_of(vectors, self.lanes), self.fields
        pair = registers.astype(np.uint64)

        def both(register: int, lane: int) -> int:
            return int(pair[register, lane] | pair[register + 1, lane] << np.uint64(32))

        addresses = own.addresses(scalars, registers)
        for lane in np.flatnonzero(active(scalars, self.lanes)):
            place = (ctypes.c_uint64).from_address(int(addresses[lane]))
            old = place.value
            if old == both(own.data + 2, lane):
                place.value = both(own.data, lane)
            if own.returns:
                registers[own.result, lane], registers[own.result + 1, lane] = old & 0xFFFFFFFF, old >> 32
        step(scalars, own.size)


class AddPairs:
    """GLOBAL_ATOMIC_PK_ADD_BF16: the emulator cannot read CDNA's description, and of RDNA 4's it takes the sums
    for their bits."""

    def __init__(self, fields: GlobalFields, lanes: int) -> None:
        assert not fields.accumulators, "[emu] Failed to compile a sum of accumulation registers"
        self.fields, self.lanes = fields, lanes

    def fxn(self, scalars: Any, vectors: Any) -> None:
        registers, own = file_of(vectors, self.lanes), self.fields
        addresses = own.addresses(scalars, registers)
        for lane in np.flatnonzero(active(scalars, self.lanes)):
            place = (ctypes.c_uint32).from_address(int(addresses[lane]))
            old = np.array([place.value], np.uint32)
            added = registers[own.data, lane : lane + 1].copy()
            place.value = int((old.view(ml_dtypes.bfloat16) + added.view(ml_dtypes.bfloat16)).view(np.uint32)[0])
            if own.returns:
                registers[own.result, lane] = old[0]
        step(scalars, own.size)


class BufferAccess:
    """BUFFER_LOAD and BUFFER_STORE with a raw descriptor (CDNA 3 ISA, 9.1; RDNA 3 ISA, 9.1; RDNA 4 ISA, 10.1): a lane
    whose access does not end inside the buffer reads zeros and writes nothing."""

    FLAGS: ClassVar[dict[str, int]] = {"cdna": 0x27000, "rdna3": 0x31027000, "rdna4": 0x31027000}
    """Word 3 of the descriptor. RDNA's bits 28 and 29 choose the comparison of offsets with the size in bytes."""

    def __init__(self, moved: Moved, arch: str) -> None:
        self.moved, self.arch = moved, arch

    def with_fields(self, first: int, second: int, third: int, lanes: int) -> BufferAccess:
        self.lanes = lanes
        if self.arch == "rdna4":
            assert second >> 30 == 1, "an offset in a register, and no index"
            self.data, self.address, self.resource, self.scalar = (
                second & 0xFF,
                third & 0xFF,
                second >> 9 & 0x1FF,
                first & 0x7F,
            )
            self.offset, self.size, self.accumulators = (third >> 8) - (third >> 31 << 24), 12, 0
        else:
            offen = first >> 12 & 3 if self.arch == "cdna" else second >> 22 & 3
            assert offen == 1, "an offset in a register, and no index"
            self.data, self.address = second >> 8 & 0xFF, second & 0xFF
            self.resource, self.scalar = 4 * (second >> 16 & 31), second >> 24
            self.offset, self.size = first & 0xFFF, 8
            self.accumulators = self.arch == "cdna" and second >> 23 & 1
        return self

    def fxn(self, scalars: Any, vectors: Any, accumulators: Any) -> None:
        registers = file_of(vectors, self.lanes)
        data = file_of(accumulators, self.lanes) if self.accumulators else registers
        count = self.moved.registers
        for lane, place, inside in self.accessed(scalars, vectors):
            self.moved.move(data[self.data : self.data + count, lane], place, inside)
        step(scalars, self.size)

    def accessed(self, scalars: Any, vectors: Any) -> Iterator[tuple[int, int, bool]]:
        """Of each active lane the address, and whether it is inside the buffer."""
        words = np.ctypeslib.as_array((ctypes.c_uint32 * 256).from_address(scalars.value))
        low, high, size, flags = (int(words[self.resource + i]) for i in range(4))
        assert high >> 16 == 0 and flags == self.FLAGS[self.arch], "a raw buffer"
        null = self.scalar == 124 and self.arch != "cdna"
        uniform = 0 if null else int(words[self.scalar]) if self.scalar < 124 else self.scalar - 128
        assert uniform >= 0
        registers, nbytes = file_of(vectors, self.lanes), self.moved.nbytes
        for lane in np.flatnonzero(active(scalars, self.lanes)):
            # In 32 bits, which wrap: after Sea Islands the sum is not checked, and before gfx1250 not wider. On that
            # ground LLVM splits offsets into register and immediate (its pull request 207821 has the formulas).
            offset = int(registers[self.address, lane]) + self.offset & 0xFFFFFFFF
            yield int(lane), (high << 32 | low) + uniform + offset, offset + nbytes <= size
