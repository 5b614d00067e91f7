"""``python -m tritonx_testing.sweep [target...] [-k TEXT] [--sample N [--seed N]]``: compile every op on every dtype.

Without targets for all that the installed backends know. ``--tools`` goes on to what the vendors' own tools make of it.
The exit code is 1 where a program ended the process, hung, or failed by anything but a typed error with the kernel's
line; ``-v`` prints the refusals too, by their reasons."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence
from random import Random

from tritonx.backends import registry
from tritonx_testing.conformance import isolated
from tritonx_testing.sweep.programs import programs

START = "from tritonx_testing.sweep.outcome import serve; serve()"
WITH_TOOLS = START.replace("serve()", "serve(tools=True)")


def targets() -> list[str]:
    """All targets of the backends that are installed."""
    return [str(target) for backend in registry.available().values() for target in registry.known_targets(backend)]


def sample(of: Sequence[str], count: int, seed: int) -> list[str]:
    """``count`` pairs of a target of ``of`` and a program, drawn with ``seed``, those of a target together."""
    random, names = Random(seed), list(programs())
    return sorted(f"{random.choice(of)}\t{random.choice(names)}" for _ in range(count))


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser("python -m tritonx_testing.sweep", description=__doc__)
    parser.add_argument("target", nargs="*", help="backend:arch; all that are known without one")
    parser.add_argument("-k", default="", metavar="TEXT", help="only programs whose name contains this")
    parser.add_argument("--sample", type=int, metavar="N", help="so many programs, drawn over all targets")
    parser.add_argument("--seed", type=int, help="of the sample; a fresh one unless given")
    parser.add_argument("--tools", action="store_true", help="to the end, with the vendor's tools, which must be here")
    parser.add_argument("-v", action="store_true", help="count the refusals by their reasons")
    args = parser.parse_args()
    wanted: list[str] = args.target or targets()
    names = [name for name in programs() if args.k in name]
    if not names:
        parser.error(f"no program's name contains '{args.k}'")
    start = WITH_TOOLS if args.tools else START
    if args.sample is None:
        return 1 if sum([report(t, [f"{t}\t{name}" for name in names], args.v, start) for t in wanted]) else 0
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    return 1 if report(f"seed {seed}", sample(wanted, args.sample, seed), args.v, start) else 0


def report(title: str, pairs: Sequence[str], verbose: bool, start: str) -> int:
    """Compile in children that run ``start``, print what is wrong, and count it."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    began = time.perf_counter()
    for result in isolated.run("", pairs, 0, start):
        counts[result.kind] += 1
        if result.kind == "unsupported":
            reasons[result.message.partition(": ")[2].partition("\n")[0]] += 1
        elif result.failed:
            print(f"{result.kind.upper()} {result.name}: {result.message[:600]}", flush=True)
    for reason, number in reasons.most_common() if verbose else ():
        print(f"{number:5d} refused: {reason}")
    failed = sum(counts.values()) - counts["passed"] - counts["unsupported"]
    summary = f"{counts['passed']} compiled, {counts['unsupported']} refused, {failed} failed"
    print(f"{title}: {summary} of {len(pairs)} in {time.perf_counter() - began:.0f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
