"""``python -m tritonx_testing.conformance [device] [-k TEXT] [--seed N]``: run the suite on a device and report.

With ``--arranged`` each array of a case is strided, reversed, sliced, transposed or otherwise cut from memory, and
several programs share it, see ``arrangement``: one arrangement drawn for each case, all of them where
TRITONX_CONFORMANCE=full.

With ``--random COUNT`` it is that many kernels that are drawn, on blocks of any extents (``random_blocks``), others
with each seed.

With ``--record FILE`` a run that was stopped (Ctrl-C: it then says how far it came) goes on where it was.

The last line counts what passed, what was skipped (optional cases), what the backend refuses by a typed error
(unsupported, with the reasons) and what failed. The exit code is 1 only where something failed."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tritonx_testing.conformance import isolated
from tritonx_testing.conformance.arrangement import arranged_names, parted
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.device import find, names
from tritonx_testing.conformance.known import known_defects
from tritonx_testing.conformance.random_blocks import random_case
from tritonx_testing.conformance.record import Record
from tritonx_testing.conformance.reports import Tally, table, write_junit
from tritonx_testing.conformance.suite import cases, finder, random_names


def main() -> int:
    """The exit code: 1 where a case failed."""
    parser = argparse.ArgumentParser(
        "python -m tritonx_testing.conformance", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("device", nargs="*", help="a backend, interpreter, python, TARGET to compile for, ttg:TARGET")
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs; a fresh one unless given")
    parser.add_argument("-v", action="store_true", help="print every case, and whole messages")
    parser.add_argument("--arranged", action="store_true", help="with the arrays laid out otherwise in memory")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT", help="so many random kernels, and no others")
    parser.add_argument("--seconds", type=float, default=isolated.SECONDS, help="that one case may take")
    parser.add_argument("--known", type=Path, metavar="FILE", help="defects of a device: these cases are not run")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write each result there; what stands there is not run"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.add_argument("--table", action="store_true", help="print a table of families in Markdown")
    parser.add_argument("--in-process", action="store_true", help="run in this process, for a debugger")
    parser.add_argument("-l", "--list", action="store_true", help="print the names of the cases and stop")
    args = parser.parse_args()
    record = None if args.record is None else Record(args.record)
    known = {} if args.known is None else known_defects(args.known)
    earlier = None if record is None else record.seed()
    seed = next((s for s in (args.seed, earlier) if s is not None), secrets.randbelow(2**31))
    every = map(random_case, random_names(args.random, seed)) if args.random else cases()
    chosen = [case for case in every if args.k in case.name]
    if not chosen:
        parser.error(f"no case's name contains '{args.k}': --list shows them")
    wanted = [case.name for case in chosen]
    if args.arranged:
        wanted = arranged_names(chosen, seed, Cover.from_environment())
    if args.list:
        print(*wanted, sep="\n")
        return 0
    signal.signal(signal.SIGTERM, _stop)
    how = How(args.seconds, args.v, args.in_process, known, record)
    tallies = [Tally(device, seed, len(wanted)) for device in args.device or names()]
    stopped = False
    for tally in tallies:
        stopped = stopped or not report(tally, wanted, how)
    if args.table:
        print(table(tallies))
    if args.junit is not None:
        write_junit(args.junit, tallies)
    if stopped:
        return 130
    return 1 if any(tally.counts["failed"] or len(tally.results) < tally.wanted for tally in tallies) else 0


def _stop(signal: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def _unstopped() -> Generator[None]:
    """What is asked to stop inside stops behind it, so that a result is counted, recorded and shown, or none of it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class How:
    """``known`` is name → why a case is not run."""

    seconds: float = isolated.SECONDS
    verbose: bool = False
    in_process: bool = False
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    record: Record | None = None


def report(tally: Tally, chosen: Sequence[str], how: How) -> bool:
    """Run the cases on the tally's device, print what fails and why others are refused; False if interrupted."""
    device, seed = tally.device, tally.seed
    before = {} if how.record is None else how.record.of(device, seed)
    before |= {
        name: isolated.Result(name, "skipped", f"known: {how.known[own]}")
        for name in chosen
        if (own := parted(name)[0]) in how.known
    }
    for name in chosen:
        if name in before:
            tally.add(before[name])
    start = last = time.perf_counter()
    finished = False
    try:
        for result in _results(tally, [name for name in chosen if name not in before], how):
            now = time.perf_counter()
            with _unstopped():
                tally.add(result, now - last)
                if how.record is not None:
                    how.record.add(device, seed, result)
                if how.verbose or result.failed:
                    message = result.message if how.verbose else result.message[:500]
                    print(f"{result.kind.upper()} {result.name} on {device}: {message}", flush=True)
            last = now
        finished = True
    except KeyboardInterrupt:
        pass
    except RuntimeError as problem:  # there is no such device, or no more
        print(f"{device}: {problem}")
        finished = True
    for reason, number in tally.reasons():
        print(f"unsupported on {device}, {number} cases: {reason}")
    print(tally.summary(time.perf_counter() - start), flush=True)
    return finished


def _results(tally: Tally, chosen: Sequence[str], how: How) -> Iterator[isolated.Result]:
    if how.in_process:
        return _here(tally.device, chosen, tally.seed)
    return isolated.run(tally.device, chosen, tally.seed, seconds=how.seconds)


def _here(device: str, chosen: Sequence[str], seed: int) -> Iterator[isolated.Result]:
    found, case_of = find(device), finder()
    for name in chosen:
        own, arrangement = parted(name)
        yield isolated.Result(name, *isolated.outcome(case_of(own), found, seed, arrangement))


if __name__ == "__main__":
    sys.exit(main())
