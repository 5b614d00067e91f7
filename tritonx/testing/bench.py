"""Timing a function on the device it runs on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from tritonx.runtime.errors import TritonError

RETURN_MODES = ("min", "max", "mean", "median", "all")
_ESTIMATE_RUNS = 5


class NoGraphs(TritonError):
    """The active backend cannot record launches into a graph."""


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of sorted values, interpolating between neighbours."""
    if not 0 <= share <= 1:
        raise ValueError(f"Quantiles must be in the range [0, 1], got {share}")
    position = share * (len(ordered) - 1)
    low, high = math.floor(position), math.ceil(position)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _summarize_statistics(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """``quantiles`` of the times (one number for one quantile), else what ``return_mode`` says."""
    if quantiles is not None:
        ordered = sorted(times)
        found = [quantile(ordered, share) for share in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return list(times)
    return {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}[return_mode](times)


def _check_mode(return_mode: str) -> None:
    if return_mode not in RETURN_MODES:
        raise ValueError(f"return_mode must be one of {', '.join(RETURN_MODES)}, got {return_mode!r}")


def _without_gradients(fn: Callable[[], Any], grad_to_none: Sequence[Any] | None) -> Callable[[], Any]:
    if not grad_to_none:
        return fn

    def run() -> Any:
        for tensor in grad_to_none:
            tensor.grad = None
        return fn()

    return run


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
    """
    from tritonx.runtime import driver

    _check_mode(return_mode)
    own = driver.get_active().implementation
    run = _without_gradients(fn, grad_to_none)
    run()
    own.synchronize()
    estimate = max(statistics.median(own.time(run, _ESTIMATE_RUNS)), 1e-4)
    for _ in range(max(1, int(warmup / estimate))):
        run()
    times = own.time(run, max(1, int(rep / estimate)))
    return _summarize_statistics(times, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: int = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds of ``fn`` as recorded in a graph, without the time around the launch.

    Raises NoGraphs where the active backend's driver has no ``time_graph``.
    """
    from tritonx.runtime import driver

    _check_mode(return_mode)
    active = driver.get_active()
    try:
        times = active.implementation.time_graph(_without_gradients(fn, grad_to_none), rep)
    except NotImplementedError:
        raise NoGraphs(f"backend {active.backend.name!r} cannot record launches into a graph; use do_bench") from None
    return _summarize_statistics(times, quantiles, return_mode)
