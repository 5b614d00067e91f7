"""Runs the programs, one program instance after the other, in this process."""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tritonx.backends.api import Driver, KernelImage, LoadedKernel, Target


class ToyKernel:
    n_regs = 0
    n_spills = 0
    n_max_threads = 1

    def __init__(self, image: KernelImage) -> None:
        scope: dict[str, Any] = {}
        exec(compile(image.binary.decode(), f"<toy program of {image.name}>", "exec"), scope)
        self.function = scope["kernel"]

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        with np.errstate(all="ignore"):
            for program in itertools.product(*map(range, grid)):
                self.function(program, grid, *args)


class ToyDriver(Driver):
    def __init__(self) -> None:
        self._memory: dict[int, Any] = {}

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 0

    def current_target(self, device: int | None = None) -> Target:
        return Target("toy", "v1")

    def properties(self, device: int) -> Mapping[str, int]:
        names = ("max_shared_mem", "max_num_regs", "sm_clock_rate", "mem_clock_rate", "mem_bus_width")
        return {"multiprocessor_count": 1, "warpSize": 1, **dict.fromkeys(names, 0)}

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return ToyKernel(image)

    def allocate(self, nbytes: int, device: int) -> int:
        buffer = ctypes.create_string_buffer(nbytes)
        self._memory[ctypes.addressof(buffer)] = buffer
        return ctypes.addressof(buffer)

    def free(self, address: int, device: int) -> None:
        self._memory.pop(address, None)

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        ctypes.memmove(destination, source.tobytes(), source.nbytes)

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        destination[:] = ctypes.string_at(source, destination.nbytes)

    def synchronize(self, device: int | None = None) -> None:
        pass

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        times: list[float] = []
        for _ in range(repeat):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
        return times
