"""Loops with a schedule become pipelines: the ops of one body are those of several iterations.

In interval t an op of stage s runs for iteration t - s (`loop_schedule`). The intervals before that of the first
op of the last stage are in front of the loop; the loop itself has as many iterations as before, and in each an op
of stage s is `last - s` iterations ahead. So nothing is left to do behind it, however many iterations there are, none
included: what runs ahead runs for iterations that there are not (`run_ahead`).

Two things have the loop carry a value that one interval needs of an earlier one, once for each interval between: an
op of a later stage uses it, or the loop carries it on to the next iteration. The second is treated as the first: an
argument of the body is an op that runs at the start of an interval, in the stage of what is yielded for it.

A loop that is known to have no more iterations than run ahead of it would load nothing itself. Where a target wants it
(`short`), such a loop is written out, under the condition that it runs at all: nothing runs for iterations that there
are not, and nothing is carried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.gpu_layout import AsyncCommitGroupOp, AsyncWaitOp
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.edit import ValueMap, clone, erase
from tritonx.ir.explain import explain
from tritonx.ir.fold.constants import constant_of, width_of
from tritonx.ir.types import i1, i32, i64
from tritonx.ir.walk import ops_in
from tritonx.transforms.pipelining.iterations import iterations_if_any
from tritonx.transforms.pipelining.loop_schedule import (
    LAST_STAGE,
    TOPIC,
    LoopSchedule,
    drop_place,
    drop_schedule,
    in_place_of,
    needed,
    schedule_of,
    scheduled_loops,
)
from tritonx.transforms.pipelining.run_ahead import UNREAD, may_run_ahead, predicate


@dataclass(frozen=True)
class ExpandPipeline(ModulePass):
    """Runs the schedules of `scf.for` loops, inner ones first, and takes their attributes away. A schedule of one
    stage only reorders the body. With ``short`` no loop is left of one that has, if it runs, at most as many
    iterations as run ahead.

    Ops of earlier stages than the last must be such that they do nothing for iterations that there are not, or can be
    kept from it: a loop with others, or whose schedule contradicts itself, stays as it is. Waits for copies of the
    loop then wait until only later ones are under way, and behind the loop all are waited for. Leaves ops behind for
    `fold`, `cse` and `dce`."""

    name = "expand-pipeline"
    contract = Contract(
        ("ttg",),
        on=("scf.for",),
        creates=("arith", "tt.splat", "scf", "ttg.async_wait"),
        reads=("loop.stage", "loop.cluster"),
        writes=(UNREAD,),
        needs=("schedule-loops", "buffer-values"),
    )

    short: bool = False
    """Whether to write out loops of few iterations."""
    marks: bool = False
    """Whether to mark copies without a mask of their own: for iterations that there are not nothing reads them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in scheduled_loops(op):
            schedule = schedule_of(loop)
            assert schedule is not None
            if (fault := fault_of(schedule)) is None:
                with in_place_of(loop):
                    _Expansion(schedule, marks=self.marks).run(short=self.short)
            else:
                explain(TOPIC, loop, f"not pipelined: {fault}")
                drop_schedule(loop)


def fault_of(schedule: LoopSchedule) -> str | None:
    """Why a loop cannot be expanded; None where it can."""
    for op in schedule.order:
        if schedule.stage(op) < schedule.last:
            for inner in ops_in(op):
                if not may_run_ahead(inner, schedule.loop):
                    return f"{inner.name} would run for iterations that there are not"
    return schedule.fault()


Key = tuple[SSAValue, int]
"""A value of the body and how many intervals ago it was made. An argument is made as an interval starts; one that is
needed an interval before that is what is yielded for it."""


class _Expansion:
    def __init__(self, schedule: LoopSchedule, *, marks: bool) -> None:
        self.marks = marks
        self.schedule, self.loop, self.last = schedule, schedule.loop, schedule.last
        self.body = self.loop.body.block
        self.counter = self.body.args[0]
        self.yielded: ValueMap = {each.argument: each.yielded.value for each in schedule.carried}
        self.initial: ValueMap = {each.argument: each.initial.value for each in schedule.carried}
        self.made: dict[tuple[SSAValue, int], SSAValue] = {}
        """In front of the loop: a result and an iteration → its value there."""
        self.around: dict[Key, SSAValue] = {}
        """What the new loop carries → the argument of its body."""
        self.now: ValueMap = {}
        """In the new loop: the results of this interval."""

    def run(self, *, short: bool) -> None:
        if needless := _count_groups(self.schedule):
            for wait, first in needless:
                wait.retToken.replace_all_uses_with(first.retToken)
                erase(wait)
            schedule = schedule_of(self.loop)
            assert schedule is not None
            self.schedule = schedule
        count = iterations_if_any(self.loop) if short else None
        if count is not None and count <= self.last:
            self._write_out(count)
        else:
            self._pipeline()
        if any(isinstance(op, AsyncCommitGroupOp) for op in self.schedule.order):
            self._wait_for_copies()
        erase(self.loop)

    def _pipeline(self) -> None:
        for each in self.schedule.carried:
            if each.result.first_use is not None:
                self._carry(self._key(each.argument, self.last))
        for op in self.schedule.order:
            for value in needed(op):
                self._carry(self._key(value, self.schedule.stage(op)))
        builder = Builder.before(self.loop)
        self._intervals(builder, range(self.last), _Existing(self.loop, builder, self.loop.lb, self.last))
        loop = self._loop()
        numbers = {key: number for number, key in enumerate(self.around)}
        for each in self.schedule.carried:
            if each.result.first_use is not None:
                key = self._key(each.argument, self.last)
                assert key is not None, "nothing is yielded in a later stage than the last"
                result = loop.results[numbers[key]]
                result.name_hint = each.result.name_hint
                each.result.replace_all_uses_with(result)

    def _write_out(self, count: int) -> None:
        """All intervals, those of the loop in a branch."""
        builder = Builder.before(self.loop)
        exists = _Existing(self.loop, builder, self.loop.lb, self.last, count)
        runs = exists.iteration(0)
        self._intervals(builder, range(self.last), exists, count)
        taken, otherwise = Block(), Block()
        inside = Builder(taken, self.loop.location)
        self._intervals(inside, range(self.last, self.last + count), None, count)
        used = [each for each in self.schedule.carried if each.result.first_use is not None]
        inside.create(scf.YieldOp, [self._before(each.argument, count, inside) for each in used])
        Builder(otherwise, self.loop.location).create(scf.YieldOp, [each.initial.value for each in used])
        regions = (Region(taken), Region(otherwise))
        made = builder.create(scf.IfOp, (runs,), [each.result.type for each in used], regions=regions)
        for each, result in zip(used, made.results, strict=True):
            result.name_hint = each.result.name_hint
            each.result.replace_all_uses_with(result)

    # --- what is needed of earlier intervals

    def _is_inside(self, value: SSAValue) -> bool:
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        return block is self.body

    def _stage(self, value: SSAValue) -> int:
        """In which a value is made. An argument has the stage of what is yielded for it, one less if that is another
        argument, which is there an iteration earlier; 0 where it always was."""
        if value.owner is self.body and value is not self.counter:
            before = self.yielded[value]
            if before.owner is not self.body or before is self.counter:
                return self._stage(before)
            return 0 if self._goes_in_a_circle(value) else self._stage(before) - 1
        made = value.owner
        return self.schedule.stage(made) if isinstance(made, Operation) and made.parent is self.body else 0

    def _goes_in_a_circle(self, argument: SSAValue) -> bool:
        """Whether an argument is itself again after some iterations."""
        value = self.yielded[argument]
        for _ in self.yielded:
            if value is argument:
                return True
            value = self.yielded.get(value, value)
        return False

    def _key(self, value: SSAValue, stage: int) -> Key | None:
        """What the loop must carry for an op of this stage to use a value; None if it need not."""
        if not self._is_inside(value) or value is self.counter:
            return None
        ago = stage - self._stage(value)
        if value.owner is not self.body:
            return (value, ago) if ago else None
        return (value, ago) if ago >= 0 else None

    def _carry(self, key: Key | None) -> None:
        """Has a value carried, with what it is made of."""
        if key is None or key in self.around:
            return
        value, ago = key
        self.around[key] = value
        if ago > 0:
            self._carry(self._key(value, self._stage(value) + ago - 1))
        elif value.owner is self.body:
            self._carry(self._key(self.yielded[value], self._stage(value)))

    def _copy(self, op: Operation, values: ValueMap, builder: Builder, holds: SSAValue | None) -> Sequence[SSAValue]:
        """The results of a copy of an op, which does something only where `holds`, if that is given."""
        made = builder.insert(clone(op, values))
        drop_place(made)
        return (made if holds is None else predicate(made, holds, marks=self.marks)).results

    # --- in front of the loop

    def _intervals(
        self, builder: Builder, intervals: range, exists: _Existing | None, count: int | None = None
    ) -> None:
        """Ops of the first intervals, only where there are their iterations, which are ``count`` if that is known."""
        for interval in intervals:
            for op in self.schedule.order:
                iteration = interval - self.schedule.stage(op)
                if iteration >= 0 and (count is None or iteration < count):
                    values = {value: self._before(value, iteration, builder) for value in needed(op)}
                    made = self._copy(op, values, builder, None if exists is None else exists.iteration(iteration))
                    self.made.update(((old, iteration), new) for old, new in zip(op.results, made, strict=True))
                elif isinstance(op, AsyncCommitGroupOp):  # waits count as if every interval were whole
                    builder.create(AsyncCommitGroupOp, (), (ASYNC_TOKEN,))

    def _before(self, value: SSAValue, iteration: int, builder: Builder) -> SSAValue:
        """A value of an iteration of which the intervals in front of the loop are."""
        while value.owner is self.body and value is not self.counter:
            if not iteration:
                return self.initial[value]
            value, iteration = self.yielded[value], iteration - 1
        if value is self.counter:
            return _advanced(builder, self.loop, self.loop.lb, iteration)
        return self.made[value, iteration] if self._is_inside(value) else value

    # --- the loop

    def _loop(self) -> scf.ForOp:
        builder = Builder.before(self.loop)
        initial = [self._before(v, self.last - self._stage(v) - ago, builder) for v, ago in self.around]
        block = Block(arg_types=[self.counter.type, *(value.type for value, _ in self.around)])
        for (value, _), argument in zip([(self.counter, 0), *self.around], block.args, strict=True):
            argument.name_hint = value.name_hint
        self.around = dict(zip(self.around, block.args[1:], strict=True))
        self._body(block)
        attributes = {name: value for name, value in self.loop.attributes.items() if name != LAST_STAGE}
        return builder.create(
            scf.ForOp,
            (self.loop.lb, self.loop.ub, self.loop.step, *initial),
            [value.type for value in initial],
            self.loop.properties,
            attributes,
            [Region(block)],
        )

    def _body(self, block: Block) -> None:
        builder = Builder(block, self.loop.location)
        exists = _Existing(self.loop, builder, block.args[0], self.last)
        for op in self.schedule.order:
            stage = self.schedule.stage(op)
            values = {value: self._inside(value, stage, block, builder) for value in needed(op)}
            holds = exists.iteration(self.last - stage) if stage < self.last else None
            made = self._copy(op, values, builder, holds)
            self.now.update(zip(op.results, made, strict=True))
        end = [self._again(key, block, builder) for key in self.around]
        builder.create(scf.YieldOp, end)

    def _inside(self, value: SSAValue, stage: int, block: Block, builder: Builder) -> SSAValue:
        """A value as an op of this stage needs it in the loop."""
        if not self._is_inside(value):
            return value
        if value is self.counter:
            return _advanced(builder, self.loop, block.args[0], self.last - stage)
        key = self._key(value, stage)
        if key is not None:
            return self.around[key]
        if value.owner is self.body:
            return self._inside(self.yielded[value], stage + 1, block, builder)
        return self.now[value]

    def _again(self, key: Key, block: Block, builder: Builder) -> SSAValue:
        """What is carried in place of a value at the end of an interval."""
        value, ago = key
        if ago == 0:
            return self._inside(self.yielded[value], self._stage(value), block, builder)
        return self._inside(value, self._stage(value) + ago - 1, block, builder)

    def _wait_for_copies(self) -> None:
        properties = {"num": IntegerAttr(0, i32)}
        Builder.before(self.loop).create(AsyncWaitOp, (), (ASYNC_TOKEN,), properties)


def _count_groups(schedule: LoopSchedule) -> list[tuple[AsyncWaitOp, AsyncWaitOp]]:
    """Waits for the groups whose tokens they are given wait until only those made since are under way. In each interval
    every group of the loop is made, so that their number follows from the schedule.

    Groups that have had an interval's time where the first wait of an interval is are waited for there, because each
    wait is followed by a barrier: the waits that are then not needed are returned, each with the one in its place."""
    made = [op for op in schedule.order if isinstance(op, AsyncCommitGroupOp)]
    first: AsyncWaitOp | None = None
    least, needless = 0, list[tuple[AsyncWaitOp, AsyncWaitOp]]()
    for wait in schedule.order:
        if not isinstance(wait, AsyncWaitOp):
            continue
        groups = [owner for token in wait.operands if isinstance(owner := token.owner, Operation) and owner in made]
        if not groups:
            continue
        if first is not None and _can_wait_at(schedule, wait, groups, first):
            least = min(least, *(_made_since(schedule, made, group, wait, first) for group in groups))
            first.properties["num"] = IntegerAttr(least, i32)
            needless.append((wait, first))
            continue
        number = min(_made_since(schedule, made, group, wait, wait) for group in groups)
        wait.properties["num"] = IntegerAttr(number, i32)
        wait.operands = []
        if first is None:
            first, least = wait, number
    return needless


def _can_wait_at(schedule: LoopSchedule, wait: AsyncWaitOp, groups: Sequence[Operation], at: AsyncWaitOp) -> bool:
    """Whether the groups have had an interval's time at an earlier wait, which is in each interval, in front of the
    loop too, in which this one does."""
    is_there = schedule.stage(at) <= schedule.stage(wait)
    return is_there and all(_is_old(schedule, group, wait, at) for group in groups)


def _is_old(schedule: LoopSchedule, group: Operation, wait: Operation, at: Operation) -> bool:
    """Whether a group that is waited for has been made an interval before an op of the wait's interval, or more."""
    intervals = schedule.stage(wait) - schedule.stage(group)
    return intervals > 1 or (intervals == 1 and schedule.position[group] < schedule.position[at])


def _made_since(
    schedule: LoopSchedule, made: Sequence[Operation], group: Operation, wait: Operation, at: Operation
) -> int:
    """Groups made behind one that a wait waits for, and in front of an op in the interval of this wait."""
    intervals, position = schedule.stage(wait) - schedule.stage(group), schedule.position
    return sum(intervals + (position[each] < position[at]) - (position[each] <= position[group]) for each in made)


def _advanced(builder: Builder, loop: scf.ForOp, counter: SSAValue, iterations: int) -> SSAValue:
    """The counter so many iterations later."""
    for_all = builder.constant(iterations, counter.type)
    by = builder.emit(arith.MuliOp, (loop.step, for_all), (counter.type,))
    return builder.emit(arith.AddiOp, (counter, by), (counter.type,))


class _Existing:
    """Whether there are iterations behind the one of `counter`, as values. ``count`` there are if there are any."""

    def __init__(
        self, loop: scf.ForOp, builder: Builder, counter: SSAValue, most: int, count: int | None = None
    ) -> None:
        self.builder, self.loop, self.counter, self.count = builder, loop, counter, count
        self.known: dict[int, SSAValue] = {}
        if most:
            unsigned = loop.unsigned is not None
            first = counter is loop.lb
            less = CmpiPredicate.ULT if unsigned else CmpiPredicate.SLT
            self.known[0] = self._compare(less, counter, loop.ub) if first else builder.constant(1, i1)

    def iteration(self, number: int) -> SSAValue:
        """Of the iteration so many behind that of the counter, which is below the bound, or 0."""
        if self.count is not None and number < self.count:
            return self.known[0]
        if number not in self.known:
            self.known[number] = self._make(number)
        return self.known[number]

    def _make(self, number: int) -> SSAValue:
        """Without overflow, wherever the bounds are: what is left of a loop that goes on fits an unsigned number."""
        loop, builder, type_ = self.loop, self.builder, self.counter.type
        left = builder.emit(arith.SubiOp, (loop.ub, self.counter), (type_,))
        step, width = constant_of(loop.step), width_of(type_)
        if isinstance(step, int) and width is not None and 0 < step * number < 1 << (width - 1):
            more = self._compare(CmpiPredicate.UGT, left, builder.constant(step * number, type_))
            return builder.emit(arith.AndIOp, (self.known[0], more), (i1,))
        before = self.iteration(number - 1)
        by = builder.emit(arith.MuliOp, (loop.step, builder.constant(number - 1, type_)), (type_,))
        left = builder.emit(arith.SubiOp, (left, by), (type_,))
        return builder.emit(arith.AndIOp, (before, self._compare(CmpiPredicate.UGT, left, loop.step)), (i1,))

    def _compare(self, how: CmpiPredicate, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.builder.emit(arith.CmpiOp, (a, b), (i1,), {"predicate": IntegerAttr(how, i64)})
