"""What a compute unit does in a cycle, for the schedules of loops.

Sources: the CDNA 3 white paper (dense rates of a compute unit), the RDNA 3 instruction set reference. What loads bring
goes through registers to LDS, where the threads store it, or past them where a warp's lanes write consecutive bytes.
"""

from __future__ import annotations

from dataclasses import replace

from tritonx.analysis.chip import Chip
from tritonx.analysis.unit_costs import UnitCosts
from tritonx.backends.amd.targets import MOST_THREADS, SHARED_REGISTERS, Processor

HELD_COPIES = 2
"""With 1, gradients of queries of attention (128 columns, 64 rows in 4 warps, gfx1201) have 36 accesses of scratch
memory, and none with 2."""

_CDNA = UnitCosts(
    products=(("f16", 1024), ("bf16", 1024), ("f32", 128), ("i8", 2048), ("f64", 128), ("f8E4M3FNUZ", 2048)),
    lanes=128,
    latency=800,
    held_bytes=256,
    held_copies=HELD_COPIES,
    register_bytes=512 * 1024,
    usual=96,  # gfx950: products of 128×128×64 halves in 8 warps take 72 to 82
    thread_bytes=1536,  # of 2048, half of which can only hold what matrix instructions add to
    stores_slots=True,
)

_RDNA = UnitCosts(
    products=(("f16", 256), ("bf16", 256), ("i8", 256)),
    lanes=64,
    latency=600,
    held_bytes=256,
    held_copies=HELD_COPIES,
    register_bytes=4 * SHARED_REGISTERS,
    thread_bytes=1020,
    stores_slots=True,
)

CHIPS = {"gfx942": Chip("MI300X", 304, 2.1e9, 5.3e12, threads_across=MOST_THREADS)}
"""The chip of a processor that times are estimated for (AMD's data sheet)."""


ALTERNATING_SIDE = 128
"""The least rows and columns of a product whose operands are copied past the registers and for which groups of warps
alternate: in Triton 3.9 they are more than 64."""


def costs_of(processor: Processor, *, copies: bool, alternates: bool) -> UnitCosts:
    """Of a processor, by its family of matrix instructions; with `copies`, such as go past the registers, and groups of
    warps that alternate meanwhile."""
    costs = _CDNA if processor.matrix == "mfma" else _RDNA
    if not copies:
        return costs
    return replace(costs, lane_bytes=processor.lane_bytes, alternating_side=ALTERNATING_SIDE if alternates else 0)
