"""Reads of shared memory that transpose: a lane gets elements that lie in rows of their own in memory.

CDNA 4 ISA, DS_READ_B64_TR_B16, _B8 and _B4. Sixteen lanes read 64 bits each, n = 64 / bits elements, which are rows of
16 elements in n addresses' order: lane s passes the address of the chunk s % (16 / n) of row s / (16 / n). Lane l gets
the elements l of all n rows. For 16-bit elements, four rows:

    lane 0..3 pass row 0, lane 4..7 row 1, ...        lane l gets row 0[l], row 1[l], row 2[l], row 3[l]

In terms of a placement (register, lane, warp) → offset: the lowest lane bits step through the elements of a chunk, as
many register bits select its row, and nothing else reaches into a chunk. Rows and chunks may lie anywhere, eight bytes
aligned, so that any swizzle of eight bytes or more will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from tritonx.layouts.access import SharedAccess, VectorAccess, placement, shared_access, wavefronts
from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.distributed import layout_order
from tritonx.layouts.encodings import AmdMfmaEncoding, DotOperandEncoding, Ints, SwizzledSharedEncoding
from tritonx.layouts.gf2 import Echelon, combine
from tritonx.layouts.index_math import all_xors, representatives
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.lookup import linear_layout

WORD_BITS = 32
"""Of a register."""
CHUNK_BITS = 64
"""What a lane reads."""
TRANSPOSING_VERSION = 4
"""Of MFMA: the processors that have it have such reads."""
ROW_LANES = 4
"""Bits of the numbers of the lanes that exchange what they read."""


@dataclass(frozen=True)
class TransposedAccess:
    """All reads of a thread. Of an access the registers are those that it fills, in order; its offset is XORed to what
    `lanes` (lane, warp) → offset has for the lane: that is where the lane reads, not where its own elements are.
    Register r holds the element of register `repeats[r]`, which is in an access. `wavefronts` is the number of cycles
    that the memory takes for one read of a warp."""

    accesses: tuple[VectorAccess, ...]
    repeats: tuple[int, ...]
    lanes: LinearLayout
    wavefronts: int


def transposes_operands(encoding: object) -> bool:
    """Whether tiles in this layout are read by units whose processor has such reads."""
    unit = encoding.parent if isinstance(encoding, DotOperandEncoding) else None
    return isinstance(unit, AmdMfmaEncoding) and unit.version >= TRANSPOSING_VERSION


@lru_cache(maxsize=4096)
def transposed_access(places: LinearLayout, bits: int) -> TransposedAccess | None:
    """The reads of a `placement` for elements of so many bits; None where they do not fit it, or vector accesses of the
    same width do."""
    columns, lanes, warps = places.columns(REGISTER), places.columns(LANE), places.columns(WARP)
    if bits not in (4, 8, 16) or len(lanes) < ROW_LANES or places.columns(BLOCK):
        return None
    elements = CHUNK_BITS // bits
    steps = elements.bit_length() - 1
    if shared_access(places, bits).vec >= elements or lanes[:steps] != tuple(1 << bit for bit in range(steps)):
        return None
    distinct, chosen, others = Echelon(), list[int](), list[int]()
    for bit, column in enumerate(columns):
        if distinct.insert(column, bit):
            (chosen if len(chosen) < steps else others).append(1 << bit)
    rows = tuple(combine(columns, vector) for vector in chosen)
    own = (*lanes[steps:ROW_LANES], *rows, *lanes[ROW_LANES:])
    if len(chosen) < steps or any(column & (elements - 1) for column in (*own, *warps, *columns)):
        return None
    within = all_xors(chosen)
    accesses = tuple(
        VectorAccess(tuple(start ^ step for step in within), combine(columns, start)) for start in all_xors(others)
    )
    repeats = representatives(columns, (register for access in accesses for register in access.registers))
    where = LinearLayout([(LANE, own), (WARP, warps)], [(OFFSET, places.out_bits(OFFSET))])
    return TransposedAccess(accesses, repeats, where, wavefronts(own, CHUNK_BITS, bits))


def read_accesses(places: LinearLayout, bits: int, encoding: object) -> TransposedAccess | SharedAccess:
    """How a tile in a layout of this encoding is read: transposed where its processor can and needs to."""
    found = transposed_access(places, bits) if transposes_operands(encoding) else None
    return found or shared_access(places, bits)


def swizzled_rows(shape: Ints, fast: int, bits: int) -> Iterator[SwizzledSharedEncoding]:
    """The layouts of a buffer in which rows along a dim lie one after another, swizzled in any way."""
    row = shape[fast]
    for nbytes, per_phase, phases in product((64, 32, 16, 8, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16)):
        vec = 8 * nbytes // bits
        if vec and vec * phases <= row and (phases > 1 or per_phase == 1):
            yield SwizzledSharedEncoding(vec, per_phase, phases, (fast, 1 - fast))


@lru_cache(maxsize=1024)
def stored_for_transposed_reads(
    source: LinearLayout, target: LinearLayout, encoding: object, bits: int, own: LinearLayout
) -> LinearLayout:
    """offset → index: how threads that hold a tile in the layout `source` best store it for operands of an encoding
    with the layout `target`: as in `own`, or in rows, which the reads transpose."""
    shape = tuple(1 << size for _, size in source.outs)
    if len(shape) != 2 or bits not in (8, 16) or not transposes_operands(encoding):
        return own
    rows = (linear_layout(each, shape) for each in swizzled_rows(shape, layout_order(source)[0], bits))

    def cost(memory: LinearLayout) -> int:
        """Instructions, the cycles that memory takes for them, and words that threads make of parts of others."""
        written = shared_access(placement(source, memory), bits)
        read = read_accesses(placement(target, memory), bits, encoding)
        return sum(len(each.accesses) * (1 + each.wavefronts) + _made_words(each, bits) for each in (written, read))

    return min((own, *rows), key=cost)


def _made_words(access: TransposedAccess | SharedAccess, bits: int) -> int:
    """Words of the accesses whose elements are no word of the thread's registers."""
    count = WORD_BITS // bits
    words = (
        one.registers[first : first + count] for one in access.accesses for first in range(0, len(one.registers), count)
    )
    return sum(word[0] % count > 0 or word != tuple(range(word[0], word[0] + count)) for word in words)
