"""Moving a thread's registers to or from shared memory with vector accesses.

The place of a register in memory is the solution of memory ∘ x = registers: (register, lane, warp) → offset. The
widest vector is the longest run of register directions that are the lowest offset bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.gf2 import combine, echelon, rank
from tritonx.layouts.index_math import all_xors, representatives
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.vectorize import find_run

VECTOR_BITS = 128
"""Widest shared-memory access of a thread."""
BANKS = 32
BANK_BITS = 32
"""Shared memory serves one word of each bank at a time (CUDA programming guide, "Shared Memory"; the LDS is
alike).
"""


@dataclass(frozen=True)
class VectorAccess:
    """One access: the elements at `threads ^ offset` and after it are those of `registers`, in order."""

    registers: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class SharedAccess:
    """All accesses of a thread, `vec` elements each.

    `threads` maps (lane, warp) → offset, or (lane, warp, block) as the `placement` does. An access is at
    `threads(lane, warp) ^ access.offset` elements, or `+` when `additive`. Register r holds the element of register
    `repeats[r]`, which is in an access. `wavefronts` is the number of cycles that the memory takes for one access of a
    warp.
    """

    vec: int
    accesses: tuple[VectorAccess, ...]
    repeats: tuple[int, ...]
    threads: LinearLayout
    additive: bool
    wavefronts: int

    def halved(self) -> SharedAccess:
        """The same by accesses of half as many elements; `wavefronts` stays what it was for two of them."""
        vec = self.vec // 2
        parts = tuple(
            VectorAccess(one.registers[first : first + vec], one.offset + first)
            for one in self.accesses
            for first in (0, vec)
        )
        return replace(self, vec=vec, accesses=parts)


@lru_cache(maxsize=4096)
def placement(registers: LinearLayout, memory: LinearLayout) -> LinearLayout:
    """(register, lane, warp) → offset: where in its block's memory each register belongs. Where that differs between
    the blocks of a cluster, so that each takes a part of what its memory holds, (register, lane, warp, block).

    Raises LayoutError when the block's memory does not hold what its registers do.
    """
    inside = registers.sublayout((REGISTER, LANE, WARP), registers.out_dims)
    steps = _steps_between_blocks(registers, memory)
    if any(steps):
        inside = LinearLayout([*inside.ins, (BLOCK, steps)], inside.outs)
    return inside.invert_and_compose(memory.sublayout((OFFSET,), memory.out_dims))


def _steps_between_blocks(registers: LinearLayout, memory: LinearLayout) -> tuple[int, ...]:
    """What each bit of a block's number adds to where its registers are, and not to where its memory is."""
    steps = registers.columns(BLOCK)
    own = memory.order_outs(registers.out_dims)
    if not any(steps) or own.outs != registers.outs:
        return ()
    return tuple(a ^ b for a, b in zip_longest(steps, own.columns(BLOCK), fillvalue=0))


@lru_cache(maxsize=4096)
def shared_access(places: LinearLayout, bits: int, max_vec_bits: int = VECTOR_BITS) -> SharedAccess:
    """The vector accesses of a `placement`, for elements of `bits` bits."""
    columns = places.columns(REGISTER)
    lanes, others = places.columns(LANE), (*places.columns(WARP), *places.columns(BLOCK))
    limit = min(places.out_bits(OFFSET), max(0, (max_vec_bits // max(8, bits)).bit_length() - 1))
    run = find_run(columns, (*lanes, *others), [1 << i for i in range(limit)])
    within = all_xors(run.steps)
    accesses = tuple(
        VectorAccess(tuple(start ^ step for step in within), combine(columns, start)) for start in all_xors(run.others)
    )
    repeats = representatives(columns, (register for access in accesses for register in access.registers))
    reach = 0
    for column in (*lanes, *others):
        reach |= column
    additive = not any(access.offset & reach for access in accesses)
    threads = places.sublayout((LANE, WARP, BLOCK), (OFFSET,))
    waves = wavefronts(lanes, len(within) * max(8, bits), max(8, bits))
    return SharedAccess(len(within), accesses, repeats, threads, additive, waves)


def wavefronts(lane_offsets: Sequence[int], vector_bits: int, bits: int) -> int:
    """Cycles for one access of a warp whose lanes are at these element offsets (bases), each moving `vector_bits`.

    Wide accesses go in phases of as many lanes as fill all banks once; lanes that hit the same word share it.
    """
    words = max(1, vector_bits // BANK_BITS)
    phase_lanes = max(0, len(lane_offsets) - (words.bit_length() - 1))
    addresses = [offset * bits // BANK_BITS for offset in lane_offsets]
    phase = addresses[:phase_lanes]
    banks = echelon(address & (BANKS - 1) for address in phase).rank
    return 1 << (len(addresses) - phase_lanes + rank(phase) - banks)
