"""Launches timed by CUPTI, through NVIDIA's package ``cupti-python``: what the device itself says of a kernel's begin
and end, without the gap between two launches.

A launch pushes a number of its own (an external correlation id), which CUPTI hands on to the records of the kernels
that are launched meanwhile. One process has one subscriber of these buffers: where another profiler has taken them, as
PyTorch's does while it runs, making the timer raises ``NoTimer``.

Kernels of other libraries have the number that lies below those of launches, which `at` has put there; a thread that
has none is at no place."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

from tritonx.backends.api import LaunchTimer, OtherKernel
from tritonx.runtime.errors import NoTimer

BUFFER_BYTES = 8 << 20

ROUNDS = 2
"""Collections after which a kernel that no number was found for is taken to be of no place."""


class Activity(Protocol):
    """A record: of a kernel, or of which number was pushed when it was launched."""

    kind: int
    correlation_id: int
    start: int
    end: int
    external_kind: int
    external_id: int
    name: str
    device_id: int
    stream_id: int


@dataclass
class Kernel:
    """A kernel that is over; ``rounds`` of records were read since without finding who launched it."""

    correlation: int
    start: int
    stop: int
    name: str
    device: int
    stream: int
    rounds: int = 0


UNTIMED = 1
"""The number of kernels that are not timed."""


class CuptiTimer(LaunchTimer):
    """``synchronize`` waits for the work of the devices that launches are timed on."""

    sees_others: ClassVar[bool] = True

    def __init__(self, synchronize: Callable[[], object]) -> None:
        try:
            self._cupti: Any = import_module("cupti.cupti")
        except Exception as error:
            raise NoTimer(f"CUPTI cannot be used: {error} (install cupti-python)") from error
        self._synchronize = synchronize
        self._numbers = itertools.count(UNTIMED + 1)
        self._places: dict[int, object] = {}
        self._number_of: dict[object, int] = {}
        self._others: list[OtherKernel] = []
        self._bases: dict[int, int] = {}
        """Thread → the number that it has put below those of its launches."""
        self._records: dict[int, object] = {}
        self._launches: dict[int, int] = {}
        self._kernels: list[Kernel] = []
        self._lock = threading.Lock()
        kinds = self._cupti.ActivityKind
        # Which number was pushed is said of calls, and only while these are recorded: of the driver's, which tritonx
        # makes, and of the runtime's, which other libraries make.
        self._kinds = (kinds.CONCURRENT_KERNEL, kinds.EXTERNAL_CORRELATION, kinds.DRIVER, kinds.RUNTIME)
        self._own = self._cupti.ExternalCorrelationKind.CUSTOM0
        try:
            self._cupti.activity_register_callbacks(lambda: (BUFFER_BYTES, 0), self._completed)
            for kind in self._kinds:
                self._cupti.activity_enable(kind)
            self._to_host = time.perf_counter_ns() - int(self._cupti.get_timestamp())
        except Exception as error:  # the package's own error, of whatever class its version has
            raise NoTimer(f"CUPTI cannot be used: {error}") from error

    def at(self, place: object) -> None:
        if place is None:
            number = UNTIMED
        else:
            with self._lock:
                number = self._number_of.get(place) or self._number_of.setdefault(place, next(self._numbers))
                self._places[number] = place
        thread = threading.get_ident()
        if thread in self._bases:
            self._cupti.activity_pop_external_correlation_id(self._own)
        self._cupti.activity_push_external_correlation_id(self._own, number)
        self._bases[thread] = number

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
                    where = activity.device_id, activity.stream_id
                    times = activity.start, activity.end
                    self._kernels.append(Kernel(activity.correlation_id, *times, activity.name, *where))

    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        if wait:
            self._synchronize()
        self._cupti.activity_flush_all(1 if wait else 0)
        with self._lock:
            kernels, self._kernels = self._kernels, []
            found: list[tuple[object, int, int]] = []
            for kernel in kernels:
                number = self._launches.pop(kernel.correlation, None)
                record = None if number is None else self._records.pop(number, None)
                start, stop = kernel.start + self._to_host, kernel.stop + self._to_host
                if record is not None:
                    found.append((record, start, stop))
                elif number == UNTIMED:
                    continue
                elif number in self._places or (number is None and (wait or kernel.rounds >= ROUNDS)):
                    place = None if number is None else self._places[number]
                    self._others.append(OtherKernel(place, kernel.name, kernel.device, kernel.stream, start, stop))
                elif not wait:  # the other half is in a buffer that is not full
                    kernel.rounds += 1
                    self._kernels.append(kernel)
                    if number is not None:
                        self._launches[kernel.correlation] = number
            if wait:  # all kernels have run and all buffers are here: what is left was recorded into a graph
                found += [(record, 0, 0) for record in self._records.values()]
                self._records.clear()
                self._launches.clear()
                used = set(self._bases.values())
                self._number_of = {place: number for place, number in self._number_of.items() if number in used}
                self._places = {number: place for place, number in self._number_of.items()}
        return found

    def others(self) -> list[OtherKernel]:
        with self._lock:
            found, self._others = self._others, []
        return found

    def close(self) -> None:
        for kind in self._kinds:
            self._cupti.activity_disable(kind)
