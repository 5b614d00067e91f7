"""The share of the tests that ``make test`` runs: its size, what is always in it, and that seeds select other tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

import share  # pyright: ignore[reportMissingImports]  # beside this file

ROOT = Path(__file__).parents[1]
FILES = st.dictionaries(st.sampled_from([f"tests/test_{c}.py" for c in "abcdefgh"]), st.integers(1, 300), min_size=1)
SECONDS = st.floats(0, 20, allow_subnormal=False)


@given(FILES, st.data())
def test_a_selection_keeps_to_its_time(sizes: dict[str, int], data: st.DataObject) -> None:
    """Files that were not measured are in it too."""
    seconds = data.draw(st.dictionaries(st.sampled_from(sorted(sizes)), SECONDS))
    budget = data.draw(st.floats(0, 1e4))
    number = share.counts(sizes, seconds, budget)
    assert number.keys() == sizes.keys() and all(1 <= number[file] <= size for file, size in sizes.items())
    usual = share.median(seconds.values()) if seconds else share.UNKNOWN
    cost = {file: max(share.LEAST, seconds.get(file, usual)) for file in sizes}
    least = sum(cost.values())
    total = sum(count * cost[file] for file, count in number.items())
    assert total <= max(budget, least) * 1.0001
    if number != sizes:  # at most one more test of each file would still fit
        assert total > (budget - least) * 0.9999


@given(FILES, st.integers(0, 2**31), st.floats(0, 500))
def test_a_selection_follows_from_the_seed(sizes: dict[str, int], seed: int, budget: float) -> None:
    files = [file for file, size in sizes.items() for _ in range(size)]
    chosen = share.selection(files, {}, budget, seed)
    assert chosen == share.selection(files, {}, budget, seed) == sorted(set(chosen))
    assert {files[index] for index in chosen} == sizes.keys()


def test_other_seeds_reach_every_test() -> None:
    files = ["tests/test_a.py"] * 50 + ["tests/test_b.py"] * 5
    reached: set[int] = set()
    for seed in range(200):
        chosen = share.selection(files, {"tests/test_a.py": 1.0, "tests/test_b.py": 1.0}, 11, seed)
        assert 2 <= len(chosen) <= 11
        reached.update(chosen)
    assert reached == set(range(55))


def test_another_file_does_not_change_what_is_drawn() -> None:
    alone = share.drawn(100, 10, share.Random("3 tests/test_a.py"))
    assert alone == share.drawn(100, 10, share.Random("3 tests/test_a.py")) and len(set(alone)) == 10


def test_the_core_is_whole_and_exists() -> None:
    sizes = dict.fromkeys(share.CORE, 70)
    assert share.counts(sizes, dict.fromkeys(share.CORE, 9.0), 0) == sizes
    assert [file for file in share.CORE if not (ROOT / file).exists()] == []


def test_the_table_is_read_as_written() -> None:
    text = share.written_table({"tests/test_b.py": [1.0, 2.0], "tests/a b.py".replace(" ", "_"): [0.25]})
    assert share.read_table(text) == {"tests/test_b.py": 1.5, "tests/a_b.py": 0.25}
    assert share.read_table(share.TABLE.read_text())


@pytest.mark.parametrize("workers", [0, 2])
def test_pytest_runs_a_share(tmp_path: Path, workers: int) -> None:
    """And says how many tests were left out, with and without workers."""
    for name in ("conftest.py", "share.py"):
        (tmp_path / name).write_text((ROOT / "tests" / name).read_text())
    case = "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_n(n): pass\n"
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(case)
    options = [*("--share", "1", "--record-seconds", "measured.txt", "--rootdir", str(tmp_path), "-n", str(workers))]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(tmp_path)]
    environment = {**os.environ, "TRITONX_SEED": "5"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    # Nothing was measured, so a test counts with 0.1 s: ten are expected to fit into one second.
    said = re.search(r"a share: (\d+) of 80 tests .* by TRITONX_SEED=5; `make test-all` runs all", done.stdout)
    assert said is not None and int(said[1]) == 10, done.stdout
    assert f"{said[1]} passed" in done.stdout
    assert share.read_table((tmp_path / "measured.txt").read_text()).keys() == {"test_a.py", "test_b.py"}
