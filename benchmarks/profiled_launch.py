"""What a launch costs the host more while it is profiled, without a GPU.

    python benchmarks/profiled_launch.py clock|events|cupti [--metadata] [--sessions N]
    python benchmarks/profiled_launch.py proton               # Triton's own, with PYTHONPATH for another version

``clock`` launches for the CPU. The others launch with a libcuda that does nothing (`stand_in_cuda.py`): ``cupti`` with
a module in the place of NVIDIA's package whose calls into C return at once, so that what CUPTI takes is not in it.
``proton`` is what Triton's profiler does of a launch in Python and in its library, without a session of CUPTI, which
needs a device. Reported are the least time of a burst, which no collection of times is in, and the thread's time in the
mean of all bursts, which they are in."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

BURST, REPEAT = 25, 3000


def put_cupti() -> None:
    """A module with the names of ``cupti.cupti`` that are used, of functions that are written in C."""
    found: Any = ModuleType("cupti.cupti")
    found.ActivityKind = SimpleNamespace(DRIVER=4, RUNTIME=5, CONCURRENT_KERNEL=10, EXTERNAL_CORRELATION=39)
    found.ExternalCorrelationKind = SimpleNamespace(CUSTOM0=3)
    found.activity_register_callbacks = lambda *_: None
    found.activity_enable = found.activity_disable = found.activity_flush_all = abs
    found.get_timestamp = time.perf_counter_ns
    found.activity_push_external_correlation_id, found.activity_pop_external_correlation_id = max, abs
    package: Any = ModuleType("cupti")
    package.cupti = found
    sys.modules.update({"cupti": package, "cupti.cupti": found})


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
        print(f"{what}: {without[0]:.2f} µs without, {with_it[0]:.2f} with, {more:.2f} more; {means}")


if __name__ == "__main__":
    main()
