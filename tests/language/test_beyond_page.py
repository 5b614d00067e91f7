"""The programs of docs/beyond.md run, one behind the other, compiled and line by line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "beyond.md"


def program() -> str:
    """The indented lines of the page, as one file."""
    return "".join(line[4:] if line.strip() else "\n" for line in _code(PAGE.read_text().splitlines(keepends=True)))


def _code(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("    ") or not line.strip()]


@pytest.mark.parametrize("interpret", ["0", "1"])
def test_the_programs_run(interpret: str, tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text(program())
    environment = {**os.environ, "TRITONX_INTERPRET": interpret, "TRITONX_BACKEND": "cpu"}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
