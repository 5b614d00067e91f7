"""Asynchronous events inside of kernels: `pl.allocate_event`, `pl.start_event`, `pl.end_event`."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
import tritonx.profiler.language as pl
from tritonx.backends.registry import parse_target
from tritonx.interpreter import interpreted
from tritonx.profiler.handed_on import handed_on
from tritonx.profiler.regions import Clock, matched
from tritonx.profiler.trace import Trace, drawn_regions
from tritonx.runtime.errors import TritonError
from tritonx.runtime.launch.measured_launch import Records

RNG = random.Random(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def ended(event, v):
    pl.end_event(event)
    return v + 1


@tritonx.jit(noinline=True)
def started(event, x):
    pl.start_event(event)
    return tl.load(x)


@tritonx.jit
def pipelined(x, y, n, B: tl.constexpr):
    """A copy is begun in one turn and over in the next; a region of each turn overlaps with it."""
    at = tl.arange(0, B)
    copy = pl.allocate_event("copy")
    other = pl.allocate_event("copy")
    pl.start_event(copy)
    v = tl.load(x + at)
    for turn in range(n):
        with pl.scope("turn"):
            pl.end_event(copy)
            tl.store(y + turn * B + at, v)
            pl.start_event(copy)
            with pl.scope("load"):
                v = tl.load(x + (turn + 1) * B + at)
    pl.start_event(other)
    v += started(other, x)
    ended(copy, v)
    v = ended(other, v)
    tl.store(y + n * B + at, v)


def launched(folder: Path, kernel: Any, **given: Any) -> Any:
    n, B = RNG.randrange(1, 6), 32
    x, y = np.random.default_rng(RNG.randrange(1 << 30)).random((n + 1) * B), np.full((n + 1) * B, np.nan)
    session = proton.start(str(folder / "profile"), backend="instrumentation", **given)
    kernel[(2,)](x, y, n, B=B)
    found = proton.data.get(session)
    proton.finalize(session)
    assert np.array_equal(y[: n * B], x[: n * B]) and np.allclose(y[n * B :], x[n * B :] + x[0] + 1, rtol=0, atol=1e-12)
    return n, found


def entries(node: Any, lead: tuple[str, ...] = ()) -> dict[str, int]:
    found: dict[str, int] = {}
    for child in node["children"]:
        path = (*lead, child["frame"]["name"])
        found["/".join(path)] = child["metrics"].get("entries", 0)
        found.update(entries(child, path))
    return found


@pytest.mark.parametrize("way", ["compiled", "interpreted"])
def test_an_event_is_from_its_start_to_its_end(way: str, tmp_path: Path) -> None:
    n, [root, _] = launched(tmp_path, pipelined if way == "compiled" else interpreted(pipelined))
    assert {name: count for name, count in entries(root).items() if count} == {
        "pipelined/copy": 4,  # the first of a program, and the other event of this name
        "pipelined/turn": 2 * n,
        "pipelined/turn/copy": 2 * n,  # that begin in a turn, and end behind it
        "pipelined/turn/load": 2 * n,
    }


def test_events_in_a_trace(tmp_path: Path) -> None:
    n, found = launched(tmp_path, pipelined, data="trace")
    copies = [event for event in found["traceEvents"] if event["name"] == "copy"]
    assert len(copies) == 2 * (n + 2) and all(event["ph"] == "X" and event["dur"] > 0 for event in copies)


def test_without_a_session_there_is_nothing(tmp_path: Path) -> None:
    x, y = np.ones(64), np.full(64, np.nan)
    compiled = pipelined[(1,)](x, y, 1, B=32)
    assert "proton.record" not in compiled.asm["ttir"] and not hasattr(compiled.metadata, "regions")


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx950", "hip:gfx1201"])
def test_events_are_compiled_for_gpus(target: str) -> None:
    source = tritonx.compiler.ASTSource(
        pipelined, {"x": "*fp64", "y": "*fp64", "n": "i32", "B": "constexpr"}, {"B": 32}
    )
    compiled = tritonx.compile(source, parse_target(target)[1], {"instrumentation_mode": "default"})
    assert compiled.metadata.regions == ("copy", "turn", "load", "copy")
    assert compiled.metadata.region_events == (0, 3)


@tritonx.jit
def wrong(x, HOW: tl.constexpr):
    if HOW == 0:
        pl.start_event("text")
    if HOW == 1:
        pl.end_event(tl.program_id(0))
    if HOW == 2:
        pl.allocate_event("")
    tl.store(x, 1.0)


@pytest.mark.parametrize(("how", "line"), list(enumerate(["pl.start_event", "pl.end_event", "pl.allocate_event"])))
def test_what_is_no_event_is_told_at_its_line(how: int, line: str) -> None:
    """With a session and without one."""
    for mode in ("", "default"):
        with pytest.raises(TritonError, match=r"expected an event of allocate_event|the name of a region") as told:
            wrong[(1,)](np.zeros(1, np.float32), how, instrumentation_mode=mode)
        assert f"{line}(" in str(told.value)


def test_nothing_is_inside_of_an_event() -> None:
    """Drawn records: regions nest as they do without the events among them."""
    for _ in range(200):
        trace: list[tuple[int, int]] = []
        opened: list[int] = []
        for _ in range(RNG.randrange(1, 12)):
            if opened and RNG.random() < 0.5:
                trace.append((opened.pop(), 1))
            else:
                opened.append(RNG.randrange(2))
                trace.append((opened[-1], 0))
        mixed = list(trace)
        for _ in range(RNG.randrange(6)):
            mixed.insert(RNG.randrange(len(mixed) + 1), (2, RNG.randrange(2)))
        without = [path for path in paths(trace) if "event" not in path]
        assert [path for path in paths(mixed) if "event" not in path] == without
        assert all(path[-1] == "event" for path in paths(mixed) if "event" in path)


def paths(trace: list[tuple[int, int]]) -> list[tuple[str, ...]]:
    slots = np.array([[(number, *each, 10 * number) for number, each in enumerate(trace, 1)]], np.int64)
    one = np.zeros(1, np.int64)
    records = Records(("a", "b", "event"), False, one, one, np.ones((1, 8), np.int64), slots, frozenset({2}))
    return [each.path for each in matched(records, "kernel")]


@pytest.mark.parametrize("starters", [1, 4])
def test_other_warps_end_what_some_start(starters: int) -> None:
    """Drawn records of two blocks: each warp of one half waits, in turns, for a warp of the other."""
    turns, event = RNG.randrange(1, 4), 1
    clock = iter(range(1000, 100_000, 7))
    rows: list[tuple[int, int, list[tuple[int, int, int]]]] = []
    for block in range(2):
        starting = [[(event, 0, next(clock)) for _ in range(turns)] for _ in range(starters)]
        ending = [[(event, 1, next(clock)) for _ in range(turns)] for _ in range(4)]
        own = [(0, 0, next(clock)), (event, 0, next(clock)), (event, 1, next(clock)), (0, 1, next(clock))]
        rows += [(block, warp, each) for warp, each in enumerate([*ending, *starting, own])]
    RNG.shuffle(rows)
    slots = np.zeros((len(rows), max(4, turns), 4), np.int64)
    for row, (_, _, made) in enumerate(rows):
        for number, each in enumerate(made, 1):
            slots[row, number - 1] = number, *each
    headers = np.zeros((len(rows), 8), np.int64)
    headers[:, 0], headers[:, 1] = 10_000, 900
    blocks, warps = (np.array([row[i] for row in rows], np.int64) for i in range(2))
    records = Records(("region", "event"), False, blocks, warps, headers, slots, frozenset({event}))
    drawn = list(handed_on(records, Clock(2.0)))
    recorded = {(block, warp): [tick for _, _, tick in made] for block, warp, made in rows}
    expected = [
        (block, 4 + warp % starters, warp, recorded[block, 4 + warp % starters][turn], recorded[block, warp][turn])
        for block in range(2) for warp in range(4) for turn in range(turns)
    ]  # fmt: skip
    links: dict[int, list[Any]] = {}
    for each in drawn:
        assert each.link is not None and each.duration == 0 and each.path == ("event",)
        links.setdefault(each.link, []).append(each)
    assert all([end.starts for end in ends] == [True, False] for ends in links.values())
    found = [(s.block, s.warp, e.warp, 900 + 2 * s.start, 900 + 2 * e.start) for s, e in links.values()]
    assert sorted(found) == sorted(expected)


def test_an_arrow_of_a_trace() -> None:
    trace = Trace()
    launch = trace.event(("kernel",), ("CUDA", "0"), 0)
    launch.start, launch.stop = 0, 1000
    slots = np.array([[(1, 0, 1, 90)], [(1, 0, 0, 50)]], np.int64)
    rows = np.arange(2)
    launch.add_regions(
        Records(("copy",), True, 0 * rows, rows, np.zeros((2, 8), np.int64), slots, frozenset({0})), "kernel", Clock(0)
    )
    end, start = drawn_regions(launch, 0)
    assert start["tid"].startswith("warp 1") and end["tid"].startswith("warp 0")
    assert start["flow_out"] and end["flow_in"] and start["bind_id"] == end["bind_id"]
    assert (start["ts"], end["ts"], start["dur"], end["dur"]) == (0.05, 0.09, 0, 0)
