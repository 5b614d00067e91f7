"""The tests of libraries that are written for Triton, under `tritonx.compat` and under Triton, at the same time.

    python benchmarks/libraries.py SUITE --sources FOLDER --seconds 100 --workers 8 [--out FOLDER]

The libraries are as they are, each in a folder of FOLDER (`suites/suite.py` says which files of it); nothing of theirs
is in this repository. Each peer has its own workers, caches and folders for temporary files; both run the same tests in
the same order, drawn by ``--seed``: four of each file, then eight of each, and so on until the time is over. A test
that hangs or takes its process with it counts as that, and its worker starts again. Those whose outcomes differ run
twice more. ``--timed S`` adds S seconds in which one worker of each peer, by turns, runs tests that pass with both, and
takes the kernels' times on the device. ``--devices N`` spreads the workers over the first N GPUs, or over those of
``CUDA_VISIBLE_DEVICES``. ``--beyond RUN.jsonl.gz …`` goes on with earlier runs: the tests that every peer has run in
them are left out, and what all came to together is added to the table. ``--needs`` only says what pip is to install.

Written are a table (SUITE.txt) and a line of JSON a test (SUITE.jsonl.gz)."""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path
from typing import Any

from suites.process import Process
from suites.report import Results, differing, ran_with_all, read, state, table, together, write
from suites.schedule import FIRST, Schedule
from suites.suite import SUITES, Suite

LEAST = 0.2
"""The share of the device's memory that each worker may take: few tests at a time need much."""

TIMED = 6
"""How many tests of a file are timed with one peer before it is the other's turn."""

AGAIN = 0.12
"""The share of the time for repeating what differs."""


class Run:
    """A suite, its workers and what they found."""

    def __init__(self, suite: Suite, options: argparse.Namespace) -> None:
        self.suite, self.options = suite, options
        self.peers: list[str] = options.peers.split(",")
        self.root = suite.folder(options.sources)
        given = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        self.devices = given.split(",") if given else [str(n) for n in range(options.devices)]
        self.results: Results = {}
        self.earlier = read(options.beyond)
        self.lock = threading.Lock()
        options.work.mkdir(parents=True, exist_ok=True)
        self.done: Path = options.work.resolve() / "done"
        self.done.write_text("\n".join(ran_with_all(self.earlier, self.peers)))

    def process(self, peer: str, number: int, timed: bool = False) -> Process:
        """A worker of the peer, not started yet."""
        paths = [str((self.root / p).resolve()) for p in self.suite.paths]
        sharing = -(-self.options.workers // len(self.devices)) * len(self.peers)
        memory = 0.0 if timed else max(LEAST, 0.92 / sharing)
        settings = {
            "paths": paths, "root": str(self.root), "arguments": list(self.suite.arguments),
            "bare": list(self.suite.bare), "memory": memory, "timed": timed, "done": str(self.done),
        }  # fmt: skip
        own = self.options.work / peer
        environment = {
            **os.environ,
            "TRITON_CACHE_DIR": str(own / "cache"),
            "TRITONX_CACHE_DIR": str(own / "cache"),
            "TORCHINDUCTOR_CACHE_DIR": str(own / "inductor"),
            "TORCHINDUCTOR_COMPILE_THREADS": "2",
            "TRITONX_TUNING_WORKERS": "1",
            "OMP_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": self.devices[number % len(self.devices)],
            "HF_HUB_OFFLINE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **dict(self.suite.environment),
        }
        tree = self.options.tree.resolve()
        first = [str(tree)] if peer == "tritonx" else []
        given = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and Path(p).resolve() != tree]
        environment["PYTHONPATH"] = os.pathsep.join([*first, *given])
        own.mkdir(exist_ok=True)
        log = self.options.work / f"{peer}-{number}.log"
        return Process(peer, f"{peer} {number}", settings, environment, log)

    def note(self, peer: str, event: dict[str, Any]) -> None:
        with self.lock:
            self.results.setdefault(event["id"], {}).setdefault(peer, []).append(event)

    def serve(self, process: Process, schedule: Schedule, until: float) -> None:
        """A worker's loop."""
        while time.monotonic() < until:
            request = schedule.next()
            if request is None:
                break
            ended, died = self.ask(process, request, schedule, until)
            schedule.done(request, ended, died)
        process.stop()

    def ask(self, process: Process, request: dict[str, Any], schedule: Schedule, until: float) -> tuple[int, bool]:
        """The tests of a request that have ended, and whether the worker died of one."""
        ended, died = 0, False
        for event in process.do(request, self.suite.limit, until):
            died = died or event.get("died", False)
            if event["event"] == "collected":
                schedule.counts[request["file"]] = event["count"]
            elif event["event"] == "end":
                ended += "::" in event["id"]
                self.note(process.peer, event)
        return ended, died

    def all_at_once(self, schedules: dict[str, Schedule], until: float) -> None:
        """Every peer's workers until there is nothing left or the time has come."""
        threads = [
            threading.Thread(target=self.serve, args=(self.process(p, n), schedules[p], until))
            for p in self.peers for n in range(self.options.workers)
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def again(self, until: float) -> None:
        """Twice more what differs, in the files' order."""
        by_file: dict[str, list[str]] = {}
        for test in differing(self.results, self.peers):
            if "::" in test:
                by_file.setdefault(test.split("::")[0], []).append(test)
        requests = [{"file": f, "ids": ids, "seed": self.options.seed} for f, ids in by_file.items()]
        if requests:
            self.all_at_once({p: Schedule.of([*requests, *requests]) for p in self.peers}, until)

    def timed(self, until: float) -> None:
        """Kernel times of tests that pass with all, a file after the other and a peer after the other: a few of every
        file, then the next few."""
        by_file: dict[str, list[str]] = {}
        for test, runs in self.results.items():
            if all(p in runs and state(runs[p][0]) == "passed" for p in self.peers):
                if max(runs[p][0].get("seconds", 0) for p in self.peers) < 20:
                    by_file.setdefault(test.split("::")[0], []).append(test)
        processes = {p: self.process(p, 99, timed=True) for p in self.peers}
        most = max(map(len, by_file.values()), default=0)
        for first in range(0, most, TIMED):
            for file, ids in by_file.items():
                request = {"file": file, "ids": ids[first : first + TIMED], "seed": self.options.seed, "timed": True}
                for process in processes.values():
                    if request["ids"] and time.monotonic() < until:
                        self.ask(process, request, Schedule([], 0), until)
        for process in processes.values():
            process.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--sources", type=Path, default=Path())
    parser.add_argument("--needs", action="store_true", help="say what the suite imports, and end")
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="where tritonx lies")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--timed", type=float, default=0)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--devices", type=int, default=1, help="GPUs that the workers are spread over")
    parser.add_argument("--peers", default="tritonx,triton")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--collect", action="store_true", help="no test runs")
    parser.add_argument("--files", default="", help="only files whose path contains this")
    parser.add_argument("--beyond", type=Path, nargs="*", default=[], help="results of earlier runs")
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--work", type=Path, default=Path("/tmp/libraries"))
    options = parser.parse_args()
    suite = SUITES[options.suite]
    if options.needs:
        print("\n".join(suite.needs))
        return
    run = Run(suite, options)
    files = [f for f in suite.found(options.sources) if options.files in f]
    start = time.monotonic()
    end = start + options.seconds
    first = 1 if len(files) < options.workers else FIRST
    schedules = {p: Schedule(files, options.seed, only_collected=options.collect, first=first) for p in run.peers}
    run.all_at_once(schedules, start + options.seconds * (1 - AGAIN))
    spent = time.monotonic() - start
    run.again(end)
    if options.timed:
        run.timed(time.monotonic() + options.timed)
    text = f"{options.suite}: {len(files)} files, seed {options.seed}\n"
    for p in run.peers:
        text += f"{p}: {sum(schedules[p].counts.values())} tests in {len(schedules[p].counts)} files collected\n"
    text += table(run.results, run.peers, spent)
    if run.earlier:
        text += "\n" + together(run.earlier, run.results, run.peers)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{options.suite}.txt").write_text(text)
    write(run.results, run.peers, options.out / f"{options.suite}.jsonl.gz")
    print(text)


if __name__ == "__main__":
    main()
