"""How to bring a tensor from one distributed layout into another.

`plan_conversion` compares the two layouts and gives the cheapest of four plans:

- `NoMove`: every register already is in its place;
- `RegisterMove`: the registers of a thread are renamed, repeated or dropped;
- `ShufflePlan`: data moves between lanes of a warp (`tritonx.layouts.shuffle`);
- `SharedMemoryPlan`: data goes through shared memory (`tritonx.layouts.swizzle` arranges it).

The allocator asks the same function for the size of the scratch buffer that the emitter asks for the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from tritonx.layouts.access import SharedAccess, VectorAccess, placement, shared_access
from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.gf2 import Echelon, echelon, rank
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.matrix_conversion import matrix_conversion
from tritonx.layouts.operand_memory import operand_memory
from tritonx.layouts.shuffle import ShufflePlan, shuffle_plan
from tritonx.layouts.swizzle import conversion_memory
from tritonx.layouts.vectorize import register_repeats

SCRATCH_LIMIT = 32 * 1024
"""Bytes above which a conversion is cut into parts that reuse the scratch: a quarter of what the smallest current
device gives a block that shares its processor with one other, so that a conversion does not decide occupancy."""

SHARED_MEMORY_OVERHEAD = 40
"""Cycles charged to a conversion through shared memory for its barriers and latency, against one for a memory
wavefront or two for a shuffle."""


@dataclass(frozen=True)
class NoMove:
    """The destination's registers are the source's."""


@dataclass(frozen=True)
class RegisterMove:
    """Destination register r is source register `sources[r]` of the same thread."""

    sources: tuple[int, ...]


@dataclass(frozen=True)
class SharedMemoryPart:
    """One round through the scratch: write, barrier, read."""

    write: SharedAccess
    read: SharedAccess


@dataclass(frozen=True)
class SharedMemoryPlan:
    """Through `elements` elements of shared memory in one or more parts, with a barrier between a write and a read
    and between parts. `same_warp` says that no data leaves its warp and that a place belongs to one warp in all parts:
    barriers of the warp are enough.

    `memory` is offset → index (with all parts' bits, the parts' highest). The registers named by a part's `write` are
    source registers, those of `read` destination registers; together the parts' reads fill every destination
    register.
    """

    memory: LinearLayout
    elements: int
    parts: tuple[SharedMemoryPart, ...]
    same_warp: bool


ConversionPlan: TypeAlias = NoMove | RegisterMove | ShufflePlan | SharedMemoryPlan


@lru_cache(maxsize=4096)
def plan_conversion(
    source: LinearLayout,
    target: LinearLayout,
    bits: int,
    scratch_limit: int = SCRATCH_LIMIT,
    shuffles: bool = True,
    most: int | None = None,
) -> ConversionPlan:
    """The plan for elements of `bits` bits. `shuffles=False` leaves the shuffle plan out (a target without them).
    Above `scratch_limit` bytes it is cut into parts as far as its vectors let it, above `most`, what a block may have,
    even where they get shorter for it.

    Raises LayoutError when data would have to move between blocks of a cluster, or when the layouts are not of one
    shape.
    """
    direct = _without_memory(source, target, bits, shuffles)
    if isinstance(direct, _ThroughMemory):
        return _through_memory(source, target.order_outs(source.out_dims), bits, scratch_limit, most, direct.same_warp)
    return direct


@lru_cache(maxsize=4096)
def conversion_cost(source: LinearLayout, target: LinearLayout, bits: int) -> int:
    """The cost of the plan (`plan_cost`) without making it where it goes through memory: then an estimate without
    conflicts.
    """
    direct = _without_memory(source, target, bits, True)
    if isinstance(direct, _ThroughMemory):
        return _shared_memory_estimate(source, target, bits)
    return plan_cost(direct, bits)


def goes_through_memory(source: LinearLayout, target: LinearLayout, bits: int) -> bool:
    """Whether the plan is an `SharedMemoryPlan`."""
    return isinstance(_without_memory(source, target, bits, True), _ThroughMemory)


@dataclass(frozen=True)
class _ThroughMemory:
    same_warp: bool


@lru_cache(maxsize=4096)
def _without_memory(
    source: LinearLayout, target: LinearLayout, bits: int, shuffles: bool
) -> NoMove | RegisterMove | ShufflePlan | _ThroughMemory:
    """The plan, when it needs no memory."""
    target = target.order_outs(source.out_dims)
    if source.outs != target.outs:
        raise LayoutError(f"a conversion keeps the shape; it is {source.outs} here and {target.outs} there")
    moves = nearest_source(source, target)
    lanes, warps, blocks = (_moved(moves, dim) for dim in (LANE, WARP, BLOCK))
    if blocks:
        raise LayoutError("a conversion that moves data between the blocks of a cluster is not supported")
    if not lanes and not warps:
        plan = _register_move(moves)
        if plan is not None:
            return plan
    if shuffles and not warps and not _differs_between_blocks(moves):
        inside = moves.sublayout((REGISTER, LANE, WARP), (REGISTER, LANE, WARP))
        plan = shuffle_plan(inside, register_repeats(target), bits)
        if plan is not None and (
            bits > 64 or _shuffle_cost(plan, bits) <= _shared_memory_estimate(source, target, bits)
        ):
            return plan
    return _ThroughMemory(not warps)


def conversion_layout(source: LinearLayout, target: LinearLayout, bits: int) -> LinearLayout:
    """offset → index: how a conversion of elements of `bits` bits would lay them in memory, whole."""
    return conversion_memory(*_distinct(source, target.order_outs(source.out_dims)), bits)


def operand_layout(source: LinearLayout, target: LinearLayout, bits: int) -> LinearLayout:
    """As `conversion_layout`, where `target` is an operand that a matrix unit takes from registers."""
    return operand_memory(*_distinct(source, target.order_outs(source.out_dims)), bits)


def matrix_conversion_layout(
    source: LinearLayout, target: LinearLayout, bits: int, *, loads: bool, stores: bool
) -> LinearLayout | None:
    """As `conversion_layout`, arranged for the matrix instructions that the target has (`loads`: ldmatrix, `stores`:
    stmatrix); None where they are no gain.
    """
    return matrix_conversion(*_distinct(source, target.order_outs(source.out_dims)), bits, loads=loads, stores=stores)


def scratch_bytes(plan: ConversionPlan, bits: int) -> int:
    """Shared memory that a plan needs; elements narrower than a byte take a byte."""
    return plan.elements * max(8, bits) // 8 if isinstance(plan, SharedMemoryPlan) else 0


def owners(plan: ConversionPlan) -> tuple[frozenset[int], tuple[int, ...]] | None:
    """Which places of the scratch belong to which warp, in a form that is equal for equal ownership: the span of warp
    0's places, and the step to those of each bit of the warp's number. None where warps take each other's places.
    """
    if not isinstance(plan, SharedMemoryPlan) or not plan.same_warp:
        return None
    writes = [part.write for part in plan.parts]
    threads = writes[0].threads
    offsets = [one.offset for write in writes for one in write.accesses]
    inside = echelon((*threads.columns(LANE), *offsets, *(1 << i for i in range(writes[0].vec.bit_length() - 1))))
    return frozenset(inside.vectors), tuple(inside.reduce(step)[0] for step in threads.columns(WARP))


def plan_cost(plan: ConversionPlan, bits: int) -> int:
    """Cycles of a warp, roughly: 0 without moves, 2 for a shuffle, half for a select, 1 for a memory wavefront, and
    SHARED_MEMORY_OVERHEAD for the barriers of each part of a conversion through memory."""
    match plan:
        case NoMove() | RegisterMove():
            return 0
        case ShufflePlan():
            return _shuffle_cost(plan, bits)
        case SharedMemoryPlan():
            return sum(
                SHARED_MEMORY_OVERHEAD
                + len(part.write.accesses) * part.write.wavefronts
                + len(part.read.accesses) * part.read.wavefronts
                for part in plan.parts
            )


def wavefronts(plan: ConversionPlan) -> int:
    """Of shared memory, or shuffles, that a warp takes for a conversion."""
    match plan:
        case NoMove() | RegisterMove():
            return 0
        case ShufflePlan():
            return plan.shuffles
        case SharedMemoryPlan():
            sides = (side for part in plan.parts for side in (part.write, part.read))
            return sum(len(side.accesses) * side.wavefronts for side in sides)


def is_free(source: LinearLayout, target: LinearLayout) -> bool:
    """Whether the conversion moves nothing between threads."""
    try:
        return isinstance(plan_conversion(source, target, 32), NoMove | RegisterMove)
    except LayoutError:
        return False


def nearest_source(source: LinearLayout, target: LinearLayout) -> LinearLayout:
    """Destination place → a source place that holds the same element, as near as the copies in the source allow.

    A lane bit stays on its lane, a warp bit in its warp, whenever a source place there holds the element; registers
    are preferred to lanes, lanes to warps.
    """
    positions: dict[str, int] = {}
    total = 0
    for dim, columns in source.ins:
        positions[dim] = total
        total += len(columns)
    # Spans of growing reach: registers; registers and lanes; ...
    reach: list[Echelon] = []
    span = Echelon()
    for dim, columns in source.ins:
        for bit, basis in enumerate(columns):
            span.insert(basis, positions[dim] + bit)
        reach.append(span.copy())
    ins: list[tuple[str, list[int]]] = []
    for level, (dim, columns) in enumerate(target.ins):
        own = source.columns(dim)
        solved: list[int] = []
        for bit, basis in enumerate(columns):
            if bit < len(own):
                near = reach[level - 1] if level else Echelon()
                rest, combination = near.reduce(basis ^ own[bit])
                if not rest:
                    solved.append(combination | 1 << (positions[dim] + bit))
                    continue
            rest, combination = span.reduce(basis)
            if rest:
                raise LayoutError("the source of a conversion does not hold every element of the destination")
            solved.append(combination)
        ins.append((dim, solved))
    return LinearLayout(ins, [(dim, len(columns)) for dim, columns in source.ins])


def _moved(moves: LinearLayout, dim: str) -> bool:
    """Whether the map changes the value of `dim`."""
    for in_dim, columns in moves.ins:
        for bit, basis in enumerate(columns):
            if moves.coordinate(basis, dim) != (1 << bit if in_dim == dim else 0):
                return True
    return moves.in_bits(dim) < moves.out_bits(dim)


def _differs_between_blocks(moves: LinearLayout) -> bool:
    """Whether another register, lane or warp of the same block is taken in another block."""
    return any(any(moves.coordinate(basis, dim) for dim in (REGISTER, LANE, WARP)) for basis in moves.columns(BLOCK))


def _register_move(moves: LinearLayout) -> NoMove | RegisterMove | None:
    for dim in (LANE, WARP, BLOCK):
        if any(moves.coordinate(basis, REGISTER) for basis in moves.columns(dim)):
            return None  # which register a thread takes depends on the thread
    sources = all_xors([moves.coordinate(basis, REGISTER) for basis in moves.columns(REGISTER)])
    if sources == tuple(range(1 << moves.out_bits(REGISTER))):
        return NoMove()
    return RegisterMove(sources)


def _shuffle_cost(plan: ShufflePlan, bits: int) -> int:
    words = max(1, bits // 32)
    return words * (2 * plan.shuffles + plan.selects // 2)


def _shared_memory_estimate(source: LinearLayout, target: LinearLayout, bits: int) -> int:
    """One wavefront for each word that a thread writes, and for each that it reads."""
    held = (1 << rank(layout.columns(REGISTER)) for layout in (source, target))
    return SHARED_MEMORY_OVERHEAD + sum(max(1, count * bits // 32) for count in held)


def _distinct(source: LinearLayout, target: LinearLayout) -> tuple[LinearLayout, LinearLayout]:
    """The two layouts without blocks and without registers that only repeat others."""

    def reduce(layout: LinearLayout) -> LinearLayout:
        copies = layout.free_masks()[REGISTER]
        kept = [bit for bit in range(layout.in_bits(REGISTER)) if not copies >> bit & 1]
        layout = layout.select_bits(REGISTER, kept)
        return layout.sublayout((REGISTER, LANE, WARP), layout.out_dims)

    return reduce(source), reduce(target)


def _through_memory(
    source: LinearLayout, target: LinearLayout, bits: int, scratch_limit: int, most: int | None, same_warp: bool
) -> SharedMemoryPlan:
    whole = (max(8, bits) // 8) << source.total_out_bits
    must = 0 if most is None else (-(-whole // max(scratch_limit, most)) - 1).bit_length()
    memory = conversion_memory(*_distinct(source, target), bits, must)
    held = LinearLayout([*memory.ins, (BLOCK, source.columns(BLOCK))], memory.outs)
    write_places, read_places = placement(source, held), placement(target, held)
    reach = 0
    for places in (write_places, read_places):
        for basis in (*places.columns(LANE), *places.columns(WARP), *places.columns(BLOCK)):
            reach |= basis
    total = memory.in_bits(OFFSET)
    cuts = 0
    while total - cuts > reach.bit_length() and (max(8, bits) // 8) << (total - cuts) > scratch_limit:
        cuts += 1
    write, read = shared_access(write_places, bits), shared_access(read_places, bits)
    parts = tuple(
        SharedMemoryPart(_part(write, part, total - cuts), _part(read, part, total - cuts)) for part in range(1 << cuts)
    )
    private = same_warp and not _shared_between_warps(write_places, total - cuts)
    return SharedMemoryPlan(memory, 1 << (total - cuts), parts, private)


def _shared_between_warps(places: LinearLayout, shift: int) -> bool:
    """Whether two warps write the same place of the scratch, in one part or in two."""
    low = (1 << shift) - 1
    inside = [basis & low for basis in (*places.columns(REGISTER), *places.columns(LANE))]
    warps = places.columns(WARP)
    return rank((*inside, *warps)) < rank(inside) + len(warps)


def _part(access: SharedAccess, part: int, shift: int) -> SharedAccess:
    """The accesses whose offset lies in one part, moved to the start of the scratch."""
    low = (1 << shift) - 1
    own = tuple(VectorAccess(a.registers, a.offset & low) for a in access.accesses if a.offset >> shift == part)
    return SharedAccess(access.vec, own, access.repeats, access.threads, access.additive, access.wavefronts)
