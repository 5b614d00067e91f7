"""The page's model with a kernel of its own, packed by PyTorch and loaded again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "embedding.md"


def offered() -> bool:
    """Earlier releases of PyTorch take no kernels for CPUs."""
    if find_spec("torch") is None or shutil.which("c++") is None or sys.platform != "linux":
        return False
    return tuple(map(int, version("torch").split(".")[:2])) >= (2, 13)


@pytest.mark.skipif(not offered(), reason="needs PyTorch 2.13 and a C++ compiler")
def test_the_model_of_the_page(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(import torch\n.*?)^```", PAGE.read_text(), re.M | re.S)
    (tmp_path / "export.py").write_text(program)
    folders = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TRITONX_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "tritonx.compat", "export.py"], cwd=tmp_path, capture_output=True, text=True,
        timeout=600, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **folders},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model.pt2").exists()
