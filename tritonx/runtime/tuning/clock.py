"""Measuring a launch on the device that it runs on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tritonx.backends.api import Driver
from tritonx.runtime import driver
from tritonx.runtime.devices.drivers import driver_of, find_backend

_IDLE_SECONDS = 0.02
"""A device that had nothing to do for so long has lowered its clocks."""

_WARM_MILLISECONDS = 25.0
"""Until they are up again."""

_MOST_WARM_RUNS = 200


class Clock:
    """Times of launches, by the device's own events; what other processes compile meanwhile is not in them. A device
    that has rested is warmed up before."""

    def __init__(self) -> None:
        self._last = 0.0

    def times(self, launch: Callable[[], object], count: int) -> Sequence[float]:
        """Milliseconds of each of ``count`` runs, behind one that is not counted."""
        device = device_of(launch())
        device.synchronize()
        if time.monotonic() - self._last > _IDLE_SECONDS:
            each = max(device.time(launch, 1)[0], 1e-3)
            for _ in range(min(int(_WARM_MILLISECONDS / each), _MOST_WARM_RUNS)):
                launch()
        found = device.time(launch, count)
        self._last = time.monotonic()
        return found


def device_of(launched: object) -> Driver:
    """The driver of the backend that ran a launch: its arguments have decided."""
    target = getattr(launched, "target", None)
    name = getattr(target, "backend", None)
    return driver_of(find_backend(name)) if isinstance(name, str) else driver.get_active().implementation
