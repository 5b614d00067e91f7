"""The passes of the AMD stages, in order."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tritonx.backends.amd.buffer_accesses import UseBufferAccesses
from tritonx.backends.amd.buffer_atomics import PointersForBufferAtomics
from tritonx.backends.amd.carried_pointers import CarryScalarPointers
from tritonx.backends.amd.matrix_units import WaveMatrixCore, WaveMatrixMultiply
from tritonx.backends.amd.options import AmdOptions
from tritonx.backends.amd.targets import processor
from tritonx.backends.api import Options, Target
from tritonx.conversion.tile_to_gpu.pipeline import layout_pipeline, memory_pipeline
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.transforms.gpu.recompute_narrow import RecomputeNarrow
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.pipeline import tile_pipeline


def gpu_target(target: Target, options: Options) -> GpuTarget:
    """The target as the layout stages see it; f16 accumulators are widened around the matrix instruction."""
    chip = processor(target)
    assert isinstance(options, AmdOptions)
    is_cdna = chip.matrix == "mfma"
    return GpuTarget(
        str(target),
        target.warp_size,
        options.num_warps,
        units=(
            WaveMatrixCore(chip.matrix_version, options.matrix_instr_nonkdim, options.kpack)
            if is_cdna
            else WaveMatrixMultiply(chip.matrix_version),
        ),
        shared_memory=chip.shared_bytes,
        options=(("matrix_instr_nonkdim", options.matrix_instr_nonkdim), ("kpack", options.kpack)) if is_cdna else (),
    )


def tile_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    return tile_pipeline(descriptors_to_pointers=True)


def layout_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    return (*layout_pipeline(gpu_target(target, options)), RecomputeNarrow())


def memory_passes(target: Target, options: Options) -> tuple[ModulePass, ...]:
    buffers = (CarryScalarPointers(), UseBufferAccesses(), DeadCodeElimination())
    return (PointersForBufferAtomics(), *buffers, *memory_pipeline(gpu_target(target, options)))
