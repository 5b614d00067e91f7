"""Launches timed by CUPTI, through NVIDIA's package ``cupti-python``: what the device itself says of a kernel's begin
and end, without the gap between two launches.

A launch pushes a number of its own (an external correlation id), which CUPTI hands on to the records of the kernels
that are launched meanwhile. One process has one subscriber of these buffers: where another profiler has taken them, as
PyTorch's does while it runs, making the timer raises ``NoTimer``."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from tritonx.backends.api import LaunchTimer
from tritonx.runtime.errors import NoTimer

BUFFER_BYTES = 8 << 20


class Activity(Protocol):
    """A record: of a kernel, or of which number was pushed when it was launched."""

    kind: int
    correlation_id: int
    start: int
    end: int
    external_kind: int
    external_id: int


class CuptiTimer(LaunchTimer):
    """``synchronize`` waits for the work of the devices that launches are timed on."""

    def __init__(self, synchronize: Callable[[], object]) -> None:
        try:
            self._cupti: Any = import_module("cupti.cupti")
        except Exception as error:
            raise NoTimer(f"CUPTI cannot be used: {error} (install cupti-python)") from error
        self._synchronize = synchronize
        self._numbers = itertools.count(1)
        self._records: dict[int, object] = {}
        self._launches: dict[int, int] = {}
        self._kernels: list[tuple[int, int, int]] = []
        self._lock = threading.Lock()
        kinds = self._cupti.ActivityKind
        self._kinds = (kinds.CONCURRENT_KERNEL, kinds.EXTERNAL_CORRELATION)
        self._own = self._cupti.ExternalCorrelationKind.CUSTOM0
        try:
            self._cupti.activity_register_callbacks(lambda: (BUFFER_BYTES, 0), self._completed)
            for kind in self._kinds:
                self._cupti.activity_enable(kind)
            self._to_host = time.perf_counter_ns() - int(self._cupti.get_timestamp())
        except Exception as error:  # the package's own error, of whatever class its version has
            raise NoTimer(f"CUPTI cannot be used: {error}") from error

    def begin(self, device: int, stream: int) -> object:
        number = next(self._numbers)
        self._cupti.activity_push_external_correlation_id(self._own, number)
        return number

    def end(self, begun: object, stream: int, record: object) -> None:
        assert isinstance(begun, int)
        self._records[begun] = record
        self._cupti.activity_pop_external_correlation_id(self._own)

    def abandon(self, begun: object) -> None:
        self._cupti.activity_pop_external_correlation_id(self._own)

    def _completed(self, activities: list[Activity]) -> None:
        """A buffer of records; a kernel's and the one that says whose launch it was come in any order."""
        with self._lock:
            for activity in activities:
                if activity.kind == self._kinds[1] and activity.external_kind == self._own:
                    self._launches[activity.correlation_id] = activity.external_id
                elif activity.kind == self._kinds[0]:
                    self._kernels.append((activity.correlation_id, activity.start, activity.end))

    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        if wait:
            self._synchronize()
        self._cupti.activity_flush_all(1 if wait else 0)
        with self._lock:
            kernels, self._kernels = self._kernels, []
            found: list[tuple[object, int, int]] = []
            for correlation, start, stop in kernels:
                number = self._launches.pop(correlation, None)
                record = None if number is None else self._records.pop(number, None)
                if record is not None:
                    found.append((record, start + self._to_host, stop + self._to_host))
                elif not wait:  # the other half is in a buffer that is not full
                    self._kernels.append((correlation, start, stop))
                    if number is not None:
                        self._launches[correlation] = number
            if wait:  # all kernels have run and all buffers are here: what is left was recorded into a graph
                found += [(record, 0, 0) for record in self._records.values()]
                self._records.clear()
                self._launches.clear()
        return found

    def close(self) -> None:
        for kind in self._kinds:
            self._cupti.activity_disable(kind)
