"""Kernels compiled by our front end and by Triton's do the same: both run in the interpreter on the same random
inputs.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="the Triton wheel is not installed"),
]

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory = tmp_path_factory.mktemp("triton")
    dump = [sys.executable, str(HERE / "text_oracle.py"), "dump", "cuda:90", str(directory)]
    subprocess.run(dump, check=True, capture_output=True, timeout=300, cwd=HERE)
    compare = [sys.executable, str(HERE / "frontend_runner.py"), str(directory)]
    done = subprocess.run(compare, check=True, capture_output=True, text=True, timeout=300, cwd=HERE)
    return json.loads(done.stdout)


def test_same_results(verdicts: dict[str, str]) -> None:
    assert len(verdicts) > 35
    different = {
        name: verdict for name, verdict in verdicts.items() if verdict != "same" and not verdict.startswith("skipped")
    }
    assert not different, "\n".join(f"{name}: {verdict}" for name, verdict in different.items())
