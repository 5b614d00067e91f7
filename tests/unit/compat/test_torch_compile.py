"""``torch.compile`` on the CPU, with tritonx in Triton's place: programs against eager, where PyTorch is installed.

PyTorch's compiler writes the same kind of kernels for the CPU as for a GPU (`cpu_backend = "triton"`), and compiles
them in worker processes. A run takes two programs, by its seed; ``TRITONX_TORCH_PROGRAMS=all`` takes them all (3
minutes). What needs a device is in `tests/gpu/test_torch_compile.py`."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = (
    "pointwise", "reductions", "softmax and layer norm", "mlp", "convolutions", "transformer block",
    "embedding, cross entropy", "dropout", "scatter", "rope", "dynamic shapes", "a user's kernel",
)  # fmt: skip
SEED = int(os.environ["TRITONX_SEED"])
CHOSEN = PROGRAMS if os.environ.get("TRITONX_TORCH_PROGRAMS") == "all" else random.Random(SEED).sample(PROGRAMS, 2)


def test_programs_match_eager(tmp_path: Path) -> None:
    """One process for all: starting PyTorch and its workers takes longer than a program."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
        "TRITONX_CACHE_DIR": str(tmp_path / "triton"),
        "TORCHINDUCTOR_COMPILE_THREADS": "2",
    }
    script = str(ROOT / "benchmarks" / "torch_programs.py")
    command = [sys.executable, "-m", "tritonx.compat", script, "--device", "cpu", "--seed", str(SEED), *CHOSEN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=580)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {line["program"]: line for line in lines}
    assert set(found) == {"compiler", *CHOSEN}, done.stderr[-3000:]
    assert found["compiler"]["triton"] == "tritonx"
    failed = [f"{name} with seed {SEED}: {line.get('error')}" for name, line in found.items() if not line["ok"]]
    assert not failed, "\n".join(failed)
