"""What layout assignment knows of a processor."""

from __future__ import annotations

from tritonx.backends.amd.costs import CHIPS, costs_of
from tritonx.backends.amd.matrix_units import WaveMatrixCore, WaveMatrixMultiply
from tritonx.backends.amd.options import AmdOptions
from tritonx.backends.amd.passes.pingpong_clusters import GROUP
from tritonx.backends.amd.targets import SWAPPED_LANES, processor
from tritonx.backends.api import Options, Target
from tritonx.conversion.tile_to_gpu.target import GpuTarget


def copied_widths(target: Target, options: Options) -> tuple[int, ...]:
    """Bytes of a lane that copies to the LDS may have; nothing where they are not asked for."""
    return processor(target).lane_bytes if isinstance(options, AmdOptions) and options.async_copy else ()


def alternates(target: Target, options: Options) -> bool:
    """Whether groups of warps are to alternate between memory and products, which is for CDNA."""
    return isinstance(options, AmdOptions) and options.block_pingpong and processor(target).matrix == "mfma"


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
        options=(
            ("matrix_instr_nonkdim", options.matrix_instr_nonkdim),
            ("kpack", options.kpack),
            ("async_copy", options.async_copy),
        )
        if is_cdna
        else (),
        num_stages=options.num_stages,
        costs=costs_of(
            chip, copies=options.async_copy, alternates=alternates(target, options) and options.num_warps == 2 * GROUP
        ),
        pipelined=options.pipeline,
        named_registers=chip.lane_registers(options.num_warps * target.warp_size),
        stores_results=True,
        swapped_lanes=SWAPPED_LANES if chip.swaps_rows else (),
        residency=chip.residency,
        chip=CHIPS.get(chip.name),
    )
