"""Children of a fork: the profile is the parent's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
import numpy as np
import tritonx, tritonx.language as tl
import tritonx.profiler as proton

@tritonx.jit
def kernel(x):
    tl.store(x, 1)

x = np.zeros(4)
session = proton.start("parents")
kernel[(1,)](x)
child = os.fork()
if child == 0:
    for _ in range(3):
        kernel[(1,)](x)
    proton.finalize()
    proton.start("childs")
    kernel[(1,)](x)
    proton.finalize()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert not os.path.exists("parents.hatchet")
kernel[(1,)](x)
proton.finalize(session)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_writes_its_own_profile_only(tmp_path: Path) -> None:
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "TRITONX_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr

    def launches(name: str) -> int:
        tree = json.loads((tmp_path / f"{name}.hatchet").read_text())[0]
        return sum(each["metrics"].get("count", 0) for each in tree["children"])

    assert (launches("parents"), launches("childs")) == (2, 1)
