"""Runs a share of the tests that takes about a given time, as a plug-in of pytest.

``--share SECONDS`` selects tests that take about so many seconds of one core: all of the `CORE` files, and of each
other file at least one test. ``TRITONX_SEED`` determines the selection, so every run without it selects other tests,
and a failure can be repeated.

``seconds.txt`` holds the mean time of a file's tests. A file that it does not list counts with the median. The table
is a measurement, made by ``--record-seconds FILE`` in a run of all tests; it affects the size of the share only.

The fraction of a file that is selected is proportional to 1/√(seconds per test). For a given total time this selects
more tests than one fraction for all files: a file of a thousand fast tests is run almost whole, a file of fifty slow
ones in part.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest

CORE = (
    *("tests/test_architecture.py", "tests/test_filecheck.py", "tests/test_filecheck_coverage.py"),
    *("tests/test_imports.py", "tests/test_seed.py", "tests/test_share.py", "tests/unit/test_import.py"),
)
"""Files that are always run whole."""

TABLE = Path(__file__).parent / "seconds.txt"
LEAST = 0.002
"""Seconds that a test counts with at least: pytest's own time for one."""

UNKNOWN = 0.1
"""Seconds of a test where no file was measured."""


def read_table(text: str) -> dict[str, float]:
    """By file, the mean seconds of a test. A line is ``0.012 tests/test_x.py``; ``#`` starts a comment."""
    rows = (line.split() for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return {file: float(seconds) for seconds, file in rows}


def written_table(seconds: Mapping[str, Sequence[float]]) -> str:
    """The table of what was measured: by file, the seconds of each test."""
    means = ((file, sum(each) / len(each)) for file, each in sorted(seconds.items()))
    head = "# Mean seconds of one core for a test, by file: written by pytest --record-seconds, read by share.py.\n"
    return head + "".join(f"{mean:.4f} {file}\n" for file, mean in means)


def counts(sizes: Mapping[str, int], seconds: Mapping[str, float], budget: float) -> dict[str, int]:
    """How many tests of each file to run. The expected time is at most ``budget`` seconds, except that the core and one
    test of each other file are always in it."""
    usual = median(seconds.values()) if seconds else UNKNOWN
    cost = {file: max(LEAST, seconds.get(file, usual)) for file in sizes}

    def chosen(scale: float) -> dict[str, int]:
        return {
            file: size if file in CORE else max(1, min(size, int(size * scale / cost[file] ** 0.5)))
            for file, size in sizes.items()
        }

    low, high = 0.0, 1.01 * max((each**0.5 for each in cost.values()), default=0.0)
    if _total(chosen(high), cost) <= budget:
        return chosen(high)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _total(chosen(middle), cost) <= budget else (low, middle)
    return chosen(low)


def _total(numbers: Mapping[str, int], cost: Mapping[str, float]) -> float:
    return sum(number * cost[file] for file, number in numbers.items())


def drawn(size: int, count: int, random: Random) -> list[int]:
    """``count`` indices below ``size``, one from each of as many equal ranges, so that each test function with many
    cases is represented."""
    edges = [size * k // count for k in range(count + 1)]
    return [random.randrange(first, last) for first, last in pairwise(edges)]


def selection(files: Sequence[str], seconds: Mapping[str, float], budget: float, seed: int) -> list[int]:
    """The indices of the tests to run, in order; ``files`` names the file of each test."""
    at: defaultdict[str, list[int]] = defaultdict(list)
    for index, file in enumerate(files):
        at[file].append(index)
    number = counts({file: len(indices) for file, indices in at.items()}, seconds, budget)
    # A generator for each file: what is drawn of it does not depend on which other files there are.
    return sorted(
        indices[k] for file, indices in at.items() for k in drawn(len(indices), number[file], Random(f"{seed} {file}"))
    )


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def cpu_seconds() -> float:
    """Of this process and of the processes that it started and that have ended."""
    return sum(os.times()[:4])


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("share of the tests")
    group.addoption("--share", type=float, metavar="SECONDS", help="tests that take about SECONDS of one core")
    group.addoption("--record-seconds", metavar="FILE", help="write the mean time of a test, by file")


class Share:
    """The plug-in. Workers of pytest-xdist select the same tests; they hand on what they measured at their end."""

    def __init__(self, config: pytest.Config) -> None:
        self.budget: float | None = config.getoption("--share")
        self.record: str | None = config.getoption("--record-seconds")
        self.run = self.collected = 0
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        self.run = self.collected = len(items)
        if self.budget is None:
            return
        table = read_table(TABLE.read_text()) if TABLE.exists() else {}
        chosen = selection([file_of(item) for item in items], table, self.budget, int(os.environ["TRITONX_SEED"]))
        self.run = len(chosen)
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for index, item in enumerate(items) if index not in kept])
        items[:] = [items[index] for index in chosen]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = cpu_seconds()
        result = yield
        self.seconds[file_of(item)].append(cpu_seconds() - before)
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["share"] = self.run, self.collected, dict(self.seconds) if self.record else {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker of pytest-xdist has ended."""
        run, collected, seconds = getattr(node, "workeroutput", {}).get("share", (0, 0, {}))
        self.run, self.collected = max(self.run, run), max(self.collected, collected)
        for file, each in seconds.items():
            self.seconds[file].extend(each)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.budget is not None:
            terminalreporter.write_line(
                f"a share: {self.run} of {self.collected} tests were selected for {self.budget:.0f} s of one core, by "
                f"TRITONX_SEED={os.environ['TRITONX_SEED']}; `make test-all` runs all"
            )
        if self.record is not None and self.seconds:
            Path(self.record).write_text(written_table(self.seconds))
            terminalreporter.write_line(f"seconds by file: {self.record}")
