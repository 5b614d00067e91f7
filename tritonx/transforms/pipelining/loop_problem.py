"""From a loop's graph and the loads that run ahead (`loads_ahead`) to its scheduling problem (`modulo_problem`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.ir import Operation

from tritonx.analysis.buffers import allocates_memory, allocation_size, tile_bytes
from tritonx.analysis.registers import kept_bytes
from tritonx.analysis.unit_costs import (
    ISSUE,
    Unit,
    UnitCosts,
    is_asynchronous,
    load_cycles,
    product_cycles,
    thread_cycles,
)
from tritonx.dialects import tile
from tritonx.dialects.effects import declared_by
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.layout_constraints import values_of
from tritonx.ir.data_flow import sources_first
from tritonx.ir.types import type_of
from tritonx.transforms.pipelining.loads_ahead import Ahead, Width, products_of
from tritonx.transforms.pipelining.loop_graph import Dependence, LoopGraph, is_load, must_happen
from tritonx.transforms.pipelining.modulo_problem import Arc, Kept, Problem, Reader, Slots, Task, Wait, stage_bounds

CHEAP = 32
"""Cycles that threads may take in front of an asynchronous product without being thought of as work beside it."""


@dataclass(frozen=True)
class LoopPipeline:
    """A loop with the loads that run ahead, as a problem: task i is the ops `macro_ops[i]`. There are `more` stages
    than these loads need, so that products are issued before the results of others are used, and `room` bytes of a
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

    @property
    def stored(self) -> tuple[Ahead, ...]:
        """Those of the loads that threads store."""
        return tuple(each for each in self.ahead if each.stored is not None)

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
        arcs, kept = self._arcs(plain), self._kept()
        ranks = self._ranks(plain, arcs)
        bounds = stage_bounds(Problem(tuple(plain), arcs, self.stages))
        stages = self.more + (self.stages if bounds is None else 1 + max(low for low, _ in bounds))
        last = [any(must_happen(self.graph.ops[number]) for number in ops) for ops in self.macro_ops]
        tasks = tuple(
            replace(task, rank=ranks[i], early=i in self._early, last=last[i]) for i, task in enumerate(plain)
        )
        return Problem(tasks, arcs, stages, self._slots, kept, max(self.copies, self.latency), self.room)

    @cached_property
    def copies(self) -> int:
        """Cycles in which what an iteration loads arrives, as fast as it comes."""
        return sum(tile_bytes(self.graph.ops[each.number].results[0]) for each in self.ahead) // self.costs.copied

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
        two of them would be carried by the loop, moved from registers to others, of which one is still written."""
        for value in self._slots:
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

    @cached_property
    def _slots(self) -> tuple[Slots, ...]:
        found: list[Slots] = []
        for each in self.ahead:
            if each.slot:
                readers = dict.fromkeys(
                    Reader(home, distance, _duration(self._plain[home]))
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
        kept: list[Kept] = []
        for number, (value, readers) in self._between.items():
            found = dict.fromkeys(readers)
            for reader in readers:
                if self._reads_registers(value, reader):
                    found.update(dict.fromkeys(self._until_done(reader)))
            kept.append(Kept(self.home[number], self._size(value), tuple(found)))
        return tuple(kept)

    @cached_property
    def _between(self) -> dict[int, tuple[Dependence, tuple[Reader, ...]]]:
        """Of the ops from which other tasks need something that waits in no slot: what, and the tasks."""
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
        return {number: (values[number], tuple(found)) for number, found in readers.items()}

    def within(self, room: int) -> Problem:
        """The problem with so many bytes of a thread's registers, counted as they are: what waits in memory takes none,
        and what asynchronous products read is given back when one of them, or of those behind, has been waited for."""
        kept: list[Kept] = []
        for number, (value, readers) in self._between.items():
            if value.value is not None and not isinstance(type_of(value.value), MemDescType):
                queued = tuple(each for each in readers if self._reads_registers(value, each))
                kept.append(Kept(self.home[number], self._size(value), readers, queued))
        return replace(self.problem, kept=tuple(kept), room=room, waits=self._waits)

    @cached_property
    def _waits(self) -> tuple[Wait, ...]:
        """Who needs what asynchronous products make."""
        found = [
            Wait(self.home[arc.source], self.home[arc.target], arc.distance)
            for arc in self.graph.arcs
            if arc.value is not None and arc.source in self.products and is_asynchronous(self.graph.ops[arc.source])
        ]
        return tuple(wait for wait in dict.fromkeys(found) if not self._is_asynchronous(self.macro_ops[wait.task]))

    def _reads_registers(self, arc: Dependence, reader: Reader) -> bool:
        """Whether an asynchronous product multiplies a value out of registers."""
        products = (self.graph.ops[number] for number in self.macro_ops[reader.task] if number in self.products)
        return any(is_asynchronous(op) and arc.value in values_of(op, "a") for op in products)

    def _until_done(self, reader: Reader) -> list[Reader]:
        """The first one that needs the result of a product: before that its operands may still be read."""
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
        return sum(kept_bytes(result) for result in self.graph.ops[arc.source].results)

    # --- what to try first

    def _ranks(self, tasks: Sequence[Task], arcs: Sequence[Arc]) -> list[int]:
        """First what can keep an asynchronous unit busy at once, then what runs ahead and what it needs, then what such
        a unit waits for, then the rest; among these in the order of the text. A load into slots that such units alone
        read follows their last one: the slot that it takes is free by then."""
        count = len(tasks)
        urgent, feeding = self._urgent(tasks, arcs), self._feeding(arcs)
        groups = [0 if i in urgent else 1 if i in self._early else 2 if i in feeding else 3 for i in range(count)]
        ranks = [2 * (i + count * group) for i, group in enumerate(groups)]
        for value in self._slots:
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
    return list(sources_first(range(len(into)), into.__getitem__))


def _duration(task: Task) -> int:
    """Cycles from when a task begins to its results, and to its operands being read."""
    return task.cycles if task.is_queued else task.threads


def _passes_on(op: Operation) -> bool:
    """Whether the op only stores its operand in shared memory, or gives memory or a tile another name."""
    declared = declared_by(type(op))
    return allocates_memory(op) or isinstance(op, tile.TransOp) or (declared is not None and bool(declared.view_of))
