"""The passes of the NVIDIA stages, in order."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.backends.api import Options, Target
from tritonx.backends.nvidia.fence_stores import FenceStores
from tritonx.backends.nvidia.matrix_units import WarpGroupUnit, WarpMatrixUnit
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.backends.nvidia.targets import capability
from tritonx.conversion.tile_to_gpu.pipeline import layout_pipeline, memory_pipeline
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.transforms.gpu.allocate_warp_groups import AllocateWarpGroups
from tritonx.transforms.gpu.recompute_narrow import RecomputeNarrow
from tritonx.transforms.tile.pipeline import tile_pipeline


def gpu_target(target: Target, options: Options) -> GpuTarget:
    """The target as the layout stages see it."""
    number = int(target.arch)
    groups = number == 90 and isinstance(options, NvidiaOptions) and options.warp_group_dots
    return GpuTarget(
        str(target),
        target.warp_size,
        options.num_warps,
        options.num_ctas,
        units=(WarpMatrixUnit(number), *([WarpGroupUnit()] if groups else [])),
        shared_memory=capability(target).shared_bytes,
        options=(("warp_group_dots", True),) if groups else (),
    )


def tile_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    return tile_pipeline(descriptors_to_pointers=True)


def layout_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    """What stores for the unit that reads shared memory itself is fenced where there is one."""
    fences = (FenceStores(),) if int(target.arch) == 90 else ()
    return (*layout_pipeline(gpu_target(target, options)), RecomputeNarrow(), *fences)


def memory_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    """From 7.5 on there are matrix loads, from 9.0 on matrix stores and the asynchronous proxy."""
    gpu, recent = gpu_target(target, options), int(target.arch) >= 90
    memory = memory_pipeline(gpu, matrix_loads=True, matrix_stores=recent, proxies=recent)
    return (AllocateWarpGroups(capability(target).registers), *memory)
