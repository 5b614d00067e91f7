"""The HIP driver, through hip-python. Nothing here runs before the first launch.

The bindings load libamdhip64.so at the first call, and each of its functions at the first call of that function; what
they cannot find is a ``RuntimeError`` then. Their API has two forms. Up to 7.2 the module is ``hip.hip``,
``hipGetDeviceProperties`` fills an object that it is given, and strings in structures are bytes. From 10.0 on the
module is ``rocm.bindings.hip``, the properties are returned, and strings are ``str``.

HIP's current device belongs to a thread, and a module to the device that was current when it was loaded. PyTorch reads
the current device too: so every method leaves it as it found it."""

from __future__ import annotations

import ctypes
import importlib
import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from tritonx.backends.amd.launch.parameters import layout_of, offsets_of, values_of
from tritonx.backends.amd.targets import MOST_THREADS, parse
from tritonx.backends.api import KernelImage, LaunchTimer, LoadedKernel, Target
from tritonx.runtime.devices.loaded_modules import LoadedModule, UnusedModules
from tritonx.runtime.devices.pytorch import PyTorchDriver
from tritonx.runtime.errors import NoDevice, OutOfResources, TritonError, UnsupportedArgument
from tritonx.runtime.launch.descriptor_parameters import FlatParameters

_MODULES = "rocm.bindings.hip", "hip.hip"

_OLDEST = 6
"""HIP's major version from which on hipDeviceProp_t is laid out as the bindings read it."""

_PARAM_BUFFER_POINTER, _PARAM_BUFFER_SIZE, _PARAM_END = 1, 2, 3
"""HIP_LAUNCH_PARAM_…, hip_runtime_api.h of HIP 6."""

_ERRORS = {
    "hipErrorInvalidValue": "an argument is invalid",
    "hipErrorInvalidConfiguration": "the launch shape is invalid",
    "hipErrorInvalidDevice": "there is no such device, or the kernel belongs to another one",
    "hipErrorInvalidDeviceFunction": "the kernel was compiled for another GPU",
    "hipErrorInvalidImage": "the code object is invalid",
    "hipErrorNoBinaryForGpu": "the kernel was compiled for another GPU",
    "hipErrorIllegalAddress": "an earlier kernel accessed an illegal address",
    "hipErrorLaunchOutOfResources": "too many resources were asked for",
    "hipErrorCooperativeLaunchTooLarge": "the blocks of a cooperative grid do not all run at once on this device",
    "hipErrorAssert": "a device-side assertion failed",
    "hipErrorLaunchFailure": "an earlier kernel failed",
}


class HipError(TritonError):
    """A call of the HIP runtime failed; ``error`` is the name of its hipError_t, or what the bindings say."""

    def __init__(self, call: str, error: str) -> None:
        self.call = call
        self.error = error
        super().__init__(call, error)

    def __str__(self) -> str:
        meaning = _ERRORS.get(self.error)
        asynchronous = self.error in ("hipErrorIllegalAddress", "hipErrorAssert", "hipErrorLaunchFailure")
        hint = " (run with TRITONX_DEBUG=1, or with AMD_SERIALIZE_KERNEL=3, to find the kernel)" if asynchronous else ""
        return f"{self.call} failed with {self.error}{': ' + meaning if meaning else ''}{hint}"


@lru_cache(maxsize=1)
def library() -> Any:
    """hip-python's module of the HIP runtime; ``NoDevice`` with the reason where HIP cannot be used."""
    hip = _bindings()
    try:
        with _loaded_library_first():
            error, version = hip.hipRuntimeGetVersion()
        if error == 0 and version // 10_000_000 < _OLDEST:
            found = f"{version // 10_000_000}.{version // 100_000 % 100}"
            raise NoDevice(f"ROCm {_OLDEST}.0 or later is needed; the libamdhip64.so that was found is of HIP {found}")
        error, count = hip.hipGetDeviceCount()
    except RuntimeError as problem:
        raise NoDevice(
            f"no ROCm was found: install it, or let ROCM_PATH or LD_LIBRARY_PATH say where it is ({problem})"
        ) from None
    if error != 0 or count == 0:
        why = f" ({error.name})" if error != 0 else ""
        raise NoDevice(
            f"HIP sees no GPU{why}: is the amdgpu driver loaded, may this user open /dev/kfd and /dev/dri/renderD* "
            "(groups render and video), does HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES hide them?"
        )
    return hip


def _bindings() -> Any:
    for name in _MODULES:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        except ImportError as problem:
            raise NoDevice(f"hip-python cannot be imported: {problem}") from None
    raise NoDevice("hip-python is not installed: pip install 'tritonx[amd]'")


@contextmanager
def _loaded_library_first() -> Generator[None]:
    """The HIP library that this process has loaded before, such as the one in PyTorch's wheel, is the one that the
    bindings take: another one would not know its streams. They look into ROCM_PATH, from 10.0 on."""
    prefix, before = _loaded_prefix(), os.environ.get("ROCM_PATH")
    if prefix is None:
        yield
        return
    os.environ["ROCM_PATH"] = prefix
    try:
        yield
    finally:
        if before is None:
            del os.environ["ROCM_PATH"]
        else:
            os.environ["ROCM_PATH"] = before


def _loaded_prefix() -> str | None:
    """The folder with the ``lib/libamdhip64.so`` that is in this process's memory."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return None
    for line in maps.splitlines():
        folder, _, file = line[line.find("/") :].rpartition("/")
        if file.startswith("libamdhip64.so") and folder.endswith("/lib") and Path(folder, "libamdhip64.so").exists():
            return folder.removesuffix("/lib")
    return None


def call(name: str, *arguments: object) -> Any:
    """``hip.<name>(*arguments)``: its result without the status; ``HipError`` where the status is not success."""
    hip = library()
    try:
        status, *values = getattr(hip, name)(*arguments)
    except RuntimeError as problem:
        raise HipError(name, f"{problem}: the ROCm that is installed has no such function") from None
    except ValueError as problem:  # a status that the bindings have no name for
        raise HipError(name, str(problem)) from None
    if status == 0:
        return values[0] if len(values) == 1 else tuple(values)
    hip.hipGetLastError()  # forgets the error, which PyTorch would take for its own
    if status == hip.hipError_t.hipErrorOutOfMemory:
        raise MemoryError(f"{name}: the device has not enough memory left")
    raise HipError(name, status.name)


class AmdKernel:
    """A function of a loaded code object."""

    def __init__(self, driver: AmdDriver, image: KernelImage, device: int) -> None:
        found = driver.properties(device)
        shared, limit = int(image.metadata["shared"]), found["max_shared_mem"]
        if shared > limit:
            raise OutOfResources(shared, limit, "shared memory")
        self.n_max_threads = found["max_threads_per_block"]
        self.threads = int(image.metadata["num_warps"]) * int(image.metadata["warp_size"])
        if self.threads > self.n_max_threads:
            raise OutOfResources(self.threads, self.n_max_threads, "threads", "Use fewer warps.")
        self.driver = driver
        self.device = device
        self.image = image  # HIP may read its binary for as long as the module lives, and so does the handle below
        with driver.on(device):
            driver.unused.unload(device, may=driver.may_unload, unload=_unload)
            handle = call("hipModuleLoadData", image.binary)
            self.module = LoadedModule((handle, image.binary), device, driver.unused)
            self.function = call("hipModuleGetFunction", handle, image.name.encode())
        self.n_regs = int(image.metadata.get("registers", 0))
        self.n_spills = int(image.metadata.get("spills", 0))
        self.parameters = FlatParameters.of(image.parameters)
        self.types = self.parameters.types
        self.layout = layout_of(self.types)
        self.offsets = offsets_of(self.types)
        self.cooperative = bool(image.metadata.get("launch_cooperative_grid"))
        self.local = threading.local()

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[object]) -> None:
        """The parameters travel as one block of bytes, which HIP copies; the LDS is static, so no dynamic amount is
        asked for."""
        if grid[0] * self.threads > MOST_THREADS:
            raise UnsupportedArgument(
                f"the grid {grid} is too large: HIP takes fewer than 2^32 threads in x. "
                "Put some of the programs in y, or give each more to do."
            )
        if stream:
            self.module.on_other_stream.value = 1
        values = values_of(self.types, self.parameters.values(args) if self.parameters.any else args)
        try:
            block, where, _ = self.local.block
        except AttributeError:
            block, where, _ = self.local.block = self._cooperative_block() if self.cooperative else self._block()
        self.layout.pack_into(block, 0, *values)
        if call("hipGetDevice") == self.device:
            self._submit(grid, stream, where)
        else:
            with self.driver.on(self.device):
                self._submit(grid, stream, where)

    def _submit(self, grid: tuple[int, int, int], stream: int, where: int) -> None:
        shape = (self.function, *grid, self.threads, 1, 1, 0, stream or None)
        if self.cooperative:
            call("hipModuleLaunchCooperativeKernel", *shape, where)
        else:
            call("hipModuleLaunchKernel", *shape, None, where)

    def _block(self) -> tuple[ctypes.Array[ctypes.c_char], int, object]:
        """A parameter block, the address of the ``extra`` array that names it, and what that array points to."""
        block, size = ctypes.create_string_buffer(max(self.layout.size, 1)), ctypes.c_size_t(self.layout.size)
        extra = (ctypes.c_void_p * 5)(
            _PARAM_BUFFER_POINTER, ctypes.addressof(block), _PARAM_BUFFER_SIZE, ctypes.addressof(size), _PARAM_END
        )
        return block, ctypes.addressof(extra), (extra, size)

    def _cooperative_block(self) -> tuple[ctypes.Array[ctypes.c_char], int, object]:
        """A parameter block, and the address of an array of each parameter's: a cooperative launch takes no other."""
        block = ctypes.create_string_buffer(max(self.layout.size, 1))
        pointers = (ctypes.c_void_p * (len(self.offsets) + 1))(*(ctypes.addressof(block) + at for at in self.offsets))
        return block, ctypes.addressof(pointers), pointers


def _unload(handle: object) -> None:
    module, _ = cast("tuple[object, bytes]", handle)
    call("hipModuleUnload", module)


class AmdDriver(PyTorchDriver):
    """Devices by their HIP index."""

    region_record_ticks = 36  # what Triton's profiler takes of it

    def __init__(self) -> None:
        library()
        self._properties: dict[int, Mapping[str, int]] = {}
        self._names: dict[int, str] = {}
        self.unused = UnusedModules()

    def may_unload(self) -> bool:
        """Whether the default stream has nothing to do, which may not be asked while a graph is recorded."""
        if self.is_recording():
            return False
        try:
            call("hipStreamQuery", None)
        except HipError:
            return False
        return True

    # ---- devices

    def device_count(self) -> int:
        return int(call("hipGetDeviceCount"))

    def thread_device(self) -> int:
        return int(call("hipGetDevice"))

    def activate(self, device: int) -> None:
        """Make ``device`` this thread's current one."""
        call("hipSetDevice", device)

    @contextmanager
    def on(self, device: int) -> Generator[None]:
        """With ``device`` as the current one of this thread, and then the one that was."""
        before = self.thread_device()
        if before == device:
            yield
            return
        call("hipSetDevice", device)
        try:
            yield
        finally:
            call("hipSetDevice", before)

    def current_target(self, device: int | None = None) -> Target:
        index = self.current_device() if device is None else device
        self.properties(index)
        try:
            return parse(self._names[index])
        except ValueError as problem:
            raise NoDevice(f"HIP's device {index} cannot be compiled for: {problem}") from None

    def properties(self, device: int) -> Mapping[str, int]:
        if device not in self._properties:
            found = _device_properties(device)
            name = found.gcnArchName
            self._names[device] = name if isinstance(name, str) else name.decode()
            self._properties[device] = {
                "multiprocessor_count": found.multiProcessorCount,
                "max_shared_mem": found.sharedMemPerBlock,
                "max_num_regs": found.regsPerBlock,
                "max_threads_per_block": found.maxThreadsPerBlock,
                "warpSize": found.warpSize,
                "sm_clock_rate": found.clockRate,
                "mem_clock_rate": found.memoryClockRate,
                "mem_bus_width": found.memoryBusWidth,
                "l2_cache_size": found.l2CacheSize,
            }
        return self._properties[device]

    # ---- kernels

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        return AmdKernel(self, image, device)

    # ---- memory

    def allocate(self, nbytes: int, device: int) -> int:
        with self.on(device):
            try:
                return int(call("hipMalloc", max(nbytes, 1)))
            except MemoryError:
                raise MemoryError(f"device {device} has no {nbytes} bytes left") from None

    def free(self, address: int, device: int) -> None:
        call("hipFree", address)

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        with self.on(device):
            call("hipMemcpy", destination, source, source.nbytes, library().hipMemcpyKind.hipMemcpyHostToDevice)

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        with self.on(device):
            kind = library().hipMemcpyKind.hipMemcpyDeviceToHost
            call("hipMemcpy", destination, source, destination.nbytes, kind)

    def synchronize(self, device: int | None = None) -> None:
        with self.on(self.current_device() if device is None else device):
            call("hipDeviceSynchronize")

    # ---- time

    def launch_timers(self) -> Mapping[str, Callable[[], LaunchTimer]]:
        from tritonx.backends.amd.launch.events import HipEvents
        from tritonx.runtime.devices.event_timer import EventTimer

        events = HipEvents(call, self.on)
        return {"events": lambda: EventTimer(events, lambda _: self.is_recording())}

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        """Events around each run; the level-2 cache is overwritten between runs."""
        device = self.current_device()
        stream = self.current_stream(device) or None
        size = 2 * max(self.properties(device)["l2_cache_size"], 1 << 20)
        scratch = self.allocate(size, device) if flush_cache else 0
        pairs: list[list[object]] = [[] for _ in range(repeat)]
        with self.on(device):
            try:
                for pair in pairs:
                    pair += [call("hipEventCreate"), call("hipEventCreate")]
                for start, stop in pairs:
                    if flush_cache:
                        call("hipMemsetAsync", scratch, 0, size, stream)
                    call("hipEventRecord", start, stream)
                    run()
                    call("hipEventRecord", stop, stream)
                self.synchronize(device)
                return [float(call("hipEventElapsedTime", start, stop)) for start, stop in pairs]
            finally:
                for event in (event for pair in pairs for event in pair):
                    call("hipEventDestroy", event)
                if scratch:
                    self.free(scratch, device)


def _device_properties(device: int) -> Any:
    """hipDeviceProp_t of ``device``, by either form of the function."""
    try:
        return call("hipGetDeviceProperties", device)
    except TypeError:  # up to hip-python 7.2
        found = library().hipDeviceProp_t()
        call("hipGetDeviceProperties", found, device)
        return found


def __getattr__(name: str) -> object:
    """Triton's names in this module, which bring more than a launch needs."""
    return getattr(importlib.import_module("tritonx.backends.amd.driver_names"), name)
