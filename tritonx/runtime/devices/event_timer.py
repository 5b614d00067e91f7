"""Launches timed by a GPU's events: one is recorded in front of a launch and one behind it, on the launch's stream."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tritonx.backends.api import LaunchTimer


class Events(Protocol):
    """A vendor's events; a failing call raises, but of those that say so."""

    def create(self, device: int) -> object: ...

    def destroy(self, event: object) -> None: ...

    def record(self, event: object, stream: int, device: int) -> None: ...

    def wait(self, event: object) -> None:
        """Until all in front of it is over."""
        ...

    def milliseconds(self, start: object, stop: object) -> float | None:
        """Between two, negative if ``stop`` was first; None where one of them is not over. Called by one thread at a
        time."""
        ...


@dataclass(slots=True)
class _Timed:
    device: int
    start: object
    stop: object
    stream: int = 0
    record: object = None


@dataclass
class _Anchor:
    """An event whose time on the host's clock is known."""

    event: object
    nanoseconds: float


class EventTimer(LaunchTimer):
    """A time is from where the stream gets to the launch to where it is done with it, so a kernel of a few microseconds
    that waits for nothing may be given one or two more than it takes. What is recorded into a graph is not timed.

    A launch's beginning is told from the last one's that was collected, so that what a float of milliseconds keeps of
    it does not get less with the time that the program runs."""

    def __init__(self, events: Events, is_recording: Callable[[int], bool]) -> None:
        self._events = events
        self._record = events.record
        self._is_recording = is_recording
        self._free: dict[int, list[_Timed]] = {}
        """Pairs of events of each device that can be used again."""
        self._pending: deque[_Timed] = deque()
        self._unmeasured: list[object] = []
        self._anchors: dict[int, _Anchor] = {}
        self._lock = threading.Lock()

    def begin(self, device: int, stream: int) -> object:
        if self._is_recording(stream):
            return None
        try:
            timed = self._free[device].pop()
        except LookupError:
            timed = self._pair(device, stream)
        self._record(timed.start, stream, device)
        return timed

    def _pair(self, device: int, stream: int) -> _Timed:
        with self._lock:
            if device not in self._anchors:
                self._anchor(device, stream)
            return _Timed(device, self._events.create(device), self._events.create(device))

    def _anchor(self, device: int, stream: int) -> None:
        self._free[device] = []
        event = self._events.create(device)
        self._events.record(event, stream, device)
        self._events.wait(event)
        self._anchors.setdefault(device, _Anchor(event, time.perf_counter_ns()))

    def end(self, begun: object, stream: int, record: object) -> None:
        if begun is None:
            self._unmeasured.append(record)
            return
        assert type(begun) is _Timed
        self._record(begun.stop, stream, begun.device)
        begun.stream, begun.record = stream, record
        self._pending.append(begun)

    def abandon(self, begun: object) -> None:
        if isinstance(begun, _Timed):
            self._free[begun.device].append(begun)

    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        with self._lock:
            unmeasured, self._unmeasured = self._unmeasured, []
            found = [(record, 0, 0) for record in unmeasured]
            busy: set[int] = set()
            """Streams of which a launch is not over: later ones are not either."""
            for _ in range(len(self._pending)):
                timed = self._pending.popleft()
                took = None if timed.stream in busy else self._events.milliseconds(timed.start, timed.stop)
                if took is None and wait:
                    self._events.wait(timed.stop)
                    took = self._events.milliseconds(timed.start, timed.stop)
                if took is None:
                    busy.add(timed.stream)
                    self._pending.append(timed)
                else:
                    found.append(self._told(timed, took))
            return found

    def _told(self, timed: _Timed, took: float) -> tuple[object, int, int]:
        anchor, record = self._anchors[timed.device], timed.record
        since = self._events.milliseconds(anchor.event, timed.start)
        assert since is not None
        start = anchor.nanoseconds + 1e6 * since
        anchor.event, timed.start, anchor.nanoseconds, timed.record = timed.start, anchor.event, start, None
        self._free[timed.device].append(timed)
        return record, round(start), round(start + 1e6 * took)

    def close(self) -> None:
        for timed in [t for free in self._free.values() for t in free]:
            self._events.destroy(timed.start)
            self._events.destroy(timed.stop)
        for anchor in self._anchors.values():
            self._events.destroy(anchor.event)
        self._free.clear()
        self._anchors.clear()
