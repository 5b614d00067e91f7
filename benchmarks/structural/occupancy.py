"""How many blocks a multiprocessor has room for: what registers and shared memory cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Multiprocessor:
    """``registers`` are those of a thread times the threads of a warp, for all warps; ``reserved`` is shared memory
    that each block takes beside its own."""

    registers: int
    warps: int
    blocks: int
    shared: int
    reserved: int
    threads: int
    """Of a warp."""

    granule: int = 8
    """By how many registers a thread takes them."""


MULTIPROCESSORS = {
    "cuda:80": Multiprocessor(65536, 64, 32, 164 << 10, 1 << 10, 32),
    "cuda:90": Multiprocessor(65536, 64, 32, 228 << 10, 1 << 10, 32),
    "hip:gfx942": Multiprocessor(4 * 512 * 64, 32, 32, 64 << 10, 0, 64),
    "hip:gfx950": Multiprocessor(4 * 512 * 64, 32, 32, 160 << 10, 0, 64),
    "hip:gfx1201": Multiprocessor(2 * 1536 * 32, 32, 32, 64 << 10, 0, 32, 24),
}
"""CUDA C++ Programming Guide 13.0, table of compute capabilities; CDNA 3 ISA, sections 3.6 and 3.7: four units with 512
registers a lane and eight waves each; CDNA 4 has 160 KiB of LDS. RDNA 4 ISA, sections 2 and 3: a compute unit has two
units with 1536 registers a lane, given in 24s, and sixteen waves each."""


def blocks(target: str, registers: float, shared: float, threads: float) -> int:
    unit = MULTIPROCESSORS[target]
    warps = -(-int(threads) // unit.threads)
    taken = max(1, -(-int(registers) // unit.granule)) * unit.granule * unit.threads
    by_shared = unit.shared // int(shared + unit.reserved) if shared + unit.reserved else unit.blocks
    return min(unit.blocks, unit.warps // warps, min(unit.warps, unit.registers // taken) // warps, by_shared)
