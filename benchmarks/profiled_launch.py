"""What a launch costs the host more while it is profiled, without a GPU.

    python benchmarks/profiled_launch.py clock|events|cupti [--metadata] [--sessions N]
    python benchmarks/profiled_launch.py proton               # Triton's own, with PYTHONPATH for another version

``clock`` launches for the CPU. The others launch with a libcuda that does nothing (`stand_in_cuda.py`): ``cupti`` with
a module in the place of NVIDIA's package whose calls into C return at once, so that what CUPTI takes is not in it.
``proton`` is what Triton's profiler does of a launch in Python and in its library, without a session of CUPTI, which
needs a device. Reported are the least time of a burst, which no collection of times is in, and the thread's time in the
mean of all bursts, which they are in. CUPTI's records are collected apart: those of 20,000 launches, five of each as an
H200 gives them, from the buffers to the profile."""

from __future__ import annotations

import argparse
import ctypes
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

BURST, REPEAT, RECORDS = 25, 3000, 20_000


def put_cupti() -> None:
    """A module with the names of ``cupti.cupti`` that are used, of functions that are written in C."""
    buffers: Any = importlib.import_module("tritonx.backends.nvidia.launch.cupti_buffers")
    found: Any = ModuleType("cupti.cupti")
    found.ActivityKind = SimpleNamespace(DRIVER=4, RUNTIME=5, CONCURRENT_KERNEL=10, EXTERNAL_CORRELATION=39)
    found.ExternalCorrelationKind = SimpleNamespace(CUSTOM0=3)
    found.activity_register_callbacks = lambda *_: None
    found.activity_enable = found.activity_disable = found.activity_flush_all = abs
    found.get_timestamp = time.perf_counter_ns
    found.activity_push_external_correlation_id, found.activity_pop_external_correlation_id = max, abs
    buffers.loaded = lambda: CUPTI
    package: Any = ModuleType("cupti")
    package.cupti = found
    sys.modules.update({"cupti": package, "cupti.cupti": found})


class Cupti:
    """The part of libcupti that hands buffers of records out."""

    def cuptiActivityRegisterCallbacks(self, requested: Any, completed: Any) -> int:
        self.requested, self.completed = requested, completed
        return 0

    def cuptiActivityGetNextRecord(self, buffer: Any, size: Any, record: Any) -> int:
        at: Any = record._obj
        at.value += {4: 40, 10: 216, 39: 24}[ctypes.c_int.from_address(at.value).value]
        return 0

    def deliver(self, numbers: list[int]) -> None:
        """The records of launches that have pushed these numbers."""
        api = [("kind", "i4"), ("rest", "V36")]
        external = [("kind", "i4"), ("of", "i4"), ("number", "u8"), ("correlation", "u4"), ("", "u4")]
        kernel: Any = {"names": ["kind", "start", "stop", "correlation", "name"], "offsets": [0, 16, 24, 92, 104]}
        kernel |= {"formats": ["i4", "u8", "u8", "u4", "u8"], "itemsize": 216}
        row = np.dtype([("p0", external), ("a0", api), ("p1", external), ("k", kernel), ("a1", api)])
        buffer, size, most = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
        left = numbers
        while left:
            self.requested(ctypes.byref(buffer), ctypes.byref(size), ctypes.byref(most))
            now, left = left[: size.value // row.itemsize], left[size.value // row.itemsize :]
            found = np.zeros(len(now), row)
            for name, kind in (("p0", 39), ("a0", 4), ("p1", 39), ("k", 10), ("a1", 4)):
                found[name]["kind"] = kind
            for name, correlation in (("p0", 0), ("p1", 1)):
                found[name]["of"], found[name]["number"] = 3, now
                found[name]["correlation"] = 2 * np.array(now) + correlation
            found["k"]["correlation"], found["k"]["start"], found["k"]["stop"] = found["p1"]["correlation"], 1000, 3000
            ctypes.memmove(buffer.value or 0, found.ctypes.data, found.nbytes)
            self.completed(None, 0, buffer, size, found.nbytes)


CUPTI = Cupti()


def collecting(call: Callable[[], object]) -> float:
    """Microseconds of the thread's time for a launch's records, the least of some rounds."""
    recorder: Any = importlib.import_module("tritonx.profiler.recorder").RECORDER
    found: list[float] = []
    for _ in range(10):
        recorder.collect(wait=True)
        [timer] = recorder._timers.values()
        for _ in range(RECORDS):
            call()
        CUPTI.deliver([*timer._records])
        before = time.thread_time_ns()
        recorder.collect(wait=False)
        found.append((time.thread_time_ns() - before) / RECORDS / 1e3)
        assert not timer._records
    return min(found)


def microseconds(call: Callable[[], object]) -> tuple[float, float]:
    """Of a call: the least of the clock's, and the mean of the thread's own time."""
    for _ in range(2000):
        call()
    times: list[float] = []
    before = time.thread_time_ns()
    for _ in range(REPEAT):
        start = time.perf_counter_ns()
        for _ in range(BURST):
            call()
        times.append((time.perf_counter_ns() - start) / BURST / 1e3)
    return min(times), (time.thread_time_ns() - before) / (REPEAT * BURST) / 1e3


def launch_of(compiler: str, metadata: bool) -> Callable[[], object]:
    import torch
    from peers import kernels_of

    kernel: Any = kernels_of(compiler, "kernels_launch").add
    if metadata:
        described: Any = lambda grid, metadata, args: {"name": "add", "bytes": 12 * args["n"]}  # noqa: E731
        kernel = importlib.import_module(compiler).jit(kernel.fn, launch_metadata=described)
    x, y, out = torch.ones(64), torch.ones(64), torch.empty(64)
    return lambda: kernel[(1,)](x, y, out, 64, BLOCK=64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("way", choices=("clock", "events", "cupti", "proton"))
    parser.add_argument("--metadata", action="store_true", help="the kernel has launch_metadata, which are asked for")
    parser.add_argument("--sessions", type=int, default=1)
    given = parser.parse_args()
    compiler = "triton" if given.way == "proton" else "tritonx"
    if given.way == "cupti":
        put_cupti()
    if given.way != "clock":
        importlib.import_module("stand_in_cuda").install(compiler)
    call = launch_of(compiler, given.metadata)
    without = microseconds(call)
    hook = "triton" if given.metadata else None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as scopes:
        profiler = importlib.import_module(f"{compiler}.profiler")
        if given.way == "proton":
            hooks = importlib.import_module("triton.profiler.hooks")
            hooks.HookManager.register(hooks.LaunchHook(), 0)
        else:
            ways = {} if given.way == "clock" else {"backend": given.way}
            paths = [str(Path(folder) / f"profile{i}") for i in range(given.sessions)]
            for path in paths:
                profiler.start(path, hook=hook, **ways)
        for name in ("outer", "inner"):
            scopes.enter_context(profiler.scope(name))
        with_it = microseconds(call)
        what = f"{given.way}{' with launch_metadata' if given.metadata else ''}, {given.sessions} session"
        more = with_it[0] - without[0]
        means = f"{without[1]:.2f} and {with_it[1]:.2f} of the thread's time in the mean"
        apart = f"; {collecting(call):.2f} to collect a launch's records" if given.way == "cupti" else ""
        print(f"{what}: {without[0]:.2f} µs without, {with_it[0]:.2f} with, {more:.2f} more; {means}{apart}")


if __name__ == "__main__":
    main()
