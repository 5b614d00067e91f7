"""``python tests/mutation [FOLDER...] [--count N] [--seed S]``: how many slips in the source the tests notice.

Draws mutants of each folder and runs, on a copy of the working tree with the mutant in place, the tests of CI that
reach its block, until one fails or ``--most`` seconds of tests have passed. What reaches what is measured first, which
takes as long as all these tests do, and kept in ``--reach`` (reach.py); a mutant that nothing reaches survives at once.
A line of JSON for each mutant goes to ``--results`` as it is known; mutants that stand there already, of the same
draw, are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutants import Mutant, change, draw  # pyright: ignore[reportImplicitRelativeImport]
from reach import Reach, measure, python_path  # pyright: ignore[reportImplicitRelativeImport]
from suites import FOLDERS, test_files  # pyright: ignore[reportImplicitRelativeImport]

ROOT = Path(__file__).resolve().parents[2]
UNNOTICED = "survived"
BATCHES = ((5, 4), (30, 12), (1e9, 1000))
"""At most so many seconds from at most so many files in each pytest for a mutant: most mutants need the first only."""
FEW = 20
"""Where fewer tests reach a block, those that reach its file are tried as well."""


def main() -> int:
    parser = argparse.ArgumentParser(
        "python tests/mutation", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=", ".join(FOLDERS))
    parser.add_argument("--count", type=int, default=15, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=None, help="of the draw; a fresh one unless given")
    parser.add_argument("--most", type=float, default=120, help="seconds of tests for one mutant")
    parser.add_argument("--reach", type=Path, default=Path("mutation-reach.jsonl"), help="what reaches what")
    parser.add_argument("--results", type=Path, default=Path("mutation.jsonl"), help="where the lines of JSON go")
    parser.add_argument("--list", action="store_true", help="print the mutants of the draw and stop")
    args = parser.parse_args()
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
            reach = measure(copy_of_the_tree(Path(probed)), FOLDERS, test_files(scratch), args.reach, seed)
        for name in folders:
            run(scratch, reach, name, args.count, seed, args.most, args.results)
    return 0


def copy_of_the_tree(folder: Path) -> Path:
    """Every file that git knows or would add, as it is now."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        source, target = ROOT / name, folder / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


def run(scratch: Path, reach: Reach, name: str, count: int, seed: int, most: float, results: Path) -> None:
    """The mutants of one folder that are not in ``results`` yet, and the folder's score."""
    drawn = draw(scratch, name, count, seed)
    known = {(r["path"], r["site"]): r for r in read(results) if (r["folder"], r["seed"]) == (name, seed)}
    for mutant in drawn:
        if (mutant.path, mutant.site) not in known:
            found = attempt(scratch, reach, name, mutant, most)
            known[mutant.path, mutant.site] = record = {"folder": name, "seed": seed, **found}
            with results.open("a") as file:
                print(json.dumps(record), file=file)
            print("{verdict} {path}:{line}: {before} -> {after}".format(**record), flush=True)
    records = [known[mutant.path, mutant.site] for mutant in drawn]
    check_killers(scratch, reach, {r["test"] for r in records if r["verdict"] == "killed"})
    counts = Counter(r["verdict"] for r in records)
    noticed = sum(counts.values()) - counts[UNNOTICED]
    print(f"{name}: {noticed} of {sum(counts.values())} noticed (seed {seed}): {dict(counts)}", flush=True)


def check_killers(scratch: Path, reach: Reach, tests: set[str]) -> None:
    """What noticed a mutant must pass where there is none; ``SystemExit`` with the tests that fail."""
    if nodes := sorted(tests & reach.tests.keys()):
        failed, said = first_failure(scratch, reach, nodes)
        if failed:
            raise SystemExit(f"a test fails without a mutant: {failed}\n{said}")


def attempt(scratch: Path, reach: Reach, folder: str, mutant: Mutant, most: float) -> dict[str, Any]:
    """Run the tests with ``mutant`` in place; the file is as before afterwards."""
    path, made = scratch / mutant.path, change(scratch, mutant)
    original, start = path.read_text(), time.monotonic()
    tests = tests_for(scratch, reach, folder, mutant.path, made.block)
    test, done = "", 0
    try:
        replace(path, made.text)
        for batch in batches(reach, tests, most):
            test, said = first_failure(scratch, reach, batch)
            done += len(batch)
            if test:
                break
    finally:
        replace(path, original)
    verdict = "timeout" if test == "timeout" else "killed" if test else UNNOTICED
    ran = {"verdict": verdict, "test": test, "tests": done, "reaching": len(tests)}
    said = {"line": made.line, "kind": made.kind, "before": made.before[:160], "after": made.after[:160]}
    return {**asdict(mutant), **said, **ran, "seconds": round(time.monotonic() - start, 1)}


def tests_for(scratch: Path, reach: Reach, folder: str, path: str, block: str | None) -> list[str]:
    """The tests that reach the block. Where there are few, since a memo or an import spared the others the way, and
    for what an import runs, which no test reaches: then those of the files that import the module, those that reach
    its file, else its folder."""
    own = [] if block is None else reach.ordered([f"{path}:{block}"])
    if len(own) >= FEW and f"{path}:{block}" not in reach.imported:
        return own
    of_file = reach.ordered([name for name in reach.names if name.startswith(f"{path}:")])
    near = str(Path(path).parent) if Path(path).parent != Path(folder) else folder
    around = of_file or reach.ordered([name for name in reach.names if name.startswith(f"{near}/")])
    return list(dict.fromkeys([*own, *reach.importing(scratch, path), *around]))


def batches(reach: Reach, tests: Sequence[str], most: float) -> Iterator[list[str]]:
    """``tests`` in order, in ever larger parts, as far as ``most`` seconds reach."""
    rest, left = list(tests), most
    for seconds, files in BATCHES:
        batch, later, chosen, spent = list[str](), list[str](), set[str](), 0.0
        for test in rest:
            file, cost = test.partition("::")[0], reach.tests[test]["seconds"]
            fits = not batch or spent + cost <= min(seconds, left)
            if fits and (file in chosen or len(chosen) < files):
                batch.append(test)
                chosen.add(file)
                spent += cost
            else:
                later.append(test)
        if batch and left > 0:
            yield batch
        rest, left = later, left - spent


def replace(path: Path, text: str) -> None:
    """Write ``text`` so that no compiled file of the text before is taken for it."""
    path.write_text(text)
    for compiled in path.parent.joinpath("__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def first_failure(scratch: Path, reach: Reach, tests: Sequence[str]) -> tuple[str, str]:
    """The first test that fails and what was said; ``timeout`` where the limit is reached, empty where all pass."""
    limit = 120 + 10 * sum(reach.tests[test]["seconds"] for test in tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    with tempfile.TemporaryDirectory(prefix="cache") as cache:
        wanted, failed = Path(cache) / "wanted", Path(cache) / "failed"
        wanted.write_text("\n".join(tests))
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([python_path(scratch), str(Path(__file__).parent)]),
            "MUTATION_TESTS": str(wanted), "MUTATION_FAILED": str(failed), "TRITONX_SEED": str(reach.seed),
            "TRITONX_CACHE_DIR": cache, "TRITONX_HOME": cache,
        }  # fmt: skip
        options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "reach_plugin"]
        code, said = finished([sys.executable, "-m", "pytest", *options, *files], scratch, environment, limit)
        if code is None:
            return "timeout", said
        if failed.exists():
            return failed.read_text(), said[-2000:]
    return ("" if code in (0, 5) else f"exit {code}: {said[-200:]}"), said[-2000:]


def finished(command: list[str], folder: Path, environment: dict[str, str], limit: float) -> tuple[int | None, str]:
    """Exit code and output; None where ``limit`` seconds were not enough, and then all that it started has ended."""
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = process.wait(max(limit, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            code = None
        out.seek(0)
        return code, out.read()


def read(results: Path) -> Iterator[dict[str, Any]]:
    if results.exists():
        yield from map(json.loads, results.read_text().splitlines())


if __name__ == "__main__":
    sys.exit(main())
