"""The profiler on a GPU: times, what a launch costs, and what PyTorch's profiler sees."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device
from tritonx.runtime.errors import NoTimer

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
N = 1 << 26
CHEAPEST = 40.0
"""Microseconds that a launch may cost more while it is profiled."""


def described(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
    return {"name": metadata.name, "bytes": 8 * args["n"]}


@tritonx.jit(launch_metadata=described)
def doubled(x, y, n, BLOCK: tl.constexpr = 1024):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def ways() -> list[str]:
    """Those of this machine's driver that can be used."""
    found: list[str] = []
    for name, make in driver.get_active().implementation.launch_timers().items():
        try:
            make().close()
        except NoTimer:
            continue
        found.append(name)
    return found


def arrays(n: int) -> tuple[Any, Any]:
    x = RNG.standard_normal(n, dtype=np.float32)
    return to_device(x), to_device(np.zeros(n, np.float32))


def launches(node: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [child for child in node["children"] if child["frame"]["name"] == name]
    return found["metrics"]


@pytest.mark.real_gpu
def test_a_kernels_time_is_that_between_events(tmp_path: Path) -> None:
    """Within 20 % of what `do_bench` measures, for a kernel of about 150 microseconds, by each way."""
    x, y = arrays(N)
    run = lambda: doubled[(N // 1024,)](x, y, N)  # noqa: E731
    expected = tritonx.testing.do_bench(run, quantiles=[0.5])
    for way in ways():
        session = proton.start(str(tmp_path / way), backend=way)
        driver.get_active().implementation.time(run, 50)
        measured = launches(proton.data.get(session)[0], "doubled")
        proton.finalize(session)
        each = measured["time (ns)"] / measured["count"] / 1e6
        assert measured["count"] == 50 and abs(each / expected - 1) < 0.2, (way, each, expected)
    by_profiler = tritonx.testing.do_bench_proton(run, quantiles=[0.5])
    assert abs(by_profiler / expected - 1) < 0.2


@pytest.mark.real_gpu
def test_a_launch_costs_little_more(tmp_path: Path) -> None:
    """And nothing while the session is paused."""
    x, y = arrays(64)

    def microseconds() -> float:
        best = float("inf")
        for _ in range(10):
            driver.get_active().implementation.synchronize()
            before = time.perf_counter_ns()
            for _ in range(200):
                doubled[(1,)](x, y, 64)
            best = min(best, (time.perf_counter_ns() - before) / 200e3)
        return best

    doubled[(1,)](x, y, 64)
    without = microseconds()
    costs: dict[str, float] = {}
    for way in ways():
        session = proton.start(str(tmp_path / way), backend=way)
        costs[way] = microseconds() - without
        proton.deactivate(session, flushing=True)
        paused = microseconds()
        proton.finalize(session)
        assert paused < without + 1
    print(f"a launch: {without:.2f} us; more while it is profiled: {costs}")
    assert all(cost < CHEAPEST for cost in costs.values()), costs


def test_scopes_metrics_and_devices(tmp_path: Path) -> None:
    x, y = arrays(4096)
    session = proton.start(str(tmp_path / "profile"), hook="triton")
    with proton.scope("outer"):
        for _ in range(3):
            doubled[(4,)](x, y, 4096)
    proton.finalize(session)
    np.testing.assert_array_equal(y.numpy(), 2 * x.numpy())
    root, devices = json.loads((tmp_path / "profile.hatchet").read_text())
    measured = launches(root["children"][0], "doubled")
    kind = driver.get_active().get_current_target().backend.upper()
    assert (measured["count"], measured["bytes"], measured["device_type"]) == (3, 3 * 8 * 4096, kind)
    assert devices[kind][measured["device_id"]]["num_sms"] > 0


@pytest.mark.real_gpu
def test_a_trace_has_the_order_of_a_stream(tmp_path: Path) -> None:
    x, y = arrays(1 << 20)
    for way in ways():
        session = proton.start(str(tmp_path / way), data="trace", backend=way)
        with proton.scope("outer"):
            for _ in range(20):
                doubled[(1024,)](x, y, 1 << 20)
            driver.get_active().implementation.synchronize()
        proton.finalize(session)
        events = json.loads((tmp_path / f"{way}.chrome_trace").read_text())["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel"]
        [outer] = [e for e in events if e["name"] == "outer"]
        assert len(kernels) == 20
        for one, other in itertools.pairwise(kernels):
            assert one["ts"] + one["dur"] <= other["ts"] + 1
        assert outer["ts"] - 50 < kernels[0]["ts"] and kernels[-1]["ts"] < outer["ts"] + outer["dur"] + 50


@pytest.mark.real_gpu
def test_pytorchs_profiler_shows_the_kernels_name() -> None:
    torch = pytest.importorskip("torch")
    profiler = pytest.importorskip("torch.profiler")
    x = torch.ones(4096, device="cuda")
    y = torch.zeros_like(x)
    doubled[(4,)](x, y, 4096)
    activities = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
    with profiler.profile(activities=activities) as found:
        doubled[(4,)](x, y, 4096)
        torch.cuda.synchronize()
    assert any(event.key.startswith("doubled") for event in found.key_averages())


@pytest.mark.real_gpu
def test_a_graph_that_is_recorded_is_not_broken(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(4096, device="cuda")
    y = torch.zeros_like(x)
    session = proton.start(str(tmp_path / "profile"))
    doubled[(4,)](x, y, 4096)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled[(4,)](x, y, 4096)
    y.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, 2 * x)
    assert launches(proton.data.get(session)[0], "doubled")["count"] >= 1
    proton.finalize(session)
