"""Whether kernels compile to the same LLVM text and metadata as at a revision: what a change of structure must show.

    python benchmarks/same_text.py REV [--target cuda:90 ...] [--outside PATH ...] [--only TEXT ...]
                                   [--sample N --seed S] [--dump FOLDER]

The kernels are those of `structure.py`, ``--outside`` included, and are compiled by this tree and by the package as it
is at REV, in a process each. The sources of the kernels are this tree's for both. Line numbers are left out
(``TRITON_DISABLE_LINE_INFO``), since the library of the language moves them. Needs git, and neither a GPU, Triton nor
ptxas: stages behind the LLVM text do not run. Prints the names of kernels that differ, and a count for each target;
``--dump`` writes both texts of each. A kernel that neither compiles is the same if both give the same error. The exit
status is 1 if one differs."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from structural.job import Job
from structural.line_process import LineProcess
from structural.process import FOLDER, LIMIT, TREE, collected

TARGETS = ("cuda:90", "cuda:80", "hip:gfx942")


def environment(tree: Path) -> dict[str, str]:
    """With the package of ``tree`` first on the path, and this tree's benchmarks behind it."""
    path = os.pathsep.join([str(tree), str(FOLDER.parent)])
    own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "TRITON_DISABLE_LINE_INFO": "1"}
    return {**os.environ, **own}


def extracted(revision: str, folder: Path) -> Path:
    """The package as it is at ``revision``, in ``folder``."""
    folder.mkdir(exist_ok=True)
    archive = folder / "archive.tar"
    command = ["git", "-C", str(TREE), "archive", "-o", str(archive), revision, "tritonx"]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(f"git has no package at {revision}")
    with tarfile.open(archive) as members:
        members.extractall(folder, filter="data")
    return folder


Made = dict[str, str]
"""``text`` and ``metadata``, or an ``error``."""


def compiled(jobs: Iterable[Job], before: Path, after: Path, work: Path) -> Iterator[tuple[Job, Made, Made]]:
    """Each job with what the packages of the folders ``before`` and ``after`` make of it."""
    command = [sys.executable, "-m", "tritonx.compat", "-m", "structural.texts"]
    workers = [LineProcess(command, environment(tree), work / f"{name}.log", LIMIT)
               for name, tree in (("before", before), ("after", after))]  # fmt: skip
    try:
        with ThreadPoolExecutor(len(workers)) as pool:
            for job in jobs:
                old, new = pool.map(LineProcess.ask, workers, [job.line()] * len(workers))
                yield job, old, new
    finally:
        for worker in workers:
            worker.stop()


def keep(folder: Path, job: Job, made: Made, which: str) -> None:
    stem = f"{job.name}.{job.target}.{which}".replace("/", "_").replace(":", "_").replace(" ", "_")
    for part, text in made.items():
        (folder / f"{stem}.{part}").write_text(text)


def chosen(jobs: list[Job], given: argparse.Namespace) -> list[Job]:
    named = [job for job in jobs if any(text in job.name for text in given.only)]
    rows = [job.on(target) for target in given.target for job in named if job.runs_on(target)]
    return random.Random(given.seed).sample(rows, min(given.sample, len(rows))) if given.sample else rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", metavar="REV")
    parser.add_argument("--target", nargs="+", default=TARGETS)
    parser.add_argument("--outside", type=Path, nargs="+", default=[])
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT")
    parser.add_argument("--sample", type=int, help="kernels of all targets together")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--dump", type=Path)
    given = parser.parse_args()
    if given.dump:
        given.dump.mkdir(parents=True, exist_ok=True)
    same, other, failing = Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="same-text-") as folder:
        work = Path(folder)
        before = extracted(given.revision, work / "before")
        jobs = chosen(collected(work, environment(TREE), [p.resolve() for p in given.outside]), given)
        for job, old, new in compiled(jobs, before, TREE, work):
            failing[job.target] += "error" in old and "error" in new
            if old == new:
                same[job.target] += 1
                continue
            other[job.target] += 1
            parts = [part for part in sorted({*old, *new}) if old.get(part) != new.get(part)]
            print(f"{job.name} {job.target}: another {', '.join(parts)} {new.get('error', '')}".rstrip(), flush=True)
            if given.dump:
                keep(given.dump, job, old, "before")
                keep(given.dump, job, new, "after")
    for target in given.target:
        print(f"{target}: {same[target]} the same as at {given.revision}, {other[target]} not; "
              f"{failing[target]} fail in both")  # fmt: skip
    return 1 if other.total() else 0


if __name__ == "__main__":
    sys.exit(main())
