"""A case on a GPU: what all configurations compute is checked, and the best of each compiler run by turns."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from peers import gpu_milliseconds

from products.case import Case, Configuration, largest
from products.launches import COMPILERS, bound, in_a_graph, kernel_of

Run = tuple[str, Configuration, Callable[[], Any]]
"""Who runs it, how, and the launches."""


@dataclass(frozen=True)
class Effort:
    """How long each case may take: so many configurations, of which so many of each compiler run by turns, in so many
    blocks of seconds."""

    configurations: int | None = None
    raced: int = 2
    rounds: int = 5
    seconds: float = 0.5
    repeat: int = 9


QUICK = Effort(configurations=2, raced=1, rounds=3, seconds=0.2, repeat=5)


def checked_runs(case: Case, effort: Effort) -> tuple[list[Run], dict[str, float]]:
    """Every configuration that the device has room for, and the largest error of each compiler."""
    exact = case.exact()
    runs: list[Run] = []
    errors: dict[str, float] = {}
    for name, configuration, run in candidates(case, effort):
        try:
            case.poison()
            made = run()
            torch.cuda.synchronize()
            timed = in_a_graph(run) if case.brief else run
        except Exception as problem:  # a configuration may need more than the device has
            print(f"  {name} {configuration}: {type(problem).__name__}: {str(problem)[:200]}", file=sys.stderr)
            continue
        error = case.error(made if name == "library" else case.outputs, exact)
        if not error <= case.tolerance and name != "library":
            print(f"  {name} {configuration}: WRONG, error {error:.1e}", flush=True)
        errors[name] = largest((errors.get(name, 0.0), error))
        runs.append((name, configuration, timed))
    return runs, errors


def candidates(case: Case, effort: Effort) -> list[Run]:
    found: list[Run] = [("library", {}, case.library)] if case.library is not None else []
    for name in COMPILERS:
        for c in case.configurations[: effort.configurations]:
            first = next(step for step in case.steps(c) if not callable(step))
            if kernel_of(first, name) is not None:
                found.append((name, c, bound(case, c, name)))
    return found


def raced(runs: Sequence[Callable[[], Any]], effort: Effort, estimates: Sequence[float]) -> list[float]:
    """Milliseconds of each: median over blocks, by turns."""
    counts = [max(1, round(effort.seconds * 1000 / ms)) for ms in estimates]
    times: list[list[float]] = [[] for _ in runs]
    for round_ in range(effort.rounds):
        order = list(range(len(runs)))
        for i in order if round_ % 2 else reversed(order):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(counts[i]):
                runs[i]()
            torch.cuda.synchronize()
            times[i].append((time.perf_counter() - start) * 1000 / counts[i])
    return [statistics.median(each) for each in times]


def measure(case: Case, effort: Effort, every: bool) -> dict[str, Any]:
    """Check all results, time every configuration, and race the best ones."""
    runs, errors = checked_runs(case, effort)
    times = gpu_milliseconds([run for _, _, run in runs], repeat=effort.repeat)
    if every:
        for (name, configuration, _), ms in zip(runs, times, strict=True):
            print(f"  {name:8s} {case.operations / ms / 1e9:6.0f} TFLOP/s {configuration}", flush=True)
    names = list(dict.fromkeys(name for name, _, _ in runs))
    fast = [
        i
        for n in names
        for i in sorted((i for i, run in enumerate(runs) if run[0] == n), key=times.__getitem__)[: effort.raced]
    ]
    means = dict(zip(fast, raced([runs[i][2] for i in fast], effort, [times[i] for i in fast]), strict=True))
    row: dict[str, Any] = {"case": case.name}
    for name in names:
        i = min((i for i in fast if runs[i][0] == name), key=means.__getitem__)
        row[name] = {
            "tflops": case.operations / means[i] / 1e9, "ms": means[i], "error": errors[name],
            "right": bool(errors[name] <= case.tolerance), "configuration": runs[i][1],
        }  # fmt: skip
    for name in ("triton", "library"):
        if name in row and "tritonx" in row:
            row[f"of_{name}"] = row[name]["ms"] / row["tritonx"]["ms"]
    return row


def shown(row: dict[str, Any]) -> str:
    cells = [f"{row['case']:36s}"]
    for name in ("tritonx", "triton", "library"):
        if name in row:
            r = row[name]
            right = "" if r["right"] else " WRONG"
            cells.append(
                f"{name} {r['tflops']:5.{1 if r['tflops'] < 100 else 0}f} err {r['error']:.0e}{right} "
                f"{tuple(r['configuration'].values())}"
            )
    ratios = (f"{row[f'of_{name}']:.3f} of {name}" for name in ("triton", "library") if f"of_{name}" in row)
    return " | ".join([*cells, *ratios])
