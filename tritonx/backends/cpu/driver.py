"""The host as a device: its memory, its cores, its clock."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from tritonx.backends.api import KernelImage, LoadedKernel, Target
from tritonx.backends.cpu.host import available_threads, fingerprint, host_isa, isa_of
from tritonx.backends.cpu.libm import addresses
from tritonx.backends.cpu.loader import CpuKernel, builtins_work, parallel_function
from tritonx.conversion.tile_to_loops.entry import PYTHON_SYMBOLS
from tritonx.runtime.devices.elf import address_of_symbol
from tritonx.runtime.devices.host_driver import HostDriver
from tritonx.runtime.errors import NoDevice


class CpuDriver(HostDriver):
    """The caller's own thread is the stream."""

    def current_target(self, device: int | None = None) -> Target:
        return Target("cpu")

    def known_properties(self) -> Mapping[str, int]:
        return {
            "multiprocessor_count": available_threads(),
            "max_shared_mem": 1 << 30,
            "max_num_regs": host_isa().vector_registers,
            "warpSize": 1,
            "sm_clock_rate": _clock_khz(),
            "mem_bus_width": 64,
        }

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        if image.target.arch == "":  # made here: the cache's key holds the processor
            return CpuKernel(image)
        if image.target.arch != "":  # asking what the host is loads LLVM, which a kernel for the host does not need
            wanted, here = isa_of(image.target), host_isa()
            if wanted.triple.split("-")[0] != here.triple.split("-")[0] or wanted.vector_bytes > here.vector_bytes:
                raise NoDevice(f"a kernel for {image.target} cannot run here: this is {here.cpu} ({here.triple})")
        return CpuKernel(image)

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        assert isinstance(kernel, CpuKernel)
        threads = int(image.metadata.get("num_threads") or 0) or available_threads()
        direct = builtins_work() and (parallel_function() != 0 or threads == 1)
        launch = kernel.builtin() if direct else super().make_launcher(image, kernel)
        return kernel.flat.flattening(launch) if direct else launch


def prepare() -> None:
    """Load the libraries of the system that launches need."""
    parallel_function()
    addresses()
    for name in PYTHON_SYMBOLS:
        address_of_symbol(name)
    fingerprint()


def _clock_khz() -> int:
    """The first core's highest clock, where the system tells."""
    path = "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"
    if not os.path.exists(path):
        return 0
    with open(path, encoding="ascii") as file:
        return int(file.read())
