"""Whatever is wrong with a module, `tritonx-opt` says so at its line: no internal error, no dead process, none over ten
seconds.

By default 20 mutants for each of three targets, others with every run (``TRITONX_SEED`` fixes them);
``TRITONX_MUTANTS=5000`` is the whole table. A failure names seed, number and
target; ``mutant(seed, number)`` is the text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TARGETS = ("cuda:90", "hip:gfx942", "cpu")
COUNT = int(os.environ.get("TRITONX_MUTANTS") or 60)
SECONDS = 10
LOCATED = re.compile(r"^(<stdin>(:\d+:\d+)?|\S+:\d+:\d+): error: \S")


def outcomes(seed: int, target: str, numbers: list[int]) -> Iterator[tuple[int, str]]:
    """(number, what is wrong with what was said) for each mutant with which something is wrong."""
    rest = list(numbers)
    while rest:
        child = subprocess.run(
            [sys.executable, str(HERE / "run.py"), str(seed), target],
            input="\n".join(map(str, rest)), capture_output=True, text=True, check=False,
            timeout=60 + 10 * len(rest),
        )  # fmt: skip
        done = [json.loads(line) for line in child.stdout.splitlines()]
        for number, seconds, code, said in done:
            if seconds > SECONDS:
                yield number, f"took {seconds:.1f} s"
            if code == 0 and not said:
                continue
            if "internal error" in said or not LOCATED.match(said):
                yield number, said[:600]
        rest = rest[len(done) :]
        if rest:
            yield rest.pop(0), f"the process ended with {child.returncode}: {child.stderr[-600:]}"


@pytest.mark.parametrize("target", TARGETS)
def test_mistakes_are_told_where_they_are(target: str) -> None:
    seed = int(os.environ["TRITONX_SEED"])
    numbers = list(range(TARGETS.index(target), COUNT, len(TARGETS)))
    wrong = list(outcomes(seed, target, numbers))
    shown = "\n\n".join(f"mutant({seed}, {number}) for {target}: {reason}" for number, reason in wrong[:20])
    assert not wrong, f"{len(wrong)} of {len(numbers)}:\n{shown}"
