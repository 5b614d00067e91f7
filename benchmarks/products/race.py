"""A case on a GPU: what all configurations compute is checked, and the best of each compiler run by turns."""

from __future__ import annotations

import math
import random
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


@dataclass(frozen=True)
class Time:
    """Milliseconds of a launch: alone, behind a pass over the level-2 cache, and in blocks of many, with the standard
    error of the latter as a part of it."""

    alone: float
    ms: float
    error: float


def raced(runs: Sequence[Callable[[], Any]], effort: Effort, alone: Sequence[float]) -> list[Time]:
    """Median over blocks, by turns, in another order each round: a GPU at its power limit is as fast as what it did
    before lets it be."""
    counts = [max(1, round(effort.seconds * 1000 / ms)) for ms in alone]
    times: list[list[float]] = [[] for _ in runs]
    order = list(range(len(runs)))
    for _ in range(effort.rounds):
        random.shuffle(order)
        for i in order:
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(counts[i]):
                runs[i]()
            torch.cuda.synchronize()
            times[i].append((time.perf_counter() - start) * 1000 / counts[i])
    return [timed(ms, blocks) for ms, blocks in zip(alone, times, strict=True)]


def timed(alone: float, blocks: Sequence[float]) -> Time:
    """With the standard error of a median of normal numbers."""
    median = statistics.median(blocks)
    return Time(alone, median, 1.2533 * statistics.stdev(blocks) / len(blocks) ** 0.5 / median)


def measure(case: Case, effort: Effort, every: bool) -> dict[str, Any]:
    """Check all results, time every configuration, and race the best ones."""
    runs, errors = checked_runs(case, effort)
    alone = gpu_milliseconds([run for _, _, run in runs], repeat=effort.repeat)
    if every:
        for (name, configuration, _), ms in zip(runs, alone, strict=True):
            print(f"  {name:8s} {case.operations / ms / 1e9:6.0f} TFLOP/s {configuration}", flush=True)
    names = list(dict.fromkeys(name for name, _, _ in runs))
    fast = [
        i
        for n in names
        for i in sorted((i for i, run in enumerate(runs) if run[0] == n), key=alone.__getitem__)[: effort.raced]
    ]
    times = dict(zip(fast, raced([runs[i][2] for i in fast], effort, [alone[i] for i in fast]), strict=True))
    row: dict[str, Any] = {"case": case.name}
    for name in names:
        own = [i for i in fast if runs[i][0] == name]
        i = min(own, key=lambda i: times[i].ms)
        row[name] = {
            "tflops": case.operations / times[i].ms / 1e9, "ms": times[i].ms, "spread": times[i].error,
            "alone_ms": min(times[i].alone for i in own), "error": errors[name],
            "right": bool(errors[name] <= case.tolerance), "configuration": runs[i][1],
        }  # fmt: skip
    for name in ("triton", "library"):
        if name in row and "tritonx" in row:
            row[f"of_{name}"] = row[name]["ms"] / row["tritonx"]["ms"]
            row[f"of_{name}_alone"] = row[name]["alone_ms"] / row["tritonx"]["alone_ms"]
            row[f"of_{name}_error"] = math.hypot(row[name]["spread"], row["tritonx"]["spread"])
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
    for name in ("triton", "library"):
        if f"of_{name}" in row:
            ratio, error, alone = (row[f"of_{name}{kind}"] for kind in ("", "_error", "_alone"))
            cells.append(f"{ratio:.3f} ± {error:.3f} of {name}, alone {alone:.3f}")
    return " | ".join(cells)
