"""The CUDA driver: devices, memory, modules. Nothing here runs before the first launch.

The driver library is called through ctypes: every entry point that is used has a plain C signature, and no package is
needed to launch a kernel that is in the cache. Streams and contexts are those of the primary context, which PyTorch,
CuPy and JAX use too."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module

from tritonx.backends.api import KernelImage, LaunchTimer, LoadedKernel, Target
from tritonx.backends.nvidia.launch.launcher import PORTABLE_CLUSTER, STATIC_SHARED_LIMIT, Launcher, fastest
from tritonx.backends.nvidia.launch.presence import LIBRARIES, load
from tritonx.backends.nvidia.launch.scratch_memory import ScratchMemory
from tritonx.runtime.devices.loaded_modules import LoadedModule, UnusedModules
from tritonx.runtime.devices.pytorch import PyTorchDriver
from tritonx.runtime.errors import NoDevice, OutOfResources, StartedBeforeFork, TritonError

# CUdevice_attribute and CUfunction_attribute: cuda.h of CUDA 13.0
_DEVICE_ATTRIBUTES = {
    "multiprocessor_count": 16,
    "max_shared_mem": 97,  # per block, opted in
    "max_num_regs": 12,
    "warpSize": 10,
    "sm_clock_rate": 13,
    "mem_clock_rate": 36,
    "mem_bus_width": 37,
    "l2_cache_size": 38,
    "max_threads_per_block": 1,
    "capability_major": 75,
    "capability_minor": 76,
}
_FUNCTION_MAX_THREADS, _FUNCTION_STATIC_SHARED, _FUNCTION_LOCAL, _FUNCTION_REGISTERS = 0, 1, 3, 4
_SET_MAX_DYNAMIC_SHARED, _SET_CARVEOUT, _SET_NON_PORTABLE_CLUSTER = 8, 9, 14

_NOT_INITIALIZED = 3
_ERRORS = {
    1: "an argument is invalid",
    2: "the device is out of memory",
    98: "the launch shape is invalid",
    200: "the image is invalid",
    209: "the kernel was compiled for another GPU",
    218: "the PTX is invalid",
    222: "the driver is older than the PTX",
    700: "an earlier kernel accessed an illegal address",
    701: "too many resources were asked for",
    710: "a device-side assertion failed",
    716: "a misaligned address was accessed",
    719: "an earlier kernel failed",
}


class CudaError(TritonError, RuntimeError):
    """A call of the CUDA driver failed; ``code`` is its CUresult. A RuntimeError, as in Triton."""

    def __init__(self, code: int, call: str, name: str) -> None:
        self.code = code
        self.call = call
        self.name = name
        super().__init__(code, call, name)

    def __str__(self) -> str:
        meaning = _ERRORS.get(self.code)
        hint = (
            " (run with TRITONX_DEBUG=1, or under compute-sanitizer, to find the kernel)"
            if self.code in (700, 716, 719)
            else ""
        )
        return f"{self.call} failed with {self.name} ({self.code}){': ' + meaning if meaning else ''}{hint}"


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """libcuda, initialised; ``NoDevice`` with the reason where it cannot be used."""
    cuda = load(LIBRARIES)
    if cuda is None:
        raise NoDevice(f"no NVIDIA driver is installed: {LIBRARIES[0]} was not found")
    code = cuda.cuInit(0)
    if code == _NOT_INITIALIZED:
        raise started_before_fork()
    if code:
        raise NoDevice(f"the NVIDIA driver could not be started: {error_name(cuda, code)} ({code})")
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    if count.value == 0:
        raise NoDevice("the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES empty?)")
    return cuda


def error_name(cuda: ctypes.CDLL, code: int) -> str:
    text = ctypes.c_char_p()
    cuda.cuGetErrorName(code, ctypes.byref(text))
    return text.value.decode() if text.value else "an unknown error"


def started_before_fork() -> StartedBeforeFork:
    """cuInit and all that follows fail in this way in the child of a process that had called it."""
    return StartedBeforeFork(
        "CUDA was started before this process was forked, and cannot be used in it: start worker processes with "
        "multiprocessing's 'spawn' or 'forkserver', or fork before the first launch"
    )


def check(code: int, call: str) -> None:
    if code == _NOT_INITIALIZED:
        raise started_before_fork()
    if code:
        raise CudaError(code, call, error_name(library(), code))


def _code(driver: NvidiaDriver, image: KernelImage, device: int) -> bytes:
    """The cubin, or the PTX where the kernel was compiled for an earlier major compute capability than the device's
    (`arch`), whose cubins it does not take; the CUDA driver assembles it."""
    if image.portable is None or int(image.target.arch) // 10 >= driver.properties(device)["capability_major"]:
        return image.binary
    return image.portable().encode() + b"\0"


class NvidiaKernel:
    """A function of a loaded module; made with a context of its device current."""

    def __init__(self, driver: NvidiaDriver, image: KernelImage, device: int) -> None:
        cuda = library()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), _code(driver, image, device)), "cuModuleLoadData")
        self.module = LoadedModule(module, device, driver.unused)
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, image.name.encode()), "cuModuleGetFunction")
        self.function = function.value
        self.image = image

        def attribute(number: int) -> int:
            value = ctypes.c_int()
            check(cuda.cuFuncGetAttribute(ctypes.byref(value), number, function), "cuFuncGetAttribute")
            return value.value

        self.n_regs = attribute(_FUNCTION_REGISTERS)
        self.n_spills = attribute(_FUNCTION_LOCAL) // 4
        self.n_max_threads = attribute(_FUNCTION_MAX_THREADS)
        shared = int(image.metadata["shared"])
        limit = driver.properties(device)["max_shared_mem"] - attribute(_FUNCTION_STATIC_SHARED)
        if shared > limit:
            raise OutOfResources(shared, limit, "shared memory", image.metadata.get("shared_hint"))
        threads = int(image.metadata["num_warps"]) * 32
        if threads > self.n_max_threads:
            raise OutOfResources(threads, self.n_max_threads, "threads", "Use fewer warps, or set maxnreg.")
        if shared > STATIC_SHARED_LIMIT:
            check(cuda.cuFuncSetAttribute(function, _SET_MAX_DYNAMIC_SHARED, shared), "cuFuncSetAttribute")
            check(cuda.cuFuncSetAttribute(function, _SET_CARVEOUT, 100), "cuFuncSetAttribute")
        if int(image.metadata.get("num_ctas", 1)) > PORTABLE_CLUSTER:
            check(cuda.cuFuncSetAttribute(function, _SET_NON_PORTABLE_CLUSTER, 1), "cuFuncSetAttribute")
        context, scratch = driver.context(device), driver.scratch(device)
        self.launcher = fastest(
            Launcher(cuda, image, self.function or 0, context, check, lambda: driver.on(device), scratch, self.module)
        )

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[object]) -> None:
        self.launcher(*grid, stream, *args)


class NvidiaDriver(PyTorchDriver):
    """Devices by their index in the CUDA driver's order."""

    region_record_ticks = 7  # what Triton's profiler takes of it

    def __init__(self) -> None:
        library()
        self._contexts: dict[int, int] = {}
        self._properties: dict[int, Mapping[str, int]] = {}
        self._scratch: dict[int, ScratchMemory] = {}
        self.unused = UnusedModules()

    # ---- devices

    def device_count(self) -> int:
        count = ctypes.c_int()
        check(library().cuDeviceGetCount(ctypes.byref(count)), "cuDeviceGetCount")
        return count.value

    def thread_device(self) -> int:
        """The current context's device, or 0 without one."""
        cuda = library()
        context, device = ctypes.c_void_p(), ctypes.c_int()
        if cuda.cuCtxGetCurrent(ctypes.byref(context)) or not context:  # asking for its device would be an error
            return 0
        check(cuda.cuCtxGetDevice(ctypes.byref(device)), "cuCtxGetDevice")
        return device.value

    def activate(self, device: int) -> None:
        """Make the primary context of ``device`` current in this thread."""
        check(library().cuCtxSetCurrent(ctypes.c_void_p(self.context(device))), "cuCtxSetCurrent")

    def context(self, device: int) -> int:
        """The primary context of ``device``, kept until the process ends."""
        if device not in self._contexts:
            cuda = library()
            handle, context = ctypes.c_int(), ctypes.c_void_p()
            check(cuda.cuDeviceGet(ctypes.byref(handle), device), "cuDeviceGet")
            check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle), "cuDevicePrimaryCtxRetain")
            self._contexts[device] = context.value or 0
        return self._contexts[device]

    @contextmanager
    def on(self, device: int) -> Generator[None]:
        """With a context of ``device`` current in this thread: the one that is, or its primary one and then the one
        that was. Without any before, the primary one stays."""
        cuda, before = library(), ctypes.c_void_p()
        check(cuda.cuCtxGetCurrent(ctypes.byref(before)), "cuCtxGetCurrent")
        if before and self.thread_device() == device:
            yield
            return
        self.activate(device)
        try:
            yield
        finally:
            if before:
                check(cuda.cuCtxSetCurrent(before), "cuCtxSetCurrent")

    def current_target(self, device: int | None = None) -> Target:
        found = self.properties(self.current_device() if device is None else device)
        return Target("cuda", found["capability_major"] * 10 + found["capability_minor"], 32)

    def properties(self, device: int) -> Mapping[str, int]:
        if device not in self._properties:
            cuda = library()
            handle, value = ctypes.c_int(), ctypes.c_int()
            check(cuda.cuDeviceGet(ctypes.byref(handle), device), "cuDeviceGet")
            found: dict[str, int] = {}
            for name, number in _DEVICE_ATTRIBUTES.items():
                check(cuda.cuDeviceGetAttribute(ctypes.byref(value), number, handle), "cuDeviceGetAttribute")
                found[name] = value.value
            self._properties[device] = found
        return self._properties[device]

    # ---- kernels

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        with self.on(device):
            self.unused.unload(device, may=self._may_unload, unload=library().cuModuleUnload)
            return NvidiaKernel(self, image, device)

    def _may_unload(self) -> bool:
        """Whether the default stream has nothing to do, which may not be asked while a graph is recorded."""
        return not self.is_recording() and library().cuStreamQuery(None) == 0

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        assert isinstance(kernel, NvidiaKernel)
        return kernel.launcher

    # ---- memory

    def scratch(self, device: int) -> ScratchMemory:
        """What lends a launch on the device its scratch memory."""
        if device not in self._scratch:
            self._scratch[device] = ScratchMemory(library(), device, check)
        return self._scratch[device]

    def allocate(self, nbytes: int, device: int) -> int:
        address = ctypes.c_uint64()
        with self.on(device):
            code = library().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(nbytes, 1)))
        if code == 2:
            raise MemoryError(f"the device has no {nbytes} bytes left")
        check(code, "cuMemAlloc")
        return address.value

    def free(self, address: int, device: int) -> None:
        with self.on(device):
            check(library().cuMemFree_v2(ctypes.c_uint64(address)), "cuMemFree")

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        data = (ctypes.c_char * source.nbytes).from_buffer_copy(source) if source.readonly else None
        pointer = ctypes.addressof(data if data is not None else (ctypes.c_char * source.nbytes).from_buffer(source))
        with self.on(device):
            code = library().cuMemcpyHtoD_v2(
                ctypes.c_uint64(destination), ctypes.c_void_p(pointer), ctypes.c_size_t(source.nbytes)
            )
        check(code, "cuMemcpyHtoD")

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        pointer = ctypes.addressof((ctypes.c_char * destination.nbytes).from_buffer(destination))
        with self.on(device):
            code = library().cuMemcpyDtoH_v2(
                ctypes.c_void_p(pointer), ctypes.c_uint64(source), ctypes.c_size_t(destination.nbytes)
            )
        check(code, "cuMemcpyDtoH")

    def synchronize(self, device: int | None = None) -> None:
        with self.on(self.current_device() if device is None else device):
            check(library().cuCtxSynchronize(), "cuCtxSynchronize")

    # ---- time

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        """Events around each run; the level-2 cache is overwritten between runs."""
        cuda = library()
        device = self.current_device()
        self.activate(device)  # for a thread without a context; one with a context has this device already
        stream = ctypes.c_void_p(self.current_stream(device))
        size = 2 * max(self.properties(device)["l2_cache_size"], 1 << 20)
        scratch = self.allocate(size, device) if flush_cache else 0
        events = [(ctypes.c_void_p(), ctypes.c_void_p()) for _ in range(repeat)]
        try:
            for start, stop in events:
                for event in (start, stop):
                    check(cuda.cuEventCreate(ctypes.byref(event), 0), "cuEventCreate")
            for start, stop in events:
                if flush_cache:
                    code = cuda.cuMemsetD32Async(ctypes.c_uint64(scratch), 0, ctypes.c_size_t(size // 4), stream)
                    check(code, "cuMemsetD32Async")
                check(cuda.cuEventRecord(start, stream), "cuEventRecord")
                run()
                check(cuda.cuEventRecord(stop, stream), "cuEventRecord")
            self.synchronize(device)
            elapsed = ctypes.c_float()
            out: list[float] = []
            for start, stop in events:
                check(cuda.cuEventElapsedTime_v2(ctypes.byref(elapsed), start, stop), "cuEventElapsedTime")
                out.append(elapsed.value)
            return out
        finally:
            for start, stop in events:
                for event in (start, stop):
                    if event.value:
                        cuda.cuEventDestroy_v2(event)
            if scratch:
                self.free(scratch, device)

    def launch_timers(self) -> Mapping[str, Callable[[], LaunchTimer]]:
        """CUPTI where NVIDIA's package for it is installed, events otherwise."""

        def by_events() -> LaunchTimer:
            from tritonx.backends.nvidia.launch.events import CudaEvents
            from tritonx.runtime.devices.event_timer import EventTimer

            events = CudaEvents(library(), check, self.on)
            return EventTimer(events, events.is_recording)

        def by_cupti() -> LaunchTimer:
            from tritonx.backends.nvidia.launch.cupti_timer import CuptiTimer

            return CuptiTimer(self._synchronize_used)

        return {"cupti": by_cupti, "events": by_events}

    def _synchronize_used(self) -> None:
        for device in list(self._contexts):
            self.synchronize(device)

    def time_recorded(self, run: Callable[[], object], milliseconds: float) -> list[float]:
        from tritonx.backends.nvidia.launch.recorded import Recorder

        self.activate(self.current_device())
        return Recorder(library(), check).times(self, run, milliseconds)


def __getattr__(name: str) -> object:
    """Triton's names in this module, which bring more than a launch needs."""
    return getattr(import_module("tritonx.backends.nvidia.driver_names"), name)
