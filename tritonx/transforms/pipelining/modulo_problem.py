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
  source, of whatever iteration, to its last reader. What a task needs within is not counted. A unit may read a value
  until its work with it is known to be over: until a task that needs a result of that work, or of any that the unit
  was given later (`Wait`).

The best schedule has the shortest interval; among those it keeps the fewest bytes in registers from one interval to
another (`Kept`). Of equal ones it is the one that comes first when tasks are tried in the order of their ranks.

How one is found is in `modulo_schedule`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

THREADS = 0
"""Who issues every task."""


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
    """A value in registers, of `size` bytes. `queued` are readers as well, whose units read it until their work with it
    is over."""

    source: int
    size: int
    readers: tuple[Reader, ...]
    queued: tuple[Reader, ...] = ()


@dataclass(frozen=True)
class Wait:
    """`task` of an iteration needs what a unit has made of the task `of` of the iteration `distance` before."""

    of: int
    task: int
    distance: int = 0


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
    waits: tuple[Wait, ...] = ()

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
        """No interval is shorter: every unit has its work, and no recurrence is shorter."""
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
    held = Held(problem, schedule.stages)
    return held.most(schedule.order)


class Held:
    """What is in registers, with these stages."""

    def __init__(self, problem: Problem, stages: Sequence[int]) -> None:
        def rounds(reader: Reader, source: int) -> int:
            return stages[reader.task] + reader.distance - stages[source]

        self.values = [
            (
                each.size,
                each.source,
                [(r.task, rounds(r, each.source)) for r in each.readers],
                [(r.task, rounds(r, each.source)) for r in each.queued],
            )
            for each in problem.kept
        ]
        self.waits = [(wait.of, wait.task, rounds(Reader(wait.task, wait.distance), wait.of)) for wait in problem.waits]
        self.units = [task.unit for task in problem.tasks]

    def most(self, order: Sequence[int]) -> int:
        """Bytes behind any of the tasks of an interval, at most."""
        return max(self.behind(order, count) for count in range(1, len(order) + 1))

    def behind(self, order: Sequence[int], count: int) -> int:
        """Bytes behind so many tasks of an interval, in this order; what is not in it comes later. Of a value that is
        read so many intervals later there are as many, and one more between its source and its reader."""
        place = {task: number for number, task in enumerate(order)}
        issued = set(order[:count])
        total = 0
        for size, source, readers, queued in self.values:
            made = source in issued
            counts = [rounds + made - (task in issued) for task, rounds in readers]
            counts += [
                rounds + made - (task in issued) + self._under_way(place, issued, task) for task, rounds in queued
            ]
            total += size * max(counts, default=0)
        return total

    def _under_way(self, place: Mapping[int, int], issued: Container[int], task: int) -> int:
        """How many times a unit was given a task's work that may not be over."""
        last = 0 if task in issued else 1
        return sum(not self._is_over(place, issued, task, ago) for ago in range(last, last + UNDER_WAY))

    def _is_over(self, place: Mapping[int, int], issued: Container[int], task: int, ago: int) -> bool:
        """Whether a wait has covered the work that the unit was given so many intervals ago, or for some that it
        was given later; which of two is later, where that is not settled, is taken as it is better."""
        for of, waiting, later in self.waits:
            if self.units[of] != self.units[task]:
                continue
            given = later + (waiting not in issued)
            if given < ago or (given == ago and place.get(of, len(place)) >= place.get(task, len(place))):
                return True
        return False


UNDER_WAY = 3
"""Intervals back in which a unit may have work that no wait has covered."""


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
