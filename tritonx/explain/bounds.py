"""What holds a kernel: the blocks that a multiprocessor has room for, and the resource that is busy longest.

The model is the one that loops are scheduled with (`analysis/unit_costs`): cycles of the matrix unit, of the threads,
of shared memory and of what global memory delivers, for one iteration of the busiest loop (or for the program, if it
has no loop). Blocks share these. What they do not share is the time that each of them waits: for what it loads, unless
that runs ahead, and for its own work, which it does one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tritonx.analysis.unit_costs import UnitCosts, is_asynchronous, product_cycles, thread_cycles
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import gpu_layout, scf, tile
from tritonx.explain.facts import AccessFacts, BoundFacts, OccupancyFacts, PlanFacts, WorkFacts
from tritonx.explain.places import Places
from tritonx.explain.trips import chain_of
from tritonx.ir.types import encoding_of, is_tensor, type_of
from tritonx.ir.walk import ops_in

MATRIX, THREADS, SHARED, MEMORY, LATENCY = "the matrix unit", "the threads", "shared memory", "memory", "latency"

_WARP = 32


@dataclass(frozen=True)
class Region:
    """The ops that are executed together: of an innermost loop, or of the program outside of loops."""

    op: Operation
    ops: tuple[Operation, ...]
    innermost: bool = True

    @property
    def name(self) -> str:
        return "loop" if isinstance(self.op, scf.ForOp | scf.WhileOp) else "program"


def occupancy_of(target: GpuTarget, threads: int, registers: int | None, shared: int) -> OccupancyFacts | None:
    """None where the target does not say what a multiprocessor holds."""
    if target.residency is None:
        return None
    found = target.residency.occupancy(threads, registers, shared)
    return OccupancyFacts(
        found.blocks, found.threads, found.most_threads, found.limiter, dict(found.limits), registers, shared
    )


def bound_of(
    module: ModuleOp,
    target: GpuTarget,
    accesses: Mapping[Operation, Sequence[AccessFacts]],
    plans: Sequence[PlanFacts],
    occupancy: OccupancyFacts | None,
    places: Places,
) -> BoundFacts | None:
    """What the region with the most work is held by; None of a module without work."""
    threads = target.num_warps * target.warp_size
    blocks = max(1, occupancy.blocks) if occupancy is not None else 1
    found = [(region, _work(region, target, accesses, threads)) for region in _regions(module) if region.innermost]
    if not found:
        return None
    region, work = max(found, key=lambda each: (each[0].name == "loop", max(each[1].values())))
    ahead = _ahead(plans, places.of(region.op))
    cycles = {name: blocks * each for name, each in work.items() if each}
    cycles[LATENCY] = _alone(work, target.costs, ahead)
    bound = max(cycles, key=lambda name: cycles[name])
    held = f"{cycles[bound]} cycles for {blocks} block{'s' * (blocks != 1)} on a multiprocessor"
    how = "one iteration of the busiest loop" if region.name == "loop" else "the program"
    return BoundFacts(bound, region.name, places.of(region.op), cycles, f"{how} is held by {bound}: {held}")


def work_of(
    module: ModuleOp,
    target: GpuTarget,
    accesses: Mapping[Operation, Sequence[AccessFacts]],
    plans: Sequence[PlanFacts],
    places: Places,
) -> tuple[WorkFacts, ...]:
    """What each loop without the loops in it, and the program without its loops, takes of a block."""
    found: list[WorkFacts] = []
    for region in _regions(module):
        work, place = _work(region, target, accesses, target.num_warps * target.warp_size), places.of(region.op)
        alone = _alone(work, target.costs, _ahead(plans, place))
        found.append(WorkFacts(region.name, place, work, alone, chain_of(region.op)))
    return tuple(found)


def _ahead(plans: Sequence[PlanFacts], place: int) -> int:
    """By how many iterations the loads of a loop run ahead."""
    return max((plan.stages - 1 for plan in plans if plan.interval and plan.place == place), default=0)


def _alone(work: Mapping[str, int], costs: UnitCosts, ahead: int) -> int:
    """The time that a block takes when nothing else runs: its work one after another, behind its loads unless these run
    `ahead` by so many iterations."""
    own = work[MATRIX] + work[THREADS] + work[SHARED]
    if not work[MEMORY]:
        return own
    arrives = costs.latency + work[MEMORY]
    return max(own, -(-arrives // ahead)) if ahead else own + arrives


def _regions(module: ModuleOp) -> list[Region]:
    loops = [op for op in ops_in(module) if isinstance(op, scf.ForOp | scf.WhileOp)]
    inside = {loop: {op for op in ops_in(loop) if op is not loop} for loop in loops}
    found: list[Region] = []
    for loop, ops in inside.items():
        deeper = set[Operation]().union(*(inside[one] for one in loops if one in ops))
        own = tuple(op for op in ops_in(loop) if op in ops and op not in deeper)
        found.append(Region(loop, own, innermost=not deeper))
    looped = {op for loop in loops for op in ops_in(loop)}
    functions = [op for op in module.ops if isinstance(op, tile.FuncOp)]
    return [*found, *(Region(f, tuple(op for op in ops_in(f) if op is not f and op not in looped)) for f in functions)]


def _work(
    region: Region, target: GpuTarget, accesses: Mapping[Operation, Sequence[AccessFacts]], threads: int
) -> dict[str, int]:
    """Cycles of one block on each resource."""
    costs, warps = target.costs, -(-threads // _WARP)
    work = {MATRIX: 0, THREADS: 0, SHARED: 0, MEMORY: 0}
    for op in region.ops:
        if _is_product(op):
            work[MATRIX if _by_unit(op) else THREADS] += _product_cycles(costs, op)
            continue
        for access in accesses.get(op, ()):
            if access.space in ("global", "both"):
                moved = access.tile_bytes
                if access.sectors and access.sectors_least:
                    moved = moved * access.sectors // access.sectors_least
                work[MEMORY] += -(-moved // costs.copied)
                work[THREADS] += -(-access.instructions * threads // costs.lanes)
            else:
                work[SHARED] += access.instructions * (access.wavefronts or 1) * warps
        if op not in accesses and not op.regions:
            work[THREADS] += thread_cycles(costs, op, threads)
    return work


def _is_product(op: Operation) -> bool:
    return isinstance(op, tile.DotOp | gpu_layout.LocalDotOp) or (is_asynchronous(op) and hasattr(op, "a"))


def _by_unit(op: Operation) -> bool:
    """Whether it is not the threads that multiply and add: their results are in a layout of blocks."""
    type_ = type_of(op.results[0])
    encoding = encoding_of(type_) if is_tensor(type_) else None
    return encoding is not None and "blocked" not in encoding.name


def _product_cycles(costs: UnitCosts, op: Operation) -> int:
    if _by_unit(op):
        return product_cycles(costs, op)
    return product_cycles(UnitCosts(lanes=costs.lanes), op)
