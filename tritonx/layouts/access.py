"""Moving a thread's registers to or from shared memory with vector accesses.

The place of a register in memory is `solve(memory, registers)`: (register, lane, warp) → offset. The widest vector
is the longest run of register directions that are the lowest offset bits; a direction may be a sum of register bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tritonx.layouts.dims import LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.gf2 import combine, echelon
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.linear import LinearLayout

VECTOR_BITS = 128
"""Widest shared-memory access of a thread."""
BANKS = 32
BANK_BITS = 32
"""Shared memory serves one word of each bank at a time (CUDA programming guide, "Shared Memory"; the LDS is
alike).
"""


@dataclass(frozen=True)
class VectorAccess:
    """One access instruction: memory elements `offset ^ thread`, `+1`, ... hold `registers` in order.

    `offset` is the register part of the element offset. Where it meets no bit that threads can set it may be added.
    """

    registers: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class SharedAccess:
    """All accesses of one thread. `threads` maps (lane, warp) → offset; the address of an access is
    `threads(lane, warp) ^ access.offset` elements, or `+` when `additive`. `wavefronts` is how many cycles the memory
    needs for one warp and one of these instructions, at best `vec * bits * 32 / 1024` rounded up."""

    vec: int
    accesses: tuple[VectorAccess, ...]
    threads: LinearLayout
    additive: bool
    wavefronts: int


def offsets_of(registers: LinearLayout, memory: LinearLayout) -> LinearLayout:
    """(register, lane, warp, block) → (offset, block): where in memory each register belongs."""
    return registers.invert_and_compose(memory)


def shared_access(placement: LinearLayout, bits: int, *, max_vec_bits: int = VECTOR_BITS) -> SharedAccess:
    """The vector accesses of a placement (register, lane, warp) → offset for elements of `bits` bits.

    Registers that are copies of others are accessed once more for loads only if the caller asks for them: here every
    register appears, so a load fills all of them; see `store_access` for stores.
    """
    return _access(placement, bits, max_vec_bits, False)


def store_access(placement: LinearLayout, bits: int, *, max_vec_bits: int = VECTOR_BITS) -> SharedAccess:
    """As `shared_access`, each element stored once by its first register; redundant threads still store it too."""
    return _access(placement, bits, max_vec_bits, True)


@lru_cache(maxsize=4096)
def _access(placement: LinearLayout, bits: int, max_vec_bits: int, unique: bool) -> SharedAccess:
    offset_bits = placement.out_bits(OFFSET)
    columns = [placement.coordinate(basis, OFFSET) for basis in placement.columns(REGISTER)]
    reduced = echelon(columns)
    lane = [placement.coordinate(basis, OFFSET) for basis in placement.columns(LANE)]
    warp = [placement.coordinate(basis, OFFSET) for basis in placement.columns(WARP)]
    # Directions in register space that step through the lowest offsets; threads must leave those bits alone, so that
    # the address is a multiple of the vector.
    directions: list[int] = []
    for bit in range(min(offset_bits, max(0, (max_vec_bits // bits).bit_length() - 1))):
        rest, combination = reduced.reduce(1 << bit)
        if rest or any(column >> bit & 1 for column in (*lane, *warp)):
            break
        directions.append(combination)
    # The other register columns, cleared of the low bits by the directions.
    low = (1 << len(directions)) - 1
    taken = echelon(directions)
    others: list[int] = []
    for bit in range(len(columns)):
        vector = 1 << bit
        low_part = columns[bit] & low
        vector ^= combine(directions, low_part)
        if taken.reduce(vector)[0] and taken.insert(vector, 0):
            others.append(vector)
    if unique:
        distinct = echelon(())
        kept: list[int] = []
        for vector in others:
            if distinct.insert(combine(columns, vector), 0):
                kept.append(vector)
        others = kept
    within = all_xors(directions)
    accesses = tuple(
        VectorAccess(tuple(start ^ step for step in within), combine(columns, start)) for start in all_xors(others)
    )
    threads = placement.sublayout((LANE, WARP), (OFFSET,))
    reach = 0
    for column in (*lane, *warp):
        reach |= column
    additive = not any(combine(columns, vector) & reach for vector in others)
    waves = wavefronts(lane, len(within) * bits, bits)
    return SharedAccess(len(within), accesses, threads, additive, waves)


def wavefronts(lane_offsets: list[int] | tuple[int, ...], vector_bits: int, bits: int) -> int:
    """Cycles for one access of a warp whose lanes are at these element offsets (bases), each moving `vector_bits`.

    Wide accesses go in phases of as many lanes as fill all banks once; lanes that hit the same word share it.
    """
    words = max(1, vector_bits // BANK_BITS)
    phase_lanes = max(0, len(lane_offsets) - (words.bit_length() - 1))
    word_shift = max(0, (BANK_BITS // bits).bit_length() - 1)
    scale = max(1, bits // BANK_BITS)
    word_addresses = [(offset >> word_shift) * scale for offset in lane_offsets]
    phase, rest = word_addresses[:phase_lanes], word_addresses[phase_lanes:]
    total = echelon(phase).rank
    distinct_banks = echelon(address & (BANKS - 1) for address in phase).rank
    phases = 1 << len(rest)
    return phases << (total - distinct_banks)
