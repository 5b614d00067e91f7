"""What becomes here of everything that Triton's front end refuses: the table of `refusal_table.py` is up to date.

``TRITONX_REFUSALS`` names folders, as ``PATH`` does, with other versions of the wheel, whose tables are checked too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tritonx.runtime.errors import TritonError

sys.path.insert(0, str(Path(__file__).parent))

from refusal_cases import CASES  # beside this file
from refusal_reasons import BEYOND, NO_CASE  # beside this file
from refusal_runner import outcomes, outcomes_apart  # beside this file
from refusal_table import LEVEL, here_rows, installed, version_of, wheel_rows  # beside this file

HERE = Path(__file__).parent
FRESH = "run tests/peer/refusal_table.py and look at what changed"
OTHERS = [Path(folder) for folder in os.environ.get("TRITONX_REFUSALS", "").split(os.pathsep) if folder]

INTERNAL = {"AssertionError", "IndexError", "InternalError", "NameError", "StopIteration", "UnboundLocalError"}
"""What a user's mistake must not end in."""


def rows(name: str) -> list[str]:
    return (HERE / f"refusals_{name}.txt").read_text().splitlines()


@pytest.mark.level(LEVEL)
def test_tritonx_refuses_what_the_table_says() -> None:
    made = dict(outcomes("tritonx", CASES))
    assert here_rows(made) == rows("tritonx"), FRESH
    assert not {name for name, outcome in made.items() if outcome.error in INTERNAL}
    silent = {n for n, o in made.items() if TritonError.__name__ in o.bases and not o.text.strip()}
    assert not silent


def test_what_is_taken_is_documented() -> None:
    page = (HERE.parents[1] / "docs" / "beyond.md").read_text()
    titles = {line[3:].lower().replace("`", "").replace(" ", "-") for line in page.splitlines() if line[:3] == "## "}
    assert set(BEYOND.values()) <= titles
    assert set(BEYOND) == {row.split(" | ")[0] for row in rows("tritonx") if " | taken: " in row}


def test_no_reason_is_left_over() -> None:
    """Each reason for a site without a case holds for a site of one of the versions."""
    sites = [row.split(" | ")[0] for name in ("3.6", "3.9") for row in rows(name) if " | no case: " in row]
    prefixes = [prefix for listed in NO_CASE.values() for prefix in listed]
    assert not [prefix for prefix in prefixes if not any(site.startswith(prefix) for site in sites)]


def test_no_row_is_open() -> None:
    for name in ("3.6", "3.9"):
        answers = [row.partition(" | ")[2] for row in rows(name)]
        assert len(answers) > 400
        assert all(a.startswith(("refused: ", "beyond: ", "no case: ", "adds the kernel's line")) for a in answers)


@pytest.mark.peer
@pytest.mark.parametrize("folder", [None, *OTHERS], ids=str)
def test_every_site_of_a_wheel_has_a_row(folder: Path | None) -> None:
    package = installed() if folder is None else folder / "triton"
    if package is None:
        pytest.skip("the Triton wheel is not installed")
    name = version_of(package)
    if not (HERE / f"refusals_{name}.txt").exists():
        pytest.skip(f"there is no table of Triton {name}")
    assert wheel_rows(package, outcomes_apart("triton", list(CASES), folder)) == rows(name), FRESH
