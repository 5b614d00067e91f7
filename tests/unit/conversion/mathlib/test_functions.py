"""The vector functions against NumPy's f64, AVX2 and AVX-512: ``measure_ulps`` on fresh arguments. ``TRITONX_SEED``
fixes them.

The code is compiled and run in a child process: a defect in it would end the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.conversion.mathlib import ULPS

SEED = int(os.environ["TRITONX_SEED"])


@pytest.mark.parametrize("isa", ["AVX2", "AVX512"])
@pytest.mark.parametrize("width", [0, 2, 16])
def test_accuracy(isa: str, width: int) -> None:
    if isa == "AVX512":
        from tritonx.backends.cpu.host import host_isa

        if host_isa().vector_bytes < 64:
            pytest.skip("this machine has no AVX-512")
    command = [sys.executable, str(Path(__file__).with_name("measure_ulps.py")), isa, str(width), str(SEED)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr[-2000:]
    found = json.loads(result.stdout)
    assert found.keys() == ULPS.keys()
    wrong = {name: worst for name, worst in found.items() if not worst[0] <= ULPS[name]}
    assert not wrong, f"ulps, kind and arguments (seed {SEED}): {wrong}"


def test_bounds() -> None:
    assert max(ULPS.values()) <= 2
