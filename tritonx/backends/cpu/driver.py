"""The host as a device: its memory, its cores, its clock."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping

from tritonx.backends.api import Driver, KernelImage, LoadedKernel, Target
from tritonx.backends.cpu.host import available_threads, host_isa, isa_of
from tritonx.backends.cpu.loader import CpuKernel, builtins_work, parallel_function
from tritonx.runtime.descriptor_parameters import FlatParameters
from tritonx.runtime.errors import NoDevice

_FLUSH_BYTES = 32 << 20
"""More than the second-level caches hold; the third level is too large to be worth it, and shared."""


class CpuDriver(Driver):
    """One device, number 0, whose stream (0) is the caller's own thread: a launch returns when the grid has run."""

    def __init__(self) -> None:
        self._allocations: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 0

    def current_target(self, device: int | None = None) -> Target:
        return Target("cpu")

    def properties(self, device: int) -> Mapping[str, int]:
        return {
            "multiprocessor_count": available_threads(),
            "max_shared_mem": 1 << 30,
            "max_num_regs": host_isa().vector_registers,
            "warpSize": 1,
            "sm_clock_rate": _clock_khz(),
            "mem_clock_rate": 0,
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
        return FlatParameters.of(image.parameters).flattening(launch) if direct else launch

    # ---- memory

    def allocate(self, nbytes: int, device: int) -> int:
        buffer = (ctypes.c_char * (nbytes + 64))()
        address = -(-ctypes.addressof(buffer) // 64) * 64
        self._allocations[address] = buffer
        return address

    def free(self, address: int, device: int) -> None:
        del self._allocations[address]

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        data = source.cast("B")
        target = (ctypes.c_char * len(data)).from_address(destination)
        memoryview(target).cast("B")[:] = data

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        view = destination.cast("B")
        origin = (ctypes.c_char * len(view)).from_address(source)
        view[:] = memoryview(origin).cast("B")

    def synchronize(self, device: int | None = None) -> None:
        return None

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        flush = (ctypes.c_char * _FLUSH_BYTES)() if flush_cache else None
        times: list[float] = []
        for _ in range(repeat):
            if flush is not None:
                ctypes.memset(flush, 1, _FLUSH_BYTES)
            start = time.perf_counter_ns()
            run()
            times.append((time.perf_counter_ns() - start) / 1e6)
        return times


def _clock_khz() -> int:
    """The first core's highest clock, where the system tells."""
    path = "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"
    if not os.path.exists(path):
        return 0
    with open(path, encoding="ascii") as file:
        return int(file.read())
