"""SPIR-V for OpenCL devices that share the host's memory: on a CPU, what the emitters for GPUs write is executed.

All targets have the same threads in a block. ``opencl:spirv`` has sub-groups of 16 as warps. ``opencl:items`` has warps
of one lane, 16 for each that a launch asks for, so that whatever crosses lanes goes through shared memory.
``opencl:matrix`` is the same with a made-up matrix unit.

Nothing is imported before it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from tritonx.backends.api import Backend, Driver, Options, Stage, Target

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_gpu.target import GpuTarget

SUB_GROUP = 16
SHARED_BYTES = 64 * 1024
MAX_THREADS = 1024
ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
BUILD_OPTIONS = {"spirv": ROUNDED, **dict.fromkeys(("items", "matrix"), f"{ROUNDED} -cl-opt-disable")}
"""By target. Unoptimised, a kernel of 4,000 lines builds in 1.3 s instead of 70. Sub-groups need the optimiser: without
it Intel's have one work item whatever size is required."""
TARGETS = {
    "spirv": Target("opencl", "spirv", SUB_GROUP),
    "items": Target("opencl", "items", 1),
    "matrix": Target("opencl", "matrix", 1),
}


@dataclass(frozen=True)
class OpenCLOptions(Options):
    """``build_options`` is what the OpenCL implementation's compiler gets; the target's own unless given."""

    num_warps: int = 4
    num_stages: int = 1
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee",)
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15")
    build_options: str | None = None


class OpenCLBackend(Backend):
    """Targets ``opencl:spirv``, ``opencl:items`` and ``opencl:matrix``; stages ttir, ttgir, llir, spv."""

    name = "opencl"
    options_type = OpenCLOptions
    binary_stage = "spv"
    dlpack_device_types = frozenset({1})
    torch_device_types = frozenset({"cpu"})
    array_interfaces = ("__array_interface__",)
    _driver: ClassVar[Driver | None] = None

    def parse_target(self, arch: str) -> Target:
        try:
            return TARGETS[arch or "spirv"]
        except KeyError:
            known = ", ".join(map(str, TARGETS.values()))
            raise ValueError(f"unknown OpenCL target {arch!r}; known are {known}") from None

    def known_targets(self) -> tuple[Target, ...]:
        return tuple(TARGETS.values())

    def parse_options(self, target: Target, given: Mapping[str, Any]) -> Options:
        options = super().parse_options(target, given)
        if options.num_warps * SUB_GROUP > MAX_THREADS:
            raise ValueError(f"num_warps is at most {MAX_THREADS // SUB_GROUP}, got {options.num_warps}")
        if options.num_ctas != 1:
            raise ValueError(f"OpenCL has no clusters: num_ctas must be 1, got {options.num_ctas}")
        assert isinstance(options, OpenCLOptions)
        build = BUILD_OPTIONS[str(target.arch)] if options.build_options is None else options.build_options
        warps = options.num_warps * SUB_GROUP // target.warp_size
        return replace(options, num_warps=warps, build_options=build)

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        from tritonx_opencl.pipeline import stages

        return stages(target, options)

    def gpu_target(self, target: Target, options: Options) -> GpuTarget:
        from tritonx_opencl.pipeline import gpu_target

        return gpu_target(target, options)

    def version_key(self) -> str:
        from tritonx_opencl.spirv import llvm_version

        return llvm_version()

    def driver(self) -> Driver:
        if OpenCLBackend._driver is None:
            from tritonx_opencl.driver import OpenCLDriver

            OpenCLBackend._driver = OpenCLDriver()
        return OpenCLBackend._driver


BACKEND = OpenCLBackend()
