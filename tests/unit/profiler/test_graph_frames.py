"""Tables of profiles: the same numbers as the viewer's, in Triton's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.profiler.profile_files import DEVICES, write
from tritonx.profiler import viewer
from tritonx.profiler.errors import BadProfile, MissingPackage
from tritonx.profiler.viewing import Profile

pandas = pytest.importorskip("pandas")

ASKED = [
    "time/us",
    "avg_time/ns",
    "cpu_time/us",
    "gbyte/s",
    "tflop16/s",
    "util",
    "time/%",
    "cpu_time/%",
    "count",
    "flops16",
]
COLUMNS = [
    *("time/us (inc)", "avg_time/ns (inc)", "cpu_time/us (inc)", "gbyte/s (inc)", "tflop16/s (inc)", "util"),
    *("time/% (inc)", "cpu_time/%", "count (inc)", "flops16 (inc)"),
]


class _Graph:
    """What the functions ask of Hatchet's frame: a table with inclusive columns computed, and the names of columns."""

    def __init__(self, profile: Profile) -> None:
        self.dataframe: Any = profile.dataframe
        self.inc_metrics: list[str] = []
        self.exc_metrics: list[str] = []


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write(tmp_path / "a.hatchet")


def test_a_profile_is_a_table(file: str) -> None:
    profile, columns = viewer.parse(ASKED, file)
    assert columns == COLUMNS and set(columns) <= {*profile.inc_metrics, *profile.exc_metrics}
    table: Any = profile.dataframe
    assert table["name"].tolist() == ["ROOT", "layer", "/home/me/model.py:12@step", "product", "copy", "copy"]
    assert table["time/us (inc)"].tolist() == pytest.approx([6, 4, 3, 3, 1, 2])
    assert table["time (ns)"].tolist()[3:] == [3000, 1000, 2000]
    assert table["util"].tolist()[3:] == pytest.approx([0.1953125, 0.5, 0.0])


def test_derived_columns_are_those_of_the_viewer(file: str) -> None:
    profile, columns = viewer.parse(ASKED, file)
    shown: Any = profile.dataframe
    frame = _Graph(viewer.load(file))
    known = profile.inclusive, profile.exclusive
    assert viewer.derive_metrics(frame, ASKED, list(known[0]), list(known[1]), DEVICES) == columns
    assert frame.inc_metrics == [c for c in columns if c.endswith("(inc)")] and frame.exc_metrics == [
        "util",
        "cpu_time/%",
    ]
    for column in columns:
        if column != "cpu_time/%":
            assert frame.dataframe[column].tolist() == pytest.approx(shown[column].tolist(), nan_ok=True), column
    assert frame.dataframe["cpu_time/%"].tolist()[2] == 100


def test_least_times(file: str) -> None:
    """16,384 operations on 8 bits a clock and multiprocessor, 50 of them, 1.28 TB/s."""
    table: Any = viewer.load(file).dataframe
    other = {"CUDA": {**DEVICES["CUDA"], "1": {**DEVICES["CUDA"]["0"], "arch": "unknown"}}}
    assert viewer.get_min_time_flops(table, other)["min_time"].tolist()[3:] == pytest.approx([2.4e8 / 409.6e12, 0, 0])
    assert viewer.get_min_time_bytes(table, other)["min_time"].tolist()[3:] == pytest.approx([1200 / 1.28e12, 5e-7, 0])
    table.loc[3, "device_id"] = "1"
    with pytest.raises(BadProfile, match="Unsupported architecture: unknown"):
        viewer.get_min_time_flops(table, other)


def test_metrics_that_do_not_exist(file: str) -> None:
    profile = viewer.load(file)
    for metric, text in (("warmth", "not found"), ("time/h", "Unsupported unit h")):
        with pytest.raises(BadProfile, match=text):
            viewer.derive_metrics(_Graph(profile), [metric], list(profile.inclusive), list(profile.exclusive), DEVICES)


@pytest.mark.parametrize(
    ("form", "name"),
    [(None, "/home/me/model.py:12@step"), ("full", "/home/me/model.py:12@step"), ("function_line", "12@step")],
)
def test_forms_of_names(file: str, form: str | None, name: str) -> None:
    frame = viewer.format_frames(_Graph(viewer.load(file)), form)
    assert frame.dataframe["name"].tolist() == ["ROOT", "layer", name, "product", "copy", "copy"]


def test_differences(file: str, tmp_path: Path) -> None:
    other = write(tmp_path / "b.hatchet", scale=3)
    profile, columns = viewer.parse(["time/us"], file)
    found = viewer.apply_diff_profile(profile, columns, other, ["time/us"], None, None, None)
    assert found.dataframe["time/us (inc)"].tolist() == pytest.approx([12, 8, 6, 6, 2, 4])


def test_hatchets_graphs(file: str, tmp_path: Path) -> None:
    try:
        frame, inclusive, exclusive, devices = viewer.read(file)
    except MissingPackage as error:
        assert "llnl-hatchet" in str(error)
        return
    columns = viewer.derive_metrics(frame, ["time/us"], inclusive, exclusive, devices)
    assert columns == ["time/us (inc)"] and frame.dataframe[columns[0]].iloc[0] == 6
    step = viewer.filter_frames(frame, include=".*step").dataframe["name"].tolist()
    assert sorted(step) == ["/home/me/model.py:12@step", "ROOT", "layer", "product"]
    assert viewer.filter_frames(frame, exclude="layer").dataframe["name"].tolist() == ["ROOT", "copy"]
    assert "copy" not in viewer.filter_frames(frame, threshold=3, metric=columns[0]).dataframe["name"].tolist()
    other = write(tmp_path / "b.hatchet", scale=3)
    less = viewer.apply_diff_profile(frame, columns, other, ["time/us"], None, None, None)
    assert less.dataframe["time/us (inc)"].iloc[0] == -12
