"""A libcuda that behaves as the driver API says, on the host's memory."""

from __future__ import annotations

import ctypes
from typing import Any

from tritonx.backends.nvidia.launch.launcher import LaunchConfig

ATTRIBUTES = {1: 1024, 10: 32, 12: 65536, 13: 1980000, 16: 132, 36: 2619000, 37: 6144, 38: 52428800, 75: 9, 76: 0,
              97: 232448}  # fmt: skip
"""CUdevice_attribute of cuda.h: what each device says of itself."""
NAMED = {
    "max_threads_per_block": 1, "warpSize": 10, "max_num_regs": 12, "sm_clock_rate": 13, "multiprocessor_count": 16,
    "mem_clock_rate": 36, "mem_bus_width": 37, "l2_cache_size": 38, "capability_major": 75, "capability_minor": 76,
    "max_shared_mem": 97,
}  # fmt: skip


class SimulatedCuda:
    """Contexts are numbers: 500 and the device's. ``fails`` names calls and the codes that they return."""

    def __init__(self, devices: int = 2) -> None:
        self.devices = devices
        self.current: int | None = None
        self.fails: dict[str, int] = {}
        self.memory: dict[int, Any] = {}
        self.calls: list[str] = []
        self.where: list[tuple[str, int | None]] = []
        self.launched: list[tuple[Any, ...]] = []
        self.cuLaunchKernel: Any = self._recorded("cuLaunchKernel")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        return self._recorded(name)

    def _recorded(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.calls.append(name)
            self.where.append((name, self.current))
            if code := self.fails.get(name):
                return code
            return getattr(self, f"_{name}", lambda *_: 0)(*arguments) or 0

        return call

    def _cuGetErrorName(self, code: int, out: Any) -> None:
        out._obj.value = f"CUDA_ERROR_{code}".encode()

    def _cuDeviceGetCount(self, out: Any) -> None:
        out._obj.value = self.devices

    def _cuDeviceGet(self, out: Any, device: int) -> int:
        out._obj.value = 70 + device
        return 0 if device < self.devices else 101

    def _cuDevicePrimaryCtxRetain(self, out: Any, handle: Any) -> None:
        out._obj.value = 500 + handle.value - 70

    def _cuDeviceGetAttribute(self, out: Any, number: int, handle: Any) -> None:
        out._obj.value = ATTRIBUTES[number] + (handle.value - 70 if number == 16 else 0)

    def _cuCtxGetCurrent(self, out: Any) -> None:
        out._obj.value = self.current

    def _cuCtxSetCurrent(self, context: Any) -> None:
        self.current = context.value

    def _cuCtxGetDevice(self, out: Any) -> int:
        if self.current is None:
            return 201
        out._obj.value = self.current % 100
        return 0

    def _cuMemAlloc_v2(self, out: Any, size: Any) -> int:
        assert self.current is not None and size.value > 0
        held = ctypes.create_string_buffer(size.value)
        out._obj.value = ctypes.addressof(held)
        self.memory[out._obj.value] = held
        return 0

    def _cuMemFree_v2(self, address: Any) -> None:
        del self.memory[address.value]

    def _cuMemcpyHtoD_v2(self, target: Any, source: Any, size: Any) -> None:
        ctypes.memmove(target.value, ctypes.cast(source, ctypes.c_void_p).value or 0, size.value)

    def _cuMemcpyDtoH_v2(self, target: Any, source: Any, size: Any) -> None:
        ctypes.memmove(target.value, source.value, size.value)

    def _cuLaunchKernel(self, *arguments: Any) -> None:
        self.launched.append(arguments)

    def _cuLaunchKernelEx(self, config: Any, function: Any, block: Any, extra: Any) -> None:
        assert extra is None
        self.launched.append((LaunchConfig.from_buffer_copy(config._obj), function.value, block))
