"""From the graph of a loop to its scheduling problem: which loads run ahead, how far, and where their values wait.

With S stages, a load that a product needs runs S - 1 intervals before it, as Triton's `num_stages` has it. Where the
address of such a load is itself loaded, in this iteration, the intervals are divided among the loads of the chain.
What was loaded waits in slots of shared memory if threads can copy it there asynchronously, or an engine can: one slot
more than intervals. Where they cannot (elements that lie apart, something else than zero where a mask is false, no such
copies) it waits in registers, one interval long, if there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from tritonx.analysis.buffers import allocates_memory, allocation_size, stored_bytes, tensor_layout
from tritonx.analysis.loop_graph import Dependence, LoopGraph, NotScheduled, is_load, is_product, must_happen
from tritonx.analysis.modulo_schedule import Arc, Kept, Problem, Reader, Slots, Task, stage_bounds
from tritonx.analysis.unit_costs import (
    ISSUE,
    Unit,
    UnitCosts,
    held_registers,
    is_asynchronous,
    load_cycles,
    product_cycles,
    thread_cycles,
    thread_registers,
)
from tritonx.dialects import tile
from tritonx.dialects.control_flow import carried_by
from tritonx.dialects.effects import declared_by
from tritonx.dialects.gpu_layout import ConvertLayoutOp, MemDescType, encoding_value
from tritonx.dialects.layout_constraints import values_of
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import bit_width, element_type, encoding_of, is_float, is_tensor, shape_of, type_of
from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.access import placement, shared_access
from tritonx.layouts.encodings import DotOperandEncoding

SMALL_BYTES = 16
"""Of a thread's registers, that what is loaded may take in all the intervals that it waits."""

CHEAP = 32
"""Cycles that threads may take in front of an asynchronous product without being thought of as work beside it."""


@dataclass(frozen=True)
class Ahead:
    """A load, by its number in the graph, that runs `lead` intervals before its users. `slot`: bytes of shared memory
    that each of its values waits in; 0 where they wait in registers."""

    number: int
    lead: int
    slot: int = 0


Width = Callable[[Operation], int]
"""Bytes of the widest access of a thread that a load through pointers can be made of."""


def products_of(graph: LoopGraph) -> list[int]:
    """The numbers of the products of a body, those in regions not among them."""
    return [number for number, op in enumerate(graph.ops) if is_product(op)]


def loads_ahead(graph: LoopGraph, stages: int, costs: UnitCosts, width: Width, threads: int) -> tuple[Ahead, ...]:
    """The loads that run ahead in a schedule of so many stages: those that products need, or all where there are no
    products. Raises NotScheduled where there are none."""
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
    for number in sorted(depths):
        op = graph.ops[number]
        slot = slot_bytes(op, costs, width)
        most, taken = lead, thread_registers(op.results[0])
        if not slot and taken * lead > SMALL_BYTES:
            most, held = 1, held + taken
            if held > room:
                continue
        for one in range(most, 0, -1):
            if _can_lead(graph, leads, number, one, stages):
                leads[number] = one
                found.append(Ahead(number, one, slot))
                break
    if not found:
        raise NotScheduled(_why_none(graph, sorted(depths), stages))
    return tuple(found)


def _room_in_registers(graph: LoopGraph, costs: UnitCosts, threads: int) -> int:
    """Bytes of a thread's registers in which what is loaded may wait. A quarter of all is for addresses and for what is
    computed, another for operands of products that are not read from memory; the loop carries on sums in the rest."""
    share = min(costs.thread_bytes, costs.register_bytes // threads)
    from_memory = all(is_asynchronous(graph.ops[number]) for number in products_of(graph))
    most = share * 3 // 4 if from_memory else share // 2
    values = [each.argument for each in carried_by(graph.loop)]
    carried = sum(thread_registers(value) for value in values if is_float(type_of(value)) or _is_sum(value))
    return min(costs.held_bytes, most - carried)


def _is_sum(value: SSAValue) -> bool:
    """Whether a product adds to what goes round."""
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
    """Whether a load can run so far ahead beside others. One that goes round in a circle with what it loads must have
    room for an interval more: else it is only issued when the result of the one before is there."""
    return all(_bounds(graph, {**leads, number: lead + more}, stages + more) is not None for more in (0, 1))


def _why_none(graph: LoopGraph, loads: Sequence[int], stages: int) -> str:
    """Why none of these loads can run ahead, each by itself."""
    if any(_can_lead(graph, {}, number, 1, stages) for number in loads):
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


def slot_bytes(load: Operation, costs: UnitCosts, width: Width) -> int:
    """Bytes of shared memory that what is loaded takes; 0 where no asynchronous copy can bring it there."""
    (result,) = load.results
    type_ = type_of(result)
    if not is_tensor(type_):
        return 0
    if any(isinstance(type_of(operand), tile.TensorDescType) for operand in load.operands):
        if not costs.copies_blocks:
            return 0
    elif not costs.copy_bytes or width(load) < min(costs.copy_bytes) or not _zero_elsewhere(load):
        return 0
    users = [use.operation for use in result.uses]
    stores = [user for user in users if allocates_memory(user)]
    if not stores:
        return _bytes(load) if all(map(_makes_operand, users)) else 0
    memory = type_of(stores[0].result)
    if len(stores) > 1 or not isinstance(memory, MemDescType):
        return 0
    if costs.copy_bytes and width(load) and _stored_together(load, memory, width(load)) < min(costs.copy_bytes):
        return 0
    return allocation_size(memory)


def _stored_together(load: Operation, memory: MemDescType, nbytes: int) -> int:
    """Of `nbytes` that a thread loads at once, those that lie together in memory as well: all, or an element's."""
    type_ = type_of(load.results[0])
    bits = bit_width(element_type(type_))
    try:
        places = placement(tensor_layout(type_), linear_layout(encoding_value(memory.encoding), memory.shape))
    except LayoutError:
        return 0
    together = shared_access(places, bits, max_vec_bits=8 * nbytes).vec * bits // 8
    return nbytes if together == nbytes else bits // 8


def _makes_operand(op: Operation) -> bool:
    """Whether the op exchanges a tile between threads for a product, which goes through memory."""
    return isinstance(op, ConvertLayoutOp) and isinstance(
        encoding_value(encoding_of(type_of(op.result))), DotOperandEncoding
    )


def _zero_elsewhere(load: Operation) -> bool:
    """Whether a copy that leaves zeros where the mask is false does what the load does."""
    other = getattr(load, "other", None)
    return other is None or constant_of(other) == 0


# --- the problem


@dataclass(frozen=True)
class LoopPipeline:
    """A loop with the loads that run ahead, as a problem: task i is the ops `macro_ops[i]`. There are `more` stages
    than these loads need, for products to be begun before the results of others are worked on, and `room` bytes of a
    thread's registers (None: any number)."""

    graph: LoopGraph
    ahead: tuple[Ahead, ...]
    costs: UnitCosts
    stages: int
    threads: int
    width: Width
    more: int = 0
    room: int | None = None

    @cached_property
    def products(self) -> frozenset[int]:
        return frozenset(products_of(self.graph))

    @cached_property
    def _ahead(self) -> dict[int, Ahead]:
        return {each.number: each for each in self.ahead}

    @cached_property
    def macro_ops(self) -> tuple[tuple[int, ...], ...]:
        """The graph's macro-ops; what only renames or stores an operand belongs to the one that uses it."""
        found = [*map(list, self.graph.macro_ops((*self.products, *self._ahead)))]
        cost = [self._work(ops) if self._is_work(ops) else 1 for ops in found]
        home = {number: i for i, ops in enumerate(found) for number in ops}
        for i in reversed(range(len(found))):
            out = {(home[a.target], a.distance) for a in self.graph.arcs if home[a.source] == i != home[a.target]}
            addresses = len(out) == 1 and all(number in self._ahead for user, _ in out for number in found[user][-1:])
            if len(out) == 1 and (not cost[i] or (addresses and self._is_work(found[i]))):
                ((user, distance),) = out
                if not distance:
                    found[user] += found[i]
                    home.update(dict.fromkeys(found[i], user))
                    found[i] = []
        return tuple(tuple(sorted(ops)) for ops in found if ops)

    @cached_property
    def home(self) -> dict[int, int]:
        """Of each op the macro-op that it is in."""
        return {number: i for i, ops in enumerate(self.macro_ops) for number in ops}

    def _is_work(self, ops: Sequence[int]) -> bool:
        return not any(number in self.products or number in self._ahead for number in ops)

    def _work(self, ops: Sequence[int]) -> int:
        return sum(self._cycles(self.graph.ops[number]) for number in ops)

    def _cycles(self, op: Operation) -> int:
        if is_load(op):
            return load_cycles(self.costs, op.results[0], self.width(op) or 4, self.threads)
        return 0 if op in self._renaming else thread_cycles(self.costs, op, self.threads)

    @cached_property
    def _renaming(self) -> frozenset[Operation]:
        """The ops that have nothing to do, since what they store, or name otherwise, is in a slot."""
        found = {op for each in self.ahead if each.slot for op in self._uses(each.number)[1]}
        return frozenset(found)

    @cached_property
    def problem(self) -> Problem:
        plain = self._plain
        arcs, slots, kept = self._arcs(plain), self._slots(plain), self._kept()
        ranks = self._ranks(plain, arcs, slots)
        bounds = stage_bounds(Problem(tuple(plain), arcs, self.stages))
        stages = self.more + (self.stages if bounds is None else 1 + max(low for low, _ in bounds))
        last = [any(must_happen(self.graph.ops[number]) for number in ops) for ops in self.macro_ops]
        tasks = tuple(
            replace(task, rank=ranks[i], early=i in self._early, last=last[i]) for i, task in enumerate(plain)
        )
        return Problem(tasks, arcs, stages, slots, kept, max(self.copies, self.latency), self.room)

    @cached_property
    def copies(self) -> int:
        """Cycles in which what an iteration loads arrives, as fast as it comes."""
        return sum(_bytes(self.graph.ops[each.number]) for each in self.ahead) // self.costs.copied

    @cached_property
    def matrix(self) -> int:
        """Cycles in which the unit of the products is busy, whoever waits for it."""
        return sum(product_cycles(self.costs, self.graph.ops[number]) for number in self.products)

    @cached_property
    def latency(self) -> int:
        """Cycles of an interval in which loads must have arrived that run ahead by so many."""
        return max(-(-self.costs.latency // each.lead) for each in self.ahead)

    def _task(self, ops: Sequence[int]) -> Task:
        product = next((self.graph.ops[number] for number in ops if number in self.products), None)
        threads = self._work([number for number in ops if number not in self.products])
        if product is None:
            return Task(max(1, threads))
        cycles = product_cycles(self.costs, product)
        if is_asynchronous(product):
            return Task(threads + ISSUE, Unit.MATRIX, cycles)
        return Task(threads + cycles)

    @property
    def is_asynchronous(self) -> bool:
        """Whether there are products that a unit does by itself."""
        return any(map(self._is_asynchronous, self.macro_ops))

    def is_settled(self, stages: Sequence[int]) -> bool:
        """Whether each load is as far ahead as is wanted, not farther, with these stages of the tasks; and the results
        of an asynchronous product are worked on by its interval in that iteration, and not sooner in the next one: else
        two of them would go round the loop, moved from registers to others, of which one is still written."""
        for value in self._slots(self._plain):
            if any(stages[r.task] + r.distance - stages[value.source] >= value.most for r in value.readers):
                return False
        for arc in self.graph.arcs:
            if arc.source in self.products and is_asynchronous(self.graph.ops[arc.source]):
                later = stages[self.home[arc.target]] - stages[self.home[arc.source]]
                if later > 0 if not arc.distance else later < 0:
                    return False
        return True

    @cached_property
    def _plain(self) -> list[Task]:
        """The tasks, by what they cost alone."""
        return [self._task(ops) for ops in self.macro_ops]

    def _is_asynchronous(self, ops: Sequence[int]) -> bool:
        return any(is_asynchronous(self.graph.ops[number]) for number in ops if number in self.products)

    def _arcs(self, tasks: Sequence[Task]) -> tuple[Arc, ...]:
        found: dict[tuple[int, int, int], Arc] = {}
        for arc in self.graph.arcs:
            source, target = self.home[arc.source], self.home[arc.target]
            if source == target and not arc.distance:
                continue
            ahead = self._ahead.get(arc.source)
            lead = ahead.lead if ahead is not None and arc.value is not None else 0
            key = (source, target, arc.distance)
            if key not in found or found[key].lead < lead:
                found[key] = Arc(*key, latency=_duration(tasks[source]), lead=lead)
        return tuple(found.values())

    # --- where values wait

    def _slots(self, tasks: Sequence[Task]) -> tuple[Slots, ...]:
        found: list[Slots] = []
        for each in self.ahead:
            if each.slot:
                readers = dict.fromkeys(
                    Reader(home, distance, _duration(tasks[home]))
                    for number, distance in self.readers(each.number)
                    for home in (self.home[number],)
                )
                found.append(Slots(self.home[each.number], each.lead + 1, tuple(readers)))
        return tuple(found)

    def readers(self, number: int) -> list[tuple[int, int]]:
        """The ops that read what an op loaded, and how many iterations later: behind those that only store it, or name
        it otherwise."""
        return self._uses(number)[0]

    def _uses(self, number: int) -> tuple[list[tuple[int, int]], list[Operation]]:
        """The readers of what an op loaded, and the ops on the way to them."""
        readers: list[tuple[int, int]] = []
        renaming: list[Operation] = []
        work = [(number, 0)]
        while work:
            source, behind = work.pop()
            for arc in self.graph.arcs:
                if arc.source == source and arc.value is not None:
                    op, reader = self.graph.ops[arc.target], (arc.target, behind + arc.distance)
                    if _passes_on(op) and not arc.distance:
                        renaming.append(op)
                        work.append(reader)
                    else:
                        readers.append(reader)
        return readers, renaming

    def _kept(self) -> tuple[Kept, ...]:
        in_memory = {each.number for each in self.ahead if each.slot}
        readers: dict[int, dict[Reader, None]] = {}
        values: dict[int, Dependence] = {}
        for arc in self.graph.arcs:
            if arc.value is None or arc.source in in_memory:
                continue
            source, target = self.home[arc.source], self.home[arc.target]
            if source != target or arc.distance:
                readers.setdefault(arc.source, {})[Reader(target, arc.distance)] = None
                values[arc.source] = arc
        for number, found in readers.items():
            for reader in [each for each in found if self._reads_registers(values[number], each)]:
                found.update(dict.fromkeys(self._until_done(reader)))
        return tuple(
            Kept(self.home[number], self._size(values[number]), tuple(found)) for number, found in readers.items()
        )

    def _reads_registers(self, arc: Dependence, reader: Reader) -> bool:
        """Whether an asynchronous product multiplies a value out of registers."""
        products = (self.graph.ops[number] for number in self.macro_ops[reader.task] if number in self.products)
        return any(is_asynchronous(op) and arc.value in values_of(op, "a") for op in products)

    def _until_done(self, reader: Reader) -> list[Reader]:
        """The first one that needs the result of a product: before that nobody knows that its operands are read."""
        ends = [
            Reader(self.home[arc.target], reader.distance + arc.distance)
            for arc in self.graph.arcs
            if arc.source in self.macro_ops[reader.task] and arc.value is not None and arc.source in self.products
        ]
        return sorted(ends, key=lambda each: (each.distance, each.task))[:1]

    def _size(self, arc: Dependence) -> int:
        """Bytes of a thread's registers for a value, or its share of the memory that it names."""
        assert arc.value is not None
        type_ = type_of(arc.value)
        if isinstance(type_, MemDescType):
            return max(1, allocation_size(type_) // self.threads)
        return sum(held_registers(result) for result in self.graph.ops[arc.source].results)

    # --- what to try first

    def _ranks(self, tasks: Sequence[Task], arcs: Sequence[Arc], slots: Sequence[Slots]) -> list[int]:
        """First what can keep an asynchronous unit busy at once, then what runs ahead and what it needs, then what such
        a unit waits for, then the rest; among these in the order of the text. A load into slots that such units alone
        read follows their last one: the slot that it takes is free by then."""
        count = len(tasks)
        urgent, feeding = self._urgent(tasks, arcs), self._feeding(arcs)
        groups = [0 if i in urgent else 1 if i in self._early else 2 if i in feeding else 3 for i in range(count)]
        ranks = [2 * (i + count * group) for i, group in enumerate(groups)]
        for value in slots:
            readers = {reader.task for reader in value.readers}
            if all(self._is_asynchronous(self.macro_ops[reader]) for reader in readers):
                ranks[value.source] = max((ranks[reader] + 1 for reader in readers), default=ranks[value.source])
        return ranks

    def _feeding(self, arcs: Sequence[Arc]) -> set[int]:
        """The asynchronous products, and what they need in their iteration; everything where there are none."""
        found = {i for i, ops in enumerate(self.macro_ops) if self._is_asynchronous(ops)}
        work = list(found)
        while work:
            number = work.pop()
            before = {arc.source for arc in arcs if arc.target == number and not arc.distance} - found
            found |= before
            work += before
        return found or set(range(len(self.macro_ops)))

    def _urgent(self, tasks: Sequence[Task], arcs: Sequence[Arc]) -> set[int]:
        """The asynchronous products that need little of the threads in their interval, and this little."""
        into: list[list[int]] = [[] for _ in tasks]
        for arc in arcs:
            if not arc.distance and not arc.lead:
                into[arc.target].append(arc.source)
        ready = [0] * len(tasks)
        urgent: set[int] = set()
        for i in _in_order(into):
            ready[i] = max((ready[j] + _duration(tasks[j]) for j in into[i]), default=0)
            if ready[i] <= CHEAP and self._is_asynchronous(self.macro_ops[i]):
                urgent.add(i)
        work = list(urgent)
        while work:
            before = [j for j in into[work.pop()] if j not in urgent]
            urgent.update(before)
            work += before
        return urgent

    @cached_property
    def _early(self) -> frozenset[int]:
        """What runs ahead, and what it needs, of iterations before as well."""
        work = [each.number for each in self.ahead]
        found: set[int] = set()
        while work:
            number = work.pop()
            if number not in found:
                found.add(number)
                work += [arc.source for arc in self.graph.before[number] if arc.value is not None]
        return frozenset(self.home[number] for number in found)


def _in_order(into: Sequence[Sequence[int]]) -> list[int]:
    """Numbers, each behind those that lead into it."""
    found: dict[int, None] = {}

    def visit(number: int) -> None:
        if number not in found:
            for before in into[number]:
                visit(before)
            found[number] = None

    for number in range(len(into)):
        visit(number)
    return list(found)


def _duration(task: Task) -> int:
    """Cycles from when a task begins to its results, and to its operands being read."""
    return task.cycles if task.is_queued else task.threads


def _passes_on(op: Operation) -> bool:
    """Whether the op only stores its operand in shared memory, or gives memory or a tile another name."""
    declared = declared_by(type(op))
    return allocates_memory(op) or isinstance(op, tile.TransOp) or (declared is not None and bool(declared.view_of))


def _bytes(load: Operation) -> int:
    type_ = type_of(load.results[0])
    count = stored_bytes(type_)
    for extent in shape_of(type_):
        count *= extent
    return count
