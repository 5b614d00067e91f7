"""AMD GPUs: AMDGCN by LLVM, code objects by the built-in linker or ld.lld, launches through HIP."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tritonx.backends.amd.options import IGNORED_HINTS, SCHEDULE_HINTS, AmdOptions, IgnoredHint, hints_of
from tritonx.backends.api import (
    API_VERSION,
    STABLE_VERSION,
    Backend,
    Candidate,
    Driver,
    Options,
    Shortage,
    Stage,
    Target,
)
from tritonx.runtime.devices.pytorch import built_for
from tritonx.runtime.errors import TooManyThreads
from tritonx.runtime.submodules import loading

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.backends.embedding import Dialect
    from tritonx.conversion.tile_to_gpu.target import GpuTarget


class AmdBackend(Backend):
    """Targets ``hip:gfx90a`` to ``hip:gfx1201``; stages ttir, ttgir, llir, amdgcn, hsaco."""

    name = "hip"
    api_version, stable_version = API_VERSION, STABLE_VERSION
    triton_name = "amd"
    options_type = AmdOptions
    binary_stage = "hsaco"
    dlpack_device_types = frozenset({10, 11})
    torch_device_types = frozenset({"cuda"})
    array_interfaces = ("__cuda_array_interface__",)
    visible_devices = "HIP_VISIBLE_DEVICES"
    cpp_handles = ("hipDeviceptr_t", "TDMDescriptor")
    language_module = "tritonx.backends.amd.language"
    """What ``tl.extra.hip`` is."""

    families: ClassVar[Mapping[str, frozenset[int | str]]] = {
        "cdna3": frozenset({"gfx942"}),
        "cdna4": frozenset({"gfx950"}),
    }
    """What ``tl.target_info.is_hip_<family>`` asks."""

    matrix_peaks: ClassVar[Mapping[str, tuple[float, float | None]]] = {
        "gfx90a": (1024, 3.2e12),
        "gfx942": (4096, 5.3e12),
        "gfx950": (8192, 8.0e12),
    }
    """Dense rates of the vendor's data sheets: MI250X (int8), MI300X, MI355X."""

    _driver: ClassVar[Driver | None] = None

    def serves(self, location: tuple[str, object, int]) -> bool:
        """PyTorch and CuPy say CUDA for AMD GPUs too: what they were built for decides."""
        protocol = location[0]
        ours = protocol not in ("torch", "interface") or bool(built_for("hip"))
        if protocol == "interface" and (cupy := sys.modules.get("cupy")) is not None:
            ours = bool(cupy.cuda.runtime.is_hip)
        return ours and super().serves(location)

    def parse_target(self, arch: str) -> Target:
        from tritonx.backends.amd.targets import parse

        return parse(arch)

    def known_targets(self) -> tuple[Target, ...]:
        from tritonx.backends.amd.targets import PROCESSORS

        return tuple(Target("hip", p.name, p.wave) for p in PROCESSORS.values())

    def default_options(self, target: Target) -> Mapping[str, object]:
        from tritonx.backends.amd.knobs import knobs
        from tritonx.backends.amd.targets import processor
        from tritonx.runtime.knobs import compilation

        copies, pingpong = knobs.use_async_copy, knobs.use_block_pingpong
        return {
            "pipeline": knobs.pipeline,
            "block_pingpong": target.arch in ("gfx942", "gfx950") if pingpong is None else pingpong,
            "buffer_ops": knobs.use_buffer_ops,
            "async_copy": processor(target).reads_transposed if copies is None else copies,
            "line_info": not compilation.disable_line_info,
        }

    def parse_options(self, target: Target, given: Mapping[str, object]) -> Options:
        options = super().parse_options(target, given)
        if (threads := options.num_warps * target.warp_size) > 1024:
            raise TooManyThreads(threads, 1024)
        if options.num_ctas != 1:
            raise ValueError(f"num_ctas > 1 not supported: {target} has no clusters, num_ctas = {options.num_ctas}")
        assert isinstance(options, AmdOptions)
        return _checked(target, options)

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        from tritonx.backends.amd.pipeline import stages

        return stages(target, options)

    def gpu_target(self, target: Target, options: Options) -> GpuTarget:
        from tritonx.backends.amd.layout_target import gpu_target

        return gpu_target(target, options)

    def propose(self, target: Target, candidate: Candidate) -> Sequence[Mapping[str, object]]:
        """Half and twice the warps, a stage more and less."""
        assert isinstance(candidate.options, AmdOptions)
        return candidate.options.neighbours(1024 // target.warp_size)

    def foresee(self, target: Target, options: Options, module: ModuleOp) -> Shortage | None:
        from tritonx.backends.amd.targets import processor
        from tritonx.conversion.tile_to_gpu.foresee import Room, shortage

        chip, threads = processor(target), target.warp_size * options.num_warps
        return shortage(Room(chip.shared_bytes, chip.lane_registers(threads)), module)

    def pointer_specialization(self, nbytes: int) -> tuple[str, ...]:
        """Allocations of up to 16 bytes less than 2 GiB can be addressed with 32-bit offsets by buffer instructions,
        from a pointer to any of their bytes: 16 offsets are those of masked lanes."""
        return ("S",) if nbytes <= (1 << 31) - 16 else ()

    def extern_functions(self, target: Target) -> Mapping[str, Any]:
        from tritonx.backends.amd.ocml_names import FUNCTIONS

        return FUNCTIONS

    def has_device(self) -> bool | None:
        """Not where Linux has no compute driver for them; whether HIP can use what there is only HIP can tell."""
        nodes = Path("/dev/kfd"), Path("/dev/dxg")  # the second is Windows' for its Linux
        return False if sys.platform == "linux" and not any(node.exists() for node in nodes) else None

    def c_dialect(self) -> Dialect:
        from tritonx.backends.amd.launch.embedding import DIALECT

        return DIALECT

    def driver(self) -> Driver:
        if AmdBackend._driver is None:
            from tritonx.backends.amd.driver import AmdDriver

            AmdBackend._driver = AmdDriver()
        return AmdBackend._driver


def _checked(target: Target, options: AmdOptions) -> AmdOptions:
    """The options that choose instructions, as the target has them; ``ValueError`` for what it has not."""
    sides = (0, 16, 32) if target.warp_size == 64 else (0, 16)
    if options.matrix_instr_nonkdim not in sides:
        known = ", ".join(map(str, sides))
        raise ValueError(f"matrix_instr_nonkdim is one of {known} on {target}, got {options.matrix_instr_nonkdim}")
    _check_hints(target, options)
    if options.kpack not in (1, 2):
        raise ValueError(f"kpack is 1 or 2, got {options.kpack}")
    if target.arch == "gfx942":
        allowed = (*options.allowed_dot_input_precisions, "tf32")
        options = replace(options, allowed_dot_input_precisions=allowed, default_dot_input_precision="tf32")
    if options.kpack != 1 and target.arch == "gfx950":
        warnings.warn(f"kpack is deprecated on {target}: {options.kpack} is taken for 1", stacklevel=3)
        return replace(options, kpack=1)
    return options


def _check_hints(target: Target, options: AmdOptions) -> None:
    """``ValueError`` for a hint that no release has; a warning for one that changes nothing."""
    for hint in sorted(hints_of(options)):
        reason = None
        if hint in IGNORED_HINTS:
            reason = "Triton 3.6 and 3.9 do not read it either"
        elif hint not in SCHEDULE_HINTS:
            known = ", ".join(filter(None, SCHEDULE_HINTS))
            raise ValueError(f"schedule_hint is a list of {known}, got '{hint}'")
        elif hint == "attention" and not options.async_copy:
            reason = f"on {target} operands are not copied to shared memory past the registers (async_copy)"
        elif hint == "attention" and not options.block_pingpong:
            reason = "block_pingpong is off"
        elif hint == "attention" and options.num_warps != 8:
            reason = f"{options.num_warps} warps are no two groups of 4"
        if reason is not None:
            warnings.warn(f"schedule_hint='{hint}' changes nothing: {reason}", IgnoredHint, stacklevel=4)


BACKEND = AmdBackend()

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = loading(__name__, ("compiler", "driver"))
