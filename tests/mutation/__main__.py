"""``python tests/mutation FOLDER... [--count N] [--seed S]``: how many slips in the source the tests notice.

Draws mutants of each folder (all that have tests named in suites.py unless given), runs those tests on a copy of the
working tree with each mutant in place, and stops at the first that fails. A line of JSON for each mutant goes to
``--results`` as it is known; mutants that stand there already, of the same draw, are not run again.
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
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutants import change, draw  # pyright: ignore[reportImplicitRelativeImport]  (a program, not a package)
from suites import SUITES, Step  # pyright: ignore[reportImplicitRelativeImport]

ROOT = Path(__file__).resolve().parents[2]
UNNOTICED = "survived"


def main() -> int:
    parser = argparse.ArgumentParser(
        "python tests/mutation", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=", ".join(SUITES))
    parser.add_argument("--count", type=int, default=15, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=None, help="of the draw; a fresh one unless given")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the tests of one mutant")
    parser.add_argument("--results", type=Path, default=Path("mutation.jsonl"), help="where the lines of JSON go")
    parser.add_argument("--list", action="store_true", help="print the mutants of the draw and stop")
    args = parser.parse_args()
    seed = secrets.randbelow(2**31) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutation") as folder:
        scratch = copy_of_the_tree(Path(folder))
        for name in args.folders or SUITES:
            if args.list:
                for mutant in draw(scratch, name, args.count, seed):
                    made = change(scratch, mutant)
                    print(f"{mutant.path}:{made.line}: {made.kind}: {made.before}  ->  {made.after}")
            else:
                run(scratch, name, args.count, seed, args.limit, args.results)
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


def run(scratch: Path, name: str, count: int, seed: int, limit: float, results: Path) -> None:
    """The mutants of one folder that are not in ``results`` yet, and the folder's score."""
    known = {(r["path"], r["site"]): r for r in read(results) if (r["folder"], r["seed"]) == (name, seed)}
    for mutant in draw(scratch, name, count, seed):
        if (mutant.path, mutant.site) not in known:
            known[mutant.path, mutant.site] = record = {"folder": name, "seed": seed, **attempt(scratch, mutant, limit)}
            with results.open("a") as file:
                print(json.dumps(record), file=file)
            print(
                f"{record['verdict']} {mutant.path}:{record['line']}: {record['before']} -> {record['after']}",
                flush=True,
            )
    counts = Counter(r["verdict"] for r in known.values())
    noticed = sum(counts.values()) - counts[UNNOTICED]
    check_killers(scratch, name, {r["test"] for r in known.values() if r["verdict"] == "killed"}, limit)
    print(f"{name}: {noticed} of {sum(counts.values())} noticed (seed {seed}): {dict(counts)}", flush=True)


def check_killers(scratch: Path, name: str, tests: set[str], limit: float) -> None:
    """What noticed a mutant must pass where there is none; ``SystemExit`` with the tests that fail."""
    nodes = sorted({test.partition(" ")[2].partition(" - ")[0] for test in tests if "tests/" in test})
    if nodes:
        failed, said = first_failure(scratch, (tuple(nodes),), limit)
        if failed:
            raise SystemExit(f"the tests of {name} fail without a mutant: {failed}\n{said}")


def attempt(scratch: Path, mutant: Any, limit: float) -> dict[str, Any]:
    """Run the tests with ``mutant`` in place; the file is as before afterwards."""
    path, made = scratch / mutant.path, change(scratch, mutant)
    folder = next(name for name in SUITES if mutant.path.startswith(name))
    original, start = path.read_text(), time.monotonic()
    try:
        replace(path, made.text)
        test, _ = first_failure(scratch, SUITES[folder], limit)
    finally:
        replace(path, original)
    verdict = "timeout" if test == "timeout" else "killed" if test else UNNOTICED
    seconds = round(time.monotonic() - start, 1)
    said = {"line": made.line, "kind": made.kind, "before": made.before[:160], "after": made.after[:160]}
    return {**asdict(mutant), **said, "verdict": verdict, "test": test, "seconds": seconds}


def replace(path: Path, text: str) -> None:
    """Write ``text`` so that no compiled file of the text before is taken for it."""
    path.write_text(text)
    for compiled in path.parent.joinpath("__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def first_failure(scratch: Path, steps: tuple[Step, ...], limit: float) -> tuple[str, str]:
    """The first test that fails and what it said; ``timeout`` where the limit is reached, empty where all pass."""
    end = time.monotonic() + limit
    with tempfile.TemporaryDirectory(prefix="cache") as cache:
        paths = os.pathsep.join(map(str, (scratch, *sorted(scratch.glob("plugins/*")))))
        environment = {**os.environ, "PYTHONPATH": paths, "TRITONX_CACHE_DIR": cache, "TRITONX_HOME": cache}
        for step in steps:
            command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", *step]
            code, said = finished(command, scratch, environment, end - time.monotonic())
            if code is None:
                return "timeout", said
            if code not in (0, 5):  # 5: the step has no such tests
                lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return (lines or [f"exit {code}"])[0][:200], said[-2000:]
    return "", ""


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
