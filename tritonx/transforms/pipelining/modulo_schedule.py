"""The best schedule of a problem (`modulo_problem`).

`solve` is a branch and bound: over assignments of stages in the order of what they keep in registers, and for each over
orders of the tasks. An order and an interval leave difference constraints between times, which are solved by longest
paths. It ends with the first assignment that reaches the bound that units and recurrences set. Loops have 5 to 20 tasks
of which few can be at several stages, so that this mostly is the first one; what is not finished within `NODES` is
reported as not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice, pairwise

from tritonx.transforms.pipelining.modulo_problem import (
    THREADS,
    Arc,
    Held,
    Problem,
    Schedule,
    Task,
    kept_bytes,
    stage_bounds,
)

NODES = 2000
"""Steps of the search, of some 10 µs each."""

ASSIGNMENTS = 128
"""Of stages, of which each is tried in one order, that is found within so many"""

STEPS = 200


def solve(problem: Problem, nodes: int = NODES) -> Schedule | None:
    """The best schedule that is found within so many steps; None where none is."""
    search = _Search(problem, nodes)
    best: Schedule | None = None
    for kept, stages in search.assignments():
        found = search.shortest(stages, None if best is None else best.interval - 1)
        if found is not None:
            best = Schedule(found.interval, stages, found.starts, found.begins, kept)
            if best.interval == problem.least:
                break
        if search.is_spent:
            search.cut = True
            break
    if best is None or best.interval == problem.least or not search.cut:
        return best
    return replace(best, proven=False)


def solve_quickly(
    problem: Problem,
    is_allowed: Callable[[Sequence[int]], bool],
    longest: int | None = None,
    most: int = ASSIGNMENTS,
) -> Schedule | None:
    """A good schedule of a problem with many assignments of stages: of each that is allowed, up to so many, the one of
    the first order that there is, in front what units can begin with least work of the threads in the same interval;
    None where none is found whose interval is at most `longest`."""
    if longest is not None and problem.least > longest:
        return None
    search = _Search(problem, NODES, quick=True)
    best: Schedule | None = None
    for kept, stages in islice(filter(lambda each: is_allowed(each[1]), search.assignments()), most):
        search.most = search.nodes + STEPS
        found = search.first(stages, longest)
        if found is not None:
            best = Schedule(found.interval, stages, found.starts, found.begins, kept, proven=False)
            longest = best.interval - 1
            if best.interval == problem.least:
                break
    return best


# --- the search


@dataclass(frozen=True)
class _Gap:
    """`target` is issued at least `cycles` - `rounds` · interval after `source` began."""

    source: int
    target: int
    cycles: int
    rounds: int


@dataclass(frozen=True)
class _Found:
    interval: int
    starts: tuple[int, ...]
    begins: tuple[int, ...]


class _Search:
    def __init__(self, problem: Problem, most: int, *, quick: bool = False) -> None:
        self.problem = problem
        self.most = most
        self.quick = quick
        self.nodes = 0
        self.cut = False
        """Whether something was left untried."""
        self.held: Held | None = None
        """Of the stages that are tried, where registers are bounded."""

    @property
    def is_spent(self) -> bool:
        return self.nodes >= self.most

    def assignments(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Assignments of stages, with the bytes that each keeps in registers, the fewest first."""
        bounds = stage_bounds(self.problem)
        if bounds is None:
            return
        count = len(self.problem.tasks)
        into: list[list[Arc]] = [[] for _ in range(count)]
        for arc in self.problem.arcs:
            into[max(arc.source, arc.target)].append(arc)
        heap: list[tuple[int, int, int, tuple[int, ...]]] = [(0, 0, 0, ())]
        while heap:
            kept, apart, _, stages = heappop(heap)
            number = len(stages)
            if number == count:
                yield kept, stages
                continue
            if self.is_spent:
                self.cut = True
                return
            self.nodes += 1
            low, high = bounds[number]
            for stage in range(low, high + 1):
                longer = (*stages, stage)
                if all(longer[a.target] + a.distance >= longer[a.source] + a.lead for a in into[number]):
                    more = stage - low if self.problem.tasks[number].early else high - stage
                    heappush(heap, (kept_bytes(self.problem, longer), apart + more, -len(longer), longer))

    def shortest(self, stages: tuple[int, ...], most: int | None) -> _Found | None:
        """The shortest interval with these stages, up to `most`, with the times of the tasks."""
        gaps = self._gaps(stages)
        if gaps is None:
            return None
        self.held = None if self.problem.room is None else Held(self.problem, stages)
        best = self._greedy(gaps)
        if best is None:
            return None
        high = best.interval - 1 if most is None else min(best.interval - 1, most)
        if most is not None and best.interval > most:
            best = None
        alone = self._shortest_settled(gaps, (), self.problem.least, high)
        if alone is None:
            return best
        least = interval = alone.interval
        while least <= high:
            found = self._ordered(gaps, interval)
            if found is None:
                least = interval + 1
            else:
                best, high = found, interval - 1
            interval = (least + high) // 2
        return best

    def first(self, stages: tuple[int, ...], most: int | None) -> _Found | None:
        """The shortest interval with these stages and the first order that there is, up to `most`."""
        gaps = self._gaps(stages)
        self.held = None if self.problem.room is None else Held(self.problem, stages)
        return None if gaps is None else self._greedy(gaps, most)

    def _greedy(self, gaps: Sequence[_Gap], most: int | None = None) -> _Found | None:
        """The shortest interval for the order that ranks alone make, up to `most`."""
        longest = self.problem.least + sum(task.threads + task.cycles for task in self.problem.tasks)
        longest += sum(max(0, gap.cycles) for gap in gaps)
        found = self._ordered(gaps, longest)
        if found is None:
            return None
        order = sorted(range(len(found.starts)), key=found.starts.__getitem__)
        if most is not None and most < longest:
            if self._settled(gaps, order, most) is None:
                return None
            longest = most
        return self._shortest_settled(gaps, order, self.problem.least, longest)

    def _shortest_settled(self, gaps: Sequence[_Gap], order: Sequence[int], low: int, high: int) -> _Found | None:
        """The shortest interval between two for an order, or for none: what the gaps alone take."""
        best: _Found | None = None
        interval = low
        while low <= high:
            found = self._settled(gaps, order, interval)
            if found is None:
                low = interval + 1
            else:
                best, high = found, interval - 1
            interval = (low + high) // 2
        return best

    def _gaps(self, stages: tuple[int, ...]) -> list[_Gap] | None:
        """What arcs and slots demand of the times; None where no interval is long enough."""
        found: list[_Gap] = []
        for arc in self.problem.arcs:
            rounds = stages[arc.target] + arc.distance - stages[arc.source]
            found.append(_Gap(arc.source, arc.target, arc.latency, rounds))
        for value in self.problem.slots:
            for reader in value.readers:
                rounds = value.most - (stages[reader.task] + reader.distance - stages[value.source])
                if rounds < 0:
                    return None
                found.append(_Gap(reader.task, value.source, reader.until, rounds))
        return found

    def _ordered(self, gaps: Sequence[_Gap], interval: int) -> _Found | None:
        """An order in which the tasks can be issued within an interval of this length, and their times."""
        tasks = self.problem.tasks
        before: list[list[_Gap]] = [[] for _ in tasks]
        for gap in gaps:
            if gap.rounds == 0 and gap.source != gap.target:
                before[gap.target].append(gap)
        soon = _cycles_to_work(tasks, before) if self.quick else [0] * len(tasks)
        ranked = sorted(range(len(tasks)), key=lambda i: (soon[i], tasks[i].rank, i))
        begins: dict[int, int] = {}

        def step(free: dict[int, int], left: int) -> _Found | None:
            if not left:
                order = tuple(begins)
                return self._settled(gaps, order, interval) if self._has_room(order) else None
            for number in ranked:
                if number in begins or any(gap.source not in begins for gap in before[number]):
                    continue
                if self.is_spent:
                    self.cut = True
                    return None
                self.nodes += 1
                task = tasks[number]
                start = max([free[THREADS], *(begins[gap.source] + gap.cycles for gap in before[number])])
                if start + left > interval:
                    continue
                begins[number] = max(start, free.get(task.unit, 0))
                if self._is_crowded(tuple(begins)):
                    del begins[number]
                    continue
                after = {**free, task.unit: begins[number] + task.cycles, THREADS: start + task.threads}
                found = step(after, left - task.threads)
                if found is not None:
                    return found
                del begins[number]
            return None

        return step({THREADS: 0}, sum(task.threads for task in tasks))

    def _is_crowded(self, order: Sequence[int]) -> bool:
        """Whether there is no room behind the last of these tasks, whatever follows."""
        held, room = self.held, self.problem.room
        return held is not None and room is not None and held.behind(order, len(order)) > room

    def _has_room(self, order: Sequence[int]) -> bool:
        return self.held is None or self.problem.room is None or self.held.most(order) <= self.problem.room

    def _settled(self, gaps: Sequence[_Gap], order: Sequence[int], interval: int) -> _Found | None:
        """The earliest times of tasks issued in this order, with all gaps; None where there are none."""
        tasks, count = self.problem.tasks, len(self.problem.tasks)
        begin = [count + i if task.is_queued else i for i, task in enumerate(tasks)]
        edges = [(begin[gap.source], gap.target, gap.cycles - gap.rounds * interval) for gap in gaps]
        edges += [(a, b, tasks[a].threads) for a, b in pairwise(order)]
        edges += [(i, begin[i], 0) for i in range(count) if tasks[i].is_queued]
        for unit in self.problem.units if order else ():
            users = [number for number in order if tasks[number].unit == unit]
            edges += [(begin[a], begin[b], tasks[a].cycles) for a, b in pairwise(users)]
            edges.append((begin[users[-1]], begin[users[0]], tasks[users[-1]].cycles - interval))
        times = [0] * (2 * count)
        latest = [interval - task.threads for task in tasks]
        for _ in range(2 * count + 1):
            changed = False
            for source, target, cycles in edges:
                if times[target] < times[source] + cycles:
                    times[target] = times[source] + cycles
                    changed = True
            if any(time > most for time, most in zip(times, latest, strict=False)):
                return None
            if not changed:
                return _Found(interval, tuple(times[:count]), tuple(times[node] for node in begin))
        return None


def _cycles_to_work(tasks: Sequence[Task], before: Sequence[Sequence[_Gap]]) -> list[int]:
    """Of each task how much the threads have to do in an interval until a unit can begin what needs it: the unit's work
    that can begin first."""
    found = [sum(task.threads for task in tasks)] * len(tasks)
    for number, task in enumerate(tasks):
        if task.is_queued:
            needed, work = {number}, [number]
            while work:
                more = {gap.source for gap in before[work.pop()]} - needed
                needed |= more
                work += more
            cycles = sum(tasks[each].threads for each in needed)
            for each in needed:
                found[each] = min(found[each], cycles)
    return found
