"""The NVIDIA backend with the emulator for a GPU: its own stages up to PTX, its own driver and launcher.

    with active(emulated("90")) as backend:  # or set_active(emulated("90"))
        kernel[grid](...)  # arrays of `to_device`, or NumPy's and PyTorch's on the host
    backend.cuda.executed  # the PTX

The tests of GPUs run so where there is none (`tests/gpu/where.py`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

from tritonx.backends.api import ClockTimer, KernelImage, LaunchTimer, LoadedKernel, Options, Stage, Target
from tritonx.backends.nvidia import NvidiaBackend
from tritonx.backends.nvidia import driver as driver_module
from tritonx.runtime.devices import drivers
from tritonx.runtime.driver import reset_active, set_active
from tritonx_testing.emulators.on_host import OnHost
from tritonx_testing.emulators.ptx.cuda import EmulatedCuda


class Emulated(OnHost, NvidiaBackend):
    """For a compute capability (``90``). Each has its own memory, and its name is that of the targets."""

    binary_stage = "ptx"

    def __init__(self, arch: str, *, multiprocessors: int = 4) -> None:
        self.cuda = EmulatedCuda(int(arch), multiprocessors=multiprocessors)
        with library_is(self.cuda):
            self.own = EmulatedDriver(self.cuda)

    def stages(self, target: Target, options: Options) -> tuple[Stage, ...]:
        return tuple(stage for stage in super().stages(target, options) if stage.name != "cubin")


_here = threading.local()
_library = driver_module.library


@wraps(_library)
def _found() -> Any:
    """Replaces `driver.library` while there is an emulator: the emulator within its driver, otherwise libcuda."""
    return getattr(_here, "cuda", None) or _library()


_found.__dict__.update(__wrapped__=_library.__wrapped__, cache_clear=_library.cache_clear)


@contextmanager
def library_is(cuda: EmulatedCuda) -> Generator[None]:
    """What the driver's module takes for libcuda in this thread."""
    module: Any = driver_module
    if module.library is _library:
        module.library = _found
    before = getattr(_here, "cuda", None)
    _here.cuda = cuda
    try:
        yield
    finally:
        _here.cuda = before


class EmulatedDriver(driver_module.NvidiaDriver):
    """Each of its methods finds the emulator where it looks for libcuda, and no other code does."""

    def __init__(self, cuda: EmulatedCuda) -> None:
        self.cuda = cuda
        super().__init__()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in CALLS:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            with library_is(self.cuda):
                return found(*args, **kwargs)

        return call

    def current_stream(self, device: int) -> int:
        return 0

    def current_device(self) -> int:
        return 0

    def launch_timers(self) -> Mapping[str, Callable[[], LaunchTimer]]:
        """A launch returns when it is over; the emulator's events are none."""
        return {"clock": ClockTimer}

    def make_launcher(self, image: KernelImage, kernel: LoadedKernel) -> Callable[..., None]:
        launch = super().make_launcher(image, kernel)

        def launcher(*args: Any) -> None:
            with library_is(self.cuda):
                launch(*args)

        return launcher


CALLS = frozenset(
    {"device_count", "current_target", "properties", "load", "allocate", "free", "copy_to_device", "copy_to_host",
     "synchronize", "time", "scratch"}
)  # fmt: skip


@cache
def emulated(arch: str) -> Emulated:
    """One for the process: kernels are kept by the backend that they were compiled for."""
    return Emulated(arch)


@contextmanager
def active(backend: Emulated) -> Generator[Emulated]:
    """Every launch is executed by the emulator, and everything is as it was behind."""
    tables: list[dict[str, Any]] = [drivers._drivers, drivers._adopted]
    before = [dict(table) for table in tables]
    tables[0].pop(backend.name, None)
    set_active(backend)
    try:
        yield backend
    finally:
        for table, entries in zip(tables, before, strict=True):
            table.clear()
            table.update(entries)
        reset_active()
