"""From when to when each piece of shared memory of a function is needed.

A *buffer* is the memory of a `local_alloc`, or the scratch that an op needs while it is executed. What is allocated is
live from there to the last use of any view of it, on every path of control flow (`ProgramPoints`), and while an
asynchronous access to it may still be in flight. A copy into it, or a product that reads it, is not over with the op
that begins it: its declared effects (`EFFECTS`) say what tells that it is over, and until then nothing else may lie
there.

- What belongs to a group is under way until a wait of the same threads leaves fewer groups than were made since. On
  each way the fewest count. What is never waited for is under way to the end.
- What an mbarrier tells is under way until the last wait for that mbarrier: which phase a wait is for, or which of
  several mbarriers a dynamic index names, is not known. A program waits for all that it begins, so that no way on
  which no wait comes has anything under way; where there is no wait at all, it is to the end. Copies of a group of
  which an mbarrier is told (`cp.async.mbarrier.arrive`) are from there on such.
- What a token stands for is under way until the token's last use.

A `Life` is the hull of these points in the text, so that what lives at the same time overlaps there as well. Regions
that run at the same time have no common order: what one of them makes is alive as long as all of them run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Region, SSAValue

from tritonx.analysis.buffers import (
    aliases_of,
    allocates_memory,
    allocation_alignment,
    allocation_size,
    scratch_alignment,
    scratch_size,
)
from tritonx.analysis.memory_plan import Life
from tritonx.analysis.program_points import Points, ProgramPoints
from tritonx.dialects import gpu_layout, tile
from tritonx.dialects.control_flow import PartitionHolder, control_flow_of, is_concurrent
from tritonx.dialects.effects import COUNTED, Completion, Effect, Kind, Resource, effects_of
from tritonx.dialects.layout_constraints import values_of
from tritonx.ir.types import type_of


@dataclass(frozen=True)
class Buffer(Life):
    """What `op` makes, or needs while it is executed."""

    op: Operation


def buffers_of(function: tile.FuncOp) -> list[Buffer]:
    """Every buffer of a function with its lifetime, in program order."""
    return _Lifetimes(function).buffers()


def points_of(function: tile.FuncOp, allocations: Iterable[Operation]) -> list[tuple[int, int]]:
    """From when to when each of these is alive: allocations of memory other than shared memory."""
    lifetimes = _Lifetimes(function)
    return [lifetimes.hull(op) for op in allocations]


@dataclass(frozen=True)
class _Count:
    """What an op does to groups: it ends `made`, waits until at most `left` are under way, or has the mbarriers `told`
    when all are over."""

    threads: Region | None
    made: int
    left: list[int]
    told: list[SSAValue]


class _Lifetimes:
    def __init__(self, function: tile.FuncOp) -> None:
        self.points = ProgramPoints(function)
        self._counted: dict[Completion, dict[int, _Count]] = {}

    def buffers(self) -> list[Buffer]:
        found: list[Buffer] = []
        for number, op in enumerate(self.points.ops):
            if allocates_memory(op):
                live = self._live(op)
                size = allocation_size(type_of(op.result))  # pyright: ignore[reportArgumentType] -- a memdesc
                made = Buffer(size, allocation_alignment(op), min(live), max(live), op)
            elif size := scratch_size(op):
                made = Buffer(size, scratch_alignment(op), number, number, op)
            else:
                continue
            found.append(self._while_all_run(made))
        return found

    def hull(self, op: Operation) -> tuple[int, int]:
        """The first and the last point at which an allocation is alive."""
        live = self._live(op)
        made = self._while_all_run(Buffer(0, 1, min(live), max(live), op))
        return made.first, made.last

    def _live(self, op: Operation) -> Points:
        """The points at which an allocation is alive."""
        start, number = self.points.number[op], self.points.number
        aliases = aliases_of(op.results[0])
        users = dict.fromkeys(use.operation for alias in aliases for use in alias.uses)
        live = self.points.before((number[user] for user in users), start) | {start}
        for user in users:
            for effect in _later(user):
                if any(value in aliases for value in effect.values(user)):
                    live |= self._under_way(user, effect)
        return live

    @cached_property
    def _acting(self) -> list[tuple[int, Operation]]:
        """The points of ops that do something themselves."""
        return [(number, op) for number, op in enumerate(self.points.ops) if _own_effects(op)]

    # --- what is under way

    def _under_way(self, op: Operation, effect: Effect) -> Points:
        """The points at which an access that `op` begins may not be over."""
        start = self.points.number[op]
        if effect.completion in COUNTED:
            return self._in_groups(op, effect.completion)
        if effect.completion is Completion.MBARRIER:
            return self._until_told(start, values_of(op, effect.by))
        tokens = [r for r in op.results if isinstance(type_of(r), gpu_layout.AsyncTokenType)]
        uses = [self.points.number[use.operation] for t in tokens for a in aliases_of(t) for use in a.uses]
        return self.points.before(uses, start) if uses else self.points.after(start)

    def _in_groups(self, op: Operation, completion: Completion) -> Points:
        """Until enough groups are waited for, by the threads that began it: the fewest groups made since `op`, on any
        way to a point, are carried along."""
        points, number = self.points, self.points.number[op]
        counts, threads = self._counts(completion), _threads_of(op)
        fewest: dict[int, int] = {}
        told: Points = set()
        made = counts[number].made if number in counts else 0
        work = [(point, made) for point in points.successors[number]]
        while work:
            point, groups = work.pop()
            if fewest.get(point, groups + 1) <= groups:
                continue
            fewest[point] = groups
            here = counts.get(point)
            if here is not None and here.threads is threads:
                if any(left < groups for left in here.left):
                    continue
                if here.told:
                    told |= self._until_told(point, here.told)
                    continue
                groups += here.made
            work += [(following, groups) for following in points.successors[point]]
        return told | fewest.keys()

    def _counts(self, completion: Completion) -> dict[int, _Count]:
        """Of the points at which groups are made, or waited for."""
        found = self._counted.get(completion)
        if found is None:
            found = self._counted[completion] = {}
            for number, op in self._acting:
                made, left, told = _groups_made(op, completion), _left_by(op, completion), _told_of(op, completion)
                if made or left or told:
                    found[number] = _Count(_threads_of(op), made, left, told)
        return found

    def _until_told(self, start: int, barriers: Iterable[SSAValue]) -> Points:
        """Until the last wait for one of the mbarriers; to the end where there is none."""
        points = self.points
        waits = {wait for barrier in barriers for root in self._roots.get(barrier, ()) for wait in self._waits[root]}
        reached = points.after(start)
        later = waits & reached
        live = (points.before(later, start) & reached) | later
        around = _concurrent_around(points.ops[start])
        if around is not None:  # who waits may be another of the regions that run at the same time
            whole = set(range(points.number[around], points.last_inside(around) + 1))
            live |= whole if waits & whole else set()
        return live or reached

    @cached_property
    def _roots(self) -> dict[SSAValue, list[Operation]]:
        """Value → the allocations that it may be a view of."""
        found: dict[SSAValue, list[Operation]] = {}
        for _, op in self._acting:
            if allocates_memory(op):
                for alias in aliases_of(op.result):
                    found.setdefault(alias, []).append(op)
        return found

    @cached_property
    def _waits(self) -> dict[Operation, Points]:
        """Allocation → where mbarriers in it are waited for."""
        found: dict[Operation, Points] = {op: set() for _, op in self._acting if allocates_memory(op)}
        for number, op in self._acting:
            for effect in _own_effects(op):
                if effect.kind is Kind.WAIT and effect.resource is Resource.MBARRIER:
                    for root in (root for value in effect.values(op) for root in self._roots.get(value, ())):
                        found[root].add(number)
        return found

    # --- regions that run at the same time

    def _while_all_run(self, buffer: Buffer) -> Buffer:
        around = _concurrent_around(buffer.op)
        if around is None:
            return buffer
        first, last = self.points.number[around], self.points.last_inside(around)
        return replace(buffer, first=min(buffer.first, first), last=max(buffer.last, last))


def _concurrent_around(op: Operation) -> Operation | None:
    """The innermost op around whose regions are run at the same time."""
    around = op.parent_op()
    while around is not None and not is_concurrent(around):
        around = around.parent_op()
    return around


def _threads_of(op: Operation) -> Region | None:
    """The partition that an op is in; None for what the function's own threads run."""
    region = op.parent_region()
    while region is not None:
        around = region.parent_op()
        if around is not None and isinstance(control_flow_of(around), PartitionHolder):
            return region
        region = None if around is None else around.parent_region()
    return None


# --- what ops declare


def _own_effects(op: Operation) -> Sequence[Effect]:
    """What an op does that is no region's."""
    return () if op.regions else effects_of(op) or ()


def _later(op: Operation) -> list[Effect]:
    """The accesses to memory that an op begins and that are not over with it."""
    return [
        effect
        for effect in _own_effects(op)
        if effect.kind in (Kind.READ, Kind.WRITE)
        and effect.resource is Resource.MEMDESC
        and effect.completion is not Completion.AT_ONCE
    ]


def _groups_made(op: Operation, completion: Completion) -> int:
    """How many groups an op ends; what the tensor data mover does is counted one by one."""
    if completion is Completion.TENSOR_COUNTER:
        return int(any(effect.completion is completion for effect in _later(op)))
    return sum(effect.kind is Kind.COMMIT and effect.completion is completion for effect in _own_effects(op))


def _left_by(op: Operation, completion: Completion) -> list[int]:
    """How many groups may be under way behind an op that waits for some."""
    waits = (e for e in _own_effects(op) if e.kind is Kind.WAIT and e.left and e.completion is completion)
    values = (op.properties.get(effect.left) for effect in waits)
    return [value.value.data for value in values if isinstance(value, IntegerAttr)]


def _told_of(op: Operation, completion: Completion) -> list[SSAValue]:
    """The mbarriers that the accesses issued before arrive at when they complete."""
    arrivals = (e for e in _own_effects(op) if e.kind is Kind.ARRIVE and e.completion is completion)
    return [value for effect in arrivals for value in effect.values(op)]
