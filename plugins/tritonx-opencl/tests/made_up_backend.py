"""The plug-in with a matrix unit: what a chip that has one adds to a machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from made_up_unit import MadeUp, multiply

from tritonx.backends.api import Driver, Options, Stage, Target
from tritonx.backends.gpu import DotProduct, FunctionEmitter, GpuTarget, PortableMemory, portable_stages, spirv_stage
from tritonx_opencl import OpenCLBackend
from tritonx_opencl.driver import OpenCLDriver
from tritonx_opencl.machine import EXTENSIONS, TRIPLE, OpenCLMachine


@dataclass(frozen=True)
class MadeUpMachine(OpenCLMachine):
    """Its memory has the least of atomics that serves: compare-and-swap of 64 bits."""

    memory = PortableMemory(smallest_atomic=64)

    def dot(self, f: FunctionEmitter, product: DotProduct) -> bool:
        return multiply(f, product)


class MadeUpBackend(OpenCLBackend):
    """``matrix:v1``: warps of one lane."""

    name = "matrix"
    targets = {"v1": Target("matrix", "v1", 1)}  # noqa: RUF012  # as the base class has them
    _own: Driver | None = None

    def parse_target(self, arch: str) -> Target:
        return super().parse_target(arch or "v1")

    def gpu_target(self, target: Target, options: Options) -> GpuTarget:
        return replace(super().gpu_target(target, options), units=(MadeUp(),))

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        binary = spirv_stage("spv", TRIPLE, extensions=EXTENSIONS, guard_shared=True)
        return portable_stages(self.gpu_target(target, options), MadeUpMachine(target.warp_size), binary)

    def driver(self) -> Driver:
        self._own = self._own or OpenCLDriver(self)
        return self._own


BACKEND = MadeUpBackend()
