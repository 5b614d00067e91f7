"""The dtypes of each level are those of its wheel: the installed Triton, and those in ``TRITONX_LEVEL_PEERS``."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.language.test_levels import DTYPES

pytestmark = pytest.mark.peer
ORACLE = Path(__file__).parent / "decisions_oracle.py"
WITHOUT = {"3.6": {"q / 3", "q % 3.0"}}
"""What a wheel's interpreter cannot compute; its compiler's answer is in tests/data/promotion_3.6.0.json."""

FOLDERS = ["", *filter(None, os.environ.get("TRITONX_LEVEL_PEERS", "").split(os.pathsep))]


@pytest.mark.parametrize("folder", FOLDERS)
def test_dtypes_are_those_of_the_wheel(folder: str) -> None:
    if importlib.util.find_spec("torch") is None or (not folder and importlib.util.find_spec("triton") is None):
        pytest.skip("needs PyTorch and the wheel")
    environment = {**os.environ, **({"PYTHONPATH": folder} if folder else {})}
    command = [sys.executable, str(ORACLE)]
    done = subprocess.run(
        command, input=json.dumps([*DTYPES]), capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    version, made = json.loads(done.stdout.splitlines()[-1])
    level = ".".join(version.split(".")[:2])
    wanted = {text: after if level >= first else before for text, (first, before, after) in DTYPES.items()}
    found = dict(zip(DTYPES, made, strict=True))
    differ = {text: (found[text], wanted[text]) for text in DTYPES if found[text] != wanted[text]}
    assert differ.keys() == WITHOUT.get(level, set()), differ
