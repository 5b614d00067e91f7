"""Modulo scheduling: which interval and which place in it each task of a loop gets, as a problem without any IR.

A new iteration begins every `interval` cycles. A task with stage s and start p is issued by iteration i in interval
i + s, p cycles after that began. What makes a schedule valid:

- **Threads.** One program issues all tasks of an interval, one after the other. Each takes it some cycles, at least
  one, and none goes on across the end of an interval.
- **Units.** A task may leave work to another unit, which begins it when it is issued or later: it does one at a time,
  in the order in which they were issued, and may be at it when the interval ends.
- **Arcs.** A target is issued no sooner than `latency` cycles after its source, of `distance` iterations before, began,
  which is when the unit begins where there is one; and its stage is at least `lead` later than the source's.
- **Slots.** What a task writes to memory lies there until its last reader is done; of one value at most `most` are
  there at any time.
- **Room.** Where there is a bound on registers, the values between any two tasks of an interval fit: each from its
  source, of whatever iteration, to its last reader. What a task needs within is not counted.

The best schedule has the shortest interval; among those it keeps the fewest bytes in registers from one interval to
another (`Kept`). Of equal ones it is the one that comes first when tasks are tried in the order of their ranks.

`solve` is a branch and bound: over assignments of stages in the order of what they keep in registers, and for each over
orders of the tasks. An order and an interval leave difference constraints between times, which are solved by longest
paths. It ends with the first assignment that reaches the bound that units and recurrences set. Loops have 5 to 20 tasks
of which few can be at several stages, so that this mostly is the first one; what is not finished within `NODES` is
reported as not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice, pairwise

THREADS = 0
"""Who issues every task."""

NODES = 2000
"""Steps of the search, of some 10 µs each."""

ASSIGNMENTS = 128
"""Of stages, of which each is tried in one order, that is found within so many"""

STEPS = 200


@dataclass(frozen=True)
class Task:
    """`threads`: cycles to issue it; then `unit` has `cycles` of work with it, if it leaves any. One that is `last` has
    the last stage. Where it is as good, tasks of a low `rank` go first, and those that are `early` have a low stage,
    others a high one."""

    threads: int = 1
    unit: int = THREADS
    cycles: int = 0
    rank: int = 0
    early: bool = False
    last: bool = False

    @property
    def is_queued(self) -> bool:
        """Whether a unit has work with it."""
        return self.unit != THREADS


@dataclass(frozen=True)
class Arc:
    """`target` of an iteration needs `source` of the iteration `distance` before."""

    source: int
    target: int
    distance: int = 0
    latency: int = 0
    lead: int = 0


@dataclass(frozen=True)
class Reader:
    """Of a value: which task, how many iterations later, and how long after its start it still reads."""

    task: int
    distance: int = 0
    until: int = 0


@dataclass(frozen=True)
class Slots:
    """A value in memory, of which there are at most `most`."""

    source: int
    most: int
    readers: tuple[Reader, ...]


@dataclass(frozen=True)
class Kept:
    """A value in registers, of `size` bytes."""

    source: int
    size: int
    readers: tuple[Reader, ...]


@dataclass(frozen=True)
class Problem:
    """Tasks are known by their numbers; `stages` is how many there may be, and `floor` cycles that an interval takes
    anyway, by what is no task's."""

    tasks: tuple[Task, ...]
    arcs: tuple[Arc, ...]
    stages: int
    slots: tuple[Slots, ...] = ()
    kept: tuple[Kept, ...] = ()
    floor: int = 1
    room: int | None = None
    """Bytes of registers for what is kept at any time; None where there is no bound."""

    @cached_property
    def units(self) -> tuple[int, ...]:
        """The units that tasks leave work to."""
        return tuple(sorted({task.unit for task in self.tasks if task.is_queued}))

    def used(self, unit: int) -> int:
        """Cycles of an interval in which a unit is busy."""
        if unit == THREADS:
            return sum(task.threads for task in self.tasks)
        return sum(task.cycles for task in self.tasks if task.unit == unit)

    @cached_property
    def least(self) -> int:
        """No interval is shorter: every unit has its work, and no recurrence goes round faster."""
        return _least_without_cycle(self, max([self.floor, *(self.used(unit) for unit in (THREADS, *self.units))]))


@dataclass(frozen=True)
class Schedule:
    """`stages` and `starts` of the tasks, when their units begin, from the start of the same interval on, `kept` bytes
    in registers across intervals, and whether it is known to be the best."""

    interval: int
    stages: tuple[int, ...]
    starts: tuple[int, ...]
    begins: tuple[int, ...]
    kept: int
    proven: bool = True

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The tasks as an interval issues them."""
        return tuple(sorted(range(len(self.starts)), key=self.starts.__getitem__))

    def slots(self, value: Slots) -> int:
        """How many of a value are in memory at the same time."""
        start = self.starts[value.source]
        return max(
            (
                self.stages[r.task] + r.distance - self.stages[value.source]
                + -(-max(0, self.begins[r.task] + r.until - start) // self.interval)
                for r in value.readers
            ),
            default=1,
        )  # fmt: skip


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
    problem: Problem, is_allowed: Callable[[Sequence[int]], bool], most: int = ASSIGNMENTS
) -> Schedule | None:
    """A good schedule of a problem with many assignments of stages: of each that is allowed, up to so many, the one of
    the first order that there is, in front what units can begin with least work of the threads in the same interval;
    None where none is found."""
    search = _Search(problem, NODES, quick=True)
    best: Schedule | None = None
    for kept, stages in islice(filter(lambda each: is_allowed(each[1]), search.assignments()), most):
        search.most = search.nodes + STEPS
        found = search.first(stages)
        if found is not None and (best is None or found.interval < best.interval):
            best = Schedule(found.interval, stages, found.starts, found.begins, kept, proven=False)
            if best.interval == problem.least:
                break
    return best


def kept_bytes(problem: Problem, stages: Sequence[int]) -> int:
    """Bytes in registers across intervals; of the first tasks alone, where there are stages for them only, which is
    never more than of all."""
    known = len(stages)
    return sum(
        each.size
        * max((stages[r.task] + r.distance - stages[each.source] for r in each.readers if r.task < known), default=0)
        for each in problem.kept
        if each.source < known
    )


def most_held(problem: Problem, schedule: Schedule) -> int:
    """Bytes in registers between two tasks of an interval, at most."""
    held = _Held(problem, schedule.stages)
    order = schedule.order
    return max(held.behind(set(order[: number + 1])) for number in range(len(order)))


class _Held:
    """What is in registers, with these stages."""

    def __init__(self, problem: Problem, stages: Sequence[int]) -> None:
        self.values: list[tuple[int, int, list[tuple[int, int]]]] = []
        for each in problem.kept:
            made = stages[each.source]
            readers = [(r.task, stages[r.task] + r.distance - made) for r in each.readers]
            self.values.append((each.size, each.source, readers))

    def behind(self, issued: Container[int]) -> int:
        """Bytes, when these tasks of an interval are issued and others are not. Of a value that is read so many
        intervals later there are as many, and one more between its source and its reader."""
        total = 0
        for size, source, readers in self.values:
            made = source in issued
            total += size * max((rounds + made - (task in issued) for task, rounds in readers), default=0)
        return total


def faults(problem: Problem, schedule: Schedule) -> list[str]:
    """What is wrong with a schedule, in words: nothing with a valid one. By definition, without the search."""
    found: list[str] = []
    interval, tasks = schedule.interval, problem.tasks
    issued = [s * interval + p for s, p in zip(schedule.stages, schedule.starts, strict=True)]
    begun = [s * interval + p for s, p in zip(schedule.stages, schedule.begins, strict=True)]
    for arc in problem.arcs:
        if issued[arc.target] + arc.distance * interval < begun[arc.source] + arc.latency:
            found.append(f"{arc} starts too early")
        if schedule.stages[arc.target] + arc.distance < schedule.stages[arc.source] + arc.lead:
            found.append(f"{arc} has too little lead")
    threads = [(p, p + task.threads) for p, task in zip(schedule.starts, tasks, strict=True)]
    found += ["the threads do two things at a time"] * _overlap(threads, interval)
    for unit in problem.units:
        numbers = [i for i, task in enumerate(tasks) if task.unit == unit]
        busy = [(schedule.begins[i], schedule.begins[i] + tasks[i].cycles) for i in numbers]
        found += [f"unit {unit} does two things at a time"] * _overlap(busy, interval)
        if sorted(numbers, key=schedule.starts.__getitem__) != sorted(numbers, key=schedule.begins.__getitem__):
            found.append(f"unit {unit} changes the order")
    for number, (start, task) in enumerate(zip(schedule.starts, tasks, strict=True)):
        if not 0 <= start <= interval - task.threads:
            found.append(f"task {number} is not issued within the interval")
        if schedule.begins[number] < start or (not task.is_queued and schedule.begins[number] != start):
            found.append(f"task {number} begins before it is issued")
        if not 0 <= schedule.stages[number] < problem.stages:
            found.append(f"task {number} has no such stage")
        if task.last and schedule.stages[number] != problem.stages - 1:
            found.append(f"task {number} runs ahead of iterations that there are")
    for value in problem.slots:
        for reader in value.readers:
            ends = begun[reader.task] + reader.distance * interval + reader.until
            if ends > issued[value.source] + value.most * interval:
                found.append(f"{value} is overwritten before {reader} has read it")
    if problem.room is not None and most_held(problem, schedule) > problem.room:
        found.append("there is no room in registers")
    return found


def _overlap(busy: Sequence[tuple[int, int]], interval: int) -> bool:
    """Whether two of these times meet, in this interval or the next ones."""
    first = sorted((start % interval, start % interval + end - start) for start, end in busy)
    around = [*first, *((start + interval, end + interval) for start, end in first[:1])]
    return any(end > start for (_, end), (start, _) in pairwise(around))


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
        self.held: _Held | None = None
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
        self.held = None if self.problem.room is None else _Held(self.problem, stages)
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

    def first(self, stages: tuple[int, ...]) -> _Found | None:
        """The shortest interval with these stages and the first order that there is."""
        gaps = self._gaps(stages)
        self.held = None if self.problem.room is None else _Held(self.problem, stages)
        return None if gaps is None else self._greedy(gaps)

    def _greedy(self, gaps: Sequence[_Gap]) -> _Found | None:
        """The shortest interval for the order that ranks alone make."""
        longest = self.problem.least + sum(task.threads + task.cycles for task in self.problem.tasks)
        longest += sum(max(0, gap.cycles) for gap in gaps)
        found = self._ordered(gaps, longest)
        if found is None:
            return None
        order = sorted(range(len(found.starts)), key=found.starts.__getitem__)
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
                return self._settled(gaps, tuple(begins), interval)
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
                if self._is_crowded(begins):
                    del begins[number]
                    continue
                after = {**free, task.unit: begins[number] + task.cycles, THREADS: start + task.threads}
                found = step(after, left - task.threads)
                if found is not None:
                    return found
                del begins[number]
            return None

        return step({THREADS: 0}, sum(task.threads for task in tasks))

    def _is_crowded(self, issued: Container[int]) -> bool:
        return self.held is not None and self.problem.room is not None and self.held.behind(issued) > self.problem.room

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


def stage_bounds(problem: Problem) -> list[tuple[int, int]] | None:
    """The least and the greatest stage of each task; None where a recurrence demands more lead than it has distance."""
    low = [(problem.stages - 1) * task.last for task in problem.tasks]
    high = [problem.stages - 1] * len(problem.tasks)
    for _ in range(len(problem.tasks) + 1):
        changed = False
        for arc in problem.arcs:
            later = low[arc.source] + arc.lead - arc.distance
            sooner = high[arc.target] - arc.lead + arc.distance
            if low[arc.target] < later or high[arc.source] > sooner:
                low[arc.target], high[arc.source] = max(low[arc.target], later), min(high[arc.source], sooner)
                changed = True
        if any(a > b for a, b in zip(low, high, strict=True)):
            return None
        if not changed:
            return list(zip(low, high, strict=True))
    return None


def _least_without_cycle(problem: Problem, low: int) -> int:
    """The shortest interval from `low` on with which no recurrence takes longer than its iterations."""
    high = max(low, sum(max(0, arc.latency) for arc in problem.arcs))
    while low < high:
        middle = (low + high) // 2
        if _goes_round(problem, middle):
            low = middle + 1
        else:
            high = middle
    return low


def _goes_round(problem: Problem, interval: int) -> bool:
    """Whether some recurrence takes longer than its iterations."""
    times = [0] * len(problem.tasks)
    for _ in range(len(problem.tasks) + 1):
        changed = False
        for arc in problem.arcs:
            time = times[arc.source] + arc.latency - arc.distance * interval
            if time > times[arc.target]:
                times[arc.target], changed = time, True
        if not changed:
            return False
    return True
