"""What layout assignment knows of a compute capability."""

from __future__ import annotations

from tritonx.backends.api import Options, Target
from tritonx.backends.nvidia.costs import CHIPS, costs_of
from tritonx.backends.nvidia.emit.vector_atomics import summed_types
from tritonx.backends.nvidia.matrix_units import WarpGroupUnit, WarpMatrixUnit
from tritonx.backends.nvidia.options import NvidiaOptions
from tritonx.backends.nvidia.targets import MAX_REGISTERS, capability
from tritonx.conversion.tile_to_gpu.target import GpuTarget


def has_warp_groups(target: Target, options: Options) -> bool:
    """Whether products are given to warp groups, and blocks to the copy engine: on 9.0, where it is asked for."""
    asked = isinstance(options, NvidiaOptions) and (options.warp_group_dots or options.pipeline)
    return asked and int(target.arch) == 90


def gpu_target(target: Target, options: Options) -> GpuTarget:
    """The target as the layout stages see it."""
    number = int(target.arch)
    groups = has_warp_groups(target, options)
    return GpuTarget(
        str(target),
        target.warp_size,
        options.num_warps,
        options.num_ctas,
        units=(WarpMatrixUnit(number), *([WarpGroupUnit()] if groups else [])),
        summed=summed_types(number),
        shared_memory=capability(target).shared_bytes,
        options=_stated(number, groups=groups),
        num_stages=options.num_stages,
        costs=costs_of(number),
        pipelined=is_pipelined(target, options),
        block_copies="ttng" if copies_blocks(target, options) else "",
        named_registers=MAX_REGISTERS + 1,
        register_limits=True,
        matrix_loads=True,  # from 7.5 on
        matrix_stores=number >= 90,
        residency=capability(target).residency,
        chip=CHIPS.get(capability(target).number),
    )


def _stated(number: int, *, groups: bool) -> tuple[tuple[str, bool], ...]:
    """What a text must say to be given to the same units."""
    if number != 90:
        return ()
    return (("warp_group_dots", True),) if groups else (("pipeline", False),)


def is_pipelined(target: Target, options: Options) -> bool:
    """Whether loops with products are pipelined: copies that no thread waits for are there from 8.0 on."""
    asked = isinstance(options, NvidiaOptions) and options.pipeline
    return asked and int(target.arch) >= 80 and options.num_ctas == 1


def copies_blocks(target: Target, options: Options) -> bool:
    """Whether blocks of descriptors that a kernel is given are copied by the unit of 9.0. Threads access what is
    checked."""
    return has_warp_groups(target, options) and options.num_ctas == 1 and not checks_accesses(options)


def checks_accesses(options: Options) -> bool:
    """Whether accesses are checked. A check reduces over all lanes of a tile, which a cluster does not do."""
    return options.check_bounds and options.num_ctas == 1


def makes_maps_at_launch(target: Target, options: Options) -> bool:
    """Whether the launch makes the tensor maps of descriptors that a kernel makes of its arguments alone."""
    return copies_blocks(target, options) and isinstance(options, NvidiaOptions) and options.launch_maps


def describes_loads(target: Target, options: Options) -> bool:
    """Whether that unit brings what is loaded through regular pointers as well."""
    if not copies_blocks(target, options) or not isinstance(options, NvidiaOptions):
        return False
    return options.launch_maps if options.describe_loads is None else options.describe_loads


def describes_at_launch(target: Target, options: Options) -> bool:
    """Whether it does where the launch makes the tensor maps, and nowhere else."""
    asked = isinstance(options, NvidiaOptions) and options.describe_loads is not None
    return makes_maps_at_launch(target, options) and not asked
