"""The plan of a loop's slots: what waits in them, who brings it, who waits for it where, and who reads it until when.

It is a value that is made once, of a schedule (`buffered_tiles.plan_of`), and written down by `copies_to_slots`. It
knows no op: ops of the body are numbers, in the order of the text, and where something is made is a `Point`, in front
of such an op. `buffer-values{plans=true}` leaves it on the loop as text, and `buffer-values` reads that text:

    3 stages
    buffer 0: 3 slots of !ttg.memdesc<64x32xf16, …>
      copied by 0 at 0.1, 8 elements at once, for alloc 1
      viewed at 2.0 before 2, loaded at 2.0 before 2, for 2
      read by 2 at 2.0, over a round later
    counter of 3 slots: at 0.1 before 0
    counter of 3 slots: at 2.0 before 2, with phases
    wait for 0: at 2.0 before 2

`2.0` is stage 2, cluster 0. Stages count iterations, so that `fault` proves a plan by comparing two points in time: in
iteration i something at stage s happens in interval i + s, within it in the order of the clusters, then of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tritonx.dialects.gpu_layout import MemDescType
from tritonx.transforms.pipelining.loop_schedule import Place

Time = tuple[int, int, int]
"""Of what is done for iteration 0: the interval, the cluster, the op of the text."""


class Agent(StrEnum):
    """Who brings a tile to its slot."""

    THREADS = "copied"
    """Asynchronous copies of the threads, each a group of its own."""
    ENGINE = "brought"
    """The copy engine, which tells an mbarrier."""
    STORE = "stored"
    """The threads, from their registers."""


@dataclass(frozen=True)
class Point:
    """In front of an op of the text, at a place of the schedule; of an op itself, its own position."""

    op: int
    place: Place

    @property
    def time(self) -> Time:
        return self.place.stage, self.place.cluster, self.op

    def precedes(self, then: Point) -> bool:
        """Whether what is made here is there then: when it runs, and in the text, which is one iteration by itself."""
        return self.time <= then.time and self.op <= then.op

    def __str__(self) -> str:
        return f"at {_place_text(self.place)} before {self.op}"


@dataclass(frozen=True)
class View:
    """What ops of one stage take in place of a tile or its memory: the slot, or what is loaded from it, for those that
    use the tile itself."""

    at: Point
    load: Point
    users: tuple[int, ...]

    def __str__(self) -> str:
        return f"viewed {self.at}, loaded {self.load}, for {_list_text(self.users)}"


@dataclass(frozen=True)
class Read:
    """An op that reads a slot, and when it has finished: at its position, where another one waits for it, or at
    its own position an iteration later."""

    at: Point
    over: Point
    later: bool = False

    @property
    def end(self) -> Time:
        return _later(self.over.time, int(self.later))

    def __str__(self) -> str:
        over = "" if self.over == self.at else f", over by {_own_text(self.over)}"
        return f"read by {_own_text(self.at)}{over}{', over a round later' if self.later else ''}"


@dataclass(frozen=True)
class Buffer:
    """A tile in slots, each like `memory`. `source` brings it, copies of the threads `width` elements at once. `alloc`
    is the op whose memory the slots take the place of."""

    slots: int
    memory: MemDescType
    by: Agent
    source: Point
    width: int
    alloc: int | None
    views: tuple[View, ...]
    reads: tuple[Read, ...]

    def lines(self, number: int) -> Iterator[str]:
        yield f"buffer {number}: {self.slots} slots of {self.memory}"
        width = f", {self.width} elements at once" if self.width else ""
        alloc = "" if self.alloc is None else f", for alloc {self.alloc}"
        yield f"  {self.by} by {_own_text(self.source)}{width}{alloc}"
        yield from (f"  {each}" for each in (*self.views, *self.reads))

    def fault(self) -> str | None:
        """Why a tile may not be there when it is read; None where it always is."""
        for read in self.reads:
            if not self.source.time < read.at.time:
                return f"op {read.at.op} reads before op {self.source.op} has brought anything"
            if not read.end < _later(self.source.time, self.slots):
                return f"op {self.source.op} overwrites what op {read.at.op} reads: {self.slots} slots are too few"
        for view in self.views:
            if not view.at.precedes(view.load) or view.at.op > min(view.users):
                return f"op {min(view.users)} uses a slot before it is viewed"
        return None


@dataclass(frozen=True)
class Counter:
    """Counts slots and begins again, for the ops of one stage; with a parity that turns as it starts anew."""

    slots: int
    at: Point
    phases: bool = False

    @property
    def key(self) -> tuple[int, int]:
        return self.slots, self.at.place.stage

    def __str__(self) -> str:
        return f"counter of {self.slots} slots: {self.at}{', with phases' if self.phases else ''}"


@dataclass(frozen=True)
class Barrier:
    """One mbarrier a slot, which tells of `buffers` that the copy engine brings together: where it is told to expect
    their bytes, and where its phase is waited for."""

    buffers: tuple[int, ...]
    nbytes: int
    expected: Point
    waited: Point

    def __str__(self) -> str:
        what = f"{self.nbytes} bytes expected {self.expected}, waited for {self.waited}"
        return f"barrier of {_list_text(self.buffers)}: {what}"


@dataclass(frozen=True)
class Wait:
    """For the copies of the threads to `buffers`."""

    buffers: tuple[int, ...]
    at: Point

    def __str__(self) -> str:
        return f"wait for {_list_text(self.buffers)}: {self.at}"


@dataclass(frozen=True)
class Plan:
    """See the head of the file. Buffers are named by their numbers here."""

    stages: int
    buffers: tuple[Buffer, ...]
    counters: tuple[Counter, ...]
    barriers: tuple[Barrier, ...]
    waits: tuple[Wait, ...]

    def __str__(self) -> str:
        buffers = (line for number, each in enumerate(self.buffers) for line in each.lines(number))
        others = map(str, (*self.counters, *self.barriers, *self.waits))
        return "\n".join([f"{self.stages} stages", *buffers, *others])

    def slots_of(self, barrier: Barrier) -> int:
        return self.buffers[barrier.buffers[0]].slots

    def most(self) -> int:
        """The last op that is named."""
        points = [each.at.op for each in (*self.counters, *self.waits)]
        points += [each.op for barrier in self.barriers for each in (barrier.expected, barrier.waited)]
        for buffer in self.buffers:
            points += [buffer.source.op, buffer.alloc or 0]
            points += [op for read in buffer.reads for op in (read.at.op, read.over.op)]
            points += [op for view in buffer.views for op in (view.at.op, view.load.op, *view.users)]
        return max(points, default=0)

    def fault(self) -> str | None:
        """Why a loop that is written by the plan would not do what it did; None where it does."""
        told = [(barrier.buffers, barrier.waited, Agent.ENGINE) for barrier in self.barriers]
        told += [(wait.buffers, wait.at, Agent.THREADS) for wait in self.waits]
        found = [each.fault() for each in self.buffers]
        found += [self._late(buffers, at, agent) for buffers, at, agent in told]
        found += [self._unknown(number, told) for number in range(len(self.buffers))]
        found += [self._early(barrier) for barrier in self.barriers]
        found += [self._uncounted(slots, point, phases=phases) for slots, point, phases in self._turns()]
        return next((fault for fault in found if fault is not None), None)

    def _late(self, buffers: Iterable[int], at: Point, agent: Agent) -> str | None:
        """Whether some wait precedes what it waits for, or follows a user that needs it."""
        for number in buffers:
            buffer = self.buffers[number]
            if buffer.by is not agent:
                return f"no wait learns that buffer {number} has arrived"
            if not (buffer.source.precedes(at) and buffer.source.op < at.op):
                return f"buffer {number} is waited for before it is on its way"
            if not all(at.precedes(read.at) for read in buffer.reads):
                return f"buffer {number} is read before it is waited for"
        return None

    def _unknown(self, number: int, told: Sequence[tuple[tuple[int, ...], Point, Agent]]) -> str | None:
        """Whether there is no wait for what arrives asynchronously."""
        waited = self.buffers[number].by is Agent.STORE or any(number in buffers for buffers, _, _ in told)
        return None if waited else f"there is no wait for buffer {number}"

    def _early(self, barrier: Barrier) -> str | None:
        """Whether something comes before its bytes are expected, or to slots that another number of barriers has."""
        for number in barrier.buffers:
            buffer = self.buffers[number]
            if not barrier.expected.precedes(buffer.source):
                return f"buffer {number} is on its way before its bytes are expected"
            if buffer.slots != self.slots_of(barrier):
                return f"buffer {number} has other slots than its barriers"
        return None

    def _turns(self) -> Iterator[tuple[int, Point, bool]]:
        """The slots that are taken: of how many, where, and whether with the phase."""
        for barrier in self.barriers:
            yield self.slots_of(barrier), barrier.waited, True
            if self.slots_of(barrier) > 1:
                yield self.slots_of(barrier), barrier.expected, False
        for buffer in self.buffers:
            for at in (buffer.source, *(view.at for view in buffer.views)) if buffer.slots > 1 else ():
                yield buffer.slots, at, False

    def _uncounted(self, slots: int, point: Point, *, phases: bool) -> str | None:
        stage = point.place.stage
        alike = [counter for counter in self.counters if counter.key == (slots, stage)]
        if len(alike) != 1 or (phases and not alike[0].phases):
            return f"stage {stage} needs one counter of {slots} slots{' with phases' if phases else ''}"
        return None if alike[0].at.precedes(point) else f"a slot is taken before op {point.op}, and counted later"


def _later(time: Time, intervals: int) -> Time:
    return time[0] + intervals, time[1], time[2]


def _place_text(place: Place) -> str:
    return f"{place.stage}.{place.cluster}"


def _own_text(point: Point) -> str:
    return f"{point.op} at {_place_text(point.place)}"


def _list_text(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


# --- reading

_AT = r"at (\d+)\.(-?\d+) before (\d+)"
_OWN = r"(\d+) at (\d+)\.(-?\d+)"
_MANY = r"(\d+(?:, \d+)*)"
_STAGES = re.compile(r"(\d+) stages")
_BUFFER = re.compile(r"buffer \d+: (\d+) slots of (.+)")
_SOURCE = re.compile(rf"  (copied|brought|stored) by {_OWN}(?:, (\d+) elements at once)?(?:, for alloc (\d+))?")
_VIEW = re.compile(rf"  viewed {_AT}, loaded {_AT}, for {_MANY}")
_READ = re.compile(rf"  read by {_OWN}(?:, over by {_OWN})?(, over a round later)?")
_COUNTER = re.compile(rf"counter of (\d+) slots: {_AT}(, with phases)?")
_BARRIER = re.compile(rf"barrier of {_MANY}: (\d+) bytes expected {_AT}, waited for {_AT}")
_WAIT = re.compile(rf"wait for {_MANY}: {_AT}")


def parse_plan(text: str) -> Plan:
    """The plan that `text` describes. Raises ValueError, with the line, for anything else."""
    first, *lines = text.splitlines()
    plan = Plan(int(_groups(_STAGES, first)[0]), (), (), (), ())
    for line in lines:
        plan = _with_line(plan, line)
    return plan


def _with_line(plan: Plan, line: str) -> Plan:
    match line.split()[0] if line.strip() else "":
        case "buffer":
            slots, memory = _groups(_BUFFER, line)
            empty = Point(0, Place(0, 0))
            made = Buffer(int(slots), _memory(memory), Agent.STORE, empty, 0, None, (), ())
            return replace(plan, buffers=(*plan.buffers, made))
        case "copied" | "brought" | "stored":
            by, *own, width, alloc = _groups(_SOURCE, line)
            known = int(alloc) if alloc else None
            return _with_buffer(plan, by=Agent(by), source=_own(own), width=int(width or 0), alloc=known)
        case "viewed":
            *points, users = _groups(_VIEW, line)
            view = View(_at(points[:3]), _at(points[3:]), _numbers(users))
            return _with_buffer(plan, views=(*plan.buffers[-1].views, view))
        case "read":
            found = _groups(_READ, line)
            at, over = _own(found[:3]), found[3:6]
            read = Read(at, _own(over) if all(over) else at, bool(found[6]))
            return _with_buffer(plan, reads=(*plan.buffers[-1].reads, read))
        case "counter":
            slots, *at, phases = _groups(_COUNTER, line)
            return replace(plan, counters=(*plan.counters, Counter(int(slots), _at(at), bool(phases))))
        case "barrier":
            buffers, nbytes, *points = _groups(_BARRIER, line)
            barrier = Barrier(_numbers(buffers), int(nbytes), _at(points[:3]), _at(points[3:]))
            return replace(plan, barriers=(*plan.barriers, barrier))
        case _:
            buffers, *at = _groups(_WAIT, line)
            return replace(plan, waits=(*plan.waits, Wait(_numbers(buffers), _at(at))))


def _with_buffer(plan: Plan, **changed: object) -> Plan:
    """With the last buffer changed."""
    *before, last = plan.buffers
    return replace(plan, buffers=(*before, replace(last, **changed)))


def _groups(pattern: re.Pattern[str], line: str) -> Sequence[str]:
    """What a line says, "" for what it leaves out."""
    found = pattern.fullmatch(line)
    if found is None:
        raise ValueError(f"no line of a plan: {line!r}")
    return found.groups("")


def _memory(text: str) -> MemDescType:
    from tritonx.ir.context import new_context
    from tritonx.ir.text.parser import Parser

    found = Parser(new_context(), text, "<plan>").parse_type()
    if not isinstance(found, MemDescType):
        raise ValueError(f"no memory: {text!r}")
    return found


def _at(words: Sequence[str]) -> Point:
    stage, cluster, op = map(int, words)
    return Point(op, Place(stage, cluster))


def _own(words: Sequence[str]) -> Point:
    op, stage, cluster = map(int, words)
    return Point(op, Place(stage, cluster))


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(map(int, words.split(", ")))
