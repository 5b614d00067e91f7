"""SPIR-V for OpenCL devices that share the host's memory: on a CPU, what the emitters for GPUs write is executed.

Both targets have the same threads in a block. ``opencl:spirv`` has sub-groups of 16 as warps. ``opencl:items`` has
warps of one lane, 16 for each that a launch asks for, so that whatever crosses lanes goes through shared memory.

Nothing is imported before it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from tritonx.backends.api import Backend, Driver, Options, Stage, Target
from tritonx.backends.gpu import GpuOptions

if TYPE_CHECKING:
    from tritonx.backends.gpu import GpuTarget

SUB_GROUP = 16
SHARED_BYTES = 64 * 1024
MAX_THREADS = 1024
TARGETS = {"spirv": Target("opencl", "spirv", SUB_GROUP), "items": Target("opencl", "items", 1)}


@dataclass(frozen=True)
class OpenCLOptions(GpuOptions):
    """What the threads multiply, they multiply in full precision."""

    num_stages: int = 1
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e4b15")


class OpenCLBackend(Backend):
    """Stages ttir, ttgir, llir, spv."""

    name = "opencl"
    api_version, stable_version = 2, 1
    options_type = OpenCLOptions
    binary_stage = "spv"
    dlpack_device_types = frozenset({1})
    torch_device_types = frozenset({"cpu"})
    array_interfaces = ("__array_interface__",)
    targets: ClassVar[Mapping[str, Target]] = TARGETS
    _driver: ClassVar[Driver | None] = None

    def parse_target(self, arch: str) -> Target:
        try:
            return self.targets[arch or "spirv"]
        except KeyError:
            known = ", ".join(map(str, self.targets.values()))
            raise ValueError(f"unknown OpenCL target {arch!r}; known are {known}") from None

    def known_targets(self) -> tuple[Target, ...]:
        return tuple(self.targets.values())

    def parse_options(self, target: Target, given: Mapping[str, Any]) -> Options:
        options = super().parse_options(target, given)
        if options.num_warps * SUB_GROUP > MAX_THREADS:
            raise ValueError(f"num_warps is at most {MAX_THREADS // SUB_GROUP}, got {options.num_warps}")
        if options.num_ctas != 1:
            raise ValueError(f"OpenCL has no clusters: num_ctas must be 1, got {options.num_ctas}")
        return replace(options, num_warps=options.num_warps * SUB_GROUP // target.warp_size)

    def gpu_target(self, target: Target, options: Options) -> GpuTarget:
        from tritonx.backends.gpu import GpuTarget

        asked = options.num_warps * target.warp_size // SUB_GROUP
        warps, given = options.num_warps, (("num_warps", asked),)
        return GpuTarget(str(target), target.warp_size, warps, shared_memory=SHARED_BYTES, options=given)

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        from tritonx.backends.gpu import portable_stages, spirv_stage
        from tritonx_opencl.machine import EXTENSIONS, TRIPLE, OpenCLMachine

        binary = spirv_stage("spv", TRIPLE, extensions=EXTENSIONS, guard_shared=True)
        return portable_stages(self.gpu_target(target, options), OpenCLMachine(target.warp_size), binary)

    def driver(self) -> Driver:
        if OpenCLBackend._driver is None:
            from tritonx_opencl.driver import OpenCLDriver

            OpenCLBackend._driver = OpenCLDriver(self)
        return OpenCLBackend._driver


BACKEND = OpenCLBackend()
