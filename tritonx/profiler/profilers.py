"""Triton's names of what times launches, by which programs choose it."""

from __future__ import annotations

from collections.abc import Mapping

from tritonx.profiler.errors import BadProfile
from tritonx.profiler.session import INSTRUMENTATION
from tritonx.runtime import driver
from tritonx.runtime.errors import TritonError

BY_BACKEND: Mapping[str, str] = {"cuda": "cupti", "hip": "rocprofiler"}
"""Triton's backends → its profilers of them."""
_THEIRS = (*BY_BACKEND.values(), "roctracer")


def _ways() -> tuple[str, ...]:
    """How launches of the active device can be timed, the best way first."""
    try:
        return tuple(driver.get_active().implementation.launch_timers())
    except TritonError:
        return ()


def available() -> list[str]:
    """Triton's names, and the ways of the active device."""
    return list(dict.fromkeys((*_THEIRS, INSTRUMENTATION, *_ways())))


def of_backend(backend: str) -> str:
    """What times launches of a backend. Raises BadProfile."""
    if backend in BY_BACKEND:
        return BY_BACKEND[backend]
    if backend == driver.get_active().get_current_target().backend and (ways := _ways()):
        return ways[0]
    raise BadProfile(f"No profiler registered for triton backend {backend}")


def way_of(profiler: str) -> str | None:
    """What ``tritonx.profiler.start`` calls it: Triton's profilers are the device's best way."""
    return None if profiler in _THEIRS else profiler
