"""The HIP driver, through hip-python. Nothing here runs before the first launch.

hip-python imports on any machine and raises, or worse returns garbage, when a function of a missing library is
called: so the library is looked for first."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tritonx.backends.amd.parameters import layout_of, pack
from tritonx.backends.amd.targets import parse
from tritonx.backends.api import KernelImage, LoadedKernel, Target
from tritonx.runtime.errors import NoDevice, OutOfResources, TritonError, UnsupportedArgument
from tritonx.runtime.pytorch import PyTorchDriver


class HipError(TritonError):
    """A call of the HIP runtime failed."""

    def __init__(self, call: str, error: str) -> None:
        self.call = call
        self.error = error
        super().__init__(call, error)

    def __str__(self) -> str:
        return f"{self.call} failed with {self.error}"


@lru_cache(maxsize=1)
def library() -> Any:
    """The module ``hip.hip``; ``NoDevice`` with the reason where HIP cannot be used."""
    if ctypes.util.find_library("amdhip64") is None and not _loads("libamdhip64.so"):
        raise NoDevice("no ROCm is installed: libamdhip64.so was not found")
    try:
        hip: Any = importlib.import_module("hip.hip")
    except ImportError:
        raise NoDevice("hip-python is not installed: pip install 'tritonx[amd]'") from None
    try:
        error, count = hip.hipGetDeviceCount()
    except RuntimeError as problem:
        raise NoDevice(f"HIP could not be started: {problem}") from None
    if error != hip.hipError_t.hipSuccess or count == 0:
        raise NoDevice(f"HIP sees no GPU ({error})")
    return hip


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def call(name: str, *arguments: Any) -> Any:
    """``hip.<name>(*arguments)``: its result without the status; ``HipError`` where the status is not success."""
    hip = library()
    status, *values = getattr(hip, name)(*arguments)
    if status == hip.hipError_t.hipErrorOutOfMemory:
        raise MemoryError(f"{name}: the device has not enough memory left")
    if status != hip.hipError_t.hipSuccess:
        raise HipError(name, str(status))
    return values[0] if len(values) == 1 else tuple(values)


class AmdKernel:
    """A function of a loaded code object."""

    def __init__(self, driver: AmdDriver, image: KernelImage, device: int) -> None:
        driver.activate(device)
        self.image = image
        self.module = call("hipModuleLoadData", image.binary)
        self.function = call("hipModuleGetFunction", self.module, image.name.encode())
        self.n_regs = int(image.metadata.get("registers", 0))
        self.n_spills = int(image.metadata.get("spills", 0))
        self.n_max_threads = 1024
        self.threads = int(image.metadata["num_warps"]) * int(image.metadata["warp_size"])
        shared, limit = int(image.metadata["shared"]), driver.properties(device)["max_shared_mem"]
        if shared > limit:
            raise OutOfResources(shared, limit, "shared memory")
        if self.threads > self.n_max_threads:
            raise OutOfResources(self.threads, self.n_max_threads, "threads", "Use fewer warps.")
        self.types = [p.type for p in image.parameters]
        self.layout = layout_of(self.types)

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        """The parameters travel as one block of bytes; the LDS is static, so no dynamic amount is asked for."""
        if grid[0] * self.threads >= 1 << 32:
            raise UnsupportedArgument(
                f"the grid {grid} is too large: HIP takes fewer than 2^32 threads in x. "
                "Put some of the programs in y, or give each more to do."
            )
        block = pack(self.types, self.layout, args)
        hip = library()
        size = struct.pack("<Q", len(block))
        data = ctypes.create_string_buffer(block, max(len(block), 1))
        length = ctypes.create_string_buffer(size, 8)
        # HIP_LAUNCH_PARAM_BUFFER_POINTER 1, _BUFFER_SIZE 2, _END 3
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(data), 2, ctypes.addressof(length), 3)
        (status,) = hip.hipModuleLaunchKernel(
            self.function, *grid, self.threads, 1, 1, 0, stream or None, None, ctypes.addressof(extra)
        )
        if status != hip.hipError_t.hipSuccess:
            raise HipError("hipModuleLaunchKernel", str(status))


class AmdDriver(PyTorchDriver):
    """Devices by their HIP index."""

    def __init__(self) -> None:
        library()
        self._properties: dict[int, Mapping[str, int]] = {}
        self._names: dict[int, str] = {}

    def device_count(self) -> int:
        return int(call("hipGetDeviceCount"))

    def thread_device(self) -> int:
        return int(call("hipGetDevice"))

    def activate(self, device: int) -> None:
        """Make ``device`` the current one of this thread."""
        call("hipSetDevice", device)

    def current_target(self, device: int | None = None) -> Target:
        index = self.current_device() if device is None else device
        self.properties(index)
        return parse(self._names[index])

    def properties(self, device: int) -> Mapping[str, int]:
        if device not in self._properties:
            hip = library()
            found = hip.hipDeviceProp_t()
            call("hipGetDeviceProperties", found, device)
            self._names[device] = bytes(found.gcnArchName).split(b"\0")[0].decode()
            self._properties[device] = {
                "multiprocessor_count": found.multiProcessorCount,
                "max_shared_mem": found.sharedMemPerBlock,
                "max_num_regs": found.regsPerBlock,
                "warpSize": found.warpSize,
                "sm_clock_rate": found.clockRate,
                "mem_clock_rate": found.memoryClockRate,
                "mem_bus_width": found.memoryBusWidth,
                "l2_cache_size": found.l2CacheSize,
            }
        return self._properties[device]

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return AmdKernel(self, image, device)

    def allocate(self, nbytes: int, device: int) -> int:
        self.activate(device)
        return int(call("hipMalloc", max(nbytes, 1)))

    def free(self, address: int, device: int) -> None:
        call("hipFree", address)

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        self.activate(device)
        kind = library().hipMemcpyKind.hipMemcpyHostToDevice
        call("hipMemcpy", destination, bytes(source) if source.readonly else source, source.nbytes, kind)

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        self.activate(device)
        call("hipMemcpy", destination, source, destination.nbytes, library().hipMemcpyKind.hipMemcpyDeviceToHost)

    def synchronize(self, device: int | None = None) -> None:
        self.activate(self.current_device() if device is None else device)
        call("hipDeviceSynchronize")

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        """Events around each run; the level-2 cache is overwritten between runs."""
        device = self.current_device()
        stream = self.current_stream(device) or None
        size = 2 * max(self.properties(device)["l2_cache_size"], 1 << 20)
        scratch = self.allocate(size, device) if flush_cache else 0
        pairs = [(call("hipEventCreate"), call("hipEventCreate")) for _ in range(repeat)]
        try:
            for start, stop in pairs:
                if flush_cache:
                    call("hipMemsetAsync", scratch, 0, size, stream)
                call("hipEventRecord", start, stream)
                run()
                call("hipEventRecord", stop, stream)
            self.synchronize(device)
            return [float(call("hipEventElapsedTime", start, stop)) for start, stop in pairs]
        finally:
            for pair in pairs:
                for event in pair:
                    call("hipEventDestroy", event)
            if scratch:
                self.free(scratch, device)
