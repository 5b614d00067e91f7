"""Compile times of the kernels that libraries' tests compiled, out of runs of `libraries.py`, beside Triton's.

    python benchmarks/recorded.py RUN.jsonl.gz ... [--sources FOLDER [--above 1.5] [--sample N --seed S] [--repeat 3]]

A run's file is named after its suite, SUITE.jsonl.gz or SUITE-….jsonl.gz. First a table of the runs: of the kernels
that both compiled from the same, the seconds on the clock, the least of several. Most were compiled once, and the first
of a worker has its imports in it. So with ``--sources`` those that took more than ``--above`` times Triton's time, and
N of the others, drawn by ``--seed``, are compiled again here, which needs the libraries and no GPU
(`suites/recorded.py`): a process for each peer and suite, caches off, first one peer and then the other, ``--repeat``
times; of the processors' time, the least. tritonx compiles what its launches run. What cannot be compiled again, or
not in ``--seconds``, is counted. ``--only`` leaves those whose name has one of the texts."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from structural.line_process import LineProcess
from suites.suite import SUITES

PEERS = ("tritonx", "triton")
WORKER = Path(__file__).with_name("suites") / "recorded.py"
TREE = Path(__file__).resolve().parents[1]
LIMIT = 180.0
"""Seconds that one compile, with its imports, may take."""


class Kernel(NamedTuple):
    """What both peers compiled; seconds on the clock."""

    suite: str
    what: str
    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        return self.ours / max(self.peer, 1e-4)

    @property
    def name(self) -> str:
        return json.loads(self.what)["fn"]

    def __str__(self) -> str:
        options = {k: v for k, v in json.loads(self.what)["options"].items() if v is not None}
        shown = " ".join(f"{k.removeprefix('num_')} {v}" for k, v in options.items() if (k, v) != ("num_ctas", 1))
        return f"{self.suite} {self.name}, {shown}"


def compiles(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Peer and kernel."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            runs = json.loads(line)
            for peer in PEERS:
                for run in runs.get(peer, ()):
                    for kernel in run.get("kernels", ()):
                        yield peer, kernel


def read(paths: list[Path]) -> list[Kernel]:
    """All that both compiled; prints what the runs hold."""
    least: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: {p: {} for p in PEERS})
    texts = Counter[str]()
    for path in paths:
        suite = path.name.split(".")[0].split("-")[0]
        for peer, kernel in compiles(path):
            seconds = kernel.pop("seconds")
            if "fn" not in kernel:
                texts[suite] += 1
                continue
            what = json.dumps(kernel, sort_keys=True)
            known = least[suite][peer]
            known[what] = min(seconds, known.get(what, seconds))
    found: list[Kernel] = []
    for suite, (ours, peer) in ((s, by_peer.values()) for s, by_peer in least.items()):
        both = [Kernel(suite, what, ours[what], peer[what]) for what in ours if what in peer]
        own, other = sum(k.ours for k in both), sum(k.peer for k in both)
        above = ", ".join(f"{sum(k.ratio > bound for k in both)} above {bound}" for bound in (1.0, 1.5))
        print(f"{suite}: {len(both)} kernels of both ({len(ours)} of tritonx, {len(peer)} of Triton, "
              f"{texts[suite]} compiles of IR), {own:.1f} s and {other:.1f} s, ratio {own / max(other, 1e-4):.3f}, "
              f"{above}")  # fmt: skip
        found += both
    return found


class Compiler(LineProcess):
    """A process of a peer for the kernels of a suite."""

    def __init__(self, peer: str, suite: str, sources: Path, work: Path) -> None:
        own = SUITES[suite]
        root = own.folder(sources)
        tests = sorted({str((root / file).parent) for file in own.found(sources)})
        paths = json.dumps([*(str((root / p).resolve()) for p in own.paths), *tests])
        command = [sys.executable, *(["-m", "tritonx.compat"] if peer == "tritonx" else []), str(WORKER), paths]
        cache = str(work / peer / "cache")
        off = {"TRITON_ALWAYS_COMPILE": "1", "TRITONX_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache,
               "TRITONX_CACHE_DIR": cache, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}  # fmt: skip
        environment = {**os.environ, **off, **dict(own.environment)}
        if peer == "tritonx":
            environment["TRITON_LAUNCH_MAPS"] = "1"
            environment["PYTHONPATH"] = os.pathsep.join([str(TREE), os.environ.get("PYTHONPATH", "")]).rstrip(":")
        super().__init__(command, environment, work / f"{peer}-{suite}.log", LIMIT)


class Again(NamedTuple):
    """A kernel compiled again: by peer, the repetitions' seconds of processors, and the stages' of the least."""

    kernel: Kernel
    seconds: dict[str, list[float]]
    stages: dict[str, dict[str, float]]

    def least(self, peer: str) -> float:
        return min(self.seconds[peer])

    @property
    def ratio(self) -> float:
        return self.least("tritonx") / self.least("triton")

    def __str__(self) -> str:
        return (f"{self.ratio:6.3f} {self.least('tritonx') * 1e3:8.1f} ms {self.least('triton') * 1e3:8.1f} ms   "
                f"{self.kernel}   (recorded {self.kernel.ratio:.2f})")  # fmt: skip


def again(kernel: Kernel, compilers: dict[str, Compiler], repeat: int) -> Again | str:
    """By turns, or why not."""
    seconds: dict[str, list[float]] = {p: [] for p in PEERS}
    stages: dict[str, dict[str, float]] = {}
    for _ in range(repeat):
        for peer in PEERS:
            answer = compilers[peer].ask(kernel.what)
            if "error" in answer:
                return f"{peer}: {answer['error']}"
            seconds[peer].append(answer["seconds"])
            if answer["seconds"] == min(seconds[peer]):
                stages[peer] = answer["stages"]
    return Again(kernel, seconds, stages)


def total(name: str, measured: list[Again]) -> str:
    own, other = (sum(m.least(p) for m in measured) for p in PEERS)
    first_own, first_other = (sum(m.seconds[p][0] for m in measured) for p in PEERS)
    if not measured:
        return f"{name}: none"
    return (f"{name}: {len(measured)} kernels, {own:.2f} s and {other:.2f} s, ratio {own / other:.3f} "
            f"(first of the repetitions {first_own / first_other:.3f}), "
            + ", ".join(f"{sum(m.ratio > bound for m in measured)} above {bound}" for bound in (1.0, 1.5)))  # fmt: skip


def report(measured: list[Again], failed: dict[Kernel, str], above: float) -> None:
    """The slowest beside Triton's first."""
    print("\n ratio     tritonx      Triton   (processors' time)")
    for m in sorted(measured, key=lambda m: -m.ratio):
        print(m)
        if m.ratio > 1.5:
            for peer in PEERS:
                print(f"       {peer}: " + ", ".join(f"{s} {t * 1e3:.0f} ms" for s, t in m.stages[peer].items()))
    print()
    print(total(f"recorded above {above}", [m for m in measured if m.kernel.ratio > above]))
    print(total("sample of the others", [m for m in measured if m.kernel.ratio <= above]))
    print(total("all", measured))
    print(f"not compiled again: {len(failed)}")
    reasons: dict[tuple[str, str], list[float]] = defaultdict(list)
    for kernel, reason in failed.items():
        reasons[f"{kernel.suite} {kernel.name}", reason].append(kernel.ratio)
    for (name, reason), ratios in sorted(reasons.items()):
        print(f"    {len(ratios)} × {name} (recorded up to {max(ratios):.2f}): {reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--above", type=float, default=1.5)
    parser.add_argument("--sample", type=int, default=0, help="how many of the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sources", type=Path, help="the libraries, as for libraries.py")
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    kernels = [k for k in read(options.runs) if any(text in k.name for text in options.only)]
    if options.sources is None:
        return
    chosen = [k for k in kernels if k.ratio > options.above]
    others = sorted(k for k in kernels if k.ratio <= options.above)
    chosen += random.Random(options.seed).sample(others, min(options.sample, len(others)))
    end = time.monotonic() + options.seconds
    measured: list[Again] = []
    failed: dict[Kernel, str] = {}
    with tempfile.TemporaryDirectory(prefix="recorded-") as work:
        suites = {k.suite for k in chosen}
        compilers = {s: {p: Compiler(p, s, options.sources, Path(work)) for p in PEERS} for s in suites}
        for kernel in chosen:
            if time.monotonic() > end:
                break
            found = again(kernel, compilers[kernel.suite], options.repeat)
            if isinstance(found, str):
                failed[kernel] = found
            else:
                measured.append(found)
        for compiler in (c for own in compilers.values() for c in own.values()):
            compiler.stop()
    report(measured, failed, options.above)
    print(f"not compiled again for want of time: {len(chosen) - len(measured) - len(failed)}")


if __name__ == "__main__":
    main()
