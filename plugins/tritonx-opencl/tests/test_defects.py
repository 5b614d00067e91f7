"""What proves that a case of ``tritonx_opencl.defects`` fails by the driver: a kernel of two lines, on each target.

It looks at the driver only, so it runs with ``TRITONX_CONFORMANCE=full``; a driver that is mended fails here."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, ml_dtypes, numpy as np, tritonx, tritonx.language as tl
from tritonx.runtime import driver

@tritonx.jit
def narrowed(x, half, single, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(half + i, value.to(tl.bfloat16))
    tl.store(single + i, value.to(tl.float32))

driver.set_active("opencl")
n = int(sys.argv[1])
x, half, single = np.arange(n) / 4, np.zeros(n, ml_dtypes.bfloat16), np.zeros(n, np.float32)
narrowed[(1,)](x, half, single, N=n, num_warps=1)
assert (half == x.astype(ml_dtypes.bfloat16)).all() and (single == x).all()
"""
SECONDS = 20
"""Of the processor. All that ends takes less than two."""


def ends(folder: Path, target: str, numbers: int) -> bool:
    """Whether ``numbers`` doubles in one warp are stored, and right."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), str(numbers)], capture_output=True, text=True, check=False,
        env={**os.environ, "TRITONX_OPENCL_TARGET": target, "TRITONX_CACHE_DIR": str(folder / "cache")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )  # fmt: skip
    assert done.returncode <= 0, done.stderr
    return done.returncode == 0


@pytest.mark.skipif(os.environ.get("TRITONX_CONFORMANCE") != "full", reason="it looks at the driver only")
@pytest.mark.usefixtures("device")
def test_doubles_as_bf16_and_f32(tmp_path: Path) -> None:
    assert ends(tmp_path, "spirv", 16)
    assert ends(tmp_path, "items", 32)
    assert not ends(tmp_path, "spirv", 32), "clBuildProgram ends: the row of defects.py can go"
