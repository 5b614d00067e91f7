"""Which loads of a loop run ahead, how far, and where their values wait.

With S stages, a load that a product needs runs S - 1 intervals before it, as Triton's `num_stages` has it. Where the
address of such a load is itself loaded, in this iteration, the intervals are divided among the loads of the chain.
What was loaded waits in slots of shared memory if threads can copy it there asynchronously, or an engine can: one slot
more than intervals; also if it is converted first, or computed with otherwise, unless it is so small that registers
hold it. Where they cannot (elements that lie apart, something else than zero where a mask is false, no such copies) it
waits in registers, one interval long, if there is room. So do small loads that no product needs, but what is computed
of its results.

Registers hold words. What comes in narrower accesses is packed into them as it arrives, so that the thread waits for it
in the interval that loads it, and unpacked again to be stored: nothing is ahead but of the products of that interval.
Where these are shorter than memory takes to answer it is left where it is (a product of 64×64×32 halves whose operands
are loaded one by one: 418 instructions an iteration, 356 without).

Where asynchronous copies do not bring it, threads may store it (`UnitCosts.stores_slots`). With two stages what is
loaded at the start of an interval is stored at the end of it, behind the products; with more at the start of the next
one, in front of the loads that follow, so that one set of registers is enough and nothing is moved from one to another,
which would wait for it. Then it is in a slot for the intervals that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.access_width import stored_width
from tritonx.analysis.buffers import (
    SWIZZLE_ALIGNMENT,
    aliases_of,
    allocates_memory,
    allocation_size,
    is_shared_memory,
    tile_bytes,
)
from tritonx.analysis.registers import WORD_BYTES, for_tiles, value_bytes
from tritonx.analysis.unit_costs import (
    UnitCosts,
    is_asynchronous,
    product_cycles,
)
from tritonx.dialects import tile
from tritonx.dialects.control_flow import carried_by
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, is_float, is_pointer, is_tensor, type_of
from tritonx.transforms.pipelining.loop_graph import LoopGraph, NotScheduled, is_load, is_product, must_happen
from tritonx.transforms.pipelining.modulo_problem import Arc, Problem, Task, stage_bounds

SMALL_BYTES = 16
"""Of a thread's registers, that what is loaded may take in all the intervals that it waits: four, as
few as no target is short of. No other number has been measured."""


@dataclass(frozen=True)
class Ahead:
    """A load, by its number in the graph, that runs `lead` intervals before its users. `slot`: bytes of shared memory
    that each of its values waits in; 0 where they wait in registers. `stored`: how many intervals later threads store
    it there: 0 at the end of its own, 1 at the start of the next one; None where it is copied."""

    number: int
    lead: int
    slot: int = 0
    stored: int | None = None

    @property
    def slots(self) -> int:
        """How many values are in memory at a time, at least."""
        if not self.slot:
            return 0
        return self.lead + 1 if self.stored is None else self.lead


IsCopied = Callable[[Operation], bool]
"""Whether asynchronous copies bring a load to where it waits, on a target whose threads store what they do not."""

Width = Callable[[Operation], int]
"""Bytes of the widest access of a thread that a load through pointers can be made of."""


def products_of(graph: LoopGraph) -> list[int]:
    """The numbers of the products of a body, those in regions not among them."""
    return [number for number, op in enumerate(graph.ops) if is_product(op)]


def loads_ahead(
    graph: LoopGraph,
    stages: int,
    costs: UnitCosts,
    width: Width,
    threads: int,
    is_copied: IsCopied,
    *,
    in_memory: bool = True,
) -> tuple[Ahead, ...]:
    """The loads that run ahead in a schedule of so many stages: those that products need, and small ones beside them,
    or all where there are no products. `in_memory`: also what products are computed of may wait there. Raises
    NotScheduled where there are none."""
    room = _room_in_registers(graph, costs, threads)
    products = products_of(graph)
    depths = _depths(graph, products or range(len(graph.ops)))
    depths = {number: depth for number, depth in depths.items() if depth < stages - 1}
    if not depths:
        raise NotScheduled("no product needs what the loop loads" if products else "it loads nothing")
    lead = (stages - 1) // (max(depths.values()) + 1)
    leads: dict[int, int] = {}
    found: list[Ahead] = []
    held = 0
    is_short = sum(product_cycles(costs, graph.ops[n]) for n in products) < costs.latency
    intervals = lead if products and in_memory else 0
    slots = {number: slot_bytes(graph.ops[number], costs, width, intervals) for number in sorted(depths)}
    stores_slots = costs.stores_slots and not all(is_copied(graph.ops[n]) for n, slot in slots.items() if slot)
    for number, slot in slots.items():
        op = graph.ops[number]
        most, taken = lead, value_bytes(op.results[0])
        stored = bool(slot) and stores_slots
        if not slot and _is_block(op):
            continue
        if not slot and is_short and 0 < width(op) < WORD_BYTES and taken * lead > SMALL_BYTES:
            continue
        if stored or (not slot and taken * lead > SMALL_BYTES):
            most, held = most if stored else 1, held + (1 if stored else costs.held_copies) * taken
            if held > room:
                if stored:
                    raise NotScheduled("what it loads takes too many registers")
                continue
        for one in range(most, 0, -1):
            if _can_lead(graph, leads, number, one, stages):
                leads[number] = one
                found.append(Ahead(number, one, slot, min(1, one - 1) if stored else None))
                break
    if not found:
        raise NotScheduled(_why_none(graph, sorted(depths), stages, width))
    return (*found, *_beside(graph, leads, stages, room - held))


def _beside(graph: LoopGraph, leads: dict[int, int], stages: int, room: int) -> Iterator[Ahead]:
    """The small loads that no product needs: what is computed of its results needs them, and would wait for each an
    interval long at most. They wait that long in registers."""
    for number, op in enumerate(graph.ops):
        if number in leads or not is_load(op) or _is_block(op) or not _is_used(graph, number):
            continue
        taken = value_bytes(op.results[0])
        if taken <= min(SMALL_BYTES, room) and _can_lead(graph, leads, number, 1, stages):
            leads[number], room = 1, room - taken
            yield Ahead(number, 1)


def _room_in_registers(graph: LoopGraph, costs: UnitCosts, threads: int) -> int:
    """Bytes of a thread's registers in which what is loaded may wait. Of what there is for tiles, a quarter of all is
    for operands of products that are not read from memory, half of that for those that are read in steps; the loop
    carries on sums in the rest."""
    share = costs.thread_share(threads)
    if share is None:
        return 0
    from_memory = all(is_asynchronous(graph.ops[number]) for number in products_of(graph))
    operands = 0 if from_memory else share // 8 if costs.stores_slots else share // 4
    values = [each.argument for each in carried_by(graph.loop)]
    carried = sum(value_bytes(value) for value in values if is_float(type_of(value)) or _is_sum(value))
    return min(costs.held_bytes, for_tiles(share) - operands - carried)


def _is_sum(value: SSAValue) -> bool:
    """Whether a product adds to what the loop carries."""
    return any(is_product(use.operation) for use in value.uses)


def _depths(graph: LoopGraph, ends: Sequence[int]) -> dict[int, int]:
    """Of each load that one of `ends` needs in its iteration, how many other loads are on the way, at most."""
    depths = dict.fromkeys(ends, 0)
    for number in reversed(range(len(graph.ops))):
        if number in depths:
            depth = depths[number] + is_load(graph.ops[number])
            for arc in graph.before[number]:
                if not arc.distance and arc.value is not None:
                    depths[arc.source] = max(depths.get(arc.source, 0), depth)
    return {number: depth for number, depth in depths.items() if is_load(graph.ops[number]) and _is_used(graph, number)}


def _is_used(graph: LoopGraph, number: int) -> bool:
    return any(arc.source == number and arc.value is not None for arc in graph.arcs)


def _can_lead(graph: LoopGraph, leads: Mapping[int, int], number: int, lead: int, stages: int) -> bool:
    """Whether a load can run so far ahead beside others. One in a recurrence with what it loads must have
    room for an interval more: else it is only issued when the result of the one before is there."""
    return all(_bounds(graph, {**leads, number: lead + more}, stages + more) is not None for more in (0, 1))


def _why_none(graph: LoopGraph, loads: Sequence[int], stages: int, width: Width) -> str:
    """Why none of these loads can run ahead, each by itself."""
    free = [number for number in loads if _can_lead(graph, {}, number, 1, stages)]
    if free and all(_is_block(graph.ops[number]) for number in free):
        return "the blocks of descriptors that it loads wait in no memory"
    if free and all(0 < width(graph.ops[number]) < WORD_BYTES for number in free):
        return "what it loads comes in less than words, and cannot be copied asynchronously"
    if free:
        return "what it loads takes too many registers, and cannot be copied asynchronously"
    silent = replace(graph, arcs=tuple(arc for arc in graph.arcs if not arc.seen))
    if any(_can_lead(silent, {}, number, 1, stages) for number in loads):
        return "it prints, or checks, in front of its loads"
    apart = replace(graph, arcs=tuple(arc for arc in graph.arcs if arc.value is not None))
    if any(_can_lead(apart, {}, number, 1, stages) for number in loads):
        return "it stores where it loads"
    return "where it loads depends on the iteration before"


def _bounds(graph: LoopGraph, leads: Mapping[int, int], stages: int) -> list[tuple[int, int]] | None:
    arcs = tuple(
        Arc(a.source, a.target, a.distance, lead=leads.get(a.source, 0) if a.value is not None else 0)
        for a in graph.arcs
    )
    return stage_bounds(Problem(tuple(Task(last=must_happen(op)) for op in graph.ops), arcs, stages))


def waits_in_memory(load: Operation, intervals: int) -> bool:
    """Whether what is loaded to be computed with had better wait so long in shared memory, if copies can bring it."""
    (result,) = load.results
    type_ = type_of(result)
    if not is_tensor(type_) or is_pointer(element_type(type_)) or bit_width(element_type(type_)) < 8:
        return False
    return value_bytes(result) * intervals > SMALL_BYTES


def slot_bytes(load: Operation, costs: UnitCosts, width: Width, intervals: int = 0) -> int:
    """Bytes of shared memory that what is loaded takes where it waits so long; 0 where no asynchronous copy
    brings it there, nor threads."""
    (result,) = load.results
    type_ = type_of(result)
    if not is_tensor(type_):
        return 0
    if costs.stores_slots:
        return _stored_bytes(result)
    if _is_block(load):
        if not costs.copies_blocks or not isinstance(load, tile.DescriptorLoadOp):
            return 0
        if tile_bytes(result) % SWIZZLE_ALIGNMENT[0]:  # rows that are swizzled come in eights, which are as large
            return 0
    elif not costs.copy_bytes or width(load) < min(costs.copy_bytes) or not _zero_elsewhere(load):
        return 0
    users = [use.operation for use in result.uses]
    stores = [user for user in users if allocates_memory(user)]
    if not stores:
        return tile_bytes(result) if _is_block(load) or waits_in_memory(load, intervals) else 0
    memory = type_of(stores[0].result)
    if len(stores) > 1 or not isinstance(memory, MemDescType):
        return 0
    if costs.copy_bytes and (nbytes := width(load)):
        bits = bit_width(element_type(type_))
        if stored_width(type_, memory, nbytes * 8 // bits) * bits // 8 < min(costs.copy_bytes):
            turned = _is_multiplied_alone(load, stores[0]) and waits_in_memory(load, intervals)
            return tile_bytes(result) if turned else 0
    return allocation_size(memory)


def _is_block(load: Operation) -> bool:
    """Whether a descriptor's block is loaded. To registers the copy engine brings it by way of memory that the program
    waits for at once: nothing is ahead of anything."""
    return any(isinstance(type_of(operand), tile.TensorDescType) for operand in load.operands)


def _is_multiplied_alone(load: Operation, alloc: Operation) -> bool:
    """Whether only units that read shared memory by themselves need what is stored: on the way to them the threads can
    turn what a copy brings as it lies in global memory (`buffer-values`)."""
    users = [use.operation for alias in aliases_of(alloc.results[0]) for use in alias.uses]
    readers = [op for op in users if not any(map(is_shared_memory, op.results))]
    return load.results[0].has_one_use() and bool(readers) and all(map(is_asynchronous, readers))


def _stored_bytes(value: SSAValue) -> int:
    """Of the memory that a value is stored in, if it is, and once."""
    stores = [use.operation for use in value.uses if allocates_memory(use.operation)]
    memory = type_of(stores[0].result) if len(stores) == 1 else None
    return allocation_size(memory) if isinstance(memory, MemDescType) else 0


def _zero_elsewhere(load: Operation) -> bool:
    """Whether a copy that leaves zeros where the mask is false does what the load does."""
    other = getattr(load, "other", None)
    return other is None or constant_of(other) == 0
