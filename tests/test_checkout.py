"""What git holds is text that people wrote, and small data: nothing that was downloaded or built."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 1 << 20
"""Bytes of a file; the largest is tests/data/promotion_3.6.0.json."""


def test_no_tracked_file_is_large() -> None:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert not [path.name for path in paths if path.is_file() and path.stat().st_size > LARGEST]
