"""Changing a layout inside warps: select, shuffle, select.

A conversion is a linear map from destination places to source places. Inside a warp it says: destination register r'
of lane l' is filled from

    source register  A·r' + B·l'      of lane      C·r' + D·l'.

A shuffle instruction lets every lane offer one register and read one lane. So do it in rounds. In round t each lane
l' takes its register r' = t + F·l', for a linear map F that we may choose; it reads lane C·t + H·l' with H = C·F +
D. For the *source* lane to know what to offer, two lanes that read the same lane must want the same register: ker H
⊆ ker (A·F + B). F adds to H the directions that are missing, and they can be taken from the columns of C. Then in
round t the source lane l offers register A·t + G·(l + C·t), with G = (A·F + B)·H⁻¹.

Both lane-dependent register numbers are XORs with a linear function of the lane. They are done for all registers at
once, by one stage of selects for each independent value of the function: `v[i] = parity(lane & mask) ? v[i ^ x] :
v[i]`. What remains is one shuffle for each register, with a lane offset C·t that is a constant, and none at all in
the rounds where a lane would read itself. With the typical exchange of one register bit and one lane bit this is
half a shuffle and a select or two for each register.

Some machines have better instructions for two cases: one that makes lanes swap a word of one register for a word of
another, which is that typical exchange whole; and one that gives what both of two lanes have, where the number of the
lane to read is that of l' without a bit, plus a constant. `ShufflePlan.using` puts them into a plan.

Warp bits take part as conditions (a warp that holds copies may pick its own registers), but nothing moves between
warps. Elements narrower than a word travel together when some register bits are not involved in the exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tritonx.layouts.dims import LANE, REGISTER, WARP
from tritonx.layouts.gf2 import Echelon, combine, echelon
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.linear import LinearLayout

WORD_BITS = 32


@dataclass(frozen=True)
class SelectStage:
    """`v[i] = parity(lane & lane_mask ^ warp & warp_mask) ? v[i ^ xor] : v[i]` for all words i at once."""

    lane_mask: int
    warp_mask: int
    xor: int


@dataclass(frozen=True)
class Round:
    """Word `slot` of the result is the word `source` of lane `lane_map(lane, warp) ^ lane_xor`."""

    source: int
    slot: int
    lane_xor: int


@dataclass(frozen=True)
class Swap:
    """Slots i and i ^ `xor`, of which the round of i has no `mask` in its `lane_xor`: where lanes differ in `mask`, the
    word that the lower lane has in slot i ^ `xor` and the one that the upper has in slot i change places."""

    mask: int
    xor: int


@dataclass(frozen=True)
class ShufflePlan:
    """A conversion without memory. With `n = 1 << pack` elements in a word:

    1. words: word i packs source registers `before[i * n : (i + 1) * n]`, the first in the low bits;
    2. `source_stages`;
    3. every slot of a round gets its source, then come the `swaps`, which do the rounds' part in their masks;
    4. `rounds`: where the lane map is the identity (`lane_map` None) a round with `lane_xor` 0 moves nothing, another
       is a butterfly; otherwise the lane to read is `lane_map` (lane, warp) → lane, XOR `lane_xor`. Where there are
       `spread` lane bits (as masks), the lane map only clears these;
    5. `target_stages` on the slots;
    6. destination register r is element `after[r]` of the unpacked slots.

    `shuffles` counts word shuffles.
    """

    pack: int
    before: tuple[int, ...]
    source_stages: tuple[SelectStage, ...]
    rounds: tuple[Round, ...]
    lane_map: LinearLayout | None
    target_stages: tuple[SelectStage, ...]
    after: tuple[int, ...]
    swaps: tuple[Swap, ...] = ()
    spread: tuple[int, ...] = ()

    def using(self, can_swap: Callable[[int], bool], reads_both: Callable[[int], bool]) -> ShufflePlan:
        """The plan with swaps, and with lanes read in pairs, where that can be done for lane bits (as masks)."""
        if self.lane_map is not None:
            spread = self._cleared_bits()
            return replace(self, spread=spread) if all(map(reads_both, spread)) else self
        swaps = tuple(swap for stage in self.target_stages if (swap := self._exchange(stage)) and can_swap(swap.mask))
        done = {swap.mask for swap in swaps}
        before, after = (
            tuple(s for s in stages if s.lane_mask not in done) for stages in (self.source_stages, self.target_stages)
        )
        return replace(self, source_stages=before, target_stages=after, swaps=swaps)

    def _exchange(self, stage: SelectStage) -> Swap | None:
        """The swap that does what a stage of selects on the slots, the rounds and a stage on the words do together."""
        mask, xor, rounds = stage.lane_mask, stage.xor, self.rounds
        others = [s for s in (*self.source_stages, *self.target_stages) if s.lane_mask & mask and s is not stage]
        if mask & mask - 1 or len(others) != 1 or others[0] not in self.source_stages or others[0].lane_mask != mask:
            return None
        if stage.warp_mask or others[0].warp_mask:
            return None
        partners = [(step, rounds[step.slot ^ xor]) for step in rounds]
        exchanged = all(a.source ^ b.source == others[0].xor and a.lane_xor ^ b.lane_xor == mask for a, b in partners)
        return Swap(mask, xor) if exchanged else None

    def _cleared_bits(self) -> tuple[int, ...]:
        """The lane bits (as masks) that the lane map clears, if it does nothing else."""
        assert self.lane_map is not None
        lanes = [basis[0] for basis in self.lane_map.bases(LANE)]
        kept = all(column in (0, 1 << bit) for bit, column in enumerate(lanes))
        if not kept or any(basis[0] for basis in self.lane_map.bases(WARP)):
            return ()
        return tuple(1 << bit for bit, column in enumerate(lanes) if not column)

    @property
    def shuffles(self) -> int:
        return sum(1 for step in self.rounds if self.lane_map is not None or step.lane_xor)

    @property
    def selects(self) -> int:
        return (len(self.source_stages) + len(self.target_stages)) * len(self.rounds)


@dataclass(frozen=True)
class _Columns:
    """Columns of the map in source places: for register, lane and warp bits of the destination, (register part, lane
    part).
    """

    register: tuple[tuple[int, int], ...]
    lane: tuple[tuple[int, int], ...]
    warp: tuple[tuple[int, int], ...]


def shuffle_plan(moves: LinearLayout, repeats: Sequence[int], bits: int) -> ShufflePlan | None:
    """The plan of a conversion given as destination place → source place, or None when it cannot be done in this way.

    `moves` has inputs and outputs register, lane, warp and must be the identity on warps. `repeats[i]` says which
    destination register bits together step to the same element as bit i: its own bit, unless the bit makes only
    copies. `bits` is the width of an element.
    """
    columns = _split(moves)
    kept = [bit for bit, repeat in enumerate(repeats) if repeat == 1 << bit]
    register = tuple(columns.register[bit] for bit in kept)
    unique = _Columns(register, columns.lane, columns.warp)
    used = 0
    for register_part, _ in (*unique.register, *unique.lane, *unique.warp):
        used |= register_part
    passive = _passive_bits(unique, max(0, (WORD_BITS // bits).bit_length() - 1))
    # Source registers: the passive bits lowest, then the others. Likewise for the destination.
    low_source = [source for _, source in passive]
    high_source = [bit for bit in range(moves.out_bits(REGISTER)) if used >> bit & 1 and bit not in low_source]
    low_kept = [position for position, _ in passive]
    high_kept = [position for position in range(len(register)) if position not in low_kept]

    def cut(column: tuple[int, int]) -> tuple[int, int]:
        return sum(1 << i for i, bit in enumerate(high_source) if column[0] >> bit & 1), column[1]

    words = _Columns(
        tuple(cut(register[position]) for position in high_kept),
        tuple(cut(column) for column in columns.lane),
        tuple(cut(column) for column in columns.warp),
    )
    core = _word_plan(words)
    if core is None:
        return None
    source_stages, rounds, lane_map, target_stages = core
    before = all_xors([1 << bit for bit in (*low_source, *high_source)])
    element_bit = {kept[position]: 1 << i for i, position in enumerate((*low_kept, *high_kept))}
    after = all_xors([sum(bit for i, bit in element_bit.items() if repeat >> i & 1) for repeat in repeats])
    lanes = _as_layout(lane_map, moves)
    return ShufflePlan(len(passive), before, source_stages, rounds, lanes, target_stages, after)


def _split(moves: LinearLayout) -> _Columns:
    def parts(dim: str) -> tuple[tuple[int, int], ...]:
        return tuple((moves.coordinate(basis, REGISTER), moves.coordinate(basis, LANE)) for basis in moves.columns(dim))

    return _Columns(parts(REGISTER), parts(LANE), parts(WARP))


def _passive_bits(columns: _Columns, limit: int) -> list[tuple[int, int]]:
    """(destination bit, source bit) pairs of registers that pass through untouched: both can live inside a word."""
    used: dict[int, int] = {}
    for register_part, _ in (*columns.register, *columns.lane, *columns.warp):
        for bit in range(register_part.bit_length()):
            if register_part >> bit & 1:
                used[bit] = used.get(bit, 0) + 1
    result: list[tuple[int, int]] = []
    for position, (register_part, lane_part) in enumerate(columns.register):
        single = register_part and not register_part & (register_part - 1)
        if single and not lane_part and used[register_part.bit_length() - 1] == 1 and len(result) < limit:
            result.append((position, register_part.bit_length() - 1))
    return result


_LaneMap = tuple[tuple[int, ...], tuple[int, ...]]
_WordPlan = tuple[tuple[SelectStage, ...], tuple[Round, ...], _LaneMap | None, tuple[SelectStage, ...]]


def _word_plan(columns: _Columns) -> _WordPlan | None:
    """Stages and rounds on words; the lane map as columns for lane and warp bits, None when it is the identity."""
    a = [r for r, _ in columns.register]
    c = [lane for _, lane in columns.register]
    f = _choose_f(columns)
    if f is None:
        return None
    lanes = range(len(columns.lane))
    wanted = [combine(a, f[j]) ^ columns.lane[j][0] for j in lanes]  # A·F + B
    h = [combine(c, f[j]) ^ columns.lane[j][1] for j in lanes]  # C·F + D
    # G on the image of H, by eliminating H's columns and carrying what each combination wants.
    reduced = Echelon()
    for j in lanes:
        rest, combination = reduced.reduce(h[j])
        if rest:
            reduced.insert(h[j], j)
        elif combine(wanted, combination) != wanted[j]:
            return None  # two lanes read the same lane and want different registers
    g: list[int] = []
    completed = _complete(reduced, len(columns.lane))
    for j in lanes:
        _, combination = completed.reduce(1 << j)
        g.append(combine(wanted, combination & ((1 << len(wanted)) - 1)))
    warp_offset = [lane for _, lane in columns.warp]
    source_lane = g
    source_warp = [combine(g, w) ^ r for (r, _), w in zip(columns.warp, warp_offset, strict=True)]
    source_stages = _stages(source_lane, source_warp)
    target_stages = _stages(f, [0] * len(warp_offset))
    rounds = tuple(
        Round(combine(a, t) ^ combine(g, combine(c, t)), t, combine(c, t)) for t in range(1 << len(columns.register))
    )
    identity = all(h[j] == 1 << j for j in lanes) and not any(warp_offset)
    return source_stages, rounds, None if identity else (tuple(h), tuple(warp_offset)), target_stages


def _choose_f(columns: _Columns) -> list[int] | None:
    """F by columns: register XOR for each lane bit. Lanes that would read the same lane but want different registers
    are sent in different rounds."""
    c = [lane for _, lane in columns.register]
    lane_bits = len(columns.lane)
    image = Echelon()
    both = Echelon()
    width = 1 + max((lane.bit_length() for _, lane in (*columns.lane, *columns.register)), default=0)
    harmless: list[int] = []
    colliding: list[int] = []
    for j, (wanted, lane) in enumerate(columns.lane):
        rest, combination = image.reduce(lane)
        if rest:
            image.insert(lane, j)
        whole = wanted << width | lane
        whole_rest, whole_combination = both.reduce(whole)
        if whole_rest:
            both.insert(whole, j)
            if not rest:
                colliding.append(combination | 1 << j)
        else:
            harmless.append(whole_combination | 1 << j)
    f = [0] * lane_bits
    kernel = echelon((*harmless, *colliding))
    for pivot_vector in kernel.vectors[len(harmless) :]:
        pivot = _own_pivot(pivot_vector, kernel.vectors)
        for position, lane in enumerate(c):
            if image.reduce(lane)[0]:
                image.insert(lane, lane_bits + position)
                f[pivot] = 1 << position
                break
        else:
            return None
    return f


def _own_pivot(vector: int, vectors: Sequence[int]) -> int:
    """A bit of a reduced vector that no other reduced vector has."""
    others = 0
    for other in vectors:
        if other != vector:
            others |= other
    own = vector & ~others
    return own.bit_length() - 1


def _complete(reduced: Echelon, bits: int) -> Echelon:
    """A copy of the reduction of H, completed to the whole space with columns numbered from `bits` on."""
    result = reduced.copy()
    for i in range(bits):
        result.insert(1 << i, bits + i)
    return result


def _stages(lane: Sequence[int], warp: Sequence[int]) -> tuple[SelectStage, ...]:
    """The linear function (lane, warp) → register XOR with these columns, as a sum of values times parities."""
    span = Echelon()
    values: list[int] = []
    masks: list[list[int]] = []
    for dim, columns in enumerate((lane, warp)):
        for bit, column in enumerate(columns):
            rest, combination = span.reduce(column)
            if rest:
                combination = 1 << len(values)
                span.insert(column, len(values))
                values.append(column)
                masks.append([0, 0])
            for k in range(len(values)):
                if combination >> k & 1:
                    masks[k][dim] |= 1 << bit
    return tuple(SelectStage(m[0], m[1], value) for m, value in zip(masks, values, strict=True))


def _as_layout(lane_map: _LaneMap | None, moves: LinearLayout) -> LinearLayout | None:
    if lane_map is None:
        return None
    return LinearLayout([(LANE, lane_map[0]), (WARP, lane_map[1])], [(LANE, moves.out_bits(LANE))])
