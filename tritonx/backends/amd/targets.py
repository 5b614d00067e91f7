"""The AMD targets: processors and what they can do. Source: LLVM's AMDGPU usage guide; the CDNA and RDNA ISA
documents.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.analysis.residency import Residency
from tritonx.backends.api import Target

NAMED_REGISTERS = 256
"""Vector registers that an instruction can name (CDNA 3 ISA, RDNA 3 ISA: VGPRs)."""
SHARED_REGISTERS = 65536
"""Of 32 bits, those of the blocks that are to run beside each other: half of what a compute unit of CDNA has, a third
of what two of RDNA have together, so that neither is filled to the last one."""
SWAPPED_LANES = (16, 32)
"""Lanes, as masks, of V_PERMLANE16_SWAP and V_PERMLANE32_SWAP (CDNA 4 ISA), on processors that swap rows."""

MOST_THREADS = 2**32 - 1
"""Of a launch in x (HIP's `hipModuleLaunchKernel`)."""

_SIMDS = 4
"""Of a compute unit (CDNA), or of the two that a work-group of RDNA runs on: its waves are shared out among them."""


@dataclass(frozen=True)
class Processor:
    """``matrix`` names the matrix instructions: mfma (CDNA; ``matrix_version`` 2 to 4) or wmma (RDNA; 1 to 2).

    ``shared_bytes`` is the LDS that one work-group can have, ``swaps_rows`` says that there are V_PERMLANE16_SWAP and
    V_PERMLANE32_SWAP. ``lane_bytes`` are the widths of a lane's loads that go to the LDS without passing through
    registers (CDNA 3 ISA, 9.1.9 and 10.3; CDNA 4 ISA, likewise), of processors that are written for here.
    ``reads_transposed`` says that there is DS_READ_B64_TR (CDNA 4 ISA).
    """

    name: str
    wave: int
    matrix: str
    matrix_version: int
    shared_bytes: int = 65536
    swaps_rows: bool = False
    lane_bytes: tuple[int, ...] = ()
    reads_transposed: bool = False

    def lane_registers(self, threads: int) -> int:
        """Vector registers that a lane may have for a work-group of so many threads to run: CDNA 2 and later have 512
        of both kinds for the waves of a SIMD, RDNA names 256 and has more for several waves."""
        waves = -(-threads // (self.wave * _SIMDS))
        return 512 // max(waves, 1) if self.matrix == "mfma" else 256

    @property
    def residency(self) -> Residency:
        """What a compute unit of CDNA holds, or two of RDNA together (LLVM's AMDGPU backend: waves of a SIMD, registers
        of a SIMD and their granule)."""
        if self.matrix == "mfma":
            return Residency(8 * _SIMDS * self.wave, 16, 512 * _SIMDS * self.wave, 8, self.shared_bytes)
        return Residency(16 * _SIMDS * self.wave, 32, 1536 * _SIMDS * self.wave, 24, 2 * self.shared_bytes)


PROCESSORS: dict[str, Processor] = {
    "gfx90a": Processor("gfx90a", 64, "mfma", 2),
    "gfx942": Processor("gfx942", 64, "mfma", 3, lane_bytes=(4,)),
    "gfx950": Processor("gfx950", 64, "mfma", 4, 163840, True, (4, 16), reads_transposed=True),
    "gfx1100": Processor("gfx1100", 32, "wmma", 1),
    "gfx1101": Processor("gfx1101", 32, "wmma", 1),
    "gfx1200": Processor("gfx1200", 32, "wmma", 2),
    "gfx1201": Processor("gfx1201", 32, "wmma", 2),
}


def processor(target: Target) -> Processor:
    return PROCESSORS[str(target.arch)]


def parse(arch: str) -> Target:
    """``gfx942`` → the target; "" is gfx942, features after a colon are dropped. ``ValueError`` with the known ones."""
    name = arch.split(":")[0] or "gfx942"
    if name not in PROCESSORS:
        known = ", ".join(f"hip:{n}" for n in PROCESSORS)
        raise ValueError(f"unknown AMD target '{arch}'; known are {known}")
    return Target("hip", name, PROCESSORS[name].wave)
