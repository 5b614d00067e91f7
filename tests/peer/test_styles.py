"""Variants of kernels in other styles are compiled no worse than Triton compiles them: a sample of `tests/styles`.

``TRITONX_STYLES=all`` compiles 24 variants of every kernel. ``TRITONX_STRUCTURE_PEER`` names a folder with another
Triton, made by ``pip install --target``.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.styles.cases import CASES
from tests.styles.variants import COMPARED, SAMPLED
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.backends.nvidia.assembler.disassemble import find_nvdisasm

pytestmark = pytest.mark.peer
PEER = os.environ.get("TRITONX_STRUCTURE_PEER")
if importlib.util.find_spec("triton") is None and PEER is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)
if find_ptxas() is None or find_nvdisasm() is None:
    pytest.skip("there is no ptxas or no nvdisasm", allow_module_level=True)

ROOT = Path(__file__).parents[2]
SEED = os.environ["TRITONX_SEED"]
ALL = os.environ.get("TRITONX_STYLES", "") == "all"
KERNELS = 6


def test_no_style_is_worse_without_a_reason(tmp_path: Path) -> None:
    drawn = [] if ALL else [case.title for case in Random(SEED).sample(CASES, KERNELS)]
    seed = SEED if ALL else str(Random(SEED).choice(COMPARED))
    count = [] if ALL else ["--count", str(SAMPLED)]
    peer = ["--peer", PEER] if PEER else []
    command = [sys.executable, "-m", "tests.styles", *drawn, "--seed", seed, "--cache", str(tmp_path), *count, *peer]
    environment = {k: v for k, v in os.environ.items() if k != "TRITONX_VERIFY"} | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
