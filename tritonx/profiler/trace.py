"""Profiles as traces: every scope and launch with when it began and how long it took, in the JSON that Perfetto and
Chrome open (the Trace Event Format).

Process 0 is the host, with a row for each thread; each device is a process of its own, with a row for each stream.
A trace of the regions of kernels has a process for each kernel, processor and block, with a row for each warp."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tritonx.profiler.handed_on import handed_on
from tritonx.profiler.metric import Value, add, written_name
from tritonx.profiler.regions import Clock, Drawn, drawn
from tritonx.profiler.tree import Device

if TYPE_CHECKING:
    from tritonx.profiler.quick import Ready
    from tritonx.runtime.launch.measured_launch import Records

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
    number: int = 0
    """Of a scope's entry."""
    cause: Event | None = None
    """The scope of its thread that a launch was made in."""
    stop: int | None = None
    metrics: dict[str, Value] = field(default_factory=dict[str, Value])
    regions: list[Drawn] = field(default_factory=list[Drawn])

    def finish(self, start: int, stop: int) -> None:
        """Of a launch."""
        self.trace.pending -= 1
        self.start, self.stop = start, stop

    def leave(self, now: int) -> None:
        """Of a scope."""
        self.stop = now
        self.trace.left(self)

    def abandon(self) -> None:
        """Of a launch that has failed, or whose time was not measured: it is not drawn."""
        self.trace.pending -= 1

    def add_regions(self, records: Records, kernel: str, clock: Clock) -> None:
        """Of a launch."""
        self.regions += drawn(records, kernel, clock)
        self.regions += handed_on(records, clock)

    def add(self, metrics: Mapping[str, Value]) -> None:
        add(self.metrics, metrics)


class Spot:
    """A place in a trace: the names of the scopes that are open. ``ready`` is `tritonx.profiler.quick`'s."""

    __slots__ = ("path", "ready", "ready_for")

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        self.ready: dict[object, Ready | None] = {}
        self.ready_for: object = None


class Trace:
    """The data of one phase."""

    formats = ("chrome_trace",)

    def __init__(self) -> None:
        self.pending = 0
        self.of_regions = False
        """Written are the regions of launches alone, as Triton does in a session that measures them."""
        self._spots: dict[tuple[str, ...], Spot] = {}
        self._events: list[Event] = []
        self._names: dict[int, str] = {}
        self._inside: dict[int, list[Event]] = {}
        """Thread → the scopes that it has open, the innermost last."""

    def scope(self, path: Iterable[str]) -> Spot:
        names = tuple(path)
        return self._spots.get(names) or self._spots.setdefault(names, Spot(names))

    def launch(self, scope: Spot, name: str, device: Device, stream: int) -> Event:
        self.pending += 1
        return self.event((*scope.path, name), device, stream)

    def event(self, path: tuple[str, ...], device: Device, stream: int) -> Event:
        """Of a launch that ``pending`` has."""
        inside = self._inside.get(threading.get_ident())
        event = Event(self, path, device, stream, 0, cause=inside[-1] if inside else None)
        self._events.append(event)
        return event

    def enter(self, scope: Spot, now: int, number: int) -> Event:
        thread = threading.get_ident()
        self._names.setdefault(thread, threading.current_thread().name)
        event = Event(self, scope.path, None, thread, now, number)
        self._events.append(event)
        self._inside.setdefault(thread, []).append(event)
        return event

    def left(self, scope: Event) -> None:
        """A scope has ended, in whatever thread."""
        self._inside[scope.row] = [event for event in self._inside[scope.row] if event is not scope]

    def literal(self, devices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Events that have ended, by their beginning."""
        done = sorted((e for e in self._events if e.stop is not None), key=lambda e: (e.start, -(e.stop or 0)))
        base = done[0].start if done else time.perf_counter_ns()
        if self.of_regions:
            return {
                "baseTimeNanoseconds": base + _TO_EPOCH,
                "displayTimeUnit": "ns",
                "traceEvents": [drawn for event in done for drawn in drawn_regions(event, base)],
            }
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
        at = {id(e): (process[e.device], number[e.device, e.row]) for e in done}
        events = [_drawn(e, base, *at[id(e)]) for e in done]
        for launch, event in enumerate(e for e in done if e.cause is not None and id(e.cause) in at):
            events += _arrow(launch, event, base, at)
        return {
            "baseTimeNanoseconds": base + _TO_EPOCH,
            "displayTimeUnit": "ns",
            "traceEvents": [*named, *events] if used else events,
            "otherData": {"devices": {kind: dict(known) for kind, known in devices.items()}},
        }


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _drawn(event: Event, base: int, process: int, thread: int) -> dict[str, Any]:
    args: dict[str, Any] = {"call_stack": ["ROOT", *event.path]}
    metrics = {written_name(name): _metric_text(value) for name, value in event.metrics.items()}
    if metrics:
        args["metrics"] = metrics
    kind, name = "kernel" if event.device is not None else "scope", event.path[-1] if event.path else "ROOT"
    if event.device is None:
        args["scope_id"] = event.number
        if metrics:
            kind, name = "metric", f"{name}: {', '.join(f'<{m}, {metrics[m]}>' for m in sorted(metrics))}"
    return {
        "name": name,
        "cat": kind,
        "ph": "X",
        "ts": (event.start - base) / 1000,
        "dur": ((event.stop or 0) - event.start) / 1000,
        "pid": process,
        "tid": thread,
        "args": args,
    }


def _metric_text(value: Value) -> str:
    """As Triton's traces have it."""
    if isinstance(value, list):
        return f"[{','.join(f'{each:g}' if isinstance(each, float) else str(each) for each in value)}]"
    return f"{value:f}" if isinstance(value, float) else str(value)


def _arrow(launch: int, event: Event, base: int, at: Mapping[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """From the scope of a launch to the launch, which has this number."""
    assert event.cause is not None
    return [
        {
            "name": "launch->kernel",
            "cat": "flow",
            "ph": phase,
            "bp": "e",
            "id": launch,
            "ts": (end.start - base) / 1000,
            "pid": at[id(end)][0],
            "tid": at[id(end)][1],
        }
        for phase, end in (("s", event.cause), ("f", event))
    ]


def drawn_regions(event: Event, base: int) -> list[dict[str, Any]]:
    """The regions of a launch, with Triton's keys; by processor, block, warp and time."""
    kernel, rows = event.path[-1], _Rows()
    found: list[dict[str, Any]] = []
    for region in sorted(event.regions, key=lambda r: (r.processor, r.block, r.warp, r.start, -r.duration)):
        row = rows.of(region)
        found.append(
            {
                "name": region.path[-1],
                "cat": kernel,
                "ph": "X",
                "ts": (event.start - base + region.start) / 1000,
                "dur": region.duration / 1000,
                "pid": f"{kernel} Core{max(region.processor, 0)} CTA{region.block}",
                "tid": f"warp {region.warp} (line {row})",
                "args": {
                    "call_stack": ["ROOT", *event.path],
                    "cycles": region.ticks,
                    "Init Time (ns)": region.began,
                    "Post Final Time (ns)": region.ended,
                    "Finalization Time (ns)": 0,
                    "Frequency (MHz)": 1000 * region.rate,
                },
                **({} if region.link is None else _link(region.link, starts=region.starts)),
            }
        )
    return found


def _link(number: int, *, starts: bool) -> dict[str, Any]:
    """The arrow from an event's start to its end, on another warp."""
    return {"bind_id": hex(number), "flow_out" if starts else "flow_in": True}


class _Rows:
    """Lines of a warp: a region is on the first one where it is apart from the others, or inside of them."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], list[list[float]]] = {}

    def of(self, region: Drawn) -> int:
        """Of the next region, by its beginning."""
        lines, stop = self._open.setdefault((region.block, region.warp), []), region.start + region.duration
        for number, ends in enumerate(lines):
            while ends and ends[-1] <= region.start:
                ends.pop()
            if not ends or stop <= ends[-1]:
                ends.append(stop)
                return number
        lines.append([stop])
        return len(lines) - 1
