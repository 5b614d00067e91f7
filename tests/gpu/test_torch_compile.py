"""``torch.compile`` on the GPU, with tritonx in Triton's place: 14 programs, forward and backward, against eager.

One process runs them all, because starting PyTorch's workers takes longer than most programs; each line that it writes
is one program's result."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
COUNT = 14


@pytest.mark.real_gpu
def test_programs_match_eager(tmp_path: Path) -> None:
    seed = os.environ["TRITONX_SEED"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
        "TRITONX_CACHE_DIR": str(tmp_path / "triton"),
    }
    script = str(ROOT / "benchmarks" / "torch_programs.py")
    command = [sys.executable, "-m", "tritonx.compat", script, "--device", "cuda", "--seed", seed]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=580)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1 + COUNT, done.stderr[-3000:]
    assert lines[0]["triton"] == "tritonx"
    failed = [f"{line['program']} with seed {seed}: {line.get('error')}" for line in lines if not line["ok"]]
    assert not failed, "\n".join(failed)
