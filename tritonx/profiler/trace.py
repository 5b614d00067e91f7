"""Profiles as traces: every scope and launch with when it began and how long it took, in the JSON that Perfetto and
Chrome open (the Trace Event Format).

Process 0 is the host, with a row for each thread; each device is a process of its own, with a row for each stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tritonx.profiler.metric import EXCLUSIVE, Value, add
from tritonx.profiler.tree import Device

_TO_EPOCH = time.time_ns() - time.perf_counter_ns()
"""What a time of this process is ahead of the epoch."""


@dataclass
class Event:
    """A scope (``device`` is None) or a launch."""

    trace: Trace
    path: tuple[str, ...]
    device: Device | None
    row: int
    start: int
    stop: int | None = None
    metrics: dict[str, Value] = field(default_factory=dict[str, Value])

    def finish(self, start: int, stop: int) -> None:
        """Of a launch."""
        self.trace.pending -= 1
        self.start, self.stop = start, stop

    def leave(self, now: int) -> None:
        """Of a scope."""
        self.stop = now

    def abandon(self) -> None:
        """Of a launch that has failed, or whose time was not measured: it is not drawn."""
        self.trace.pending -= 1

    def add(self, metrics: Mapping[str, Value]) -> None:
        add(self.metrics, metrics)


class Trace:
    """The data of one phase. A place in it is the path of names."""

    formats = ("chrome_trace",)

    def __init__(self) -> None:
        self.pending = 0
        self._events: list[Event] = []
        self._names: dict[int, str] = {}

    def scope(self, path: Iterable[str]) -> tuple[str, ...]:
        return tuple(path)

    def launch(self, scope: tuple[str, ...], name: str, device: Device, stream: int) -> Event:
        self.pending += 1
        event = Event(self, (*scope, name), device, stream, 0)
        self._events.append(event)
        return event

    def enter(self, scope: tuple[str, ...], now: int) -> Event:
        thread = threading.get_ident()
        self._names.setdefault(thread, threading.current_thread().name)
        event = Event(self, scope, None, thread, now)
        self._events.append(event)
        return event

    def literal(self, devices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Events that have ended, by their beginning."""
        done = sorted((e for e in self._events if e.stop is not None), key=lambda e: (e.start, -(e.stop or 0)))
        base = done[0].start if done else time.perf_counter_ns()
        used = sorted({e.device for e in done if e.device is not None})
        process = {None: 0, **{device: number for number, device in enumerate(used, 1)}}
        rows = dict.fromkeys((e.device, e.row) for e in done)
        number: dict[tuple[Device | None, int], int] = {}
        for device, row in rows:
            number[device, row] = sum(other == device for other, _ in number)
        named = [_named("process_name", at, 0, "host" if d is None else " ".join(d)) for d, at in process.items()]
        for (device, row), thread in number.items():
            title = self._names.get(row, f"thread {row}") if device is None else f"stream {row:#x}"
            named.append(_named("thread_name", process[device], thread, title))
        drawn = [_drawn(e, base, process[e.device], number[e.device, e.row]) for e in done]
        return {
            "baseTimeNanoseconds": base + _TO_EPOCH,
            "displayTimeUnit": "ns",
            "traceEvents": named + drawn,
            "otherData": {"devices": {kind: dict(known) for kind, known in devices.items()}},
        }


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _drawn(event: Event, base: int, process: int, thread: int) -> dict[str, Any]:
    args: dict[str, Any] = {"call_stack": ["ROOT", *event.path]}
    if event.metrics:
        args["metrics"] = {name.removesuffix(EXCLUSIVE): value for name, value in event.metrics.items()}
    kind = "kernel" if event.device is not None else "metric" if event.metrics else "scope"
    return {
        "name": event.path[-1] if event.path else "ROOT",
        "cat": kind,
        "ph": "X",
        "ts": (event.start - base) / 1000,
        "dur": ((event.stop or 0) - event.start) / 1000,
        "pid": process,
        "tid": thread,
        "args": args,
    }
