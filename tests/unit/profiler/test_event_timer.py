"""Launches timed by events: on devices that are simulated, with streams that are over in any order."""

from __future__ import annotations

import math
import os
import random
import struct
import sys
import threading
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.unit.profiler.cupti_library import Library
from tritonx.backends.nvidia.launch import cupti_buffers
from tritonx.backends.nvidia.launch.cupti_timer import CuptiTimer
from tritonx.backends.nvidia.launch.events import CudaEvents
from tritonx.runtime.devices.event_timer import EventTimer
from tritonx.runtime.errors import NoTimer

RNG = random.Random(int(os.environ["TRITONX_SEED"]))


class Device:
    """Events that are numbers. An event's time is the device's ``now`` when it was recorded. A stream that is ``busy``
    gets no further."""

    def __init__(self) -> None:
        self.now = 1e9
        self.alive: set[int] = set()
        self.recorded: dict[int, tuple[float, int, int]] = {}
        self.reached: dict[int, int] = {}
        self.busy: set[int] = set()
        self.count = self.records = self.asked = 0

    def create(self, device: int) -> object:
        self.count += 1
        self.alive.add(self.count)
        return self.count

    def destroy(self, event: Any) -> None:
        self.alive.remove(event)

    def record(self, event: Any, stream: int, device: int) -> None:
        assert event in self.alive
        self.records += 1
        self.recorded[event] = self.now, stream, self.records

    def wait(self, event: Any) -> None:
        _, stream, number = self.recorded[event]
        self.reached[stream] = max(number, self.reached.get(stream, 0))

    def milliseconds(self, start: Any, stop: Any) -> float | None:
        """With what a float of 32 bits keeps."""
        self.asked += 1
        for event in (start, stop):
            _, stream, number = self.recorded[event]
            if stream not in self.busy:
                self.wait(event)
            if number > self.reached.get(stream, 0):
                return None
        exact = (self.recorded[stop][0] - self.recorded[start][0]) / 1e6
        return struct.unpack("f", struct.pack("f", exact))[0]


def timer_of(device: Device, recording: bool = False) -> EventTimer:
    return EventTimer(device, lambda stream: recording)


def launch(timer: EventTimer, device: Device, stream: int, nanoseconds: float, record: object) -> float:
    """When it began."""
    begun = timer.begin(0, stream)
    started = device.now
    device.now += nanoseconds
    timer.end(begun, stream, record)
    return started


def test_times_of_many_launches() -> None:
    """Over a simulated hour the begin of a launch is told within 200 µs, its time within 1 in a million."""
    device = Device()
    timer = timer_of(device)
    expected: dict[int, tuple[float, float]] = {}
    offsets: list[float] = []
    for i in range(2000):
        device.now += RNG.uniform(0, 3.6e9)
        took = RNG.choice((2e3, 1e5, 4e7))
        expected[i] = launch(timer, device, RNG.randrange(3), took, i), took
        if i % 100 == 0:
            device.busy = set(RNG.sample(range(3), RNG.randrange(3)))
            found = timer.collect(wait=False)
            check(expected, found, offsets)
    device.busy = {0, 1, 2}
    check(expected, timer.collect(wait=True), offsets)
    assert not expected
    timer.close()
    assert not device.alive


def check(expected: dict[int, tuple[float, float]], found: list[tuple[Any, int, int]], offsets: list[float]) -> None:
    """Take what was found out of what is expected; the first one says how far the clocks are apart."""
    for record, start, stop in found:
        began, took = expected.pop(record)
        offsets.append(start - began)
        assert abs(offsets[-1] - offsets[0]) < 2e5
        assert math.isclose(stop - start, took, rel_tol=1e-6, abs_tol=1.5)


def test_events_are_used_again() -> None:
    device = Device()
    timer = timer_of(device)
    for i in range(1000):
        launch(timer, device, 0, 10, i)
        timer.collect(wait=True)
    assert device.count <= 5
    timer.abandon(timer.begin(0, 0))
    launch(timer, device, 0, 10, 1)
    assert device.count <= 5 and len(timer.collect(wait=True)) == 1


def test_a_busy_stream_is_asked_once() -> None:
    device = Device()
    timer = timer_of(device)
    for i in range(300):
        launch(timer, device, i % 3, 10, i)
    device.busy = {1, 2}
    found = timer.collect(wait=False)
    assert [record for record, _, _ in found] == [*range(0, 300, 3)] and device.asked == 2 * 100 + 2
    device.busy = {2}
    for i in range(300, 330):
        launch(timer, device, i % 3, 10, i)
    found = timer.collect(wait=False)
    assert [record for record, _, _ in found] == [i for i in range(1, 330) if i % 3 == 1 or (i > 299 and i % 3 == 0)]
    assert [record for record, _, _ in timer.collect(wait=True)] == [*range(2, 330, 3)]


def test_what_is_recorded_into_a_graph_is_not_timed() -> None:
    device = Device()
    timer = timer_of(device, recording=True)
    launch(timer, device, 0, 10, "recorded")
    assert timer.collect(wait=False) == [("recorded", 0, 0)] and device.count == 0


def test_threads() -> None:
    device = Device()
    timer = timer_of(device)
    found: list[Any] = []

    def work(thread: int) -> None:
        for i in range(500):
            launch(timer, device, thread, 10, (thread, i))
            if i % 50 == 0:
                found.extend(timer.collect(wait=False))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found += timer.collect(wait=True)
    assert sorted(record for record, _, _ in found) == [(t, i) for t in range(4) for i in range(500)]


def test_a_thread_without_a_context() -> None:
    """CUDA says 201 until a context is current; the driver then makes the device's one current."""
    made: list[int] = []
    cuda = SimpleNamespace(
        cuEventRecord=lambda event, stream: 0 if made else 201, cuStreamIsCapturing=None, cuEventElapsedTime_v2=None
    )

    class On:
        def __init__(self, device: int) -> None:
            made.append(device)

        def __enter__(self) -> None:
            return None

        def __exit__(self, *_: object) -> None:
            return None

    def check(code: int, call: str) -> None:
        assert code == 0, call

    CudaEvents(cuda, check, On).record(object(), 0, 3)  # pyright: ignore[reportArgumentType]  # a context manager
    assert made == [3]


class Cupti(ModuleType):
    """The part of NVIDIA's package that is used. Records come in buffers, when they are flushed or there are many."""

    ActivityKind = SimpleNamespace(DRIVER=4, RUNTIME=5, CONCURRENT_KERNEL=10, EXTERNAL_CORRELATION=39)
    ExternalCorrelationKind = SimpleNamespace(CUSTOM0=4)

    def __init__(self, refuses: bool = False) -> None:
        super().__init__("cupti.cupti")
        self.library = Library()
        self.refuses = refuses
        self.enabled: list[int] = []
        self.pushed: list[int] = []
        self.waiting: list[Any] = []
        self.correlation = 100

    def activity_enable(self, kind: int) -> None:
        if self.refuses:
            raise RuntimeError("CUPTI_ERROR_NOT_COMPATIBLE")
        self.enabled.append(kind)

    def activity_disable(self, kind: int) -> None:
        self.enabled.remove(kind)

    def get_timestamp(self) -> int:
        return time.perf_counter_ns() + 10**12

    def activity_push_external_correlation_id(self, kind: int, number: int) -> None:
        assert kind == 4
        self.pushed.append(number)

    def activity_pop_external_correlation_id(self, kind: int) -> int:
        return self.pushed.pop()

    def kernel(self, nanoseconds: int) -> None:
        self.correlation += 1
        start = self.get_timestamp()
        times = {"start": start, "end": start + nanoseconds}
        what = {"name": f"kernel_of_{nanoseconds}", "device_id": 0, "stream_id": 7}
        both = [SimpleNamespace(kind=10, correlation_id=self.correlation, **times, **what)]
        if {4, 5} <= set(self.enabled):  # of the call that launches it
            both.append(SimpleNamespace(kind=4, correlation_id=self.correlation))
        if self.pushed and {4, 5} <= set(self.enabled):  # CUPTI says it of calls that it records
            external = {"external_kind": 4, "external_id": self.pushed[-1]}
            both.append(SimpleNamespace(kind=39, correlation_id=self.correlation, **external))
        self.waiting += RNG.sample(both, len(both))

    def activity_flush_all(self, forced: int) -> None:
        ready = len(self.waiting) if forced else RNG.randrange(len(self.waiting) + 1)
        self.library.deliver(self.waiting[:ready])
        del self.waiting[:ready]


def test_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    cupti = Cupti()
    monkeypatch.setitem(sys.modules, "cupti.cupti", cupti)
    monkeypatch.setattr(cupti_buffers, "loaded", lambda: cupti.library)
    timer = CuptiTimer(lambda: None)
    assert cupti.enabled == [10, 39, 4, 5]
    found: list[tuple[Any, int, int]] = []
    for i in range(300):
        begun = timer.begin(0, 0)
        cupti.kernel(1000 + i)
        timer.end(begun, 0, i)
        cupti.kernel(7)  # of another library
        if i % 20 == 0:
            found += timer.collect(wait=False)
            timer.abandon(timer.begin(0, 0))
    timer.end(timer.begin(0, 0), 0, "recorded into a graph")
    found += timer.collect(wait=True)
    assert found.pop() == ("recorded into a graph", 0, 0)
    now = time.perf_counter_ns()
    assert [(record, stop - start) for record, start, stop in sorted(found)] == [(i, 1000 + i) for i in range(300)]
    assert all(now - 10**11 < start <= now for _, start, _ in found)
    others = timer.others()
    assert [(each.place, each.stop - each.start, each.name, each.stream) for each in others] == [
        (None, 7, "kernel_of_7", 7)
    ] * 300
    timer.close()
    assert not cupti.enabled and timer.collect(wait=True) == []


def test_kernels_of_others_are_of_their_threads_place(monkeypatch: pytest.MonkeyPatch) -> None:
    cupti = Cupti()
    monkeypatch.setitem(sys.modules, "cupti.cupti", cupti)
    monkeypatch.setattr(cupti_buffers, "loaded", lambda: cupti.library)
    timer = CuptiTimer(lambda: None)
    expected: list[tuple[object, int]] = []
    found: list[Any] = []
    for i in range(200):
        place = RNG.choice([None, "outer", "outer/inner"])
        timer.at(place)
        cupti.kernel(1000 + i)
        if place is not None:
            expected.append((place, 1000 + i))
        begun = timer.begin(0, 0)
        cupti.kernel(5)
        timer.end(begun, 0, i)
        if i % 7 == 0:
            timer.collect(wait=False)
            found += timer.others()
    timer.collect(wait=True)
    found += timer.others()
    assert sorted((each.place, each.stop - each.start) for each in found) == sorted(expected)
    assert len(cupti.pushed) == 1, "a thread has one number below those of its launches"


def test_without_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupti.cupti", None)
    with pytest.raises(NoTimer, match="install cupti-python"):
        CuptiTimer(lambda: None)
    monkeypatch.setitem(sys.modules, "cupti.cupti", Cupti(refuses=True))
    monkeypatch.setattr(cupti_buffers, "_NAMES", ("libcupti.so.0",))
    cupti_buffers.loaded.cache_clear()
    with pytest.raises(NoTimer, match=r"none of libcupti.so.0 is loaded"):
        CuptiTimer(lambda: None)
    monkeypatch.setattr(cupti_buffers, "loaded", Library)
    with pytest.raises(NoTimer, match="CUPTI_ERROR_NOT_COMPATIBLE"):
        CuptiTimer(lambda: None)
