"""What is computed from a value along 2^40 paths is looked at once: by the front end, every pass and every emitter.

Whoever forgets where it has been does not end: the compile runs in a child that has a limit of time.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

LIMIT = 120
"""Seconds; it takes about three on an idle machine."""

KERNEL = """
import tritonx
import tritonx.language as tl


@tritonx.jit
def doubled(x_ptr, out_ptr, n, WIDE: tl.constexpr, DEPTH: tl.constexpr):
    i, j = tl.arange(0, WIDE)[:, None], tl.arange(0, WIDE)[None, :]
    at = i * WIDE + j
    x = tl.load(x_ptr + at)
    total = tl.zeros((WIDE, WIDE), tl.float32)
    mask, offset = i < n, at
    for _ in range(n):
        y, k, m = x, offset, mask
        for d in tl.static_range(DEPTH):
            y = y * y + d
            k = (k + k) % 7
            m = (m & (k > d)) | (m & (y > 0))
            if n > d:
                y = y + x
        y = tl.where(m, y, tl.trans(y))
        total = tl.dot(y.to(tl.float16), tl.trans(y).to(tl.float16), total)
        x = tl.load(x_ptr + k, mask=m, other=0.0) + tl.trans(y)
        offset = k
    s = tl.sum(x, 0)
    for d in tl.static_range(DEPTH):
        s = s * s + tl.sum(s, 0)
    tl.store(out_ptr + at, total + s[None, :])
"""
CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
from kernel import doubled
from tritonx.backends.api import Compilation, run_stages
from tritonx.backends.registry import parse_target
from tritonx.frontend.compile import make_module

backend, target = parse_target(sys.argv[1])
options = backend.parse_options(target, {})
signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "WIDE": "constexpr", "DEPTH": "constexpr"}
module = make_module(doubled, signature, {(3,): 32, (4,): 40}, {}, options, target)
stages = backend.stages(target, options)
names = [stage.name for stage in stages]
made = run_stages(module, stages[: names.index("llir") + 1], Compilation(target, options))
print(len(made["llir"]))
"""


@pytest.mark.parametrize("target", ["cpu", "cuda:90", "hip:gfx942"])
def test_a_compile_ends(target: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(textwrap.dedent(KERNEL))
    command = [sys.executable, "-c", CHILD, target, str(tmp_path)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 1000
