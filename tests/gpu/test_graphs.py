"""Launches recorded into graphs, and timed so."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device

SEED = int(os.environ["TRITONX_SEED"])

N = 1 << 20


@tritonx.jit
def increased(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


def launch(x: object) -> None:
    increased[(tritonx.cdiv(N, 1024),)](x, N, BLOCK=1024)


WITHOUT_PYTORCH = """
import sys
sys.path.insert(0, {path!r})
import test_graphs
test_graphs.check_without_pytorch()
assert "torch" not in sys.modules
print("right")
"""


def check_without_pytorch() -> None:
    x = to_device(np.zeros(N, np.float32))
    runs: list[int] = []
    others: list[BaseException] = []
    beside = to_device(np.zeros(N, np.float32))

    def elsewhere() -> None:  # a launch of another thread is no part of the graph
        try:
            launch(beside)
        except BaseException as error:
            others.append(error)

    def run() -> None:
        launch(x)
        runs.append(1)
        if len(runs) == 9:
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()

    times = tritonx.testing.do_bench_cudagraph(run, rep=5, return_mode="all")
    assert not others, others
    assert isinstance(times, list)
    assert len(times) == 10
    assert all(0.0005 < time < 1 for time in times)
    recorded = len(runs) - 6  # the first, and five that tell how long one takes
    assert recorded >= 4
    np.testing.assert_array_equal(x.numpy(), np.full(N, 6 + 11 * recorded, np.float32))
    np.testing.assert_array_equal(beside.numpy(), np.ones(N, np.float32))


@pytest.mark.real_gpu
def test_without_pytorch() -> None:
    program = WITHOUT_PYTORCH.format(path=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "right\n", done.stderr


@pytest.mark.real_gpu
def test_with_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.zeros(N, device="cuda")
    runs: list[int] = []

    def run() -> None:
        launch(x)
        x.mul_(1)  # PyTorch's own kernels are recorded too
        runs.append(1)

    low, median = tritonx.testing.do_bench_cudagraph(run, rep=5, quantiles=[0.1, 0.5])  # pyright: ignore[reportGeneralTypeIssues]  # two quantiles are a list
    assert 0 < low <= median < 1
    assert torch.equal(x, torch.full_like(x, 6 + 11 * (len(runs) - 6)))


@pytest.mark.real_gpu
def test_a_search_by_graphs() -> None:
    torch = pytest.importorskip("torch")

    @tritonx.autotune([tritonx.Config({"BLOCK": b}) for b in (256, 1024)], key=["n"], use_cuda_graph=True)
    @tritonx.jit
    def doubled(x, y, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

    x = torch.randn(N, generator=torch.Generator().manual_seed(SEED)).cuda()
    y = torch.full_like(x, float("nan"))
    doubled[lambda meta: (tritonx.cdiv(N, meta["BLOCK"]),)](x, y, N)
    assert torch.equal(y, x * 2)
    assert len(doubled.configs_timings) == 2
