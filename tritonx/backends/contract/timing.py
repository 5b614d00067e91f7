"""How a backend times the launches of a program that is being profiled."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class OtherKernel:
    """A kernel that was not launched by tritonx: ``place`` is what its thread was at, None where the thread had no
    place; times are a `LaunchTimer`'s. A kernel that a graph launches is one too. Where it is known how it came into
    the graph, ``recorded`` is the record of tritonx' launch that did it, or ``recorded_at`` is the place at which
    another library did.

    >>> from tritonx.backends.api import OtherKernel
    >>> kernel = OtherKernel("a scope", "copy_kernel", device=0, stream=7, start=1000, stop=1800)
    >>> kernel.stop - kernel.start
    800
    """

    place: object
    name: str
    device: int
    stream: int
    start: int
    stop: int
    recorded: object = None
    recorded_at: object = None


class LaunchTimer(ABC):
    """Times launches of one driver, on all of its devices and streams. ``begin`` and ``end`` enclose a launch, in
    the thread that launches; ``collect`` gives the times of the launches that are over.

    A time is a pair of nanoseconds on the clock of ``time.perf_counter_ns``, so that launches and the host's scopes can
    be drawn on one axis. ``record`` is the caller's own and comes back unchanged.

    >>> timer = tritonx.backends.backends["cpu"].compiler.driver().launch_timers()["clock"]()
    >>> timer.end(timer.begin(0, 0), 0, "a launch")
    >>> [(record, start <= stop) for record, start, stop in timer.collect(wait=True)]
    [('a launch', True)]
    """

    @abstractmethod
    def begin(self, device: int, stream: int) -> object:
        """In front of a launch on ``stream`` of ``device``, the current one; what is returned goes to ``end`` or
        ``abandon``."""

    @abstractmethod
    def end(self, begun: object, stream: int, record: object) -> None:
        """Behind the launch."""

    def abandon(self, begun: object) -> None:
        """In place of ``end``, for a launch that failed."""
        return None

    @abstractmethod
    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        """(record, start, stop) of launches that are over and were not collected before; with ``wait``, of all. A
        record whose time was not measured, as of a launch that was recorded into a graph, has (0, 0)."""

    def is_due(self) -> bool:
        """Whether so much has come together that it is worth to `collect` while launches go on; asked now and then."""
        return True

    sees_others: ClassVar[bool] = False
    """Whether it times kernels that others launch, which `at` and `others` are for."""

    def at(self, place: object) -> None:
        """What others launch from here on, in this thread, is of ``place``; None: of nothing, and not timed."""
        return None

    def others(self) -> list[OtherKernel]:
        """Kernels that others have launched and that the last `collect` has found to be over."""
        return []

    def close(self) -> None:
        """Nothing is timed any more."""
        return None


class ClockTimer(LaunchTimer):
    """The host's clock, behind a wait for the device: for devices that are the host, or that have no clock of theirs.

    >>> timer = ClockTimer(lambda: None)
    >>> timer.end(timer.begin(0, 0), 0, 1)
    >>> len(timer.collect(wait=False)), len(timer.collect(wait=False))
    (1, 0)
    """

    def __init__(self, synchronize: Callable[[], object] | None = None) -> None:
        self._synchronize = synchronize
        self._done: list[tuple[object, int, int]] = []

    def begin(self, device: int, stream: int) -> object:
        if self._synchronize is not None:
            self._synchronize()
        return time.perf_counter_ns()

    def end(self, begun: object, stream: int, record: object) -> None:
        if self._synchronize is not None:
            self._synchronize()
        assert isinstance(begun, int)
        self._done.append((record, begun, time.perf_counter_ns()))

    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        done, self._done = self._done, []
        return done
