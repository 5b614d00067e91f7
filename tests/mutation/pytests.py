"""One pytest over chosen tests of a copy of the tree, as a process that can be given up."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reach import Reach, python_path  # pyright: ignore[reportImplicitRelativeImport]

LATE = "timeout"
"""In place of the test that failed, where the limit was reached."""


@dataclass(frozen=True)
class Said:
    """What a pytest said: the first test that failed (or ``LATE``; empty where all passed), those skipped, the text."""

    failed: str
    skipped: frozenset[str]
    text: str


def patience(reach: Reach, tests: Sequence[str]) -> float:
    """The seconds after which ``tests`` hang: many times what they took when they were measured."""
    return 60 + 5 * sum(reach.tests[test]["seconds"] for test in tests)


def first_failure(scratch: Path, reach: Reach, tests: Sequence[str], limit: float) -> Said:
    """Run ``tests`` in this order up to the first that fails."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    with tempfile.TemporaryDirectory(prefix="cache", ignore_cleanup_errors=True) as cache:
        wanted, failed, skipped = (Path(cache) / name for name in ("wanted", "failed", "skipped"))
        wanted.write_text("\n".join(tests))
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([python_path(scratch), str(Path(__file__).parent)]),
            "MUTATION_TESTS": str(wanted), "MUTATION_FAILED": str(failed), "MUTATION_SKIPPED": str(skipped),
            "TRITONX_SEED": str(reach.seed), "TRITONX_CACHE_DIR": cache, "TRITONX_HOME": cache,
        }  # fmt: skip
        options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "reach_plugin"]
        code, text = finished([sys.executable, "-m", "pytest", *options, *files], scratch, environment, limit)
        passed_by = frozenset(skipped.read_text().splitlines()) if skipped.exists() else frozenset[str]()
        if code is None:
            return Said(LATE, passed_by, text)
        if failed.exists():
            return Said(failed.read_text(), passed_by, text[-2000:])
    return Said("" if code in (0, 5) else f"exit {code}: {text[-200:]}", passed_by, text[-2000:])


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
