"""The passes of the NVIDIA stages, in order."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.backends.api import Options, Target
from tritonx.backends.nvidia.matrix_units import WarpMatrixUnit
from tritonx.backends.nvidia.targets import capability
from tritonx.conversion.tile_to_gpu.pipeline import layout_pipeline, memory_pipeline
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.transforms.gpu.recompute_narrow import RecomputeNarrow
from tritonx.transforms.tile.pipeline import tile_pipeline


def gpu_target(target: Target, options: Options) -> GpuTarget:
    """The target as the layout stages see it."""
    return GpuTarget(
        str(target),
        target.warp_size,
        options.num_warps,
        options.num_ctas,
        units=(WarpMatrixUnit(int(target.arch)),),
        shared_memory=capability(target).shared_bytes,
    )


def tile_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    return tile_pipeline(descriptors_to_pointers=True)


def layout_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    return (*layout_pipeline(gpu_target(target, options)), RecomputeNarrow())


def memory_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    """From 7.5 on there are matrix loads, from 9.0 on matrix stores."""
    gpu = gpu_target(target, options)
    return memory_pipeline(gpu, matrix_loads=True, matrix_stores=int(target.arch) >= 90)
