"""Kernels that are sealed for compute capability 9.0 where no GPU is seen, then launched on one that compiles nothing.

What another process prints of its first launches is shown with `pytest -s`: processor time, and how much of it is
loading the code."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu.where import GPU
from tritonx.runtime import driver

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("sealed_program.py")
TARGET = "cuda:90"

KERNELS = """
import tritonx, tritonx.language as tl

@tritonx.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        ks = at + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + ks, mask=(rows < m)[:, None] & (ks < k), other=0.0)
        y = tl.load(b + ks[:, None] * n + columns, mask=(ks < k)[:, None] & (columns < n), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * n + columns, total.to(tl.float16), mask=(rows < m)[:, None] & (columns < n))

@tritonx.jit
def softmax(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + at, e / tl.sum(e, 0), mask=at < n)

@tritonx.jit
def attention(q, k, v, o, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(1) * n
    row = first + tl.program_id(0) * M
    query = q.load([row, 0])
    most = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    result = tl.zeros((M, D), tl.float32)
    for at in range(0, n, N):
        scores = tl.dot(query, k.load([first + at, 0]).T) * (scale * 1.4426950408889634)
        now = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - now[:, None])
        less = tl.exp2(most - now)
        total = total * less + tl.sum(p, 1)
        result = tl.dot(p.to(tl.float16), v.load([first + at, 0]), result * less[:, None])
        most = now
    o.store([row, 0], (result / total[:, None]).to(tl.float16))
"""
PACKAGE = """
[[kernel]]
kernel = "matmul"
file = "kernels.py"
targets = ["{target}"]
options = {{ num_warps = [4], num_stages = [3] }}
[kernel.arguments]
a = "*fp16:16"
b = "*fp16:16"
c = "*fp16:16"
m = {{ range = [2, 8192] }}
n = {{ range = [16, 8192], multiple_of = 16 }}
k = {{ range = [16, 8192], multiple_of = 16 }}
BM = 64
BN = 64
BK = 32

[[kernel]]
kernel = "softmax"
file = "kernels.py"
targets = ["{target}"]
[kernel.arguments]
x = "*fp32"
y = "*fp32"
n = {{ range = [2, 1024] }}
B = 1024

[[kernel]]
kernel = "attention"
file = "kernels.py"
targets = ["{target}"]
options = {{ num_warps = [4] }}
[kernel.arguments]
q = "tensordesc<fp16[64, 64]>:16"
k = "tensordesc<fp16[64, 64]>:16"
v = "tensordesc<fp16[64, 64]>:16"
o = "tensordesc<fp16[64, 64]>:16"
n = {{ range = [64, 8192], multiple_of = 64 }}
scale = "float"
M = 64
N = 64
D = 64
"""


def sealed(folder: Path, target: str) -> None:
    """In a process that sees no GPU."""
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "package.toml").write_text(PACKAGE.format(target=target))
    run(folder, "-m", "tritonx", "seal", "package.toml", CUDA_VISIBLE_DEVICES="")


def run(folder: Path, *line: str, **environment: str) -> str:
    path = os.pathsep.join(filter(None, [str(ROOT), str(folder), os.environ.get("PYTHONPATH", "")]))
    own = {"PYTHONPATH": path, "TRITONX_CACHE_DIR": str(folder / "empty")}
    done = subprocess.run(
        [sys.executable, *line], cwd=folder, env={**os.environ, **own, **environment},
        capture_output=True, text=True, timeout=580,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.real_gpu
def test_sealed_kernels(tmp_path: Path) -> None:
    """Against PyTorch in float64; a launch without a member is refused by name."""
    if GPU is None or str(driver.get_active().get_current_target()) != TARGET:
        pytest.skip(f"the GPU is not {TARGET}")
    sealed(tmp_path, TARGET)
    out = run(tmp_path, str(PROGRAM), "cuda", os.environ["TRITONX_SEED"], TRITONX_SEALED="sealed")
    found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    for each in found:
        print(each)
    assert [each["kernel"] for each in found] == ["matmul", "softmax", "attention", "refused"]
    assert all(each["ok"] for each in found), out


AOTI = """
import sys
import torch

if sys.argv[1] == "export":
    import triton
    import triton.language as tl

    @triton.jit
    def affine(x, y, n, B: tl.constexpr):
        at = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + at, tl.load(x + at, mask=at < n) * 2 + 1, mask=at < n)

    class Model(torch.nn.Module):
        def forward(self, x):
            y = torch.empty_like(x)
            affine[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), B=128)
            return y.sin()

    x = torch.randn(1000, device=sys.argv[2])
    exported = torch.export.export(Model(), (x,), strict=True)
    torch._inductor.aoti_compile_and_package(exported, package_path="model.pt2")
    print(triton.__file__)
else:
    sys.modules |= dict.fromkeys(["triton", "tritonx", "xdsl", "llvmlite"])  # importing them fails
    x = torch.randn(1000, device=sys.argv[2])
    found = torch._inductor.aoti_load_package("model.pt2")(x)
    print((found.double() - torch.sin(x.double() * 2 + 1)).abs().max().item() < 1e-5)
"""


def packaged_and_loaded(folder: Path, device: str) -> None:
    """A model with a kernel of the user's, packed by AOTInductor; another process runs it without a compiler."""
    (folder / "model.py").write_text(AOTI)
    own = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    assert "tritonx" in run(folder, "-m", "tritonx.compat", "model.py", "export", device, **own)
    assert run(folder, "model.py", "load", device, **own) == "True\n"


def tritons_loads(folder: Path, device: str) -> bool:
    """Whether the same model with a kernel that Triton itself compiles can be loaded on this machine."""
    folder.mkdir()
    (folder / "model.py").write_text(AOTI.replace("sys.modules |=", "{} |="))
    own = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    for step in ("export", "load"):
        line = [sys.executable, "model.py", step, device]
        if subprocess.run(line, cwd=folder, env=own, capture_output=True, timeout=580).returncode:
            return False
    return True


@pytest.mark.real_gpu
def test_a_kernel_in_aotinductor(tmp_path: Path) -> None:
    try:
        packaged_and_loaded(tmp_path, "cuda")
    except AssertionError:
        if importlib.util.find_spec("triton") is None or tritons_loads(tmp_path / "triton", "cuda"):
            raise
        pytest.skip("PyTorch does not load the model on this machine with Triton's kernel either")
