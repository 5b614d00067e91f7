"""Timing a function on the devices of a driver."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from tritonx.backends.api import Driver

RETURN_MODES = ("min", "max", "mean", "median", "all")
_ESTIMATE_RUNS = 5


class UnknownMode(ValueError, AssertionError):
    """There is no such way to sum up times. Triton asserts it."""


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of sorted values, interpolating between neighbours."""
    if not 0 <= share <= 1:
        raise ValueError(f"Quantiles must be in the range [0, 1], got {share}")
    position = share * (len(ordered) - 1)
    low, high = math.floor(position), math.ceil(position)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def quantiles(a: Sequence[float], q: Sequence[float]) -> list[float]:
    """The quantiles ``q`` (0 to 1) of the values ``a``, between neighbours linearly. Raises ValueError for a share
    outside.

    >>> quantiles([1.0, 2.0, 4.0], [0, 0.5, 0.75])
    [1.0, 2.0, 3.0]
    """
    ordered = sorted(a)
    return [quantile(ordered, share) for share in q]


def summarize(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str) -> float | list[float]:
    """``quantiles`` of the times (one number for one quantile), else what ``return_mode`` says.

    >>> summarize([3.0, 1.0, 2.0], None, "median"), summarize([3.0, 1.0, 2.0], [0, 1], "mean")
    (2.0, [1.0, 3.0])
    """
    if quantiles is not None:
        ordered = sorted(times)
        found = [quantile(ordered, share) for share in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return list(times)
    return {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}[return_mode](times)


def check_mode(return_mode: str) -> None:
    if return_mode not in RETURN_MODES:
        raise UnknownMode(f"return_mode must be one of {', '.join(RETURN_MODES)}, got {return_mode!r}")


def without_gradients(fn: Callable[[], Any], grad_to_none: Sequence[Any] | None) -> Callable[[], Any]:
    if not grad_to_none:
        return fn

    def run() -> Any:
        for tensor in grad_to_none:
            tensor.grad = None
        return fn()

    return run


def benchmarker(driver: Driver) -> Callable[..., Any]:
    """``do_bench`` on the devices of ``driver``; see ``tritonx.testing.do_bench``."""

    def do_bench(
        fn: Callable[[], Any],
        warmup: int = 25,
        rep: int = 100,
        grad_to_none: Sequence[Any] | None = None,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
    ) -> Any:
        check_mode(return_mode)
        run = without_gradients(fn, grad_to_none)
        run()
        driver.synchronize()
        estimate = max(statistics.median(driver.time(run, _ESTIMATE_RUNS)), 1e-4)
        for _ in range(max(1, int(warmup / estimate))):
            run()
        times = driver.time(run, max(1, int(rep / estimate)))
        return summarize(times, quantiles, return_mode)

    return do_bench
