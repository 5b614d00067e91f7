"""Regions out of records: which end belongs to which start, and what is inside of what."""

from __future__ import annotations

import os
import random
import warnings

import numpy as np
import pytest

from tritonx.profiler.errors import RecordsDropped
from tritonx.profiler.regions import Clock, drawn, matched, rate_of
from tritonx.runtime.launch.measured_launch import Records

RNG = random.Random(int(os.environ["TRITONX_SEED"]))
NAMES = ("a", "b", "c")

Made = list[tuple[tuple[str, ...], int, int]]
"""Path and clocks of regions."""


def records(traces: list[list[str]], keep: int | None = None, *, nanoseconds: bool = False) -> Records:
    """Of warps that have recorded these: a name starts, a name behind a slash ends; the clock is the number."""
    slots = np.zeros((len(traces), keep or max(map(len, traces)), 4), np.int64)
    for row, trace in enumerate(traces):
        for number, text in enumerate(trace, 1):
            at = (number - 1) % slots.shape[1]
            slots[row, at] = number, NAMES.index(text.strip("/")), text.startswith("/"), 10 * number
    rows = np.arange(len(traces))
    headers = np.zeros((len(traces), 8), np.int64)
    headers[:, 0], headers[:, 1], headers[:, 2] = 1000, 5, -1
    return Records(NAMES, nanoseconds, rows, np.zeros_like(rows), headers, slots)


def found(given: Records) -> list[Made]:
    """By warps."""
    made: list[Made] = [[] for _ in range(given.units)]
    for each in matched(given, "kernel"):
        for unit, start, stop in zip(each.units, each.starts, each.stops, strict=True):
            made[unit].append((each.path, int(start), int(stop)))
    return [sorted(each, key=lambda one: one[2]) for each in made]


def nest(depth: int, path: tuple[str, ...], trace: list[str], expected: Made) -> None:
    """Add a drawn number of regions, each with others inside."""
    for _ in range(RNG.randrange(3 if depth else 4)):
        name = RNG.choice(NAMES)
        trace.append(name)
        start = 10 * len(trace)
        if depth < 3:
            nest(depth + 1, (*path, name), trace, expected)
        trace.append(f"/{name}")
        expected.append(((*path, name), start, 10 * len(trace)))


def test_regions_that_nest() -> None:
    for _ in range(50):
        traces: list[list[str]] = []
        expected: list[Made] = []
        for _ in range(RNG.randrange(1, 6)):
            traces.append([])
            expected.append([])
            nest(0, (), traces[-1], expected[-1])
        if any(traces):
            assert found(records(traces)) == expected


def test_the_last_records_of_regions_that_nest() -> None:
    """What is found is what was there, inside of the same, and is all that started in what is kept."""
    for _ in range(100):
        trace: list[str] = []
        expected: Made = []
        nest(0, (), trace, expected)
        keep = RNG.choice((2, 4, 8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordsDropped)
            [made] = found(records([trace], keep)) if trace else [[]]
        first = 10 * (len(trace) - keep)
        assert made == [each for each in expected if each[1] > first]


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("a b /a /b", [(("a",), 10, 30), (("a", "b"), 20, 40)]),  # they overlap
        ("a b /a c /c /b", [(("a",), 10, 30), (("c",), 40, 50), (("a", "b"), 20, 60)]),
        ("a a /a", [(("a", "a"), 20, 30)]),  # a warp that returns from one
        ("a b /a a /a", [(("a",), 10, 30), (("a",), 40, 50)]),  # b has no end
        ("/a b /b", [(("b",), 20, 30)]),  # a has no start, and nothing is gone
        ("/a", []),
    ],
)
def test_regions_that_do_not(trace: str, expected: Made) -> None:
    assert found(records([trace.split()])) == [expected]


def test_records_that_are_gone_are_told_of() -> None:
    with pytest.warns(RecordsDropped, match="kernel: 2 records of 1 warps are gone.*a warp keeps 2"):
        assert found(records([["a", "b", "/b", "/a"], ["c", "/c"]], 2)) == [[], [(("c",), 10, 20)]]


def test_clocks_become_times() -> None:
    """By the two clocks of the headers, where the warps ran long enough; else by what the device states."""
    given = records([["a", "/a"]])
    assert rate_of(given, 1.5) == 1.5 and rate_of(given, 0) == 1
    given.headers[:, 3:5] = 1000 + 200_000, 5 + 500_000
    assert rate_of(given, 1.5) == 2.5
    [region] = drawn(given, "kernel", Clock(1.5))
    assert (region.start, region.duration, region.ticks, region.processor) == (2, 4, 10, -1)
    assert rate_of(records([["a", "/a"]], nanoseconds=True), 1.5) == 1


def test_records_cost_nothing_where_their_cost_is_left_out() -> None:
    """Of records that are 10 ticks apart, each takes 4 of what is around it and nothing more than there is."""
    given = records([["a", "b", "/b", "c", "/c", "/a"], ["a", "/a"]])
    for cost, inner, outer in ((0, 10, 50), (4, 6, 30), (10, 0, 0), (100, 0, 0)):
        found = {each.path: (each.stops - each.starts).tolist() for each in matched(given, "kernel", cost)}
        assert found[("a", "b")] == found[("a", "c")] == [inner]
        assert sorted(d.ticks for d in drawn(given, "kernel", Clock(1, cost)) if d.path == ("a",)) == [inner, outer]
