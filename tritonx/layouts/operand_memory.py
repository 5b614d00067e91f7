"""The arrangement in shared memory of a matrix unit's operand that threads store from registers and load to them.

As `tritonx.layouts.swizzle` has it for any conversion, with more to choose from: vectors of either side, with or
without the directions that fill a word of the other's, and those of two words that both sides have, two of which an
instruction moves. What a unit takes is whole registers, so that the instructions count as well that put elements of
less than a register where they are wanted, and words that were not loaded side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from tritonx.layouts.access import BANK_BITS, VECTOR_BITS, SharedAccess, placement, shared_access
from tritonx.layouts.dims import OFFSET, REGISTER
from tritonx.layouts.encodings import Ints
from tritonx.layouts.gf2 import echelon, independent
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.swizzle import arrange, common_registers, filled, phase_directions, vector_directions

PAIRED_BITS = 2 * BANK_BITS
"""The widest access of which one instruction makes two (DS_READ2_B64, DS_WRITE2ST64_B64: CDNA 3 ISA, RDNA 3 ISA)."""


@lru_cache(maxsize=4096)
def operand_memory(source: LinearLayout, target: LinearLayout, bits: int) -> LinearLayout:
    """offset → index of the tensor, for a writer of layout `source` and a reader of `target`, as `conversion_memory`:
    the arrangement for which least is issued, served and put in place, of these the one with the widest accesses."""
    own, others = source.columns(REGISTER), target.columns(REGISTER)
    common = common_registers(source, target)
    usual = vector_directions(common, own, others, bits)
    pairs: list[tuple[Ints, Ints]] = [(usual, usual)]
    for start, most in product((usual, usual[: len(common)]), (2 * BANK_BITS, VECTOR_BITS)):
        pairs += [(filled(start, own, bits, most), start), (start, filled(start, others, bits, most))]
    two = usual[: (PAIRED_BITS // bits).bit_length() - 1]
    pairs.append((two, two))
    best, least = None, (0, 0)
    for written, read in dict.fromkeys(pairs):
        phases = phase_directions(source, bits << len(written)), phase_directions(target, bits << len(read))
        found = arrange(source, target, bits, max(written, read, key=len), *phases)
        sides = [shared_access(placement(layout, found), bits) for layout in (source, target)]
        spent = sum(issued(side, bits) for side in sides) + put_in_place(found, source, target, bits)
        cost = spent, sum(len(side.accesses) for side in sides)
        if best is None or cost < least:
            best, least = found, cost
    assert best is not None
    return best


def issued(access: SharedAccess, bits: int) -> int:
    """What a warp issues for one side, and what the memory serves, in instructions and cycles. Two accesses of
    `PAIRED_BITS` are one instruction if one address serves both, to which the XOR of a thread's part is alike."""
    count = len(access.accesses)
    served = count * access.wavefronts
    if access.vec * bits != PAIRED_BITS:
        return served + count
    reach = 0
    for column in access.threads.all_columns:
        reach |= column
    return served + sum(-(-n // 2) for n in Counter(each.offset & reach for each in access.accesses).values())


def put_in_place(memory: LinearLayout, source: LinearLayout, target: LinearLayout, bits: int) -> int:
    """Instructions that make registers of what is moved, or the reverse, where an element is less than a register.

    Registers exchange halves once for each direction that a word in memory has and the writer's registers lack; or that
    the reader's have and a word that is loaded lacks. A part of a register can be stored from its place, and is not
    loaded to it. Of words that are stored side by side, and are not neighbours in the writer's registers, half move."""
    inside = (max(1, BANK_BITS // bits)).bit_length() - 1
    total = 0
    for layout, is_read in ((source, False), (target, True)):
        held = independent(layout.columns(REGISTER))
        width = shared_access(placement(layout, memory), bits).vec.bit_length() - 1
        vector = memory.columns(OFFSET)[:width]
        word, moved = held[:inside], vector[:inside]
        lacking = _outside(word, moved) if is_read else _outside(moved, word)
        total += lacking << max(0, len(held) - inside)
        if not is_read and not lacking and _outside(vector, held[:width]):
            total += 1 << max(0, len(held) - inside - 1)
    return total


def _outside(directions: Sequence[int], span: Sequence[int]) -> int:
    """How many independent directions there are beside those that are spanned."""
    known = echelon(span)
    return sum(known.insert(direction, 0) for direction in directions)
