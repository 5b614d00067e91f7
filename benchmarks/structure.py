"""What kernels are made of, compiled by tritonx and by Triton, without a GPU: a row where tritonx is worse needs a
reason.

    python benchmarks/structure.py [--target cuda:90 ...] [--peer FOLDER] [--outside PATH ...] [--only TEXT ...]
                                   [--sample N ... --seed S | --seconds S] [--json OUT] [--dump FOLDER] [--every]

Jobs are the kernels of `tests/peer`, `examples/` and these benchmarks, and of what ``--outside`` names: a module of
variants, a speed suite's folder, or a folder of programs (`structural/collect.py`). Each compiler has a process and is
given the same sources; what a launch compiles is compared, in the columns of `structural/compare.py`. A finding is a
column in which tritonx is worse by more than 5 %; `structural/reasons.json` says why, and what was seen, so that
getting worse again is found. The exit status is 1 if a finding has no reason.

The peer is the installed Triton, or the one in ``--peer``, which `pip install --target FOLDER triton` made. Its kernels
stay in a cache (``--cache``). ``--accept KIND`` writes the findings of this run that have no reason under a kind of
`reasons.json`, those of ``--columns`` alone if that is given."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from structural import reasons
from structural.compare import COLUMNS, Finding, findings
from structural.job import Job
from structural.measure import Row
from structural.process import COMPILERS, Setting, Worker, collected, find_peer, find_programs

TARGETS = ("cuda:90", "cuda:80", "hip:gfx942")


@dataclass
class Run:
    """``rows`` by kernel and target, of both; ``failed`` what tritonx alone cannot compile, by the same, ``refused``
    what Triton cannot. All goes to ``file`` as it comes, a line of JSON each."""

    file: IO[str] | None
    rows: dict[tuple[str, str], tuple[Row, Row]] = field(default_factory=dict[tuple[str, str], tuple[Row, Row]])
    failed: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    refused: list[str] = field(default_factory=list[str])

    def found(self) -> list[Finding]:
        failures = [Finding(*where, "compiles", 0, 1) for where in self.failed]
        return [*(f for where, both in self.rows.items() for f in findings(*where, *both)), *failures]

    def take(self, job: Job, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        if self.file is not None:
            print(json.dumps({"kernel": job.name, "target": job.target, "tritonx": ours, "triton": theirs}),
                  file=self.file, flush=True)  # fmt: skip
        if "row" in ours and "row" in theirs:
            self.rows[job.name, job.target] = ours["row"], theirs["row"]
        elif "row" in theirs:
            self.failed[job.name, job.target] = ours["error"]
        else:
            self.refused.append(f"{job.name} {job.target}: {theirs['error']}")


def compare(jobs: Iterable[Job], setting: Setting, run: Run, seconds: float, dump: Path | None) -> None:
    end = time.monotonic() + seconds
    workers = {who: Worker(who, setting, dump) for who in COMPILERS}
    try:
        for job in jobs:
            theirs = workers["triton"](job)
            run.take(job, workers["tritonx"](job), theirs)
            if time.monotonic() > end:
                break
    finally:
        for worker in workers.values():
            worker.stop()


def earlier(file: Path, given: argparse.Namespace) -> Run:
    """What an earlier run wrote with ``--json``."""
    run = Run(None)
    for line in file.read_text().splitlines():
        held = json.loads(line)
        if held["target"] in given.target and any(text in held["kernel"] for text in given.only):
            run.take(Job(held["kernel"], "", "", {}, target=held["target"]), held["tritonx"], held["triton"])
    return run


def chosen(jobs: list[Job], given: argparse.Namespace) -> list[Job]:
    named = [j for j in jobs if any(text in j.name for text in given.only)]
    of_targets = [[j.on(t) for j in named if j.runs_on(t)] for t in given.target]
    drawn = random.Random(given.seed)
    if given.sample:
        counts = [*given.sample, *[given.sample[-1]] * len(of_targets)]
        of_targets = [drawn.sample(rows, min(n, len(rows))) for rows, n in zip(of_targets, counts, strict=False)]
    rows = [job for rows in of_targets for job in rows]
    return drawn.sample(rows, len(rows)) if given.seconds is not None else rows


def shown(row: Row) -> str:
    return " ".join(f"{name} {value:g}" for name, value in row.items())


def report(run: Run, peer: str, known: reasons.Reasons, every: bool) -> list[Finding]:
    """Prints rows with findings that have no reason, and counts; gives those findings."""
    named = [(f, known.of(peer, f)) for f in run.found()]
    unknown = [f for f, kind in named if kind is None]
    wanted = {(f.kernel, f.target) for f, kind in named if every or kind is None}
    for key in run.rows:
        if key in wanted:
            ours, theirs = run.rows[key]
            print(f"{' '.join(key)}\n    tritonx {shown(ours)}\n    triton  {shown(theirs)}")
            for f, kind in named:
                if (f.kernel, f.target) == key:
                    print(f"    {f.column}: {f.ours:g} beside {f.theirs:g}, {kind or 'NO REASON'}")
    for key in wanted & run.failed.keys():
        print(f"tritonx alone fails: {' '.join(key)}: {run.failed[key]}")
    print(f"\n{len(run.rows)} rows beside Triton {peer}; {len(run.refused)} that Triton does not compile, "
          f"{len(run.failed)} that tritonx alone does not")  # fmt: skip
    print(f"{len(named)} findings, {len(unknown)} without a reason")
    for column, count in Counter(f.column for f, _ in named).most_common():
        bare = sum(f.column == column for f in unknown)
        print(f"    {column} ({COLUMNS[column]}): {count}, {bare} without a reason")
    for kind, count in Counter(kind for _, kind in named if kind).most_common():
        print(f"    {count} × {kind}: {known.kinds[kind]}")
    return unknown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--target", nargs="+", default=TARGETS, help="or: known, those that have reasons beside the peer"
    )
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--outside", type=Path, nargs="+", default=[])
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT")
    parser.add_argument(
        "--sample", type=int, nargs="+", help="rows of each target, the last number for all that follow"
    )
    parser.add_argument("--seed", default="0")
    parser.add_argument("--seconds", type=float, help="stop after so many; draws from --seed as --sample does")
    parser.add_argument("--json", type=Path, help="write a line for each row")
    parser.add_argument("--earlier", type=Path, help="report what a run has written with --json")
    parser.add_argument("--dump", type=Path, help="the stages' texts of both compilers")
    parser.add_argument("--every", action="store_true", help="print findings that have a reason too")
    parser.add_argument("--accept", metavar="KIND")
    parser.add_argument("--columns", nargs="+", default=list(COLUMNS))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tritonx-structure")
    given = parser.parse_args()
    peer, programs = find_peer(given.peer), find_programs()
    if peer is None or programs is None:
        parser.error("no Triton is installed" if peer is None else "there is no ptxas or no nvdisasm")
    given.cache.mkdir(parents=True, exist_ok=True)
    known = reasons.read()
    if given.accept and given.accept not in known.kinds:
        parser.error(f"write a sentence for {given.accept!r} into {reasons.FILE.name} first")
    if given.target == ["known"]:
        given.target = [target for target in TARGETS if target in known.seen.get(peer.version, {})]
    setting = Setting(peer, programs, given.cache.resolve())
    if given.earlier:
        run = earlier(given.earlier, given)
    else:
        jobs = chosen(
            collected(setting.cache, setting.environment("tritonx"), [p.resolve() for p in given.outside]), given
        )
        with given.json.open("w") if given.json else nullcontext() as file:
            run = Run(file)
            compare(jobs, setting, run, given.seconds or float("inf"), given.dump)
    unknown = report(run, peer.version, known, given.every)
    if given.accept:
        accepted = (f for f in unknown if f.column in given.columns)
        reasons.write(reasons.with_seen(known, peer.version, given.accept, accepted))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
