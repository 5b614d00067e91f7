"""The passes that any GPU's kernels need, in order: what a backend outside starts from (`portable_stages`).

`nvidia/passes.py` and `amd/passes.py` are what two chips make of it."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.transforms.gpu.accumulate_in_threads import AccumulateInThreads
from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
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
from tritonx.transforms.tile.combine import Combine
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.inline import Inline
from tritonx.transforms.tile.licm import LoopInvariantCodeMotion
from tritonx.transforms.tile.lift_control_flow import LiftControlFlow
from tritonx.transforms.tile.reorder_broadcast import ReorderBroadcast
from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors
from tritonx.transforms.tile.simplify_control_flow import SimplifyControlFlow
from tritonx.transforms.tile.unroll import Unroll


def tile_passes() -> tuple[ModulePass, ...]:
    """On `tt`: `transforms.tile.pipeline.TILE_PIPELINE`, pass by pass.

    >>> tile_passes()[0].name
    'inline'
    """
    return (
        Inline(),
        LiftControlFlow(),
        RewriteDescriptors(),
        DecomposeScaledDots(),
        Fold(),
        SimplifyControlFlow(),
        Unroll(),
        Combine(),
        ReorderBroadcast(),
        Fold(),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
        LoopInvariantCodeMotion(),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
    )


def layout_passes(gpu: GpuTarget) -> tuple[ModulePass, ...]:
    """`tt` → `ttg`: layouts and what they allow, for a chip of which nothing is known beside ``gpu``.

    >>> from tritonx.backends.gpu import GpuTarget
    >>> [one.name for one in layout_passes(GpuTarget("mine"))][:2]
    ['decompose-dots', 'split-dots']
    """
    return (
        DecomposeDots(matrix_types=" ".join(sorted(gpu.matrix_types))),
        SplitDots(gpu.shared_memory),
        AssignLayouts(gpu),
        AccumulateInThreads(),
        UnrollLoads(limit=False),
        StageDotOperands(gpu.shared_memory, registers=gpu.costs.thread_registers),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
    )


def memory_passes(gpu: GpuTarget) -> tuple[ModulePass, ...]:
    """What any `ttg`, ours or a file's, needs before emission: offsets in local memory and barriers.

    >>> from tritonx.backends.gpu import GpuTarget
    >>> memory_passes(GpuTarget("mine"))[-1].name
    'insert-barriers'
    """
    return (
        WidenFloat8(),
        ReduceTogether(gpu.shared_memory),
        ShareBarriers(gpu.shared_memory),
        MakeRoom(gpu.shared_memory),
        FuseOperandLoads(),
        AllocateSharedMemory(gpu.shared_memory),
        AllocateGlobalScratch(),
        InsertBarriers(),
    )
