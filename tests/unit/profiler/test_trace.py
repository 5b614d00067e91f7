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
        assert {"name", "ph", "pid", "tid", "args"} <= event.keys() and event["ph"] in ("X", "M")
        assert all(isinstance(event[key], int) for key in ("pid", "tid"))
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0 and event["cat"] in ("scope", "metric", "kernel")
        else:
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
    drawn = {e["name"]: e for e in events if e["ph"] == "X"}
    assert drawn.keys() == {"outer", "inner", "plain"}
    assert drawn["outer"]["args"] == {"call_stack": ["ROOT", "outer"], "metrics": {"bytes": 32}}
    assert drawn["inner"]["args"]["metrics"]["cpu_time (ns)"] > 0
    assert drawn["plain"]["args"]["call_stack"] == ["ROOT", "outer", "inner", "plain"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert sorted(processes[e["pid"]] for e in kernels) == ["CPU 0", "CPU 0", "INTERPRETER 0"]
    assert processes[drawn["outer"]["pid"]] == "host"
    assert all(drawn["outer"]["ts"] <= e["ts"] <= drawn["outer"]["ts"] + drawn["outer"]["dur"] for e in kernels)
