"""Loops are given schedules: which op runs how many iterations later than the first, and in which order.

Nothing is moved here. The schedule is on the ops, in Triton's attributes, so that it can be read, tested and
written by hand: `loop.stage`, how many intervals later than the first the op runs, and `loop.cluster`, its place within
an interval, ops of one cluster in the order of the text; on the loop `tt.scheduled_max_stage`. What makes a pipeline of
it are the passes behind.

What runs when is the solution (`modulo_schedule`) of a small problem (`modulo_problem`) that is made (`loop_problem`)
of the loop's graph (`loop_graph`), the loads that run ahead (`loads_ahead`) and the target's costs
(`analysis/unit_costs`).
`TRITONX_EXPLAIN=pipeline` prints a line for each loop: the schedule, or why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from tritonx.analysis.access_width import access_width
from tritonx.analysis.axis_info import AxisFacts, analyze_axes
from tritonx.analysis.buffers import allocates_memory, tensor_layout
from tritonx.analysis.lane_copies import LaneCopy, loaded_by_lanes
from tritonx.analysis.lifetimes import Buffer, buffers_of
from tritonx.analysis.memory_plan import Life, OverBudget, plan
from tritonx.analysis.program_points import ProgramPoints
from tritonx.analysis.shared_budget import SharedBudget
from tritonx.analysis.unit_costs import Unit, UnitCosts
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import ConvertLayoutOp, LocalAllocOp
from tritonx.ir.contract import Contract
from tritonx.ir.explain import explain, is_asked
from tritonx.ir.target_pass import Named, TargetModulePass
from tritonx.ir.types import bit_width, element_type, i32, is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.pipelining.loads_ahead import loads_ahead, products_of
from tritonx.transforms.pipelining.loop_chart import bound_of, chart_of
from tritonx.transforms.pipelining.loop_graph import LoopGraph, NotScheduled, loop_graph
from tritonx.transforms.pipelining.loop_problem import LoopPipeline
from tritonx.transforms.pipelining.loop_schedule import LAST_STAGE, TOPIC, Place, set_place
from tritonx.transforms.pipelining.modulo_problem import Schedule, most_held
from tritonx.transforms.pipelining.modulo_schedule import solve, solve_quickly
from tritonx.transforms.tile.simplify_control_flow import trip_count

STAGES = "tt.num_stages"
SLOT_ALIGNMENT = 1024
"""Of a slot in shared memory, whatever may read it."""
WORTHWHILE = 0.7
"""Of the interval without: what is left with another stage, in which results of products wait in registers. On an H200
attention forward of 64 and 128 columns in 8 warps, with 0.73 to 0.84 of it by the model, is 1 to 10 % slower so (six
configurations, one of them the same); of 256 columns the model has 0.60 to 0.66."""


class PipelineTarget(Named, Protocol):
    """What a target says of itself here."""

    @property
    def shared_memory(self) -> int: ...
    @property
    def num_stages(self) -> int: ...
    @property
    def costs(self) -> UnitCosts: ...


@dataclass(frozen=True)
class ScheduleLoops(TargetModulePass[PipelineTarget]):
    """Schedules the innermost loops of which products need what they load.

    Others only where the loop itself says how many stages it wants (`tt.num_stages`; the default is the target's
    number, and 1 keeps a loop as it is). Fewer stages are taken where the trip count is smaller, or the slots do not
    fit a block's shared memory. Takes `ttg` with layouts and leaves it, but for the attributes.
    """

    name = "schedule-loops"
    contract = Contract(
        ("ttg",),
        on=("scf.for",),
        reads=("tt.num_stages",),
        writes=("loop.stage", "loop.cluster", "tt.scheduled_max_stage"),
        needs=("assign-layouts",),
        after=("stage-dot-operands", "view-transposed", "carry-scalars", "encode-descriptors"),
    )

    def chosen(self) -> dict[str, int]:
        return {"num_stages": self.target.num_stages}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = cache(lambda: analyze_axes(op))
        for function in op.ops:
            if isinstance(function, tile.FuncOp):
                loops = [inner for inner in ops_in(function) if isinstance(inner, scf.ForOp)]
                _Function(self.target, op, function, facts).schedule(loops)


class _Function:
    """The loops of a function: the slots of all of them share its memory."""

    def __init__(
        self, target: PipelineTarget, module: ModuleOp, function: tile.FuncOp, facts: Callable[[], AxisFacts]
    ) -> None:
        self.target = target
        self.limit = SharedBudget(target.shared_memory).within(module).limit
        self.function = function
        self.facts = facts
        warps = module.attributes.get("ttg.num-warps")
        lanes = module.attributes.get("ttg.threads-per-warp")
        self.threads = _number(warps, 4) * _number(lanes, 32)
        self.slots: list[Life] = []
        self.replaced: set[Operation] = set()
        self.lane_copies: dict[Operation, LaneCopy | None] = {}

    def schedule(self, loops: Iterable[scf.ForOp]) -> None:
        for loop in loops:
            if LAST_STAGE in loop.attributes:
                continue
            try:
                pipeline, schedule = self._scheduled(loop)
            except NotScheduled as reason:
                explain(TOPIC, loop, f"not pipelined: {reason}")
            else:
                write(pipeline, schedule)
                if is_asked(TOPIC):
                    explain(TOPIC, loop, described(pipeline, schedule), chart_of(pipeline, schedule))

    def _scheduled(self, loop: scf.ForOp) -> tuple[LoopPipeline, Schedule]:
        wanted = _number(loop.attributes.get(STAGES), self.target.num_stages)
        if wanted < 2:
            raise NotScheduled(f"num_stages is {wanted}")
        trips = trip_count(loop)
        if trips is not None and trips < 2:
            raise NotScheduled("its trip count is at most 1")
        if any(isinstance(op, tile.MakeTensorDescOp) for op in ops_in(loop)):
            raise NotScheduled("it makes descriptors, which copies of other iterations would use")
        graph = loop_graph(loop)
        if not products_of(graph) and STAGES not in loop.attributes:
            raise NotScheduled("it has no product, and does not say num_stages itself")
        most = wanted if trips is None else min(wanted, trips)
        spared = (0,) if self.target.costs.stores_slots and not self.target.costs.lane_bytes else (0, 1)
        for fewer, stages in ((fewer, stages) for fewer in spared for stages in range(most, 1, -1)):
            for in_memory in (True, False):
                pipeline = self._pipeline(graph, stages, in_memory=in_memory)
                fits = not (fewer and pipeline.stored) and self._fits(pipeline, fewer)
                schedule = solve(pipeline.problem) if fits else None
                if schedule is not None:
                    self._take(pipeline, fewer)
                    return self._with_products_ahead(pipeline, self._within_registers(pipeline, schedule))
                if fits:
                    break
        raise NotScheduled("slots of what it loads do not fit shared memory")

    def _pipeline(self, graph: LoopGraph, stages: int, *, in_memory: bool) -> LoopPipeline:
        costs, threads = self.target.costs, self.threads
        ahead = loads_ahead(graph, stages, costs, self._width, threads, self._is_copied, in_memory=in_memory)
        return LoopPipeline(graph, ahead, costs, stages, threads, self._width)

    def _with_products_ahead(self, pipeline: LoopPipeline, schedule: Schedule) -> tuple[LoopPipeline, Schedule]:
        """With another stage, in which asynchronous products are issued before the threads work on the results of the
        last ones: where that is so much faster, and as many blocks share a multiprocessor's registers."""
        blocks = self._blocks(pipeline, schedule) if pipeline.is_asynchronous else None
        share = self.target.costs.thread_share(self.threads * blocks) if blocks is not None else None
        if blocks is None or share is None:
            return pipeline, schedule
        more = replace(pipeline, more=1, room=share - self.target.costs.intermediate_bytes)
        least = max(pipeline.matrix, pipeline.problem.used(Unit.THREADS))
        longest = int(WORTHWHILE * schedule.interval)
        if blocks * least > longest:
            return pipeline, schedule
        found = solve_quickly(more.problem, more.is_settled, longest)
        return (pipeline, schedule) if found is None else (more, found)

    def _within_registers(self, pipeline: LoopPipeline, schedule: Schedule) -> Schedule:
        """In another order, if in this one results of asynchronous products, which are written while the threads do
        something else, take far more registers than a thread has, and in that one do not."""
        share = self.target.costs.thread_share(self.threads) if pipeline.is_asynchronous else None
        if share is None:
            return schedule
        problem = pipeline.within(share - self.target.costs.intermediate_bytes)
        held = most_held(problem, schedule)
        found = solve(problem) if held > self.target.costs.crowded * share else None
        if found is None:
            return schedule
        fewer = f"{held} bytes of registers in the fastest order, {most_held(problem, found)} in another"
        explain(TOPIC, pipeline.graph.loop, f"{fewer}: {schedule.interval} and {found.interval} cycles an iteration")
        return found

    def _blocks(self, pipeline: LoopPipeline, schedule: Schedule) -> int | None:
        """How many run beside each other on a multiprocessor, of which one works while others wait; None where the
        number of its registers is unknown."""
        costs = self.target.costs
        if costs.thread_bytes is None or costs.register_bytes is None:
            return None
        taken = min(costs.thread_bytes, most_held(pipeline.problem, schedule) + costs.intermediate_bytes)
        slots = sum(each.slot * each.slots for each in pipeline.ahead)
        return max(1, min(costs.register_bytes // (self.threads * taken), self.limit // max(1, slots)))

    def _width(self, load: Operation) -> int:
        """Bytes of a thread's widest access; 0 for what is not loaded through pointers."""
        if not isinstance(load, tile.LoadOp) or not is_tensor(type_of(load.result)):
            return 0
        bits = max(8, bit_width(element_type(type_of(load.result))))
        if (copy := self._lane_copy(load)) is not None:
            return copy.width * bits // 8
        return access_width(self.facts(), tensor_layout(type_of(load.result)), load.ptr, load.mask, bits) * bits // 8

    def _is_copied(self, load: Operation) -> bool:
        return self._lane_copy(load) is not None

    def _lane_copy(self, load: Operation) -> LaneCopy | None:
        """How the copies of warps bring what is loaded to the buffer that stores it; None where they cannot."""
        if not self.target.costs.lane_bytes or not isinstance(load, tile.LoadOp):
            return None
        if load not in self.lane_copies:
            stores = [use.operation for use in load.result.uses if allocates_memory(use.operation)]
            store = stores[0] if len(stores) == 1 and load.result.has_one_use() else None
            found = None
            if isinstance(store, LocalAllocOp):
                found = loaded_by_lanes(load, store, self.facts(), self.target.costs.lane_bytes)
            self.lane_copies[load] = found
        return self.lane_copies[load]

    # --- shared memory

    def _fits(self, pipeline: LoopPipeline, fewer: int) -> bool:
        """Whether the slots fit, with those of the function's other loops and all that it takes beside; each load with
        so many fewer, as where its copy is after its readers."""
        replaced = self.replaced | _stored(pipeline)
        lives: list[Life] = [buffer for buffer in self._buffers if buffer.op not in replaced]
        try:
            plan([*lives, *self.slots, *self._lives(pipeline, fewer)], self.limit)
        except OverBudget:
            return False
        return True

    @cached_property
    def _buffers(self) -> list[Buffer]:
        return buffers_of(self.function)

    @cached_property
    def _points(self) -> ProgramPoints:
        return ProgramPoints(self.function)

    def _lives(self, pipeline: LoopPipeline, fewer: int) -> list[Life]:
        loop = pipeline.graph.loop
        first, last = self._points.number[loop], self._points.last_inside(loop)
        return [
            Life(each.slot * (each.slots - fewer), SLOT_ALIGNMENT, first, last) for each in pipeline.ahead if each.slot
        ]

    def _take(self, pipeline: LoopPipeline, fewer: int) -> None:
        self.slots += self._lives(pipeline, fewer)
        self.replaced |= _stored(pipeline)


def _stored(pipeline: LoopPipeline) -> set[Operation]:
    """The ops whose memory the slots take the place of: they store what was loaded, or exchange it for a product."""
    loads = {pipeline.graph.ops[each.number] for each in pipeline.ahead if each.slot}
    users = (use.operation for load in loads for use in load.results[0].uses)
    return {op for op in users if allocates_memory(op) or isinstance(op, ConvertLayoutOp)}


def _number(attribute: Attribute | None, default: int) -> int:
    return int(attribute.value.data) if isinstance(attribute, IntegerAttr) else default


# --- the result


def write(pipeline: LoopPipeline, schedule: Schedule) -> None:
    """Write a schedule on the ops of its loop. What threads store comes last in an interval, or first (`Ahead`), in the
    order in which it is loaded: whoever stores the first tile need not wait for others."""
    at = {task: place for place, task in enumerate(schedule.order)}
    stored = sorted((at[pipeline.home[each.number]], each.number, each.stored or 0) for each in pipeline.stored)
    last, behind = 0, len(stored)
    for cluster, tasks in enumerate(clusters(pipeline.macro_ops, schedule), len(stored)):
        behind = cluster + 1
        for task in tasks:
            stage = schedule.stages[task]
            last = max(last, stage)
            for number in pipeline.macro_ops[task]:
                op = pipeline.graph.ops[number]
                set_place(op, Place(stage, cluster))
    for rank, (_, number, later) in enumerate(stored):
        place = Place(schedule.stages[pipeline.home[number]] + later, rank + (0 if later else behind))
        for store in _stores(pipeline.graph.ops[number]):
            set_place(store, place)
    pipeline.graph.loop.attributes[LAST_STAGE] = IntegerAttr(last, i32)


def _stores(load: Operation) -> Iterable[Operation]:
    return [use.operation for use in load.results[0].uses if allocates_memory(use.operation)]


def clusters(macro_ops: Sequence[Sequence[int]], schedule: Schedule) -> list[list[int]]:
    """The tasks of an interval in order, those together that may keep the order of the text: of one stage, and each
    ending behind the one before."""
    found: list[list[int]] = []
    for task in schedule.order:
        before = found[-1][-1] if found else None
        together = (
            before is not None
            and schedule.stages[before] == schedule.stages[task]
            and macro_ops[before][-1] < macro_ops[task][-1]
        )
        if together:
            found[-1].append(task)
        else:
            found.append([task])
    return found


def described(pipeline: LoopPipeline, schedule: Schedule) -> str:
    """A schedule in a line."""
    slots = [f"{each.slots} × {each.slot}" for each in pipeline.ahead if each.slot]
    registers = sum(not each.slot for each in pipeline.ahead)
    stored = len(pipeline.stored)
    return "; ".join(
        [
            f"{max(schedule.stages) + 1} stages",
            f"{schedule.interval} cycles an iteration, bound by {bound_of(pipeline, schedule)}",
            f"{' + '.join(slots) or 'no'} bytes of shared memory",
            *([f"{stored} loads stored by the threads"] if stored else []),
            *([f"{registers} loads ahead in registers"] if registers else []),
            *([] if schedule.proven else ["not proven to be the best"]),
        ]
    )
