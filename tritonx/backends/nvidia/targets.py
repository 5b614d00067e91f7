"""The NVIDIA targets: compute capabilities and what they can do.

Source: CUDA C++ programming guide, tables of compute capabilities; PTX ISA 9.0, target directives.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.analysis.residency import Residency
from tritonx.backends.api import Target

PTX_VERSION = 90
"""PTX 9.0, the newest that LLVM 22 writes: CUDA 13.0 and its drivers read it."""

GRANULE = 8
"""Registers are given out to warps in so many a thread."""

RESERVED = 1024
"""Bytes of shared memory that a multiprocessor keeps for each block, from compute capability 8.0 on (CUDA C++
programming guide, "Shared memory")."""

GRID_LIMITS = 2**31 - 1, 65535, 65535
"""Blocks in x, y and z: the same on every device since compute capability 3.0 (CUDA programming guide)."""

MAX_REGISTERS = 255
"""Of a thread: the last number names no register."""


@dataclass(frozen=True)
class Capability:
    """``shared_bytes`` is the most dynamic shared memory a block can opt into, ``resident_threads`` how many threads a
    multiprocessor holds, which share ``registers`` of 32 bits, and ``resident_blocks`` how many blocks."""

    number: int
    processor: str
    shared_bytes: int
    resident_threads: int
    registers: int = 65536
    max_threads: int = 1024
    resident_blocks: int = 32

    def thread_registers(self, threads: int) -> int:
        """Registers that each of so many threads may take for a multiprocessor to hold them all: it gives eight at a
        time (CUDA C++ programming guide, "Hardware multithreading")."""
        return min(MAX_REGISTERS, self.registers // threads // GRANULE * GRANULE)

    def blocks_with(self, shared: int) -> int:
        """How many blocks with so many bytes of shared memory a multiprocessor has room for."""
        return max(1, (self.shared_bytes + RESERVED) // (shared + RESERVED))

    @property
    def residency(self) -> Residency:
        """What a multiprocessor holds (CUDA C++ programming guide, tables of compute capabilities)."""
        kept = RESERVED if self.number >= 80 else 0
        return Residency(
            self.resident_threads, self.resident_blocks, self.registers, GRANULE, self.shared_bytes + kept, kept
        )


CAPABILITIES: dict[int, Capability] = {
    75: Capability(75, "sm_75", 65536, 1024, resident_blocks=16),
    80: Capability(80, "sm_80", 166912, 2048),
    86: Capability(86, "sm_86", 101376, 1536, resident_blocks=16),
    89: Capability(89, "sm_89", 101376, 1536, resident_blocks=24),
    90: Capability(90, "sm_90a", 232448, 2048),
    100: Capability(100, "sm_100a", 232448, 2048),
    103: Capability(103, "sm_103a", 232448, 2048),
    120: Capability(120, "sm_120a", 101376, 1536, resident_blocks=24),
}


def capability(target: Target) -> Capability:
    """The capability of ``target``; one between two known ones is compiled as the lower."""
    number = int(target.arch)
    if number in CAPABILITIES:
        return CAPABILITIES[number]
    lower = [n for n in CAPABILITIES if n <= number and n // 10 == number // 10]
    if not lower:
        raise ValueError(f"compute capability {number} is not supported; known are {', '.join(map(str, CAPABILITIES))}")
    return CAPABILITIES[max(lower)]


def parse(arch: str) -> Target:
    """``90``, ``sm90``, ``sm_90``, ``sm_90a`` → the target; "" is 90. Raises ``ValueError`` with the known ones."""
    digits = arch.removeprefix("sm").removeprefix("_").rstrip("af") or "90"
    if not digits.isdigit():
        known = ", ".join(f"cuda:{n}" for n in CAPABILITIES)
        raise ValueError(f"unknown NVIDIA target '{arch}'; known are {known}")
    target = Target("cuda", int(digits), 32)
    capability(target)
    return target
