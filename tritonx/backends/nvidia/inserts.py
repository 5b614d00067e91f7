"""NVIDIA's own passes, and where each is in the list of every GPU (`tritonx.backends.gpu_passes`)."""

from __future__ import annotations

from collections.abc import Iterator

from tritonx.backends.api import Options, Target
from tritonx.backends.nvidia.layout_target import (
    copies_blocks,
    describes_at_launch,
    describes_loads,
    gpu_target,
    makes_maps_at_launch,
)
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.backends.nvidia.passes.allocate_tensor_memory import AllocateTensorMemory
from tritonx.backends.nvidia.passes.branch_selects import BranchSelects
from tritonx.backends.nvidia.passes.convert_by_matrices import ConvertByMatrices
from tritonx.backends.nvidia.passes.copy_blocks import CopyBlocks
from tritonx.backends.nvidia.passes.describe_loads import DescribeLoads
from tritonx.backends.nvidia.passes.encode_descriptors import EncodeDescriptors
from tritonx.backends.nvidia.passes.fence_stores import FenceStores
from tritonx.backends.nvidia.passes.hoist_descriptors import HoistDescriptors
from tritonx.backends.nvidia.passes.insert_fences import InsertFences
from tritonx.backends.nvidia.passes.late_store_waits import LateStoreWaits
from tritonx.backends.nvidia.passes.map_at_launch import MapAtLaunch
from tritonx.backends.nvidia.passes.multiply_in_parts import MultiplyInParts
from tritonx.backends.nvidia.passes.start_products import StartProducts
from tritonx.backends.nvidia.passes.transpose_dots import TransposeDots
from tritonx.backends.nvidia.passes.view_transposed import ViewTransposed
from tritonx.backends.nvidia.passes.wait_for_products import WaitForProducts
from tritonx.backends.nvidia.targets import MAX_REGISTERS, capability
from tritonx.transforms.gpu.allocate_warp_groups import AllocateWarpGroups
from tritonx.transforms.gpu.rematerialise import Rematerialise
from tritonx.transforms.pass_list import Insert
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.rewrite_descriptors import RewriteDescriptors
from tritonx.transforms.tile.simplify_control_flow import SimplifyControlFlow


def on_tiles(target: Target, options: Options) -> Iterator[Insert]:
    """Descriptors whose blocks the unit of 9.0 copies stay, of up to as many bytes a block as there are; in clusters
    none."""
    block_bytes = capability(target).shared_bytes if copies_blocks(target, options) else 0
    kept = RewriteDescriptors(keep_copied=block_bytes > 0, block_bytes=block_bytes, host_rules=options.num_ctas > 1)
    yield Insert(kept, instead="rewrite-descriptors")
    if makes_maps_at_launch(target, options):
        yield Insert(HoistDescriptors(), before="rewrite-descriptors")


def on_layouts(target: Target, options: Options) -> Iterator[Insert]:
    """In the order in which they run. Four are conditional: what pipelines need of products, loads through pointers
    that the copy engine brings, products that are transposed for it, and tensor maps that the launch makes."""
    gpu, registers = gpu_target(target, options), capability(target).registers
    if describes_loads(target, options):
        at_launch = describes_at_launch(target, options)
        described = DescribeLoads(gpu.shared_memory, at_launch, gpu.num_stages, gpu.num_warps)
        yield Insert(described, before="flatten-loops")
        yield Insert(SimplifyControlFlow(), before="flatten-loops")
        yield Insert(DeadCodeElimination(), before="flatten-loops")
    if copies_blocks(target, options):
        yield Insert(TransposeDots(gpu), before="assign-layouts")
    if gpu.pipelined:
        yield Insert(StartProducts(), after="stage-dot-operands")
    yield Insert(ViewTransposed(), after="stage-dot-operands")
    yield Insert(EncodeDescriptors(), after="stage-dot-operands")
    if makes_maps_at_launch(target, options):
        yield Insert(MapAtLaunch(), after="dce")
    yield Insert(CopyBlocks(), after="dce")
    if gpu.pipelined:
        yield Insert(MultiplyInParts(), after="dce")
        yield Insert(WaitForProducts(), after="dce")
    yield Insert(FenceStores(), after="dce")
    yield Insert(LateStoreWaits(gpu.shared_memory), after="dce")
    yield Insert(Rematerialise(MAX_REGISTERS, registers, working=gpu.costs.working), after="dce")
    limit = options.maxnreg if isinstance(options, NvidiaOptions) else None
    yield Insert(AllocateWarpGroups(registers, limit=limit), before="widen-float8")
    yield Insert(BranchSelects(), before="widen-float8")
    yield Insert(ConvertByMatrices(gpu.matrix_loads, gpu.matrix_stores), after="share-barriers")
    yield Insert(AllocateTensorMemory(), after="allocate-shared-memory")
    yield Insert(InsertFences(), before="insert-barriers")
