"""The AMD backend with tinygrad's emulator for a GPU: its own stages and code objects.

set_active(emulated("gfx942"))
kernel[grid](...)  # arrays of `to_device`, or NumPy's and PyTorch's on the host
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from tritonx.backends.amd import AmdBackend
from tritonx.backends.amd.targets import PROCESSORS
from tritonx.backends.api import KernelImage, LoadedKernel, Target
from tritonx.runtime.devices.host_driver import HostDriver, host_address
from tritonx.runtime.launch.descriptor_parameters import FlatParameters
from tritonx_testing.emulators.amd.emulator import CodeObject, Emulator, started
from tritonx_testing.emulators.on_host import OnHost


class Emulated(OnHost, AmdBackend):
    """For a processor (``gfx942``). Its device's memory is this process's."""

    def __init__(self, arch: str) -> None:
        self.own = EmulatedDriver(self.parse_target(arch))


class EmulatedDriver(HostDriver):
    """One device of the target."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.emulator = started(str(target.arch))

    def known_properties(self) -> Mapping[str, int]:
        chip = PROCESSORS[str(self.target.arch)]
        return {"multiprocessor_count": 4, "max_shared_mem": chip.shared_bytes, "warpSize": chip.wave}

    def current_target(self, device: int | None = None) -> Target:
        return self.target

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return EmulatedKernel(self.emulator, image)

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        assert isinstance(kernel, EmulatedKernel)
        return kernel.parameters.flattening(super().make_launcher(image, kernel))


class EmulatedKernel:
    """A code object; a launch returns when all its blocks have run, one after another."""

    n_regs = n_spills = module = function = 0
    n_max_threads = 1024

    def __init__(self, emulator: Emulator, image: KernelImage) -> None:
        metadata = image.metadata
        self.emulator, self.code = emulator, CodeObject(image.binary, image.name)
        self.parameters = FlatParameters.of(image.parameters, metadata.get("tensordesc_meta") or ())
        self.threads = int(metadata["num_warps"]) * int(metadata["warp_size"])

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        """With what the code takes: a descriptor is its parts."""
        types = self.parameters.types
        values = [host_address(a) if t.startswith("*") else a for t, a in zip(types, args, strict=True)]
        self.emulator.run(self.code, types, values, grid, self.threads)


@cache
def emulated(arch: str) -> Emulated:
    """One for the process."""
    return Emulated(arch)
