"""Traces are in the Trace Event Format: what Perfetto and Chrome need of an event."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx.interpreter import interpreted


@tritonx.jit
def plain(x, B: tl.constexpr = 8):
    tl.store(x + tl.arange(0, B), 1.0)


@pytest.fixture
def events(tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """The events of a program; its file."""
    x = np.zeros(8, np.float32)
    before = time.time_ns()
    session = proton.start(str(tmp_path / "trace"), data="trace")
    with proton.scope("outer", {"bytes": 32}):
        plain[(1,)](x)
        interpreted(plain)[(1,)](x)
        with proton.cpu_timed_scope("inner"):
            thread = threading.Thread(target=lambda: plain[(1,)](x), name="worker")
            thread.start()
            thread.join()
    with proton.scope("still open"):
        proton.finalize(session)
    whole = json.loads((tmp_path / "trace.chrome_trace").read_text())
    assert before <= whole["baseTimeNanoseconds"] <= time.time_ns() and whole["displayTimeUnit"] in ("ms", "ns")
    yield whole["traceEvents"]


def test_each_event_has_what_its_phase_needs(events: list[dict[str, Any]]) -> None:
    for event in events:
        assert {"name", "ph", "pid", "tid"} <= event.keys() and event["ph"] in ("X", "M", "s", "f")
        assert all(isinstance(event[key], int) for key in ("pid", "tid"))
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0 and event["cat"] in ("scope", "metric", "kernel")
        elif event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and event["args"]["name"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"} == named


def test_events_of_a_row_nest(events: list[dict[str, Any]]) -> None:
    """Viewers drop a slice that overlaps another one of its row in part."""
    rows: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for row in rows.values():
        for one, (start, stop) in enumerate(sorted(row)):
            for other_start, other_stop in sorted(row)[one + 1 :]:
                assert other_start >= stop - 1e-3 or other_stop <= stop + 1e-3, (start, stop)


def test_what_they_say(events: list[dict[str, Any]]) -> None:
    drawn = {e["name"].partition(":")[0]: e for e in events if e["ph"] == "X"}
    assert drawn.keys() == {"outer", "inner", "plain"}
    number, metrics = drawn["outer"]["args"].pop("scope_id"), {"bytes": "32"}
    assert isinstance(number, int) and drawn["inner"]["args"]["scope_id"] > number
    assert drawn["outer"]["args"] == {"call_stack": ["ROOT", "outer"], "metrics": metrics}
    assert (drawn["outer"]["name"], drawn["outer"]["cat"]) == ("outer: <bytes, 32>", "metric")
    assert int(drawn["inner"]["args"]["metrics"]["cpu_time (ns)"]) > 0
    assert drawn["plain"]["args"]["call_stack"] == ["ROOT", "outer", "inner", "plain"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert sorted(processes[e["pid"]] for e in kernels) == ["CPU 0", "CPU 0", "INTERPRETER 0"]
    assert processes[drawn["outer"]["pid"]] == "host"
    assert all(drawn["outer"]["ts"] <= e["ts"] <= drawn["outer"]["ts"] + drawn["outer"]["dur"] for e in kernels)


def test_arrows_go_from_a_scope_to_its_launches(events: list[dict[str, Any]]) -> None:
    """The launch of the thread that has opened no scope has none."""
    arrows = [e for e in events if e.get("cat") == "flow"]
    assert {(e["name"], e["bp"]) for e in arrows} == {("launch->kernel", "e")}
    starts, stops = ({e["id"]: e for e in arrows if e["ph"] == phase} for phase in "sf")
    assert len(arrows) == 4 and starts.keys() == stops.keys() and len(starts) == 2
    [outer] = [e for e in events if e["ph"] == "X" and e["name"].startswith("outer")]
    kernels = [e for e in events if e.get("cat") == "kernel" and e["args"]["call_stack"][-2] == "outer"]
    where = ("pid", "tid", "ts")
    assert all(start[key] == outer[key] for start in starts.values() for key in where)
    ends = {tuple(stop[key] for key in where) for stop in stops.values()}
    assert ends == {tuple(kernel[key] for key in where) for kernel in kernels} and len(ends) == 2


def test_a_trace_without_launches_has_its_scopes_alone(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "scopes"), data="trace")
    with proton.scope("outer", {"b": [1, 2], "a": 1.5, "c (pty)": 3}), proton.scope("inner"):
        pass
    proton.finalize(session)
    outer, inner = json.loads((tmp_path / "scopes.chrome_trace").read_text())["traceEvents"]
    assert outer["name"] == "outer: <a, 1.500000>, <b, [1,2]>, <c, 3>" and inner["name"] == "inner"
    assert outer["args"]["metrics"] == {"b": "[1,2]", "a": "1.500000", "c": "3"}


def test_a_scope_that_an_error_left_open_is_the_cause_of_nothing(tmp_path: Path) -> None:
    x = np.zeros(8, np.float32)
    session = proton.start(str(tmp_path / "left"), data="trace")
    with proton.scope("first"):
        proton.enter_scope("open")
    plain[(1,)](x)
    with proton.scope("second"):
        plain[(1,)](x)
    proton.finalize(session)
    events = json.loads((tmp_path / "left.chrome_trace").read_text())["traceEvents"]
    [second] = [e for e in events if e["name"] == "second"]
    [start] = [e for e in events if e["ph"] == "s"]
    assert start["ts"] == second["ts"]
