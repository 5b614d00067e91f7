"""The command ``proton-viewer``: a profile as a tree of numbers.

    proton-viewer -m time/ms,gbyte/s profile.hatchet
    python -m tritonx.profiler.viewer …

It needs no package. `read` and `get_raw_metrics` are for programs that work on Hatchet's frames, and need
``llnl-hatchet``."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from tritonx.profiler.errors import BadProfile, MissingPackage, ProfilerError
from tritonx.profiler.graph_frames import (
    GraphFrame,
    derive_metrics,
    filter_frames,
)
from tritonx.profiler.graph_frames import format_frames as format_frames
from tritonx.profiler.graph_frames import get_min_time_bytes as get_min_time_bytes
from tritonx.profiler.graph_frames import get_min_time_flops as get_min_time_flops
from tritonx.profiler.viewing import (
    INCLUSIVE,
    NAMES,
    Profile,
    bare,
    difference,
    excluding,
    frame_of,
    from_threshold,
    including,
    lines,
    written,
)

METRICS = """What can be asked for, beside what a file has (--list):
- time/s, time/ms, time/us, time/ns; avg_time/… for each launch; cpu_time/…, avg_cpu_time/…
- flop[8|16|32|64]/s, gflop…/s, tflop…/s; byte/s, gbyte/s, tbyte/s
- util: of the device's peaks, the share of the nearer one
- METRIC/%: of the whole"""


def load(filename: str) -> Profile:
    """A file in the format ``hatchet``. Raises BadProfile."""
    try:
        with open(filename, encoding="utf-8") as file:
            database = json.load(file)
    except OSError as error:
        raise BadProfile(f"{filename} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadProfile(f"{filename} is no profile in the format hatchet: {error}") from None
    if not _holds_trees(database):
        raise BadProfile(f"{filename} is no profile in the format hatchet: it is no list of trees")
    trees = cast("list[dict[str, Any]]", database)
    root = frame_of(trees[0])
    if root is None:
        raise BadProfile(f"{filename} has no metrics")
    return Profile(root, trees[1] if len(trees) > 1 else {})


def _holds_trees(database: object) -> bool:
    if not isinstance(database, list) or not database:
        return False
    first = cast("object", database[0])
    return isinstance(first, dict) and "frame" in first


def parse(
    metrics: list[str],
    filename: str,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
) -> tuple[Profile, list[str]]:
    """A profile with columns of ``metrics``, and the columns' names; `print_tree` takes both, and the profile has them
    as a table (``dataframe``). Raises BadProfile.

    >>> import json, os, tempfile
    >>> from tritonx.profiler.viewer import print_tree
    >>> leaf = {"frame": {"name": "kernel"}, "metrics": {"count": 2, "time (ns)": 3000}, "children": []}
    >>> tree = {"frame": {"name": "ROOT"}, "metrics": {"count": 0, "time (ns)": 0}, "children": [leaf]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(file := os.path.join(folder, "a.hatchet"), "w") as opened:
    ...         json.dump([tree, {}], opened)
    ...     print_tree(*parse(["avg_time/us"], file))
    1.500 ROOT
    └─ 1.500 kernel
    """
    if include and exclude:
        raise BadProfile("Cannot specify both include and exclude")
    profile = load(filename).with_columns(metrics)
    root = profile.root
    if include:
        root = including(root, include) or replace(root, children=())
    if exclude:
        root = excluding(root, exclude) or replace(root, children=())
    if threshold is not None:
        left = from_threshold(root, profile.name_of(metrics[0]), threshold)
        root = left[0] if len(left) == 1 else replace(root, children=left)
    return replace(profile, root=root), [profile.name_of(metric) for metric in metrics]


def print_tree(
    gf: Profile, metrics: Sequence[str], depth: int = 100, format: str | None = None, print_sorted: bool = False
) -> None:
    """Print what `parse` made; with ``print_sorted`` also the frames by the first metric.

    >>> print_tree.__name__
    'print_tree'
    """
    form = format or "full"
    for line in lines(gf.root, depth, form):
        print(line)
    if print_sorted:
        print(f"Sorted kernels by metric {metrics[0]}")
        frames = [f for f in gf.root.all() if not f.children and not math.isnan(f.shown[metrics[0]])]
        for frame in sorted(frames, key=lambda f: -f.shown[metrics[0]]):
            print(f"{written(frame.name, form)[:100]:105} {frame.shown[metrics[0]]:.4}")


def show_metrics(file_name: str) -> None:
    """Print the names of a file's metrics.

    >>> show_metrics.__name__
    'show_metrics'
    """
    profile = load(file_name)
    for kind, names in (("inclusive", profile.inclusive), ("exclusive", profile.exclusive)):
        print(f"Available {kind} metrics:")
        for name in names:
            print(f"- {bare(name)}")


def get_raw_metrics(database: Any) -> tuple[GraphFrame, list[str], list[str], dict[str, Any]]:
    """Hatchet's frame of what a file holds (or of an open file), the names of inclusive and of exclusive metrics, and
    the devices. Raises MissingPackage.

    >>> get_raw_metrics.__name__
    'get_raw_metrics'
    """
    try:
        hatchet: GraphFrame = importlib.import_module("hatchet")
    except ImportError:
        raise MissingPackage("Hatchet's frames need the package `llnl-hatchet`") from None
    if hasattr(database, "read"):
        database = json.load(database)
    root = frame_of(database[0])
    frame: GraphFrame = hatchet.GraphFrame.from_literal([] if root is None else [_literal(root)])
    inclusive: list[str] = list(frame.show_metric_columns())
    exclusive = [name for name in frame.dataframe.columns if name not in inclusive]
    return frame, inclusive, exclusive, database[1] if len(database) > 1 else {}


def read(filename: str) -> tuple[GraphFrame, list[str], list[str], dict[str, Any]]:
    """The same of a file, with its inclusive columns computed. Raises MissingPackage.

    >>> read.__name__
    'read'
    """
    with open(filename, encoding="utf-8") as file:
        found = get_raw_metrics(json.load(file))
    found[0].update_inclusive_columns()
    return found


def apply_diff_profile(
    gf: GraphFrame,
    derived_metrics: Sequence[str],
    diff_file: str,
    metrics: list[str],
    include: str | None,
    exclude: str | None,
    threshold: float | None,
) -> GraphFrame:
    """What the file has more than ``gf``, of which ``derived_metrics`` are the columns of ``metrics``: of what `parse`
    made, or less than Hatchet's frame, as in Triton. Raises BadProfile, MissingPackage.

    >>> apply_diff_profile.__name__
    'apply_diff_profile'
    """
    if isinstance(gf, Profile):
        other, _ = parse(metrics, diff_file, include, exclude, threshold)
        return replace(gf, root=difference(gf.root, other.root))
    frame, inclusive, exclusive, devices = read(diff_file)
    columns = derive_metrics(frame, metrics, inclusive, exclusive, devices)
    frame = filter_frames(frame, include, exclude, threshold, columns[0])
    for each in (gf, frame):
        each.inc_metrics = [name for name in derived_metrics if name.endswith(INCLUSIVE)]
        each.exc_metrics = [name for name in derived_metrics if not name.endswith(INCLUSIVE)]
    return gf.sub(frame)


def _literal(frame: GraphFrame) -> dict[str, Any]:
    children = [_literal(child) for child in frame.children]
    return {"frame": {"name": frame.name, "type": "function"}, "metrics": dict(frame.metrics), "children": children}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status.

    >>> from tritonx.profiler.viewer import main
    >>> main(["-m", "time/ms", "no such file"])
    1
    """
    parser = argparse.ArgumentParser(
        prog="proton-viewer", description=f"{__doc__}\n\n{METRICS}", formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-l", "--list", action="store_true", help="list the file's metrics")
    parser.add_argument("-m", "--metrics", help="what to show, separated by commas")
    parser.add_argument("-i", "--include", help="the paths through frames that this regular expression matches")
    parser.add_argument("-e", "--exclude", help="without frames that it matches, and what is inside of them")
    parser.add_argument("-t", "--threshold", type=float, help="without frames whose first metric is less")
    parser.add_argument("-d", "--depth", type=int, default=100, help="how deep the tree is shown")
    parser.add_argument("-f", "--format", choices=tuple(NAMES), default="full", help="how Python's frames are written")
    parser.add_argument("--print-sorted", action="store_true", help="also the kernels by the first metric")
    parser.add_argument("-diff", "--diff-profile", metavar="OTHER", help="show what OTHER has more than the file")
    parser.add_argument("file")
    given = parser.parse_args(arguments)
    try:
        if given.list or not given.metrics:
            show_metrics(given.file)
            return 0
        chosen = (given.include, given.exclude, given.threshold)
        asked = given.metrics.split(",")
        profile, columns = parse(asked, given.file, *chosen)
        if given.diff_profile:
            profile = apply_diff_profile(profile, columns, given.diff_profile, asked, *chosen)
        print_tree(profile, columns, given.depth, given.format, given.print_sorted)
    except ProfilerError as error:
        print(f"proton-viewer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
