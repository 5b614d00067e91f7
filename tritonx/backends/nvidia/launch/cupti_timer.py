"""Launches timed by CUPTI, through NVIDIA's package ``cupti-python``: what the device itself says of a kernel's begin
and end, without the gap between two launches.

A launch pushes a number of its own (an external correlation id), which CUPTI hands on to the records of the kernels
that are launched meanwhile. One process has one subscriber of these buffers: where another profiler has taken them, as
PyTorch's does while it runs, making the timer raises ``NoTimer``.

Kernels of other libraries have the number that lies below those of launches, which `at` has put there; a thread that
has none is at no place. A kernel that a CUDA graph launches has that number too, and a node of the graph, which
`tritonx.backends.nvidia.launch.cupti_graphs` knows.

A record that cannot be read is dropped, and `TimesLost` warns of it where the times are waited for."""

from __future__ import annotations

import itertools
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

from tritonx.backends.api import LaunchTimer, OtherKernel
from tritonx.backends.nvidia.launch.cupti_graphs import UNKNOWN, GraphNodes
from tritonx.runtime.errors import NoTimer, TimesLost

BUFFER_BYTES = 8 << 20

ROUNDS = 2
"""Collections after which a kernel that no number was found for is taken to be of no place."""

GRAPH_LAUNCHES = 1 << 16
"""Launches of graphs whose numbers are kept for kernels that come later, between two waits."""


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
    graph_node_id: int


@dataclass
class Kernel:
    """A kernel that is over; ``rounds`` of records were read since without finding who launched it."""

    correlation: int
    start: int
    stop: int
    name: str
    device: int
    stream: int
    node: int
    """Of the graph that has launched it; 0 where none has."""
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
        self._graph_launches: dict[int, None] = {}
        """Their correlation ids, the oldest first."""
        self._recorded: dict[int, object] = {}
        """Numbers of launches that made nodes of graphs → their records."""
        self._recorded_at: dict[int, object] = {}
        """The same of other libraries → the places."""
        self._problems: dict[str, None] = {}
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
        self._graphs = GraphNodes(self._cupti, self._own, self._report)

    def _report(self, problem: str) -> None:
        self._problems[problem] = None

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
                try:
                    self._read(activity)
                except Exception as error:  # a record of a kind or a version that is not known
                    self._report(f"a record of CUPTI was dropped: {type(error).__name__}: {error}")

    def _read(self, activity: Activity) -> None:
        if activity.kind == self._kinds[1] and activity.external_kind == self._own:
            self._launches[activity.correlation_id] = activity.external_id
        elif activity.kind == self._kinds[0]:
            where = activity.device_id, activity.stream_id, getattr(activity, "graph_node_id", 0)
            self._kernels.append(Kernel(activity.correlation_id, activity.start, activity.end, activity.name, *where))

    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        found = self._collected(wait=wait)
        if wait:
            problems, self._problems = self._problems, {}
            for problem in problems:
                warnings.warn(problem, TimesLost, stacklevel=2)
        return found

    def _collected(self, *, wait: bool) -> list[tuple[object, int, int]]:
        if wait:
            self._synchronize()
        self._cupti.activity_flush_all(1 if wait else 0)
        with self._lock:
            kernels, self._kernels = self._kernels, []
            found: list[tuple[object, int, int]] = []
            for kernel in kernels:
                number = self._number_of_kernel(kernel)
                record = None if number is None or kernel.node else self._records.pop(number, None)
                if record is not None:
                    found.append((record, kernel.start + self._to_host, kernel.stop + self._to_host))
                elif number == UNTIMED:
                    continue
                elif number in self._places or (number is None and (wait or kernel.rounds >= ROUNDS)):
                    self._add_other(kernel, None if number is None else self._places[number])
                elif not wait:  # the other half is in a buffer that is not full
                    kernel.rounds += 1
                    self._kernels.append(kernel)
                    if number is not None:
                        self._launches[kernel.correlation] = number
            if wait:  # all kernels have run and all buffers are here: what is left was recorded into a graph
                self._keep_recorded()
                found += [(record, 0, 0) for record in self._records.values()]
                self._records.clear()
                self._launches.clear()
                self._graph_launches.clear()
                used = set(self._bases.values())
                self._number_of = {place: number for place, number in self._number_of.items() if number in used}
                self._places = {number: place for place, number in self._number_of.items()}
        return found

    def _number_of_kernel(self, kernel: Kernel) -> int | None:
        """What was pushed when it was launched, or the graph that it is of."""
        if not kernel.node:
            return self._launches.pop(kernel.correlation, None)
        self._graph_launches[kernel.correlation] = None
        if len(self._graph_launches) > GRAPH_LAUNCHES:
            oldest = next(iter(self._graph_launches))
            del self._graph_launches[oldest]
            self._launches.pop(oldest, None)
        return self._launches.get(kernel.correlation)

    def _add_other(self, kernel: Kernel, place: object) -> None:
        """One whose launch was not tritonx', or was recorded into a graph."""
        number = self._graphs.number_of(kernel.node) if kernel.node else UNKNOWN
        if number == UNTIMED:  # no session was active when it was recorded
            return
        recorded, at = self._recorded_by(number)
        if kernel.node and recorded is None and at is None:
            self._report(
                f"a CUDA graph's kernels are counted where the graph was launched, and not where they were recorded: "
                f"{self._graphs.reason}"
            )
        times = kernel.start + self._to_host, kernel.stop + self._to_host
        self._others.append(OtherKernel(place, kernel.name, kernel.device, kernel.stream, *times, recorded, at))

    def _recorded_by(self, number: int) -> tuple[object, object]:
        """The record of the launch, or the place, that a number of a graph's node stands for."""
        recorded = self._records.get(number, self._recorded.get(number))
        return recorded, self._places.get(number, self._recorded_at.get(number))

    def _keep_recorded(self) -> None:
        """Records and places that graphs which are launched later ask for."""
        for number in self._graphs.numbers():
            recorded, at = self._recorded_by(number)
            if recorded is not None:
                self._recorded[number] = recorded
            elif at is not None:
                self._recorded_at[number] = at

    def others(self) -> list[OtherKernel]:
        with self._lock:
            found, self._others = self._others, []
        return found

    def close(self) -> None:
        self._graphs.close()
        for kind in self._kinds:
            self._cupti.activity_disable(kind)
