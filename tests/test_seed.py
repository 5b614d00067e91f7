"""One seed a run, which a failure names: hypothesis draws from it too, and others in the next run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DRAWN = """
from hypothesis import given, settings, strategies as st

@settings(max_examples=10)
@given(st.integers(0, 10**9))
def test_drawn(number):
    print(f"drawn {number}")
"""


def drawn(folder: Path, seed: int) -> list[str]:
    """What hypothesis draws in a run of these tests with a seed, where ``CI`` is set."""
    for name in ("conftest.py", "share.py"):
        (folder / name).write_text((ROOT / "tests" / name).read_text())
    (folder / "test_drawn.py").write_text(DRAWN)
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir", str(folder), folder]
    environment = {**os.environ, "CI": "1", "TRITONX_SEED": str(seed)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("drawn")]


def test_hypothesis_draws_from_the_seed_of_the_run(tmp_path: Path) -> None:
    first, again, other = (drawn(tmp_path, seed) for seed in (1, 1, 2))
    assert first and first == again != other
