"""The functions of f64: `measure_doubles` on fresh arguments, in a child process; directed rounding and the functions
of parts against exact arithmetic. ``TRITONX_SEED`` fixes the arguments, ``TRITONX_MATHLIB_COUNT`` says how many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tritonx.conversion.mathlib.doubles.table import FUNCTIONS, NAMES, SINGLE
from tritonx.language.extra.libdevice_table import names

SEED = int(os.environ["TRITONX_SEED"])
HERE = Path(__file__).parent


def output(script: str, *arguments: object) -> str:
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double is f64 here")
def test_accuracy() -> None:
    found = json.loads(output("measure_doubles.py", SEED, os.environ.get("TRITONX_MATHLIB_COUNT", "1000")))
    assert found.keys() == FUNCTIONS.keys() - SINGLE.keys() - {"ldexp"}
    wrong = {name: worst for name, worst in found.items() if not worst[0] <= FUNCTIONS[name][2]}
    assert not wrong, f"ulps and arguments (seed {SEED}): {wrong}"


@pytest.mark.parametrize("kind", ["double", "float"])
def test_directed_rounding_and_parts(kind: str) -> None:
    assert json.loads(output("check_rounding.py", kind, SEED)) == []


def test_bounds() -> None:
    """An error is stated for each, and every name is one of ``tl.extra.libdevice``."""
    assert max(ulps for _, _, ulps in FUNCTIONS.values()) <= 6.5
    assert names().keys() >= NAMES
