"""The arrangement of a tensor in scratch memory that serves one writer and one reader best.

Memory is cut into vectors (what one access moves), banks (the vectors that one cycle serves) and segments (everything
above: two places in one bank and different segments conflict). For a linear arrangement each of the three is spanned
by some tensor directions, and whether an access conflicts is a question of dimensions: the lanes of one phase hit a
bank twice exactly when the span of the segment directions meets the span of the lanes' directions (together with the
vector's).

With P = span(vector, writer's lanes) and Q = span(vector, reader's lanes) we look for segment directions outside
both. Three sources, in this order: directions outside P + Q altogether; then sums p + q of one direction of P that Q
lacks and one of Q that P lacks (this is what a swizzle is); when even these do not suffice, conflicts are
unavoidable, and lanes' own directions are taken. The number found without conflict, n - max(dim P, dim Q), is the
largest there can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from tritonx.layouts.access import BANK_BITS, BANKS, VECTOR_BITS, placement, shared_access
from tritonx.layouts.dims import LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.gf2 import echelon, independent, intersection
from tritonx.layouts.linear import LinearLayout

WORTH = 0.75
"""Of what a warp issues, and the memory serves, with the vectors that both sides have: what is left with those of one
side. Both sides' are mostly better for the surrounding code: words stay whole, and matrix instructions are possible."""


@lru_cache(maxsize=4096)
def conversion_memory(source: LinearLayout, target: LinearLayout, bits: int, cuts: int = 0) -> LinearLayout:
    """offset → index of the tensor: where each element lies between a writer of layout `source` and a reader of
    `target`.

    Both map (register, lane, warp) to the same indices and span them. The highest offset bits are, where possible,
    directions that are registers on both sides, so that a conversion may be done in parts that reuse the same memory.
    Of these `cuts` are in no vector, as far as there are so many. Where no vector serves both sides, one that only one
    side has is taken if that saves much (`WORTH`): what a thread reads of a tile that others read as well is mostly
    many times what it has written.
    """
    common = common_registers(source, target)
    kept = echelon(common[max(0, len(common) - cuts) :])
    own, others = (_modulo(side.columns(REGISTER), kept.vectors) if cuts else side.columns(REGISTER)
                   for side in (source, target))  # fmt: skip
    vector = vector_directions(common[: max(0, len(common) - cuts)], own, others, bits)
    phases = [phase_directions(side, bits << len(vector)) for side in (source, target)]
    best = arrange(source, target, bits, vector, *phases)
    least = WORTH * issued(best, source, target, bits)
    for number, (side, registers) in enumerate(((source, own), (target, others))):
        longer = filled(vector, registers, bits, VECTOR_BITS)
        if len(longer) == len(vector):
            continue
        phase = phase_directions(side, bits << len(longer))
        found = arrange(source, target, bits, longer, *(phase if n == number else phases[n] for n in (0, 1)))
        if (cost := issued(found, source, target, bits)) < least:
            best, least = found, cost
    return best


def issued(memory: LinearLayout, source: LinearLayout, target: LinearLayout, bits: int) -> int:
    """What a warp issues and what the memory serves, in instructions and cycles, of both sides together."""
    sides = (shared_access(placement(layout, memory), bits) for layout in (source, target))
    return sum(len(side.accesses) * (1 + side.wavefronts) for side in sides)


def arrange(
    source: LinearLayout,
    target: LinearLayout,
    bits: int,
    vector: Sequence[int],
    writer_phase: Sequence[int],
    reader_phase: Sequence[int],
) -> LinearLayout:
    """As `conversion_memory`, given the directions inside a vector and those whose places are accessed in one cycle."""
    space = echelon((*source.all_columns, *target.all_columns)).rank
    bank_count = min(space - len(vector), max(0, _log2(BANKS * BANK_BITS // bits) - len(vector)))
    segments = _segment_directions(
        source,
        target,
        vector,
        independent((*vector, *writer_phase)),
        independent((*vector, *reader_phase)),
        space - len(vector) - bank_count,
    )
    taken = echelon((*vector, *segments))
    banks: list[int] = []
    # Banks in the order of the writer's lanes, so that neighbouring lanes write neighbouring words.
    for direction in _all_directions(source, target):
        if len(banks) == bank_count:
            break
        if taken.insert(direction, 0):
            banks.append(direction)
    return LinearLayout([(OFFSET, (*vector, *banks, *segments))], source.outs)


def _log2(value: int) -> int:
    return value.bit_length() - 1


def _all_directions(source: LinearLayout, target: LinearLayout) -> Iterable[int]:
    for layout in (source, target):
        for dim in (LANE, REGISTER, WARP):
            yield from layout.columns(dim)


def common_registers(source: LinearLayout, target: LinearLayout) -> tuple[int, ...]:
    """Directions that are registers on both sides: common bases themselves first (no renaming of registers needed)."""
    own, others = source.columns(REGISTER), target.columns(REGISTER)
    shared = [direction for direction in own if direction and direction in others]
    return independent((*shared, *intersection(own, others)))


def vector_directions(
    common: Sequence[int], own: Sequence[int], others: Sequence[int], bits: int
) -> tuple[int, ...]:  # fmt: skip
    """Directions inside a vector: registers on both sides; when those do not fill a bank's word, registers of one
    side, whose accesses are then wide while the other side shares words (which is no conflict)."""
    both = common[: _log2(max(1, VECTOR_BITS // bits))]
    return filled(filled(both, own, bits, BANK_BITS), others, bits, BANK_BITS)


def filled(vector: Sequence[int], registers: Sequence[int], bits: int, most: int) -> tuple[int, ...]:
    """With directions of one side's registers, until a vector has so many bits."""
    filled, span = list(vector), echelon(vector)
    for direction in registers:
        if bits << len(filled) < most and span.insert(direction, 0):
            filled.append(direction)
    return tuple(filled)


def phase_directions(layout: LinearLayout, vector_bits: int) -> tuple[int, ...]:
    """Directions of the lanes that are served together when each moves `vector_bits`."""
    lanes = layout.columns(LANE)
    words = max(1, vector_bits // BANK_BITS)
    return lanes[: max(0, len(lanes) - _log2(words))]


def _segment_directions(
    source: LinearLayout,
    target: LinearLayout,
    vector: Sequence[int],
    writer: Sequence[int],
    reader: Sequence[int],
    count: int,
) -> tuple[int, ...]:
    """`count` directions above the banks; `writer` and `reader` are P and Q of the module's docstring."""
    found: list[int] = []
    # Outside both. Common registers go last, to be the highest.
    both = echelon((*writer, *reader))
    common = echelon(intersection(source.columns(REGISTER), target.columns(REGISTER)))
    free: list[int] = []
    for direction in (*target.columns(WARP), *source.columns(WARP), *_all_directions(source, target)):
        if both.insert(direction, 0):
            free.append(direction)
    plain = [direction for direction in free if common.reduce(direction)[0]]
    parts = [direction for direction in free if not common.reduce(direction)[0]]
    free = plain + parts
    if len(free) >= count:
        return tuple(free[len(free) - count :])
    # Sums of a direction of each side that the other lacks.
    meet = intersection(writer, reader)
    of_writer = _modulo(writer, meet)
    of_reader = _modulo(reader, meet)
    found = [p ^ q for p, q in zip(of_writer, of_reader, strict=False)][: count - len(free)]
    # Unavoidable conflicts: what is left, the longer side's lanes first.
    span = echelon((*vector, *found, *free))
    forced: list[int] = []
    for direction in (*of_writer[len(found) :], *of_reader[len(found) :], *_all_directions(source, target)):
        if len(forced) + len(found) + len(free) == count:
            break
        if span.insert(direction, 0):
            forced.append(direction)
    return (*forced, *found, *free)


def _modulo(vectors: Sequence[int], subspace: Sequence[int]) -> list[int]:
    """Vectors that complete `subspace` to the span of both."""
    span = echelon(subspace)
    return [vector for vector in vectors if span.insert(vector, 0)]
