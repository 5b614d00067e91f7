"""A device whose memory is the host's: what the drivers of such devices share."""

from __future__ import annotations

import ctypes
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import cast

from tritonx.backends.api import ClockTimer, Driver, LaunchTimer, Target

ALIGNMENT = 128
"""Bytes; LLVM's data layouts align nothing more."""

_FLUSH_BYTES = 32 << 20
"""More than the second-level caches hold; the third level is too large to be worth it, and shared."""

PROPERTIES = (
    "multiprocessor_count", "max_shared_mem", "max_num_regs", "warpSize", "sm_clock_rate", "mem_clock_rate",
    "mem_bus_width",
)  # fmt: skip


class HostDriver(Driver):
    """One device, number 0, whose only stream is 0; a launch returns when the grid has run, so arrays are passed by
    their addresses and times are the host's.

    >>> driver = tritonx.backends.backends["cpu"].compiler.driver()
    >>> isinstance(driver, HostDriver), driver.device_count()
    (True, 1)
    """

    def __init__(self) -> None:
        self._allocations: dict[int, ctypes.Array[ctypes.c_char]] = {}

    @abstractmethod
    def known_properties(self) -> Mapping[str, int]:
        """Those of ``PROPERTIES`` that are known; the others are 0."""

    @abstractmethod
    def current_target(self, device: int | None = None) -> Target: ...

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def current_stream(self, device: int) -> int:
        return 0

    def properties(self, device: int) -> Mapping[str, int]:
        return {**dict.fromkeys(PROPERTIES, 0), **self.known_properties()}

    def allocate(self, nbytes: int, device: int) -> int:
        buffer = (ctypes.c_char * (nbytes + ALIGNMENT))()
        address = -(-ctypes.addressof(buffer) // ALIGNMENT) * ALIGNMENT
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

    def launch_timers(self) -> Mapping[str, Callable[[], LaunchTimer]]:
        """A launch returns when the grid has run."""
        return {"clock": ClockTimer}

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        flush = (ctypes.c_char * _FLUSH_BYTES)() if flush_cache else None
        times: list[float] = []
        for _ in range(repeat):
            if flush is not None:
                ctypes.memset(flush, 1, _FLUSH_BYTES)
            start = time.perf_counter_ns()
            run()
            self.synchronize()
            times.append((time.perf_counter_ns() - start) / 1e6)
        return times


def host_address(value: object) -> int:
    """The address of an array on the host: NumPy's, anything with ``data_ptr`` or DLPack, or an address itself; 0 for
    None.

    >>> x = np.zeros(4)
    >>> host_address(x) == x.ctypes.data, host_address(None)
    (True, 0)
    """
    if isinstance(value, int):
        return value
    if value is None:
        return 0
    if (method := getattr(value, "data_ptr", None)) is not None:
        return int(method())
    if (interface := getattr(value, "__array_interface__", None)) is not None:
        return int(interface["data"][0])
    import numpy as np

    array = np.from_dlpack(cast("np.ndarray[tuple[int, ...], np.dtype[np.uint8]]", value))  # whatever its elements are
    return int(array.__array_interface__["data"][0])
