"""Kernels are made of no worse than Triton makes them, or there is a reason: a sample of `benchmarks/structure.py`.

Beside the installed Triton, and beside the one in the folder that ``TRITONX_STRUCTURE_PEER`` names, which
``pip install --target`` made. ``TRITONX_STRUCTURE=all`` compares all kernels of the repository."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.backends.nvidia.assembler.disassemble import find_nvdisasm

pytestmark = pytest.mark.peer
PEERS = [
    *([[]] if importlib.util.find_spec("triton") is not None else []),
    *([["--peer", folder]] if (folder := os.environ.get("TRITONX_STRUCTURE_PEER")) else []),
]
if not PEERS:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)
if find_ptxas() is None or find_nvdisasm() is None:
    pytest.skip("there is no ptxas or no nvdisasm", allow_module_level=True)

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "structure.py"
SEED = os.environ["TRITONX_SEED"]
ALL = os.environ.get("TRITONX_STRUCTURE", "") == "all"
SAMPLE = ("24", "6")
"""Rows of `cuda:90`, and of each other target."""


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: "named" if peer else "installed")
def test_no_kernel_is_worse_without_a_reason(peer: list[str], tmp_path: Path) -> None:
    drawn = [] if ALL else ["--sample", *SAMPLE, "--seed", SEED]
    command = [sys.executable, str(SCRIPT), "--cache", str(tmp_path), "--target", "known", *drawn, *peer]
    environment = {k: v for k, v in os.environ.items() if k != "TRITONX_VERIFY"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
