"""Schedules for loops: drawn ones, any that can be run, and loads that run ahead."""

from __future__ import annotations

from random import Random

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Use

from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import carried_by
from tritonx.dialects.gpu_layout import LocalAllocOp
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.ir.effects import is_terminator, may_write
from tritonx.ir.types import i32
from tritonx.transforms.pipelining.expand_pipeline import fault_of
from tritonx.transforms.pipelining.loop_schedule import LAST_STAGE, Place, drop_schedule, needed, schedule_of, set_place

TRIES = 300


def draw_schedules(module: ModuleOp, random: Random, most: int = 4) -> int:
    """Gives each loop of the module a schedule of up to `most` stages; how many got one of at least two."""
    loops = [op for op in module.walk() if isinstance(op, scf.ForOp) and any(not is_terminator(o) for o in op.body.ops)]
    return sum(_draw(loop, random, most) for loop in loops)


def _draw(loop: scf.ForOp, random: Random, most: int) -> bool:
    for _ in range(TRIES):
        last = random.randrange(1, most)
        stages = _stages(loop, random, last)
        clusters = random.sample(range(last + 1), last + 1)
        for op, stage in stages.items():
            set_place(op, Place(stage, clusters[stage]))
        loop.attributes[LAST_STAGE] = IntegerAttr(last, i32)
        schedule = schedule_of(loop)
        assert schedule is not None
        if fault_of(schedule) is None:
            return True
        drop_schedule(loop)
    return False


def _stages(loop: scf.ForOp, random: Random, last: int) -> dict[Operation, int]:
    """Nothing before what it needs of the same iteration, nor more than one stage before what it needs of the last."""
    body = loop.body.block
    ops = [op for op in body.ops if not is_terminator(op)]
    leap = random.choice((0.1, 0.3, 0.6))
    stages: dict[Operation, int] = {}
    for op in ops:
        made = [value.owner for value in needed(op)]
        least = max((stages[each] for each in made if each in stages), default=0)
        stages[op] = (
            last if may_write(op) else min(last, least + (random.random() < leap) * random.randrange(1, last + 1))
        )
    for _ in range(len(ops) * (last + 1)):
        raised = [_raised(loop, op, stages) for op in ops]
        if not any(raised):
            break
    return stages


def _raised(loop: scf.ForOp, op: Operation, stages: dict[Operation, int]) -> bool:
    """Moves an op to a later stage if it needs something so late."""
    yielded = {each.argument: each.yielded.value for each in carried_by(loop)}
    least = stages[op]
    for value in needed(op):
        distance = 0
        while value in yielded and distance < len(yielded) + 1:
            value, distance = yielded[value], distance + 1  # pyright: ignore[reportArgumentType] -- an argument
        if value.owner in stages:
            least = max(least, stages[value.owner] - distance)  # pyright: ignore[reportArgumentType] -- an op
    changed = least > stages[op]
    stages[op] = least
    return changed


def run_loads_ahead(module: ModuleOp, stages: int) -> None:
    """Schedules loops with products as Triton does: tiles for products are loaded `stages - 1` intervals ahead, at the
    end of an interval; what the next loads need of these iterations is there just before; the rest comes last."""
    last = stages - 1
    for loop in [op for op in module.walk() if isinstance(op, scf.ForOp)]:
        body = loop.body.block
        ops = [op for op in body.ops if not is_terminator(op)]
        if not any(isinstance(op, tile.DotOp | WarpGroupDotOp) for op in ops):
            continue
        loads = [op for op in ops if isinstance(op, tile.LoadOp) and any(map(_stores, op.result.uses))]
        first = _slice(body, loads)
        yielded = {each.argument: each.yielded.value.owner for each in carried_by(loop)}
        needs = [yielded[v] for op in first for v in needed(op) if v in yielded]  # pyright: ignore[reportArgumentType] -- an argument
        second = _slice(body, [op for op in needs if isinstance(op, Operation) and op.parent is body]) - first
        for op in ops:
            early = Place(min(1, last), 1) if op in second else Place(last, 0)
            set_place(op, Place(0, 2) if op in first else early)
        loop.attributes[LAST_STAGE] = IntegerAttr(last, i32)


def store_ahead(module: ModuleOp, random: Random) -> int:
    """Has tiles that loops with schedules load ahead stored by the threads, anywhere between the load and the first
    reader, at the start or at the end of an interval; how many."""
    count = 0
    for loop in [op for op in module.walk() if isinstance(op, scf.ForOp)]:
        schedule = schedule_of(loop)
        if schedule is None:
            continue
        clusters = [place.cluster for place in schedule.places.values()]
        for op in schedule.order:
            stores = [use.operation for use in op.results[0].uses if _stores(use)] if op.results else []
            if not isinstance(op, tile.LoadOp) or len(stores) != 1:
                continue
            readers = [schedule.stage(schedule.of(use.operation)) for use in stores[0].results[0].uses]
            if readers and min(readers) > (loaded := schedule.stage(op)):
                stage = random.randrange(loaded, min(readers))
                late = stage == loaded or random.random() < 0.5
                set_place(stores[0], Place(stage, max(clusters) + 1 if late else min(clusters) - 1))
                count += 1
    return count


def _stores(use: Use) -> bool:
    return isinstance(use.operation, LocalAllocOp)


def _slice(body: Block, ops: list[Operation]) -> set[Operation]:
    """The ops, and those of the body that they need of the same iteration."""
    found: set[Operation] = set()
    work = list(ops)
    while work:
        op = work.pop()
        if op not in found:
            found.add(op)
            made = [value.owner for value in needed(op)]
            work += [each for each in made if isinstance(each, Operation) and each.parent is body]
    return found
