"""``python -m tritonx.testing.conformance [device] [-k TEXT] [--seed N]``: run the suite on a device and report.

With ``--arranged`` each array of a case is strided, reversed, sliced, transposed or otherwise cut from memory, and
several programs share it, see ``arrangement``: one arrangement drawn for each case, all of them where
TRITONX_CONFORMANCE=full.

The last line counts what passed, what was skipped (optional cases), what the backend refuses by a typed error
(unsupported, with the reasons) and what failed. The exit code is 1 only where something failed."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from tritonx.testing.conformance import isolated
from tritonx.testing.conformance.arrangement import arranged_names, parted
from tritonx.testing.conformance.cover import Cover
from tritonx.testing.conformance.device import find, names
from tritonx.testing.conformance.suite import cases


def main() -> int:
    """The exit code: 1 where a case failed."""
    parser = argparse.ArgumentParser(
        "python -m tritonx.testing.conformance", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("device", nargs="*", help="a backend, interpreter, python, TARGET to compile for, ttg:TARGET")
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs; a fresh one unless given")
    parser.add_argument("-v", action="store_true", help="print every case, and whole messages")
    parser.add_argument("--arranged", action="store_true", help="with the arrays laid out otherwise in memory")
    parser.add_argument("--in-process", action="store_true", help="run in this process, for a debugger")
    parser.add_argument("-l", "--list", action="store_true", help="print the names of the cases and stop")
    args = parser.parse_args()
    chosen = [case for case in cases() if args.k in case.name]
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    wanted = [case.name for case in chosen]
    if args.arranged:
        wanted = arranged_names(chosen, seed, Cover.from_environment())
    if args.list:
        print(*wanted, sep="\n")
        return 0
    failed = 0
    for device in args.device or names():
        failed += report(device, wanted, seed, verbose=args.v, in_process=args.in_process)
    return 1 if failed else 0


def report(device: str, chosen: Sequence[str], seed: int, *, verbose: bool, in_process: bool) -> int:
    """Run the cases on one device, print what fails and why others are refused, and count the failures."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    start = time.perf_counter()
    results = _here(device, chosen, seed) if in_process else isolated.run(device, chosen, seed)
    for result in results:
        counts["failed" if result.failed else result.kind] += 1
        if result.kind == "unsupported":
            reasons[result.message.splitlines()[0]] += 1
        if verbose or result.failed:
            message = result.message if verbose else result.message[:500]
            print(f"{result.kind.upper()} {result.name} on {device}: {message}", flush=True)
    for reason, number in reasons.most_common():
        print(f"unsupported on {device}, {number} cases: {reason}")
    seconds = time.perf_counter() - start
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "skipped", "unsupported", "failed"))
    print(f"{device}: {summary} in {seconds:.1f} s (seed {seed})")
    return len(chosen) - counts["passed"] - counts["skipped"] - counts["unsupported"]


def _here(device: str, chosen: Sequence[str], seed: int) -> Iterator[isolated.Result]:
    found, known = find(device), {case.name: case for case in cases()}
    for name in chosen:
        own, arrangement = parted(name)
        yield isolated.Result(name, *isolated.outcome(known[own], found, seed, arrangement))


if __name__ == "__main__":
    sys.exit(main())
