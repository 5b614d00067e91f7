"""Profiles that were read from a file: derived metrics, parts of the tree, pictures of it."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tritonx.profiler.errors import BadProfile, MissingPackage
from tritonx.profiler.metric import FLOPS_WIDTHS
from tritonx.profiler.specs import max_bps, max_flops
from tritonx.profiler.state import COMPUTE_METADATA_SCOPE_NAME, COMPUTE_METADATA_SCOPE_PREFIX

INCLUSIVE = " (inc)"
"""What the name of a column ends in that is of a frame with all inside of it, in Hatchet's tables and Triton's."""

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
PREFIX = {"": 1.0, "g": 1e9, "t": 1e12}

TIME = re.compile(r"(avg_)?(cpu_)?time/(s|ms|us|ns)")
RATE = re.compile(r"(g|t|)(byte|flop(?:8|16|32|64)?)/s")


@dataclass(frozen=True)
class Frame:
    """A node as it is in a file; ``shown`` are the columns of a view."""

    name: str
    metrics: Mapping[str, Any]
    children: tuple[Frame, ...]
    shown: Mapping[str, float] = field(default_factory=dict[str, float])

    def all(self) -> Iterator[Frame]:
        yield self
        for child in self.children:
            yield from child.all()

    def own(self, name: str) -> float:
        value = self.metrics.get(name)
        return float(value) if isinstance(value, int | float) else math.nan

    def total(self, name: str) -> float:
        """Over this node and those inside of it; NaN where none has it."""
        found = [v for v in (frame.own(name) for frame in self.all()) if not math.isnan(v)]
        return sum(found) if found else math.nan


def frame_of(literal: Mapping[str, Any]) -> Frame | None:
    """A node without what is no part of the program: the computing of metadata, and scopes in which nothing is."""
    name: str = literal["frame"]["name"]
    if name == COMPUTE_METADATA_SCOPE_NAME or name.startswith(COMPUTE_METADATA_SCOPE_PREFIX):
        return None
    given = literal.get("children", ())
    children = tuple(child for each in given if (child := frame_of(each)) is not None)
    if not children and (given or not literal["metrics"]):
        return None
    return Frame(name, literal["metrics"], children)


@dataclass(frozen=True)
class Profile:
    """A file's tree. ``inclusive``: the metrics that add up over it."""

    root: Frame
    devices: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @property
    def inclusive(self) -> tuple[str, ...]:
        return tuple(self.root.metrics)

    @property
    def exclusive(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for frame in self.root.all() for name in frame.metrics)
        return tuple(name for name in names if name not in self.inclusive)

    def raw(self, asked: str) -> str:
        """The metric of the file that is called so, whatever its unit and case. Raises BadProfile."""
        for name in (*self.inclusive, *self.exclusive):
            if asked.lower() in (name.lower(), bare(name)):
                return name
        raise BadProfile(f"Metric {asked} is not found. Use the --list flag to list available metrics")

    @property
    def inc_metrics(self) -> list[str]:
        """The columns of ``dataframe`` that are of a frame with all inside of it."""
        return [name for name in self._columns() if name.endswith(INCLUSIVE)]

    @property
    def exc_metrics(self) -> list[str]:
        """Its other columns, but ``name``."""
        return [name for name in self._columns() if not name.endswith(INCLUSIVE)]

    def _columns(self) -> tuple[str, ...]:
        total = (f"{name}{INCLUSIVE}" for name in self.inclusive)
        return tuple(dict.fromkeys((*self.root.shown, *self.inclusive, *total, *self.exclusive)))

    @property
    def dataframe(self) -> object:
        """pandas' table, a row a frame: its name, what is shown, what the file has. Raises MissingPackage."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise MissingPackage("tables of a profile need the package `pandas`") from None
        rows: list[dict[str, object]] = []
        for frame in self.root.all():
            totals = {f"{name}{INCLUSIVE}": frame.total(name) for name in self.inclusive}
            rows.append({"name": frame.name, **frame.metrics, **totals, **frame.shown})
        return pandas.DataFrame(rows, columns=["name", *self._columns()])

    def value(self, frame: Frame, raw: str) -> float:
        return frame.total(raw) if raw in self.inclusive else frame.own(raw)

    def seconds(self, frame: Frame, asked: str) -> float:
        raw = self.raw(asked)
        unit = raw.partition("(")[2].partition(")")[0]
        return self.value(frame, raw) * SECONDS[unit]

    # ---- columns

    def name_of(self, asked: str) -> str:
        """The column of a metric, as Triton calls it. Raises BadProfile."""
        if asked == "util":
            return asked
        if TIME.fullmatch(asked) or RATE.fullmatch(asked):
            return asked + INCLUSIVE
        name, slash, _ = asked.partition("/")
        raw = self.raw(name)
        return (asked if slash else raw) + (INCLUSIVE if raw in self.inclusive else "")

    def column(self, asked: str) -> Callable[[Frame], float]:
        """What a metric, of the file or derived, is of a node. Raises BadProfile."""
        if asked == "util":
            return self._share_of_peak
        if found := TIME.fullmatch(asked):
            average, cpu, unit = found.groups()
            name, scale = "cpu_time" if cpu else "time", SECONDS[unit]
            self.raw(name)
            if not average:
                return lambda frame: self.seconds(frame, name) / scale
            count = self.raw("count")
            return lambda frame: _quotient(self.seconds(frame, name) / scale, self.value(frame, count))
        if found := RATE.fullmatch(asked):
            prefix, what = found.groups()
            amount = self.raw("bytes" if what == "byte" else what.replace("flop", "flops"))
            self.raw("time")
            return lambda frame: _quotient(self.value(frame, amount) / PREFIX[prefix], self.seconds(frame, "time"))
        name, slash, unit = asked.partition("/")
        if slash and unit != "%":
            raise BadProfile(f"Unsupported unit {unit}")
        raw = self.raw(name)
        if not slash:
            return lambda frame: self.value(frame, raw)
        whole = self.root.total(raw)
        return lambda frame: 100 * _quotient(self.value(frame, raw), whole)

    def _share_of_peak(self, frame: Frame) -> float:
        """The larger one of what the operations and the bytes of a kernel would take at the device's peaks, over its
        time."""
        kind, number = str(frame.metrics.get("device_type")), str(frame.metrics.get("device_id"))
        device = self.devices.get(kind, {}).get(number)
        if device is None:
            return math.nan
        arch, sms, clock = device["arch"], device["num_sms"], device["clock_rate"]
        widths = [w for w in FLOPS_WIDTHS if f"flops{w}" in frame.metrics]
        try:
            arithmetic = sum(frame.own(f"flops{w}") / max_flops(kind, arch, w, sms, clock) for w in widths)
            bandwidth = max_bps(kind, arch, device["bus_width"], device["memory_clock_rate"])
        except BadProfile:  # a device of unknown peaks
            return math.nan
        moved = frame.own("bytes") / bandwidth if "bytes" in frame.metrics else 0.0
        return _quotient(max(arithmetic, moved), frame.own(self.raw("time")) * 1e-9)

    def with_columns(self, metrics: list[str]) -> Profile:
        """With ``shown`` of these metrics, by the columns' names. Raises BadProfile."""
        found = [(self.column(metric), self.name_of(metric)) for metric in metrics]
        columns = {name: of for of, name in found}
        return replace(self, root=_showing(self.root, columns))


def bare(name: str) -> str:
    """Without unit, in small letters."""
    return name.partition("(")[0].strip().lower()


def _quotient(value: float, by: float) -> float:
    return value / by if by else math.nan


def _showing(frame: Frame, columns: Mapping[str, Callable[[Frame], float]]) -> Frame:
    children = tuple(_showing(child, columns) for child in frame.children)
    return replace(frame, children=children, shown={name: of(frame) for name, of in columns.items()})


# ---- parts


def including(frame: Frame, pattern: str, inside: bool = False) -> Frame | None:
    """The paths that go through a frame whose whole name matches."""
    inside = inside or re.fullmatch(pattern, frame.name) is not None
    children = tuple(c for each in frame.children if (c := including(each, pattern, inside)) is not None)
    return replace(frame, children=children) if inside or children else None


def excluding(frame: Frame, pattern: str) -> Frame | None:
    """Without frames whose whole name matches, and what is inside of them."""
    if re.fullmatch(pattern, frame.name):
        return None
    children = tuple(c for each in frame.children if (c := excluding(each, pattern)) is not None)
    return replace(frame, children=children)


def from_threshold(frame: Frame, metric: str, least: float) -> tuple[Frame, ...]:
    """The frames whose metric is at least so much; those inside of another one move up to the next that is left."""
    children = tuple(c for each in frame.children for c in from_threshold(each, metric, least))
    return (replace(frame, children=children),) if frame.shown[metric] >= least else children


def difference(one: Frame | None, other: Frame | None) -> Frame:
    """What ``shown`` is in ``other`` less what it is in ``one``; a frame of one alone counts as 0 in the other one."""
    some = other if other is not None else one
    assert some is not None
    names = {n: None for frame in (one, other) if frame is not None for n in (c.name for c in frame.children)}
    pairs = [tuple(_named(frame, name) for frame in (one, other)) for name in names]
    shown = {m: _shown(other, m) - _shown(one, m) for m in some.shown}
    return replace(some, children=tuple(difference(a, b) for a, b in pairs), shown=shown)


def _named(frame: Frame | None, name: str) -> Frame | None:
    return None if frame is None else next((c for c in frame.children if c.name == name), None)


def _shown(frame: Frame | None, metric: str) -> float:
    return 0.0 if frame is None else frame.shown[metric]


# ---- pictures

NAMES: Mapping[str, Callable[[str], str]] = {
    "full": lambda name: name,
    "file_function_line": lambda name: name.rpartition("/")[2],
    "function_line": lambda name: name.rpartition(":")[2],
    "file_function": lambda name: name.rpartition("/")[2].partition(":")[0] + "@" + name.rpartition("@")[2],
}
"""How a frame ``path/file:line@function`` is written; other names stay."""


def written(name: str, form: str) -> str:
    """A frame's name in one of these forms."""
    return NAMES[form](name) if "@" in name and ":" in name else name


def lines(frame: Frame, depth: int, form: str, lead: str = "", own: str = "") -> Iterator[str]:
    """The tree, a line a frame, to a depth."""
    values = " ".join(f"{value:.3f}" for value in frame.shown.values())
    yield f"{own}{values} {written(frame.name, form)}"
    children = frame.children if depth > 1 else ()
    for at, child in enumerate(children, 1):
        last = at == len(children)
        yield from lines(child, depth - 1, form, lead + ("   " if last else "│  "), lead + ("└─ " if last else "├─ "))
