"""The passes of every GPU, in order: one list, into which each backend inserts its own.

A backend says what its chip is (`GpuTarget`), and which passes it adds by `Insert`, in front of, behind or instead of a
pass that it names: NVIDIA's in `nvidia/inserts.py`, AMD's in `amd/inserts.py`, an outside package's where it calls
`portable_stages`. A pass whose ops a module lacks leaves it as it is (`Contract.on`, which a test holds it to), so most
need no condition. What is conditional:

- the passes of `PIPELINING`, for targets that run the copies of loops ahead (`GpuTarget.pipelined`);
- `check-bounds`, where accesses are to be checked (`checked`);
- `drop-records`, unless regions are measured (`recorded`);
- what a backend's inserts leave out for one of its options, each in its own list;
- what a module no longer needs: one that is `ttg` already gets the passes of `memory_passes` alone, one whose shared
  memory is placed those of them that say so (`Contract.placed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.passes import ModulePass

from tritonx.backends.api import PassStage
from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.conversion.tile_to_gpu.gluon_infer_coalesced_encodings import GluonInferCoalescedEncodings
from tritonx.conversion.tile_to_gpu.pipeline import gpu_stage, tile_stage
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.transforms.gluon.gluon_resolve_auto_encodings import GluonResolveAutoEncodings
from tritonx.transforms.gpu.accumulate_in_threads import AccumulateInThreads
from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.carry_scalars import CarryScalars
from tritonx.transforms.gpu.decompose_dots import DecomposeDots
from tritonx.transforms.gpu.fuse_operand_loads import FuseOperandLoads
from tritonx.transforms.gpu.insert_barriers import InsertBarriers
from tritonx.transforms.gpu.make_room import MakeRoom
from tritonx.transforms.gpu.reduce_together import ReduceTogether
from tritonx.transforms.gpu.share_barriers import ShareBarriers
from tritonx.transforms.gpu.split_dots import SplitDots
from tritonx.transforms.gpu.stage_dot_operands import StageDotOperands
from tritonx.transforms.gpu.unroll_loads import UnrollLoads
from tritonx.transforms.gpu.widen_float8 import WidenFloat8
from tritonx.transforms.pass_list import Insert, by_list, inserted
from tritonx.transforms.pipelining.buffer_values import BufferValues
from tritonx.transforms.pipelining.expand_pipeline import ExpandPipeline
from tritonx.transforms.pipelining.schedule_loops import ScheduleLoops
from tritonx.transforms.tile.check_bounds import CheckBounds
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots
from tritonx.transforms.tile.drop_records import DropRecords
from tritonx.transforms.tile.flatten_loops import FlattenLoops
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.licm import LoopInvariantCodeMotion
from tritonx.transforms.tile.pipeline import TILE_PIPELINE

Passes = tuple[ModulePass, ...]

PIPELINING = frozenset(
    ("flatten-loops", "licm", "carry-scalars", "schedule-loops", "buffer-values", "expand-pipeline", "fold")
)
"""Of `layout_passes`, those for loops whose copies run ahead of what needs them."""


def tile_passes(new: Sequence[Insert] = (), *, checked: bool = False, recorded: bool = False) -> Passes:
    """On `tt`: `TILE_PIPELINE`, with ``new`` passes, with one that checks accesses, all of which are through pointers
    behind `rewrite-descriptors`, and one that drops records of regions.

    >>> tile_passes()[1].name
    'drop-records'
    """
    checks = [Insert(CheckBounds(), after="rewrite-descriptors")] if checked else []
    drops = [] if recorded else [Insert(DropRecords(), after="inline")]
    return inserted(TILE_PIPELINE, [*drops, *new, *checks])


def layout_passes(gpu: GpuTarget, new: Sequence[Insert] = ()) -> Passes:
    """`tt` → `ttg`: layouts and what they allow, with ``new`` passes.

    >>> from tritonx.backends.gpu import GpuTarget
    >>> [one.name for one in layout_passes(GpuTarget("mine"))][:2]
    ['decompose-dots', 'split-dots']
    """
    memory, costs = gpu.shared_memory, gpu.costs
    every = (
        FlattenLoops(),
        LoopInvariantCodeMotion(hoist_loads=False, hoist_divisions=True),
        DecomposeDots(matrix_types=" ".join(sorted(gpu.matrix_types))),
        SplitDots(memory),
        AssignLayouts(gpu),
        AccumulateInThreads(),
        UnrollLoads(
            beside=costs.streaming, addresses=costs.addresses, widening=costs.widening, limit=gpu.register_limits
        ),
        StageDotOperands(memory, gpu.named_registers or costs.thread_registers),
        CarryScalars(),
        ScheduleLoops(gpu),
        BufferValues(
            memory,
            bool(costs.copy_bytes),
            costs.lane_bytes,
            costs.registers or 0,
            costs.usual,
            costs.alternating_side,
            gpu.block_copies,
        ),
        ExpandPipeline(),
        Fold(),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
    )
    if gpu.pipelined:
        return inserted(every, new)
    left_out = [one for one in every if one.name in PIPELINING]
    kept = [insert for insert in new if insert.instead is None or insert.anchor not in PIPELINING]
    return tuple(one for one in inserted(every, kept) if not any(one is each for each in left_out))


def memory_passes(gpu: GpuTarget, new: Sequence[Insert] = ()) -> Passes:
    """What any `ttg`, ours or a file's, needs before emission: offsets in shared memory and barriers, with ``new``
    passes.

    >>> from tritonx.backends.gpu import GpuTarget
    >>> memory_passes(GpuTarget("mine"))[-1].name
    'insert-barriers'
    """
    every = (
        WidenFloat8(),
        ReduceTogether(gpu.shared_memory, gpu.costs.joined),
        ShareBarriers(gpu.shared_memory, gpu.matrix_loads, gpu.matrix_stores),
        MakeRoom(gpu.shared_memory),
        FuseOperandLoads(),
        AllocateSharedMemory(gpu.shared_memory),
        AllocateGlobalScratch(),
        InsertBarriers(),
    )
    return inserted(every, new)


def gpu_passes(
    gpu: GpuTarget,
    on_tiles: Sequence[Insert] = (),
    on_layouts: Sequence[Insert] = (),
    *,
    checked: bool = False,
    recorded: bool = False,
) -> tuple[Passes, Passes, Passes]:
    """The three lists, one behind the other, with a backend's own passes ``on_tiles`` and ``on_layouts``. Raises
    ``ValueError`` where one of them names a pass that there is not. Products that a unit multiplies with their scales
    are not decomposed."""
    layouts, memory = by_list((layout_passes(replace(gpu, pipelined=True)), memory_passes(gpu)), on_layouts)
    formats, instructions = gpu.scaled_products
    scales = Insert(DecomposeScaledDots(formats, instructions), instead="decompose-scaled-dots")
    tiles = tile_passes((scales, *on_tiles), checked=checked, recorded=recorded)
    return tiles, layout_passes(gpu, layouts), memory_passes(gpu, memory)


def gpu_stages(
    gpu: GpuTarget,
    on_tiles: Sequence[Insert] = (),
    on_layouts: Sequence[Insert] = (),
    *,
    checked: bool = False,
    recorded: bool = False,
) -> tuple[PassStage, PassStage]:
    """`ttir` and `ttgir`, which run `gpu_passes`.

    >>> from tritonx.backends.gpu import Fold, GpuTarget, Insert
    >>> [stage.name for stage in gpu_stages(GpuTarget("mine"), on_layouts=[Insert(Fold(), after="assign-layouts")])]
    ['ttir', 'ttgir']
    """
    tiles, layouts, memory = gpu_passes(gpu, on_tiles, on_layouts, checked=checked, recorded=recorded)
    merging = (Fold(), CommonSubexpressionElimination(), DeadCodeElimination())
    finding = (GluonInferCoalescedEncodings(gpu), GluonResolveAutoEncodings(), *merging)
    return tile_stage(tiles), gpu_stage(layouts, memory, finding)
