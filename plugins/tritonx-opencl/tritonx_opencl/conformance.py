"""``python -m tritonx_opencl.conformance [target...] [-k TEXT] [--seed N] [--arranged]``: the conformance suite,
executed.

On both targets unless some are named, but for what ``tritonx_opencl.defects`` lists. With ``--arranged`` on arrays that
lie otherwise in memory. The exit code is 1 where a case failed."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence

from tritonx.testing.conformance import Cover, cases, isolated
from tritonx.testing.conformance.arrangement import arranged_names, parted
from tritonx_opencl import TARGETS
from tritonx_opencl.defects import CRASH_REPORT, known

CHOICE = "TRITONX_OPENCL_TARGET"
CACHE = "TRITONX_CACHE_DIR"


def _afresh(name: str, seed: int) -> Iterator[isolated.Result]:
    """A case with no code from a cache, in a process of its own: what crashes there as well, does so by the code,
    which is the same."""
    before = os.environ.get(CACHE)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE] = folder
        try:
            yield from isolated.run("opencl", [name], seed)
        finally:
            if before is None:
                del os.environ[CACHE]
            else:
                os.environ[CACHE] = before


def run(target: str, names: Sequence[str], seed: int) -> Iterator[isolated.Result]:
    """A result for each case that the implementation does not get wrong by itself. Raises RuntimeError without it.

    A case in which its compiler crashes is run once more, compiled afresh in a process of its own."""
    before = os.environ.get(CHOICE)
    os.environ[CHOICE] = target
    try:
        for result in isolated.run("opencl", [name for name in names if known(parted(name)[0], target) is None], seed):
            crashed = result.kind == "died" and CRASH_REPORT in result.message
            yield from _afresh(result.name, seed) if crashed else [result]
    finally:
        if before is None:
            del os.environ[CHOICE]
        else:
            os.environ[CHOICE] = before


def main() -> int:
    parser = argparse.ArgumentParser("python -m tritonx_opencl.conformance", description=__doc__)
    parser.add_argument("targets", nargs="*", help=" or ".join(TARGETS))
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="of the random inputs; a fresh one unless given")
    parser.add_argument("--arranged", action="store_true", help="with the arrays laid out otherwise in memory")
    args = parser.parse_args()
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    chosen = [case for case in cases() if args.k in case.name]
    names = [case.name for case in chosen]
    if args.arranged:
        names = arranged_names(chosen, seed, Cover.from_environment())
    failed = 0
    for target in args.targets or TARGETS:
        counts: Counter[str] = Counter()
        for result in run(target, names, seed):
            counts["failed" if result.failed else result.kind] += 1
            if result.failed:
                print(f"{result.kind.upper()} {result.name} on {target}: {result.message[:500]}", flush=True)
        print(f"opencl:{target}: {dict(counts)} (seed {seed})", flush=True)
        failed += counts["failed"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
