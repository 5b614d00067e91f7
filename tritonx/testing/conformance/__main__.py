"""``python -m tritonx.testing.conformance [device] [-k TEXT] [--seed N]``: run the suite on a device and report.

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
from tritonx.testing.conformance.case import Case
from tritonx.testing.conformance.device import find, names
from tritonx.testing.conformance.suite import cases


def main() -> int:
    """The exit code: 1 where a case failed."""
    parser = argparse.ArgumentParser(
        "python -m tritonx.testing.conformance", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("device", nargs="*", help="a backend, interpreter, python, or a target to only compile for")
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs; a fresh one unless given")
    parser.add_argument("-v", action="store_true", help="print every case, and whole messages")
    parser.add_argument("--in-process", action="store_true", help="run in this process, for a debugger")
    parser.add_argument("-l", "--list", action="store_true", help="print the names of the cases and stop")
    args = parser.parse_args()
    chosen = [case for case in cases() if args.k in case.name]
    if args.list:
        print(*(case.name for case in chosen), sep="\n")
        return 0
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    failed = 0
    for device in args.device or names():
        failed += report(device, chosen, seed, verbose=args.v, in_process=args.in_process)
    return 1 if failed else 0


def report(device: str, chosen: Sequence[Case], seed: int, *, verbose: bool, in_process: bool) -> int:
    """Run the cases on one device, print what fails and why others are refused, and count the failures."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    start = time.perf_counter()
    results = _here(device, chosen, seed) if in_process else isolated.run(device, [c.name for c in chosen], seed)
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


def _here(device: str, chosen: Sequence[Case], seed: int) -> Iterator[isolated.Result]:
    found = find(device)
    for case in chosen:
        yield isolated.Result(case.name, *isolated.outcome(case, found, seed))


if __name__ == "__main__":
    sys.exit(main())
