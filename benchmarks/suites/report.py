"""What was found, in a table and test by test."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

PASSED = ("passed", "xfailed", "xpassed", "skipped")
COLUMNS = ("passed", "failed", "error", "crash", "hang", "skipped", "xfailed", "xpassed", "not collected")

MEASURED = {
    "seconds": "seconds, wall", "cpu_s": "seconds, processor", "compiled": "kernels compiled",
    "compile_s": "seconds compiling", "kernel_us": "µs of kernels", "launches": "launches",
}  # fmt: skip

Results = dict[str, dict[str, list[dict[str, Any]]]]
"""Test → peer → its runs, the first one first."""


def state(run: dict[str, Any]) -> str:
    """The outcome, with failures that want of memory is behind apart."""
    text = run.get("reason", "") + run.get("tail", "")
    if run["outcome"] in ("failed", "error") and ("out of memory" in text or "OutOfMemoryError" in text):
        return "memory"
    return run["outcome"]


def differing(results: Results, peers: list[str]) -> list[str]:
    """The tests that both ran with different outcomes."""
    both = ran_with_all(results, peers)
    return sorted(test for test in both if len({state(results[test][p][0]) for p in peers}) > 1)


def _row(name: str, values: list[Any]) -> str:
    return f"{name:<24}" + "".join(f"{v!s:>14}" for v in values)


def ran_with_all(results: Results, peers: list[str]) -> list[str]:
    """The tests that every peer has run."""
    return [t for t, runs in results.items() if all(p in runs for p in peers)]


def counts(results: Results, peers: list[str]) -> list[str]:
    """Lines: how many tests came to what with each peer."""
    both = ran_with_all(results, peers)
    lines = [_row("of those with both", peers) + "     all it ran"]
    shared = {p: Counter(state(results[t][p][0]) for t in both) for p in peers}
    alone = {p: Counter(state(runs[p][0]) for runs in results.values() if p in runs) for p in peers}
    for column in (*COLUMNS, "memory"):
        if any(c[column] for c in (*shared.values(), *alone.values())):
            lines.append(_row(column, [shared[p][column] for p in peers]) + "     "
                         + " / ".join(str(alone[p][column]) for p in peers))  # fmt: skip
    return lines


def timed_with_all(runs: dict[str, list[dict[str, Any]]], peers: list[str]) -> bool:
    """Whether every peer's last run of a test took the kernels' times and passed, with as many launches."""
    last = [runs[p][-1] for p in peers if p in runs]
    took = [run["launches"] for run in last if "kernel_us" in run and state(run) == "passed"]
    return len(took) == len(peers) and len(set(took)) == 1 and took[0] > 0


def slower_kernels(results: Results, peers: list[str]) -> list[str]:
    """Lines: the kernels, over all tests that both were timed in, that lose most to the last peer's, and gain most."""
    times: dict[str, list[float]] = {}
    for runs in results.values():
        if not timed_with_all(runs, peers):
            continue
        for n, p in enumerate(peers):
            for kernel, us in runs[p][-1]["kernel_times"].items():
                times.setdefault(kernel, [0.0] * len(peers))[n] += us
    longest = sorted(times.items(), key=lambda item: item[1][0] - item[1][-1], reverse=True)
    chosen = longest if len(longest) <= 24 else [*longest[:16], *longest[-8:]]
    return [_row("", peers), *(_row("", [f"{v:.1f}" for v in values]) + "     " + name for name, values in chosen)]


def table(results: Results, peers: list[str], seconds: float) -> str:
    """Counts, times and the tests that differ."""
    both = ran_with_all(results, peers)
    lines = [f"{len(results)} tests ran with one or both in {seconds:.0f} s, {len(both)} with both", ""]
    lines += counts(results, peers)
    same = [t for t in both if all(state(results[t][p][0]) == "passed" for p in peers)]
    lines += ["", f"of the {len(same)} that pass with both:"]
    timed = [t for t in same if timed_with_all(results[t], peers)]
    for field, name in MEASURED.items():
        if field not in ("kernel_us", "launches"):
            values = [sum(results[t][p][0].get(field, 0) for t in same) for p in peers]
        elif timed:
            values = [sum(results[t][p][-1][field] for t in timed) for p in peers]
        else:
            continue
        ratio = f"{values[0] / values[1]:.3f}" if len(values) == 2 and values[1] else ""
        of = f" of {len(timed)} tests" if field in ("kernel_us", "launches") else ""
        lines.append(_row(name, [f"{v:.1f}" for v in values]) + f"     {ratio}{of}")
    lines += ["", "kernels whose times differ most, µs:", *slower_kernels(results, peers)]
    lines += ["", "differing:"]
    for test in differing(results, peers):
        runs = results[test]
        lines.append(test)
        for p in peers:
            said = ", ".join(state(r) for r in runs[p])
            reason = next((r["reason"] for r in runs[p] if r.get("reason")), "")
            lines.append(f"    {p}: {said}  {reason[:300]}")
    lines += ["", "failing with both, by reason:"]
    reasons = Counter(
        runs[peers[0]][0].get("reason", "")[:160] for t in both for runs in [results[t]]
        if all(state(runs[p][0]) not in PASSED for p in peers)
    )  # fmt: skip
    lines += [f"    {n:>5} {reason}" for reason, n in reasons.most_common(25)]
    reasons = Counter(runs[peers[0]][0].get("reason", "")[:160] for t in both for runs in [results[t]]
                      if state(runs[peers[0]][0]) == "skipped")  # fmt: skip
    lines += ["", "skipped, by reason:", *(f"    {n:>5} {reason}" for reason, n in reasons.most_common(15))]

    def longer(test: str) -> float:
        own, other = (results[test][p][0].get("compile_s", 0) for p in (peers[0], peers[-1]))
        return own / max(other, 0.2)

    slow = sorted((t for t in same if results[t][peers[0]][0].get("compile_s", 0) > 1), key=longer, reverse=True)
    lines += ["", "longest compiles against the other's:"]
    for t in slow[:12]:
        lines.append("    " + t + "  " + ", ".join(
            f"{p} {results[t][p][0]['compile_s']:.2f} s of {results[t][p][0]['compiled']}" for p in peers))  # fmt: skip
    return "\n".join(lines) + "\n"


def together(earlier: Results, results: Results, peers: list[str]) -> str:
    """What earlier runs and this one came to; a test that every peer ran in an earlier one counts as there."""
    all_of_them = results | {t: earlier[t] for t in ran_with_all(earlier, peers)}
    lines = [f"{len(all_of_them)} tests with earlier runs, {len(ran_with_all(all_of_them, peers))} with both", ""]
    return "\n".join([*lines, *counts(all_of_them, peers)]) + "\n"


def read(paths: list[Path]) -> Results:
    """What `write` has written; of a test that is in several, the runs of the last of those with most peers."""
    found: Results = {}
    for path in paths:
        with gzip.open(path, "rt") as lines:
            for line in lines:
                runs = json.loads(line)
                test = runs.pop("id")
                if len(runs) >= len(found.get(test, {})):
                    found[test] = runs
    return found


def write(results: Results, peers: list[str], path: Path) -> None:
    """A line of JSON a test, compressed."""
    different = set(differing(results, peers))
    with gzip.open(path, "wt") as out:
        for test, runs in sorted(results.items()):
            kept: dict[str, Any] = {"id": test}
            for p, rs in runs.items():
                kept[p] = [
                    {
                        k: v for k, v in r.items()
                        if k not in ("event", "id") and v not in ("", None)
                        and (k != "tail" or test in different or state(r) not in PASSED)
                    }
                    for r in rs
                ]  # fmt: skip
            out.write(json.dumps(kept) + "\n")
