"""A loop's schedule as units over time, for tools that draw it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonx.analysis.buffers import tile_bytes
from tritonx.analysis.unit_costs import Unit
from tritonx.ir.location import SourcePoint
from tritonx.ir.source import source_of
from tritonx.transforms.pipelining.loop_problem import LoopPipeline
from tritonx.transforms.pipelining.modulo_problem import THREADS, Schedule


@dataclass(frozen=True)
class Bar:
    """What `unit` (`threads`, `matrix` or `copies`) does of one iteration: `start` counts in cycles from the beginning
    of that iteration's first interval. `positions`: as of `source_of`."""

    unit: str
    name: str
    positions: tuple[SourcePoint, ...]
    stage: int
    start: int
    cycles: int


@dataclass(frozen=True)
class LoopChart:
    """An iteration begins every `interval` cycles and takes `stages` intervals; `bounds`: the cycles that each unit
    needs for one; `bound`: which of them the interval is held by, or `dependences`; `slots`: how many buffers of how
    many bytes; `proven`: whether no schedule is shorter."""

    interval: int
    stages: int
    bound: str
    bounds: dict[str, int]
    slots: tuple[tuple[int, int], ...]
    bars: tuple[Bar, ...]
    proven: bool


def bounds_of(pipeline: LoopPipeline) -> dict[str, int]:
    """What the interval cannot be shorter than, in cycles."""
    return {
        "the matrix unit": pipeline.matrix,
        "the threads": pipeline.problem.used(Unit.THREADS),
        "the copies": pipeline.copies,
        "the latency of loads": pipeline.latency,
    }


def bound_of(pipeline: LoopPipeline, schedule: Schedule) -> str:
    """The first of these that the interval is as long as; dependences where it is as long as none of them."""
    reached = [what for what, cycles in bounds_of(pipeline).items() if cycles == schedule.interval]
    return reached[0] if reached else "dependences"


def chart_of(pipeline: LoopPipeline, schedule: Schedule) -> LoopChart:
    """The chart of a schedule for its loop."""
    slots = tuple((each.slots, each.slot) for each in pipeline.ahead if each.slot)
    return LoopChart(
        schedule.interval,
        max(schedule.stages) + 1,
        bound_of(pipeline, schedule),
        bounds_of(pipeline),
        slots,
        tuple(_bars(pipeline, schedule)),
        schedule.proven,
    )


def _bars(pipeline: LoopPipeline, schedule: Schedule) -> Iterator[Bar]:
    loads = {each.number for each in pipeline.ahead}
    free = 0
    for task in sorted(range(len(pipeline.macro_ops)), key=lambda at: (schedule.stages[at], schedule.starts[at])):
        numbers = pipeline.macro_ops[task]
        of, stage = pipeline.problem.tasks[task], schedule.stages[task]
        begin = stage * schedule.interval
        ops = [pipeline.graph.ops[number] for number in numbers]
        telling = [pipeline.graph.ops[n] for n in numbers if n in pipeline.products or n in loads] or ops[-1:]
        name, positions = " + ".join(dict.fromkeys(op.name for op in telling)), source_of(telling[0])
        yield Bar("threads", name, positions, stage, begin + schedule.starts[task], of.threads)
        if of.unit != THREADS:
            yield Bar("matrix", name, positions, stage, begin + schedule.begins[task], of.cycles)
        for number in numbers:
            if number in loads:
                load = pipeline.graph.ops[number]
                cycles = max(1, tile_bytes(load.results[0]) // pipeline.costs.copied)
                start = max(free, begin + schedule.starts[task] + of.threads)
                free = start + cycles
                yield Bar("copies", load.name, source_of(load), stage, start, cycles)
