"""Launches timed by CUPTI, through NVIDIA's package ``cupti-python``: what the device itself says of a kernel's begin
and end, without the gap between two launches.

A launch pushes a number of its own (an external correlation id), which CUPTI hands on to the records of the kernels
that are launched meanwhile. One process has one subscriber of these buffers: where another profiler has taken them, as
PyTorch's does while it runs, making the timer raises ``NoTimer``.

Kernels of other libraries have the number that lies below those of launches, which `at` has put there. A thread that
has none, as PyTorch's for backward passes, is where the main thread was when it launched. A kernel that a CUDA graph
launches has that number too, and a node of the graph, which `tritonx.backends.nvidia.launch.cupti_graphs` knows.

Records are read by columns (`tritonx.backends.nvidia.launch.cupti_buffers`), when a buffer is full or the times are
asked for. What cannot be read is dropped, and `TimesLost` warns of it where the times are waited for."""

from __future__ import annotations

import itertools
import threading
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tritonx.backends.api import LaunchTimer, OtherKernel
from tritonx.backends.nvidia.launch import cupti_buffers
from tritonx.backends.nvidia.launch.cupti_buffers import CALLS, KERNELS, PUSHED, joined
from tritonx.backends.nvidia.launch.cupti_graphs import UNKNOWN, GraphNodes
from tritonx.runtime.errors import NoTimer, TimesLost

ROUNDS = 2
"""Collections after which a kernel that no number was found for is taken to be of no place."""

LATE = 16
"""Collections in which a launch's record is waited for whose kernel is over."""

AGAIN, PAUSE = 5, 0.01
"""How often, and after how many seconds, a wait asks again for records of launches: a thread of CUPTI's may have the
buffer in hand."""

OTHERS = 1 << 16
"""Calls of others whose numbers are kept for kernels that come later, between two waits."""

Rows = NDArray[np.void]

UNTIMED = 1
"""The number of kernels that are not timed; 0 is no number."""

NUMBERS = itertools.count(UNTIMED + 1)
"""Each once in a process: a record that comes late is of no other timer's launch."""


class CuptiTimer(LaunchTimer):
    """``synchronize`` waits for the work of the devices that launches are timed on."""

    sees_others: ClassVar[bool] = True

    def __init__(self, synchronize: Callable[[], object]) -> None:
        try:
            self._cupti: Any = import_module("cupti.cupti")
        except Exception as error:
            raise NoTimer(f"CUPTI cannot be used: {error} (install cupti-python)") from error
        self._synchronize = synchronize
        self._places: dict[int, object] = {}
        self._number_of: dict[object, int] = {}
        self._others: list[OtherKernel] = []
        self._bases: dict[int, int] = {}
        """Thread → the number that it has put below those of its launches."""
        self._log: tuple[list[int], list[int]] = [], []
        """When the main thread was put to another place, and the numbers."""
        self._calls: Rows = np.empty(0, CALLS)
        """Those of threads that have no number."""
        self._records: dict[int, object] = {}
        self._pushed: Rows = np.empty(0, PUSHED)
        self._kernels: Rows = np.empty(0, KERNELS)
        """What no launch or place was found for yet."""
        self._names: dict[int, str] = {}
        self._since = time.perf_counter_ns()
        self._seen = 0
        """The highest number that a collection has found."""
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
        self._push: Callable[[int, int], object] = self._cupti.activity_push_external_correlation_id
        self._pop: Callable[[int], object] = self._cupti.activity_pop_external_correlation_id
        self._main = threading.main_thread().ident
        try:
            self._to_host = self._clocks_apart()  # and the library is loaded
            self._buffers = cupti_buffers.registered(cupti_buffers.loaded(), int(self._own), self._report)
            for kind in self._kinds:
                self._cupti.activity_enable(kind)
        except Exception as error:  # the package's own error, of whatever class its version has
            raise NoTimer(f"CUPTI cannot be used: {error}") from error
        self._graphs = GraphNodes(self._cupti, self._own, self._report)

    def _clocks_apart(self) -> int:
        """What is added to CUPTI's times, by the quickest of some readings of both clocks."""
        found: list[tuple[int, int]] = []
        for _ in range(9):
            before, device = time.perf_counter_ns(), int(self._cupti.get_timestamp())
            after = time.perf_counter_ns()
            found.append((after - before, (before + after) // 2 - device))
        return min(found)[1]

    def _report(self, problem: str) -> None:
        self._problems[problem] = None

    def at(self, place: object) -> None:
        thread = threading.get_ident()
        with self._lock:
            number = UNTIMED if place is None else self._number_of.get(place)
            if number is None:
                number = self._number_of[place] = next(NUMBERS)
                self._places[number] = place
            if thread == self._main:
                times, numbers = self._log
                times.append(time.perf_counter_ns())
                numbers.append(number)
                if len(times) > OTHERS:
                    del times[: OTHERS // 2], numbers[: OTHERS // 2]
        if thread in self._bases:
            self._pop(self._own)
        self._push(self._own, number)
        self._bases[thread] = number

    def begin(self, device: int, stream: int) -> object:
        number = next(NUMBERS)
        self._push(self._own, number)
        return number

    def end(self, begun: object, stream: int, record: object) -> None:
        assert isinstance(begun, int)
        self._records[begun] = record
        self._pop(self._own)

    def abandon(self, begun: object) -> None:
        self._pop(self._own)

    def is_due(self) -> bool:
        return len(self._buffers) > 0

    def collect(self, *, wait: bool) -> list[tuple[object, int, int]]:
        found = self._collected(wait=wait)
        if wait:
            problems, self._problems = self._problems, {}
            for problem in problems:
                warnings.warn(problem, TimesLost, stacklevel=2)
        return found

    def _collected(self, *, wait: bool) -> list[tuple[object, int, int]]:
        later = next(NUMBERS)
        """Launches of other threads that have higher numbers are not waited for."""
        if wait:
            self._synchronize()
        self._cupti.activity_flush_all(1 if wait else 0)
        found: list[tuple[object, int, int]] = []
        for _ in range(AGAIN if wait else 0):
            with self._lock:
                found += self._matched(self._read(wait=False), wait=False)
            if not self._missing(later):
                break
            time.sleep(PAUSE)
            self._cupti.activity_flush_all(1)
        with self._lock:
            found += self._matched(self._read(wait=wait), wait=wait)
            if wait:  # all kernels have run and all buffers are here: what is left was recorded into a graph
                if self._graphs.is_told and not self._problems and (missing := self._missing(later)):
                    self._report(f"{missing} launches are not counted: CUPTI has given no record of their kernels")
                self._keep_recorded()
                for number in [number for number in self._records if number < later]:
                    found.append((self._records.pop(number), 0, 0))
                self._pushed, self._calls = self._pushed[self._pushed["number"] > later], self._calls[:0]
                self._log = self._log[0][-1:], self._log[1][-1:]
                used = {*self._bases.values(), *self._log[1]}
                self._number_of = {place: number for place, number in self._number_of.items() if number in used}
                self._places = {number: place for place, number in self._number_of.items()}
        return found

    def _missing(self, later: int) -> int:
        """How many launches before ``later`` have no kernel, and are not known to have been recorded into a graph."""
        recorded = self._graphs.numbers()
        return sum(number < later and number not in recorded for number in list(self._records))

    def _read(self, *, wait: bool) -> Rows:
        """The kernels that are new and those that are left, with their numbers."""
        records = self._buffers.take()
        self._names.update(records.names)
        records.kernels["start"] += self._to_host
        records.kernels["stop"] += self._to_host
        kernels = joined([self._kernels, records.kernels], KERNELS)
        pushed = joined([self._pushed, records.pushed], PUSHED)
        self._pushed = pushed = pushed[np.argsort(pushed["correlation"], kind="stable")]
        if len(pushed):
            at = np.searchsorted(pushed["correlation"], kernels["correlation"])
            at[at == len(pushed)] = 0
            known = (pushed["correlation"][at] == kernels["correlation"]) & (kernels["number"] == 0)
            kernels["number"][known] = pushed["number"][at[known]]
        others = records.calls[~np.isin(records.calls["correlation"], pushed["correlation"])]
        self._calls = joined([self._calls[-OTHERS:], others], CALLS)
        lost = np.flatnonzero((kernels["number"] == 0) & (wait | (kernels["rounds"] > 0)))  # a number may come late
        if len(lost) and len(self._calls):
            kernels["number"][lost] = self._numbers_of_main(kernels["correlation"][lost], self._calls)
        # Where another profiler has CUPTI, a buffer of its has kernels of before.
        return kernels[(kernels["number"] != 0) | (kernels["start"] >= self._since)]

    def _numbers_of_main(self, correlations: NDArray[np.uint32], calls: Rows) -> NDArray[np.uint64]:
        """Where the main thread was when other threads launched; 0 where that is not known."""
        calls = calls[np.argsort(calls["correlation"], kind="stable")]
        at = np.searchsorted(calls["correlation"], correlations)
        at[at == len(calls)] = 0
        known = calls["correlation"][at] == correlations
        turns = np.searchsorted(np.array(self._log[0], np.int64), calls["start"][at] + self._to_host, side="right")
        return np.where(known, np.array([0, *self._log[1]], np.uint64)[turns], np.uint64(0))

    def _matched(self, kernels: Rows, *, wait: bool) -> list[tuple[object, int, int]]:
        """The times of launches; the kernels of others are put aside, and what has no owner yet is kept."""
        own = np.flatnonzero((kernels["node"] == 0) & (kernels["number"] > UNTIMED))
        numbers = kernels["number"][own]
        records = [self._records.pop(number, None) for number in numbers.tolist()]
        times = kernels["start"][own].tolist(), kernels["stop"][own].tolist()
        found = [each for each in zip(records, *times, strict=True) if each[0] is not None]
        rest = np.ones(len(kernels), bool)
        rest[own[np.array([record is not None for record in records], bool)]] = False
        kernels = kernels[rest & (kernels["number"] != UNTIMED)]
        placed = np.isin(kernels["number"], np.array([*self._places], np.uint64))
        placed |= (kernels["number"] == 0) & (wait | (kernels["rounds"] >= ROUNDS))
        for kernel in kernels[placed].tolist():
            self._add_other(*kernel)
        self._kernels = kernels[~placed & (kernels["rounds"] < LATE)]
        self._kernels["rounds"] += 1  # the other half is in a buffer that is not full
        self._forget_calls(numbers)
        return found

    def _forget_calls(self, done: NDArray[np.uint64]) -> None:
        """Keep numbers of launches whose kernels have not come, of those that go on, and of others' last calls."""
        number = self._pushed["number"]
        keep = np.isin(number, np.array([*self._records], np.uint64))
        keep |= (number > self._seen) & ~np.isin(number, done)
        keep[-OTHERS:] |= np.isin(number[-OTHERS:], np.array([UNTIMED, *self._places], np.uint64))
        self._seen = max(self._seen, int(number.max(initial=0)))
        self._pushed = self._pushed[keep]

    def _add_other(
        self,
        correlation: int,
        device: int,
        stream: int,
        rounds: int,
        start: int,
        stop: int,
        name: int,
        node: int,
        number: int,
    ) -> None:
        """A kernel whose launch was not tritonx', or was recorded into a graph."""
        recorder = self._graphs.number_of(node) if node else UNKNOWN
        if recorder == UNTIMED:  # no session was active when it was recorded
            return
        recorded, at = self._recorded_by(recorder)
        if node and recorded is None and at is None:
            self._report(
                f"a CUDA graph's kernels are counted where the graph was launched, and not where they were recorded: "
                f"{self._graphs.reason}"
            )
        place, called = self._places.get(number), self._names.get(name, "")
        self._others.append(OtherKernel(place, called, device, stream, start, stop, recorded, at))

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
