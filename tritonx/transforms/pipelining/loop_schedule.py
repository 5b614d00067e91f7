"""The schedule that a loop carries: Triton's attributes on the ops of its body.

`loop.stage` says how many iterations after its first ops an op of the same iteration runs, `loop.cluster` where in an
interval: within one, ops run in the order of their clusters, those of one cluster as in the text. The loop has
`tt.scheduled_max_stage`. In interval t an op of stage s runs for iteration t - s, so that n iterations take
n + last stage intervals.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.dialects import scf
from tritonx.dialects.control_flow import Carried, carried_by
from tritonx.ir.edit import move_before, terminator_of
from tritonx.ir.effects import is_terminator
from tritonx.ir.types import i32
from tritonx.ir.walk import ops_in

STAGE, CLUSTER = "loop.stage", "loop.cluster"
LAST_STAGE = "tt.scheduled_max_stage"
TOPIC = "pipeline"
"""Of `TRITONX_EXPLAIN`, for what passes decide about loops."""


@dataclass(frozen=True, order=True)
class Place:
    """Where in the pipeline an op runs."""

    stage: int
    cluster: int

    @property
    def attributes(self) -> dict[str, Attribute]:
        return {STAGE: IntegerAttr(self.stage, i32), CLUSTER: IntegerAttr(self.cluster, i32)}


@dataclass(frozen=True)
class LoopSchedule:
    """The ops of a loop's body, but for its end, in the order of an interval; see the head of the file."""

    loop: scf.ForOp
    last: int
    places: Mapping[Operation, Place]
    order: tuple[Operation, ...]

    @cached_property
    def position(self) -> Mapping[Operation, int]:
        """In the order of an interval."""
        return {op: number for number, op in enumerate(self.order)}

    @cached_property
    def carried(self) -> tuple[Carried, ...]:
        return tuple(carried_by(self.loop))

    def stage(self, op: Operation) -> int:
        return self.places[op].stage

    def of(self, op: Operation) -> Operation:
        """The op of the body that `op` is, or is in."""
        return inside(self.loop.body.block, op)

    def fault(self) -> str | None:
        """Why the schedule cannot be run: something comes before what it needs. None where it can."""
        body = self.loop.body.block
        for op in self.order:
            for value in needed(op):
                made, distance = value.owner, 0
                if made is body:
                    made, distance = self._source(value)
                if isinstance(made, Operation) and made.parent is body and not self._is_before(made, op, distance):
                    return f"{op.name} runs before {made.name}, which it needs"
        return None

    def _source(self, value: SSAValue) -> tuple[Operation | Block | None, int]:
        """What makes an argument of the body, and how many iterations before."""
        body, distance, seen = self.loop.body.block, 0, set[SSAValue]()
        while value.owner is body and value is not body.args[0] and value not in seen:
            seen.add(value)
            value = next(each.yielded.value for each in self.carried if each.argument is value)
            distance += 1
        return value.owner, distance

    def _is_before(self, made: Operation, user: Operation, distance: int) -> bool:
        intervals = self.stage(user) + distance - self.stage(made)
        return intervals > 0 or (intervals == 0 and self.position[made] < self.position[user])


def schedule_of(loop: scf.ForOp) -> LoopSchedule | None:
    """The schedule of a loop; None of one without. What has no place runs with the first op that uses its results, in
    the last stage if there is none."""
    last = _number(loop.attributes, LAST_STAGE)
    if last is None:
        return None
    body = loop.body.block
    ops = [op for op in body.ops if not is_terminator(op)]
    places: dict[Operation, Place] = {}
    for op in reversed(ops):
        if (place := place_of(op)) is not None:
            places[op] = place
            continue
        users = [places[user] for user in users_in(body, op) if user in places]
        places[op] = min(users, default=Place(last, max((place.cluster for place in places.values()), default=0)))
    last = max(last, max((place.stage for place in places.values()), default=0))
    return LoopSchedule(loop, last, places, tuple(sorted(ops, key=lambda op: places[op].cluster)))


def place_of(op: Operation) -> Place | None:
    """Where an op says that it runs."""
    stage, cluster = _number(op.attributes, STAGE), _number(op.attributes, CLUSTER)
    return None if stage is None or cluster is None else Place(stage, cluster)


def set_place(op: Operation, place: Place) -> None:
    op.attributes.update(place.attributes)


def drop_schedule(loop: scf.ForOp) -> None:
    """Take a loop's schedule away; it runs as it stands."""
    loop.attributes.pop(LAST_STAGE, None)
    for op in loop.body.block.ops:
        drop_place(op)


def drop_place(op: Operation) -> None:
    op.attributes.pop(STAGE, None)
    op.attributes.pop(CLUSTER, None)


def put_in_stages(schedule: LoopSchedule) -> LoopSchedule:
    """The schedule of the body after its ops were moved: those of earlier stages are first, those of one stage as
    they run. Each cluster has ops of one stage then, so that the order of an interval is the one before.

    Ops of one iteration may run in an order that is not the text's. What is made for several of them at the place of
    the first must follow the operands of all of them, in the text too, which is read as one iteration after another."""
    places = _of_one_stage(schedule)
    end = terminator_of(schedule.loop.body.block)
    for op in sorted(schedule.order, key=places.__getitem__):
        move_before(op, end)
        set_place(op, places[op])
    return replace(schedule, places=places)


def _of_one_stage(schedule: LoopSchedule) -> Mapping[Operation, Place]:
    """The places with clusters numbered anew: another one where the stage is another."""
    places: dict[Operation, Place] = {}
    before: Place | None = None
    number = -1
    for op in schedule.order:
        place = schedule.places[op]
        number += place != before
        before = place
        places[op] = Place(place.stage, number)
    return places


@contextmanager
def in_place_of(loop: scf.ForOp) -> Generator[None]:
    """What is made next to a loop runs where the loop does, if there is a loop around it that has a schedule."""
    block, before, behind = loop.parent, loop.prev_op, loop.next_op
    assert block is not None
    place = {name: loop.attributes[name] for name in (STAGE, CLUSTER) if name in loop.attributes}
    yield
    op = block.first_op if before is None else before.next_op
    while op is not behind and op is not None:
        if STAGE not in op.attributes:
            op.attributes.update(place)
        op = op.next_op


def scheduled_loops(op: Operation) -> list[scf.ForOp]:
    """The loops in `op` that have a schedule, inner ones first."""
    loops = [inner for inner in ops_in(op) if isinstance(inner, scf.ForOp) and LAST_STAGE in inner.attributes]
    return loops[::-1]


def inside(block: Block, op: Operation) -> Operation:
    """The op of the block that `op` is, or is in."""
    while op.parent is not block:
        around = op.parent_op()
        assert around is not None, "the op is not in the block"
        op = around
    return op


def users_in(block: Block, op: Operation) -> list[Operation]:
    """The ops of a block that use the results of one of its ops, themselves or in their regions."""
    return [inside(block, use.operation) for result in op.results for use in result.uses]


def needed(op: Operation) -> Iterator[SSAValue]:
    """Values from outside that an op uses, itself or in its regions."""
    for inner in ops_in(op):
        for value in inner.operands:
            block = value.owner if isinstance(value.owner, Block) else value.owner.parent
            if inner is op or block is None or not _is_within(block, op):
                yield value


def _is_within(block: Block, op: Operation) -> bool:
    around = block.parent_op()
    while around is not None and around is not op:
        around = around.parent_op()
    return around is op


def _number(attributes: Mapping[str, Attribute], name: str) -> int | None:
    value = attributes.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else None
