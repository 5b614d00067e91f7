"""Timing a function on the device it runs on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tritonx.runtime import driver
from tritonx.runtime.devices.benchmark import benchmarker, check_mode, summarize, without_gradients
from tritonx.runtime.errors import TritonError


class NoGraphs(TritonError):
    """The active backend cannot record launches into a graph.

    >>> issubclass(tritonx.testing.NoGraphs, tritonx.TritonError)
    True
    """


def do_bench(
    fn: Callable[[], Any],
    warmup: int = 25,
    rep: int = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds that ``fn`` takes on the active device, its caches flushed before each run.

    ``warmup`` and ``rep`` are milliseconds to spend. The result is the ``quantiles`` as a list (a number for one), else
    the ``return_mode`` of the times: min, max, mean, median or all.

    >>> x = np.zeros(8, np.float32)
    >>> milliseconds = tritonx.testing.do_bench(lambda: double[(1,)](x, BLOCK=8), warmup=1, rep=2)
    >>> milliseconds > 0
    True
    >>> launch = lambda: double[(1,)](x, BLOCK=8)
    >>> median, worst = tritonx.testing.do_bench(launch, warmup=1, rep=2, quantiles=[0.5, 1.0])
    >>> median <= worst
    True
    """
    run = benchmarker(driver.get_active().implementation)
    return run(fn, warmup, rep, grad_to_none, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: int = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> float | list[float]:
    """Milliseconds of ``fn`` as recorded in a graph, without the time around the launch.

    Raises NoGraphs where the active backend's driver has no ``time_graph``.
    """
    check_mode(return_mode)
    active = driver.get_active()
    try:
        times = active.implementation.time_graph(without_gradients(fn, grad_to_none), rep)
    except NotImplementedError:
        raise NoGraphs(f"backend {active.backend.name!r} cannot record launches into a graph; use do_bench") from None
    return summarize(times, quantiles, return_mode)
