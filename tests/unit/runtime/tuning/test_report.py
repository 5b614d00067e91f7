"""What a user sees of a search: the line on a terminal, the table, the drawing."""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import knobs
from tritonx.runtime.config import Config
from tritonx.runtime.tuning import progress
from tritonx.runtime.tuning.progress import Progress
from tritonx.runtime.tuning.report import FASTEST, IMPOSSIBLE, MERGED, Report, Tried

FAST = Tried(Config({"BLOCK": 64}), (0.5, 0.4, 0.75), 12, FASTEST)
SLOW = Tried(Config({"BLOCK": 32, "MODE": "<a & b>"}, num_warps=8), (1.0, 1.0, 1.0), 5)
NONE = Tried(Config({"BLOCK": 4096}), (math.inf,) * 3, 0, IMPOSSIBLE, "out of resource: registers")
REPORT = Report("kernel", "(7,)", 1.5, (SLOW, NONE, FAST))


def test_the_table() -> None:
    lines = REPORT.table().splitlines()
    assert lines[0] == "kernel, key (7,): 3 configurations, 1 of which cannot run, 17 runs, 1.50 s"
    assert [line.split()[:6] for line in lines[2:4]] == [
        ["0.5000", "0.4000", "to", "0.7500", "1.000", "12"],
        ["1.0000", "1.0000", "to", "1.0000", "2.000", "5"],
    ]
    assert lines[2].endswith("12  BLOCK=64, num_warps=4")
    assert lines[3].endswith("5  BLOCK=32, MODE=<a & b>, num_warps=8")
    assert lines[4].split()[:4] == ["-", "-", "-", "0"]
    assert lines[4].endswith("out of resource: registers")
    assert lines[5].startswith("median and range (20 % to 80 % quantile) of a launch in ms; ratio to the fastest")
    assert lines[6:] == ["all have num_ctas=1, num_stages=3"]


def test_what_changes_no_code_is_left_out_of_the_table() -> None:
    """As warps do on a host; what all have is said once."""
    same = [
        Tried(Config(each.config.kwargs, num_warps=w), each.times, 0, MERGED, "the same code", each.config)
        for each, w in ((FAST, 1), (FAST, 8))
    ]
    other = Tried(Config({"BLOCK": 32}), (1.0, 1.0, 1.0), 5)
    lines = Report("kernel", "(7,)", 1.5, (FAST, other, *same)).table().splitlines()
    assert [line.split("  ")[-1] for line in lines[2:4]] == ["BLOCK=64", "BLOCK=32"]
    assert lines[5:] == [
        "all have num_ctas=1, num_stages=3",
        "not measured again: 2 configurations with other num_warps, which are the same code",
    ]


def test_ranges_that_overlap_are_said() -> None:
    """From the 20 % to the 80 % quantile; not of the code of another one, which has its times."""
    near = Tried(Config({"BLOCK": 128}), (0.8, 0.7, 0.9), 4)
    same = Tried(Config({"BLOCK": 64}, num_warps=8), FAST.times, 0, MERGED)
    assert REPORT.alike() == ()
    report = Report("kernel", "(7,)", 1.5, (SLOW, NONE, FAST, near, same))
    assert report.alike() == (near,)
    assert report.table().splitlines()[-1].startswith("warning: the range of BLOCK=128, num_warps=4 overlaps the ")


@tritonx.autotune([Config({"B": 16})], key=["n"])
@tritonx.jit
def single(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, 1, mask=at < n)


def test_a_single_configuration_is_measured_where_tuning_is_asked_for() -> None:
    x = np.zeros(16, np.float32)
    single[(1,)](x, 16)
    assert not single.configs_timings
    report = single.tune((1,), (x, 16), {})
    assert report is not None
    (tried,) = report.tried
    assert 0 < tried.median < math.inf
    assert len(report.table().splitlines()) == 4  # the heading, the columns, the line, and what they are


def test_the_drawing_is_right() -> None:
    """Bars as long as the medians, the fastest first; names with signs of XML's."""
    root = ElementTree.fromstring(REPORT.svg())
    bars = [e for e in root.iter() if e.tag.endswith("rect")]
    assert len(bars) == 2
    widths = [float(bar.attrib["width"]) for bar in bars]
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.01)
    texts = [e.text or "" for e in root.iter() if e.tag.endswith("text")]
    assert any("MODE=<a & b>" in text for text in texts)
    tops = [float(bar.attrib["y"]) for bar in bars]
    assert tops == sorted(tops) and tops[-1] < float(root.attrib["height"])


def test_the_page_holds_both() -> None:
    page = REPORT.html()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page and "MODE=&lt;a &amp; b&gt;" in page and "1.50 s" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # it needs nothing else


def test_a_search_of_nothing_is_drawn() -> None:
    empty = Report("kernel", "()", 0.0, (NONE,))
    ElementTree.fromstring(empty.svg())
    assert "1 of which cannot run" in empty.table()


@tritonx.autotune([Config({"BLOCK": block}) for block in (16, 32, 64)], key=["n"])
@tritonx.jit
def counted(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK != 32)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, at, mask=at < n)


def test_a_search_is_reported() -> None:
    counted.cache.clear()
    x = np.zeros(100, np.int32)
    counted[lambda meta: (tritonx.cdiv(100, meta["BLOCK"]),)](x, 100)
    report = counted.report
    assert report is not None
    assert [each.config for each in report.tried] == counted.configs
    assert [each.fate for each in report.ordered].index(FASTEST) == 0
    assert report.ordered[0].config == counted.best_config
    assert report.tried[1].fate == IMPOSSIBLE and "static_assert" in report.tried[1].reason
    assert all(each.runs >= 3 for each in report.tried if each.fate != IMPOSSIBLE)
    assert min(counted.configs_timings, key=lambda c: counted.configs_timings[c]) == counted.best_config


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def steps(stream: Any) -> str:
    shown = Progress("kernel", 4, stream)
    for best in (None, 2.0, 1.5, 1.5):
        shown.step(best)
    shown.rounds(2, 1.5)
    shown.close()
    return stream.getvalue() if stream is not None else ""


def test_a_terminal_is_shown_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    monkeypatch.setenv("COLUMNS", "200")
    lines = steps(Terminal()).split("\r\x1b[K")
    assert lines[1] == "kernel [######..................] 1/4"
    assert lines[3] == "kernel [##################......] 3/4, best 1.5000 ms"
    assert lines[5] == "kernel [########################] 4/4, 2 in the last rounds, best 1.5000 ms"
    assert lines[-1] == ""  # nothing is left of it


def test_lines_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    monkeypatch.setenv("COLUMNS", "20")
    assert max(map(len, steps(Terminal()).split("\r\x1b[K"))) == 19


def test_nothing_is_shown_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps(Terminal()) == ""  # over at once
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    assert steps(io.StringIO()) == ""
    with knobs.autotuning.scope():
        knobs.autotuning.progress = False
        assert steps(Terminal()) == ""
    monkeypatch.setattr("sys.stderr", None)
    assert steps(None) == ""
