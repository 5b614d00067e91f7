"""The viewer's functions for Hatchet's graph frames (`tritonx.profiler.viewer.read`), whose tables are pandas': columns
of derived metrics, parts of the tree, forms of names. The commands work on `tritonx.profiler.viewing`, which needs
neither package."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tritonx.profiler.errors import BadProfile, MissingPackage
from tritonx.profiler.metric import FLOPS_WIDTHS
from tritonx.profiler.specs import max_bps, max_flops
from tritonx.profiler.viewing import INCLUSIVE, NAMES, PREFIX, RATE, SECONDS, TIME, bare, written

GraphFrame = Any
"""Hatchet's class, and pandas' of its tables and columns: packages that need not be installed."""

Devices = Mapping[str, Mapping[str, Mapping[str, GraphFrame]]]
"""Type → number → what the profile says of it."""


def _package(name: str) -> GraphFrame:
    """Raises MissingPackage."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackage(f"tables of a profile need the package `{name.partition('.')[0]}`") from None


# ---- least times


def get_min_time_flops(df: GraphFrame, device_info: Devices) -> GraphFrame:
    """The seconds that each row's operations take at the peaks of its device, as a table with the column ``min_time``.
    Raises MissingPackage, and BadProfile for a device of unknown peaks.

    >>> from tritonx.profiler.viewer import get_min_time_flops
    >>> get_min_time_flops.__name__
    'get_min_time_flops'
    """

    def seconds(rows: GraphFrame, kind: str, device: Mapping[str, GraphFrame]) -> GraphFrame:
        arch, units, clock = device["arch"], device["num_sms"], device["clock_rate"]
        found = [w for w in FLOPS_WIDTHS if f"flops{w}" in rows.columns]
        return sum(rows[f"flops{w}"].fillna(0) / max_flops(kind, arch, w, units, clock) for w in found)

    return _least(df, device_info, seconds)


def get_min_time_bytes(df: GraphFrame, device_info: Devices) -> GraphFrame:
    """The same for the bytes that each row moves.

    >>> from tritonx.profiler.viewer import get_min_time_bytes
    >>> get_min_time_bytes.__name__
    'get_min_time_bytes'
    """

    def seconds(rows: GraphFrame, kind: str, device: Mapping[str, GraphFrame]) -> GraphFrame:
        return rows["bytes"] / max_bps(kind, device["arch"], device["bus_width"], device["memory_clock_rate"])

    return _least(df, device_info, seconds)


def _least(
    df: GraphFrame,
    device_info: Devices,
    seconds: Callable[[GraphFrame, str, Mapping[str, GraphFrame]], GraphFrame],
) -> GraphFrame:
    found = _package("pandas").DataFrame(0.0, index=df.index, columns=["min_time"])
    for kind, devices in device_info.items():
        for number, device in devices.items():
            chosen = df["device_id"] == number
            if "device_type" in df.columns:
                chosen &= df["device_type"] == kind
            if chosen.any():
                found.loc[chosen, "min_time"] += seconds(df[chosen], kind, device)
    return found


# ---- columns


@dataclass(frozen=True)
class _Table:
    """A frame's table, with the names of its metrics."""

    frame: GraphFrame
    inclusive: list[str]
    exclusive: list[str]
    devices: Devices

    def column(self, asked: str) -> str:
        """Of the metric that is called so, whatever its unit and case. Raises BadProfile."""
        for name in (*self.inclusive, *self.exclusive):
            if asked.lower() in (name.lower(), bare(name)):
                return name + (INCLUSIVE if name in self.inclusive else "")
        raise BadProfile(f"Metric {asked} is not found. Use the --list flag to list available metrics")

    def seconds(self, asked: str) -> GraphFrame:
        column = self.column(asked)
        return self.frame.dataframe[column] * SECONDS[column.partition("(")[2].partition(")")[0]]

    def derived(self, asked: str) -> tuple[str, GraphFrame]:
        """A column's name, and its values. Raises BadProfile."""
        table = self.frame.dataframe
        if asked == "util":
            return asked, self._share_of_peak()
        if found := TIME.fullmatch(asked):
            average, cpu, unit = found.groups()
            values = self.seconds("cpu_time" if cpu else "time") / SECONDS[unit]
            return asked + INCLUSIVE, values / table[self.column("count")] if average else values
        if found := RATE.fullmatch(asked):
            prefix, what = found.groups()
            amount = table[self.column("bytes" if what == "byte" else what.replace("flop", "flops"))]
            return asked + INCLUSIVE, amount / self.seconds("time") / PREFIX[prefix]
        name, slash, unit = asked.partition("/")
        if slash and unit != "%":
            raise BadProfile(f"Unsupported unit {unit}")
        column = self.column(name)
        if not slash:
            return column, table[column]
        adds_up = column.endswith(INCLUSIVE)
        whole = table[column].iloc[0] if adds_up else table[column].sum()
        return asked + (INCLUSIVE if adds_up else ""), 100 * table[column] / whole

    def _share_of_peak(self) -> GraphFrame:
        """NaN where a row is of no device."""
        table = self.frame.dataframe
        least = [of(table, self.devices)["min_time"] for of in (get_min_time_flops, get_min_time_bytes)]
        share = least[0].combine(least[1], max) / self.seconds("time")
        return share.where(table["device_id"].notna())


def derive_metrics(
    gf: GraphFrame,
    metrics: Iterable[str],
    inclusive_metrics: list[str],
    exclusive_metrics: list[str],
    device_info: Devices,
) -> list[str]:
    """Give a frame columns of ``metrics``, as `tritonx.profiler.viewer.parse` knows them; the columns' names. Raises
    BadProfile, MissingPackage.

    >>> from tritonx.profiler.viewer import derive_metrics
    >>> derive_metrics.__name__
    'derive_metrics'
    """
    known = _Table(gf, list(inclusive_metrics), list(exclusive_metrics), device_info)
    found = [known.derived(metric) for metric in metrics]
    for name, values in found:
        gf.dataframe[name] = values
        (gf.inc_metrics if name.endswith(INCLUSIVE) else gf.exc_metrics).append(name)
    return [name for name, _ in found]


# ---- parts and names


def filter_frames(
    gf: GraphFrame,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
    metric: str | None = None,
) -> GraphFrame:
    """The paths through nodes whose whole name ``include`` matches, without nodes that ``exclude`` matches and what is
    inside of them, nor those whose column ``metric`` is less than ``threshold``. Raises MissingPackage.

    >>> from tritonx.profiler.viewer import filter_frames
    >>> filter_frames.__name__
    'filter_frames'
    """
    if include:
        gf = gf.filter(["*", (".", {"name": include}), "*"], squash=True)
    if exclude:
        query = _package("hatchet.query")
        gf = gf.filter(query.NegationQuery(query.ObjectQuery([(".", {"name": exclude}), "*"])), squash=True)
    if threshold:
        gf = gf.filter(["*", {metric: f">= {threshold}"}], squash=True)
    return gf


def format_frames(gf: GraphFrame, format: str | None) -> GraphFrame:
    """The same frame, with the names of Python's frames in one of the forms of the command's ``--format``.

    >>> from tritonx.profiler.viewer import format_frames
    >>> format_frames.__name__
    'format_frames'
    """
    if format is not None and format in NAMES:
        gf.dataframe["name"] = [written(name, format) for name in gf.dataframe["name"]]
    return gf
