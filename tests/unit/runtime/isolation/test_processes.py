"""Whole programs under ``TRITONX_ISOLATE=1``: several at once, without a disk to write to, killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from random import Random

import pytest

PROGRAM = """
import numpy as np, tritonx, tritonx.language as tl
@tritonx.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
@tritonx.jit
def broken(x):
    tl.store(x, tl.inline_asm_elementwise("nop", "=v,v", [tl.load(x)], tl.int32, True, 1))
x = np.arange(10, dtype=np.float32)
double[(1,)](x, 10, BLOCK=16)
assert (x == np.arange(10) * 2).all(), x
try:
    tritonx.compile(tritonx.compiler.ASTSource(broken, {"x": "*i32"}), target="cuda:90")
except tritonx.TritonError as error:
    print("constraint 'v'" in str(error))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    return path


def started(program: Path, **variables: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "TRITONX_ISOLATE": "1", "TRITONX_BACKEND": "cpu", **variables}
    return subprocess.Popen(
        [sys.executable, program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_three_processes_share_a_cache(program: Path, tmp_path: Path) -> None:
    children = [started(program, TRITONX_CACHE_DIR=str(tmp_path / "cache")) for _ in range(3)]
    for child in children:
        out, errors = child.communicate(timeout=200)
        assert child.returncode == 0 and out == "True\n", errors
    assert not list((tmp_path / "cache").rglob("tmp.*"))


def test_nothing_can_be_written(program: Path) -> None:
    """No cache, no folder for temporary files: LLVM's words come through all the same."""
    child = started(program, TRITONX_CACHE_DIR="/dev/full/cache", TMPDIR="/nonexistent")
    out, errors = child.communicate(timeout=200)
    assert child.returncode == 0 and out == "True\n", errors
    assert "CacheWarning" in errors


def test_a_compile_that_is_killed_leaves_nothing_wrong(program: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    child = started(program, TRITONX_CACHE_DIR=cache)
    time.sleep(Random(int(os.environ["TRITONX_SEED"])).uniform(0.2, 1.5))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    again = started(program, TRITONX_CACHE_DIR=cache)
    out, errors = again.communicate(timeout=200)
    assert again.returncode == 0 and out == "True\n", errors
