"""``python tests/mutation [FOLDER...] [--count N] [--seed S]``: how many slips in the source the tests notice.

Draws mutants of each folder (all nine unless some are named) and runs, on copies of the working tree with the mutant in
place, the tests of CI that reach its block, the most specific first, until one fails that passes without it. What
reaches what is measured first, which takes as long as all these tests do, and kept in ``--reach`` (reach.py); a mutant
that nothing reaches survives at once. One that neither was noticed nor has met all its tests, because ``--most`` or
``--within`` ended or because tests are skipped on this machine, is ``not decided``. A line of JSON for each mutant goes
to ``--results`` as it is known; mutants of the same draw that stand there are not run again, those not decided go on
with the tests that they have not met, on this machine or another.
"""

from __future__ import annotations

import argparse
import json
import math
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutants import change, draw  # pyright: ignore[reportImplicitRelativeImport]
from pytests import LATE  # pyright: ignore[reportImplicitRelativeImport]
from reach import Reach, measure  # pyright: ignore[reportImplicitRelativeImport]
from suites import FOLDERS, test_files  # pyright: ignore[reportImplicitRelativeImport]
from trees import copy_of_the_tree  # pyright: ignore[reportImplicitRelativeImport]
from trial import KILLED, UNDECIDED, Trial, unpacked  # pyright: ignore[reportImplicitRelativeImport]
from workers import run_all  # pyright: ignore[reportImplicitRelativeImport]

NOTICED = (KILLED, LATE)


def main() -> int:
    args = arguments()
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    folders = args.folders or FOLDERS
    with tempfile.TemporaryDirectory(prefix="mutation") as folder:
        scratch = copy_of_the_tree(Path(folder))
        if args.list:
            for made in (change(scratch, m) for name in folders for m in draw(scratch, name, args.count, seed)):
                print(f"{made.mutant.path}:{made.line}: {made.kind}: {made.before}  ->  {made.after}")
            return 0
        with tempfile.TemporaryDirectory(prefix="probes") as probed:
            files = [] if args.as_measured else test_files(scratch)
            reach = measure(copy_of_the_tree(Path(probed)), FOLDERS, files, args.reach, seed)
        run(scratch, reach, folders, args.count, seed, args.results, args.workers, args.most, args.within)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python tests/mutation", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=", ".join(FOLDERS))
    parser.add_argument("--count", type=int, default=15, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=None, help="of the draw; a fresh one unless given")
    parser.add_argument("--workers", type=int, default=1, help="mutants at a time")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds of tests for one mutant")
    parser.add_argument("--within", type=float, default=math.inf, help="seconds for all mutants")
    parser.add_argument("--reach", type=Path, default=Path("mutation-reach.jsonl"), help="what reaches what")
    parser.add_argument("--as-measured", action="store_true", help="take --reach as it is, though tests have changed")
    parser.add_argument("--results", type=Path, default=Path("mutation.jsonl"), help="where the lines of JSON go")
    parser.add_argument("--list", action="store_true", help="print the mutants of the draw and stop")
    return parser.parse_args()


def run(
    scratch: Path, reach: Reach, folders: Sequence[str], count: int, seed: int, results: Path,
    workers: int = 1, most: float = math.inf, within: float = math.inf,
) -> None:  # fmt: skip
    """The mutants that are not decided in ``results`` yet, and the scores."""
    drawn = {(name, m.path, m.site): m for name in folders for m in draw(scratch, name, count, seed)}
    known = {(r["folder"], r["path"], r["site"]): r for r in read(results) if r["seed"] == seed}
    trials = list[Trial]()
    for key, mutant in drawn.items():
        if key not in known or known[key]["verdict"] == UNDECIDED:
            only = unpacked(known[key]["rest"]) if key in known else None
            trials.append(Trial.of(scratch, reach, key[0], mutant, only))

    def done(trial: Trial) -> None:
        record = {"seed": seed, **trial.record()}
        known[trial.folder, trial.mutant.path, trial.mutant.site] = record
        with results.open("a") as file:
            print(json.dumps(record), file=file)
        print("{verdict} {path}:{line} {tests}/{reaching} {seconds}s: {before} -> {after}".format(**record), flush=True)

    run_all(scratch, reach, trials, workers, most, within, done)
    for name in folders:
        scored(name, [known[key]["verdict"] for key in drawn if key[0] == name and key in known])
    scored("together", [known[key]["verdict"] for key in drawn if key in known])


def scored(name: str, verdicts: list[str]) -> None:
    counts = Counter(verdicts)
    noticed, decided = sum(counts[v] for v in NOTICED), len(verdicts) - counts[UNDECIDED]
    print(f"{name}: {noticed} of {decided} noticed, {counts[UNDECIDED]} not decided: {dict(counts)}", flush=True)


def read(results: Path) -> Iterator[dict[str, Any]]:
    if results.exists():
        yield from map(json.loads, results.read_text().splitlines())


if __name__ == "__main__":
    sys.exit(main())
