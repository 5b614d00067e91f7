"""Timing the kernels of a function by the profiler, and recording launches into PyTorch's graphs."""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import statistics
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import tritonx.profiler as proton
from tritonx.profiler.errors import ProfilerError
from tritonx.runtime import driver
from tritonx.runtime.devices.benchmark import check_mode, summarize, without_gradients
from tritonx.testing.bench import NoGraphs

_ESTIMATE_RUNS = 5


class NoKernels(ProfilerError):
    """What was to be timed launches no kernel that the profiler sees.

    >>> try:
    ...     tritonx.testing.do_bench_proton(lambda: None)
    ... except tritonx.testing.NoKernels as error:
    ...     print(error)
    the function launches no kernel of tritonx; use do_bench
    """


def _kernel_nanoseconds(node: dict[str, Any]) -> int:
    """Of the launches in a scope."""
    inside = sum(_kernel_nanoseconds(child) for child in node["children"])
    return inside + int(node["metrics"].get("time (ns)", 0))


def do_bench_proton(
    fn: Callable[[], Any],
    warmup: int = 25,
    rep: int = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds that the kernels of ``fn`` take on the active device, without what is between them: what `do_bench`
    gives, measured by the profiler. Raises NoKernels where ``fn`` launches none, RuntimeError where the profiler is
    switched off.

    >>> x = np.zeros(8, np.float32)
    >>> 0 < tritonx.testing.do_bench_proton(lambda: double[(1,)](x, BLOCK=8), warmup=1, rep=2)
    True
    """
    check_mode(return_mode)
    device = driver.get_active().implementation
    run = without_gradients(fn, grad_to_none)
    run()
    device.synchronize()
    if not any(_recorded(run, 1)):  # before a million runs of what takes no time
        raise NoKernels("the function launches no kernel of tritonx; use do_bench")
    estimate = max(statistics.median(device.time(run, _ESTIMATE_RUNS)), 1e-4)
    for _ in range(max(1, int(warmup / estimate))):
        run()
    device.synchronize()
    return summarize(_recorded(run, max(1, int(rep / estimate))), quantiles, return_mode)


def _recorded(run: Callable[[], Any], count: int) -> list[float]:
    """Milliseconds of the kernels of each of ``count`` runs, by a session of the profiler."""
    numbers = itertools.count()

    def in_a_scope() -> None:
        with proton.scope(f"run {next(numbers)}"):
            run()

    with tempfile.TemporaryDirectory(prefix="tritonx-bench-") as folder:
        session = proton.start(os.path.join(folder, "profile"))
        if session is None:
            raise RuntimeError("the profiler is switched off, or the command `proton` runs this program")
        try:
            driver.get_active().implementation.time(in_a_scope, count)
            node = proton.data.get(session)[0]
        finally:
            proton.finalize(session)
    while node["children"] and not node["children"][0]["frame"]["name"].startswith("run "):
        node = node["children"][0]  # the scopes that the caller has open
    return [_kernel_nanoseconds(each) / 1e6 for each in node["children"]]


def do_bench_cudagraph_proton(
    fn: Callable[[], Any],
    rep: int = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Raises NoGraphs: the kernels of a graph are not timed one by one. `do_bench_cudagraph` times the graph.

    >>> try:
    ...     tritonx.testing.do_bench_cudagraph_proton(lambda: None)
    ... except tritonx.testing.NoGraphs as error:
    ...     print(error)
    the kernels of a graph are not timed one by one; time the graph
    """
    check_mode(return_mode)
    raise NoGraphs("the kernels of a graph are not timed one by one; time the graph")


@contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Generator[Any]:
    """``torch.cuda.graph(…)`` with Python's garbage collector switched off: a kernel that it frees would be unloaded,
    which breaks the recording.

    >>> tritonx.testing.cuda_graph_without_gc.__name__
    'cuda_graph_without_gc'
    """
    torch: Any = importlib.import_module("torch")
    collects = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs) as graph:
            yield graph
    finally:
        if collects:
            gc.enable()
