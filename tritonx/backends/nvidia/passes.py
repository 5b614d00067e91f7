"""The passes of the NVIDIA stages, in order: all of them stand here, and nowhere else."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.backends.api import Options, Target
from tritonx.backends.nvidia.copy_blocks import CopyBlocks
from tritonx.backends.nvidia.encode_descriptors import EncodeDescriptors
from tritonx.backends.nvidia.fence_stores import FenceStores
from tritonx.backends.nvidia.layout_target import (
    copies_blocks,
    describes_at_launch,
    describes_loads,
    gpu_target,
    is_pipelined,
    makes_maps_at_launch,
)
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.backends.nvidia.targets import MAX_REGISTERS, capability
from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.conversion.tile_to_gpu.transpose_dots import TransposeDots
from tritonx.transforms.gpu.accumulate_in_threads import AccumulateInThreads
from tritonx.transforms.gpu.add_varying_first import AddVaryingFirst
from tritonx.transforms.gpu.allocate_global_scratch import AllocateGlobalScratch
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory
from tritonx.transforms.gpu.allocate_warp_groups import AllocateWarpGroups
from tritonx.transforms.gpu.branch_selects import BranchSelects
from tritonx.transforms.gpu.buffer_values import BufferValues
from tritonx.transforms.gpu.carry_scalars import CarryScalars
from tritonx.transforms.gpu.convert_by_matrices import ConvertByMatrices
from tritonx.transforms.gpu.decompose_dots import DecomposeDots
from tritonx.transforms.gpu.expand_pipeline import ExpandPipeline
from tritonx.transforms.gpu.fuse_operand_loads import FuseOperandLoads
from tritonx.transforms.gpu.insert_barriers import InsertBarriers
from tritonx.transforms.gpu.insert_fences import InsertFences
from tritonx.transforms.gpu.late_store_waits import LateStoreWaits
from tritonx.transforms.gpu.make_room import MakeRoom
from tritonx.transforms.gpu.map_at_launch import MapAtLaunch
from tritonx.transforms.gpu.multiply_in_parts import MultiplyInParts
from tritonx.transforms.gpu.recompute_narrow import RecomputeNarrow
from tritonx.transforms.gpu.recompute_offsets import RecomputeOffsets
from tritonx.transforms.gpu.reduce_together import ReduceTogether
from tritonx.transforms.gpu.schedule_loops import ScheduleLoops
from tritonx.transforms.gpu.share_barriers import ShareBarriers
from tritonx.transforms.gpu.split_dots import SplitDots
from tritonx.transforms.gpu.stage_dot_operands import StageDotOperands
from tritonx.transforms.gpu.start_products import StartProducts
from tritonx.transforms.gpu.unroll_loads import UnrollLoads
from tritonx.transforms.gpu.view_transposed import ViewTransposed
from tritonx.transforms.gpu.wait_for_products import WaitForProducts
from tritonx.transforms.gpu.widen_float8 import WidenFloat8
from tritonx.transforms.tile.combine import Combine
from tritonx.transforms.tile.cse import CommonSubexpressionElimination
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.decompose_scaled_dots import DecomposeScaledDots
from tritonx.transforms.tile.describe_loads import DescribeLoads
from tritonx.transforms.tile.flatten_loops import FlattenLoops
from tritonx.transforms.tile.fold import Fold
from tritonx.transforms.tile.hoist_descriptors import HoistDescriptors
from tritonx.transforms.tile.inline import Inline
from tritonx.transforms.tile.licm import LoopInvariantCodeMotion
from tritonx.transforms.tile.lift_control_flow import LiftControlFlow
from tritonx.transforms.tile.reorder_broadcast import ReorderBroadcast
from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors
from tritonx.transforms.tile.simplify_control_flow import SimplifyControlFlow
from tritonx.transforms.tile.unroll import Unroll


def tile_passes(*, copied_bytes: int = 0, at_launch: bool = False, clusters: bool = False) -> tuple[ModulePass, ...]:
    """On `tt`: `transforms.tile.pipeline.TILE_PIPELINE`, pass by pass; descriptors of blocks of up to ``copied_bytes``
    may stay, and are made as early as they can be where the launch makes their maps. In clusters none stays."""
    return (
        Inline(),
        LiftControlFlow(),
        *([HoistDescriptors()] if at_launch else []),
        RewriteDescriptors(keep_copied=copied_bytes > 0, block_bytes=copied_bytes, host_rules=clusters),
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
    """`tt` → `ttg`: layouts and what they allow. Stores for a unit that reads shared memory itself are fenced."""
    gpu, pipelined, groups = gpu_target(target, options), is_pipelined(target, options), int(target.arch) == 90
    copied, described, at_launch = (f(target, options) for f in (copies_blocks, describes_loads, describes_at_launch))
    return (
        *([DescribeLoads(gpu.shared_memory, at_launch, gpu.num_stages, gpu.num_warps)] if described else []),
        *([SimplifyControlFlow()] if described else []),
        *([DeadCodeElimination()] if described else []),
        *([FlattenLoops()] if pipelined else []),
        DecomposeDots(matrix_types=" ".join(sorted(gpu.matrix_types))),
        SplitDots(gpu.shared_memory),
        *([TransposeDots(gpu)] if copied else []),
        AssignLayouts(gpu),
        AccumulateInThreads(),
        UnrollLoads(limit=True),
        StageDotOperands(gpu.shared_memory, registers=MAX_REGISTERS + 1),
        *([StartProducts()] if pipelined and groups else []),
        *([ViewTransposed()] if copied else []),
        *([EncodeDescriptors()] if copied else []),
        *([CarryScalars()] if pipelined else []),
        *([ScheduleLoops(gpu)] if pipelined else []),
        *([BufferValues(gpu.shared_memory)] if pipelined else []),
        *([ExpandPipeline()] if pipelined else []),
        *([Fold()] if pipelined else []),
        AddVaryingFirst(MAX_REGISTERS),
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
        RecomputeNarrow(registers=capability(target).registers),
        *([MapAtLaunch()] if makes_maps_at_launch(target, options) else []),
        *([CopyBlocks()] if copied else []),
        *([MultiplyInParts()] if pipelined and groups else []),
        *([WaitForProducts()] if pipelined and groups else []),
        *([FenceStores()] if groups else []),
        *([LateStoreWaits(gpu.shared_memory)] if copied else []),
        RecomputeOffsets(MAX_REGISTERS),
    )


def memory_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    """What any `ttg`, ours or a file's, needs before emission: ops that a chip has, offsets in shared memory and
    barriers. From 7.5 on there are matrix loads, from 9.0 on matrix stores and the asynchronous proxy."""
    gpu, recent = gpu_target(target, options), int(target.arch) >= 90
    most = options.maxnreg if isinstance(options, NvidiaOptions) else None
    return (
        AllocateWarpGroups(capability(target).registers, limit=most),
        BranchSelects(),
        WidenFloat8(),
        ReduceTogether(gpu.shared_memory),
        ShareBarriers(gpu.shared_memory, matrix_loads=True, matrix_stores=recent),
        ConvertByMatrices(loads=True, stores=recent),
        MakeRoom(gpu.shared_memory),
        FuseOperandLoads(),
        AllocateSharedMemory(gpu.shared_memory),
        AllocateGlobalScratch(),
        *([InsertFences()] if recent else []),
        InsertBarriers(),
    )
