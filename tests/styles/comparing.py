"""Compiles the variants of kernels by tritonx and by Triton, and lists what is worse without a reason.

`benchmarks/structural` has the processes and what they measure. A line of JSON is written for each variant; what is
in the file already is not compiled again, so that a run may be stopped and go on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from structural.job import Job  # pyright: ignore[reportMissingImports]
from structural.process import COMPILERS, Setting, Worker, find_peer, find_programs  # pyright: ignore[reportMissingImports]

from tests.styles.compiling import ALIGNED, given_of
from tests.styles.judge import Finding, Which, beside_best, beside_peer
from tests.styles.program import Case
from tests.styles.variants import Variant, variants_of


def job_of(variant: Variant, folder: Path, target: str) -> Job:
    """What both compilers are given."""
    path = folder / f"{variant.case.title}_{variant.key.partition('#')[2]}.py"
    path.write_text(variant.program.text("triton"))
    given = given_of(variant)
    names = list(given.signature)
    constants = [(names.index(name), value) for name, value in given.constants.items()]
    attrs = [(names.index(name), ALIGNED) for name in names if name in given.aligned]
    return Job(variant.title, str(path), variant.case.name, given.signature, constants, attrs, dict(given.options),
               target=target)  # fmt: skip


class Rows:
    """Measured rows by variant and compiler, kept in a file."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        lines = file.read_text().splitlines() if file is not None and file.exists() else []
        self.known: dict[str, dict[str, Any]] = {row["key"]: row for row in map(json.loads, lines)}

    def measure(self, variant: Variant, job: Job, workers: dict[str, Worker]) -> dict[str, Any]:
        if variant.key not in self.known:
            row = {"key": variant.key, **{who: worker(job) for who, worker in workers.items()}}
            self.known[variant.key] = row
            if self.file is not None:
                with self.file.open("a") as file:
                    print(json.dumps(row), file=file)
        return self.known[variant.key]


def findings(case: Case, variants: list[Variant], rows: dict[str, dict[str, Any]]) -> tuple[list[Finding], list[str]]:
    """What is worse, and which variants tritonx alone refuses."""
    held: dict[str, dict[Which, Any]] = {who: {} for who in COMPILERS}
    refused: list[str] = []
    for variant in variants:
        row = rows[variant.key]
        if "row" in row["triton"] and "row" not in row["tritonx"]:
            refused.append(f"{variant.title}: {row['tritonx']['error']}")
        for who in COMPILERS:
            if "row" in row[who]:
                held[who][variant.key, variant.rewritings] = row[who]["row"]
    ours, theirs = held["tritonx"], held["triton"]
    pairs = [(which, ours[which], theirs[which]) for which in ours if which in theirs]
    found = [f for which, a, b in pairs for f in beside_peer(case.title, which[1], a, b)]
    return [*found, *beside_best(case.title, ours, theirs)], refused


def compare(cases: list[Case], given: argparse.Namespace) -> int:
    peer, programs = find_peer(given.peer), find_programs()
    if peer is None or programs is None:
        print("no Triton is installed" if peer is None else "there is no ptxas or no nvdisasm", file=sys.stderr)
        return 2
    given.cache.mkdir(parents=True, exist_ok=True)
    setting = Setting(peer, programs, given.cache.resolve())
    workers = {who: Worker(who, setting, given.dump) for who in COMPILERS}
    rows, total, bare = Rows(given.json), 0, 0
    reasons: Counter[str] = Counter()
    try:
        for case in cases:
            variants = variants_of(case, given.seed, given.count)
            for variant in variants:
                rows.measure(variant, job_of(variant, given.cache, given.target), workers)
            found, refused = findings(case, variants, rows.known)
            total += len(variants)
            reasons.update(f.reason for f in found if f.reason)
            unknown = [f for f in found if f.reason is None]
            bare += len(unknown) + len(refused)
            print(f"{case.title}: {len(variants)} variants, {len(found)} findings, {len(unknown)} without a reason")
            print(*(f"    {line}" for line in (*unknown, *refused)), sep="\n", flush=True)
    finally:
        for worker in workers.values():
            worker.stop()
    print(f"{total} variants of {len(cases)} kernels beside Triton {peer.version}: {bare} findings without a reason")
    print(*(f"    {count} × {reason}" for reason, count in reasons.most_common()), sep="\n")
    return bool(bare)
