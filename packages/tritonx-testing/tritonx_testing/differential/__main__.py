"""``python -m tritonx_testing.differential [device] [-k TEXT] [--seed N]``: every op on every dtype and edge value.

On a backend's device, or as the kernel's Python lines (``python``), against the interpreter. The exit code is 1 where
any differs; what a device refuses is listed and counted by itself."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Sequence

from tritonx_testing.differential.devices import launcher, names, supports
from tritonx_testing.differential.run import compare_group
from tritonx_testing.differential.table import Group, groups


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m tritonx_testing.differential", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("device", nargs="*", help="a backend, or python; all that are here unless given")
    parser.add_argument("-k", default="", metavar="TEXT", help="only groups whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="of the values; a fresh one unless given")
    args = parser.parse_args()
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    chosen = [group for group in groups() if args.k in group.name]
    if not chosen:
        parser.error(f"no group's name contains '{args.k}': they are {'; '.join(group.name for group in groups())}")
    wrong = sum(report(device, chosen, seed) for device in args.device or names())
    return 1 if wrong else 0


def report(device: str, chosen: Sequence[Group], seed: int) -> int:
    """Run the groups on a device, print what differs or is refused, and count what differs."""
    start, wrong, refused, skipped = time.perf_counter(), 0, 0, 0
    launch = launcher(device)
    for group in chosen:
        if not supports(device, group.needs):
            skipped += 1
            continue
        for failure in compare_group(group, device, launch, seed):
            refused += failure.refused
            wrong += not failure.refused
            print(failure, flush=True)
    count = sum(len(group.operations) for group in chosen)
    seconds = time.perf_counter() - start
    print(
        f"{device}: {count} ops in {len(chosen)} kernels, {wrong} differ, {refused} refused, {skipped} kernels skipped "
        f"for types that the target lacks, in {seconds:.1f} s (seed {seed})"
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
