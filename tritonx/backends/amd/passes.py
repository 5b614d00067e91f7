"""The passes of the AMD stages, in order: all of them stand here, and nowhere else."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.backends.amd.buffer_accesses import UseBufferAccesses
from tritonx.backends.amd.buffer_atomics import PointersForBufferAtomics
from tritonx.backends.amd.carried_pointers import CarryScalarPointers
from tritonx.backends.amd.layout_target import copied_widths, gpu_target, is_pipelined
from tritonx.backends.amd.options import AmdOptions
from tritonx.backends.amd.targets import NAMED_REGISTERS, SHARED_REGISTERS
from tritonx.backends.api import Options, Target
from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.transforms.gpu.accumulate_in_threads import AccumulateInThreads
from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.buffer_values import BufferValues
from tritonx.transforms.gpu.carry_scalars import CarryScalars
from tritonx.transforms.gpu.decompose_dots import DecomposeDots
from tritonx.transforms.gpu.expand_pipeline import ExpandPipeline
from tritonx.transforms.gpu.fuse_operand_loads import FuseOperandLoads
from tritonx.transforms.gpu.insert_barriers import InsertBarriers
from tritonx.transforms.gpu.make_room import MakeRoom
from tritonx.transforms.gpu.order_copies import OrderCopies
from tritonx.transforms.gpu.recompute_narrow import RecomputeNarrow
from tritonx.transforms.gpu.reduce_together import ReduceTogether
from tritonx.transforms.gpu.schedule_loops import ScheduleLoops
from tritonx.transforms.gpu.share_barriers import ShareBarriers
from tritonx.transforms.gpu.split_dots import SplitDots
from tritonx.transforms.gpu.stage_dot_operands import StageDotOperands
from tritonx.transforms.gpu.unroll_loads import UnrollLoads
from tritonx.transforms.gpu.widen_float8 import WidenFloat8
from tritonx.transforms.tile.combine import Combine
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots
from tritonx.transforms.tile.flatten_loops import FlattenLoops
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.inline import Inline
from tritonx.transforms.tile.licm import LoopInvariantCodeMotion
from tritonx.transforms.tile.lift_control_flow import LiftControlFlow
from tritonx.transforms.tile.reorder_broadcast import ReorderBroadcast
from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors
from tritonx.transforms.tile.simplify_control_flow import SimplifyControlFlow
from tritonx.transforms.tile.unroll import Unroll


def tile_passes() -> tuple[ModulePass, ...]:
    """On `tt`: `transforms.tile.pipeline.TILE_PIPELINE`, pass by pass."""
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


def layout_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    """`tt` → `ttg`: layouts and what they allow."""
    gpu, pipelined, widths = gpu_target(target, options), is_pipelined(options), copied_widths(target, options)
    return (
        *([FlattenLoops()] if pipelined else []),
        DecomposeDots(matrix_types=" ".join(sorted(gpu.matrix_types))),
        SplitDots(gpu.shared_memory),
        AssignLayouts(gpu),
        AccumulateInThreads(),
        UnrollLoads(),
        StageDotOperands(gpu.shared_memory, registers=NAMED_REGISTERS),
        *([CarryScalars()] if pipelined else []),
        *([ScheduleLoops(gpu)] if pipelined else []),
        *([BufferValues(gpu.shared_memory, copies=False, lane_bytes=widths)] if pipelined else []),
        *([ExpandPipeline()] if pipelined else []),
        *([OrderCopies(widths)] if pipelined and widths else []),
        *([Fold()] if pipelined else []),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
        RecomputeNarrow(registers=SHARED_REGISTERS),
    )


def memory_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    """What any `ttg`, ours or a file's, needs before emission: ops that a chip has, offsets in shared memory and
    barriers."""
    gpu, buffers = gpu_target(target, options), isinstance(options, AmdOptions) and options.buffer_ops
    return (
        PointersForBufferAtomics(),
        *([CarryScalarPointers()] if buffers else []),
        *([UseBufferAccesses()] if buffers else []),
        DeadCodeElimination(),
        WidenFloat8(),
        ReduceTogether(gpu.shared_memory),
        ShareBarriers(gpu.shared_memory),
        MakeRoom(gpu.shared_memory),
        FuseOperandLoads(),
        AllocateSharedMemory(gpu.shared_memory),
        AllocateGlobalScratch(),
        InsertBarriers(),
    )
