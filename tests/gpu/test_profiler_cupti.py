"""Launches timed by CUPTI through NVIDIA's package ``cupti-python``: skipped where it is not installed."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
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

cupti = pytest.importorskip("cupti.cupti", reason="cupti-python is not installed")

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
N = 1 << 24


@pytest.fixture(autouse=True)
def no_session_is_left() -> Iterator[None]:
    yield
    proton.finalize()


@tritonx.jit
def doubled(x, y, n, BLOCK: tl.constexpr = 1024):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@tritonx.jit
def idle(x):
    tl.store(x, 1.0)


def arrays(n: int) -> tuple[Any, Any]:
    return to_device(RNG.standard_normal(n, dtype=np.float32)), to_device(np.zeros(n, np.float32))


def measured(folder: Path, way: str, run: Callable[[], object], name: str, count: int) -> float:
    """Nanoseconds of a launch."""
    session = proton.start(str(folder / way), backend=way)
    for _ in range(count):
        run()
    proton.deactivate(session, flushing=True)
    [found] = [n for n in proton.data.get(session)[0]["children"] if n["frame"]["name"] == name]
    proton.finalize(session)
    assert found["metrics"]["count"] == count
    return found["metrics"]["time (ns)"] / count


def test_the_package_has_what_is_used() -> None:
    """Its names, and what their parameters are called: a package of another version may have others."""
    for name in ("enable", "disable", "flush_all"):
        assert callable(getattr(cupti, f"activity_{name}"))
    for name in ("push", "pop"):
        assert callable(getattr(cupti, f"activity_{name}_external_correlation_id"))
    assert callable(cupti.get_timestamp)
    assert int(cupti.ActivityKind.CONCURRENT_KERNEL) != int(cupti.ActivityKind.EXTERNAL_CORRELATION)
    assert int(cupti.ExternalCorrelationKind.CUSTOM0) >= 0


@pytest.mark.real_gpu
def test_it_is_the_best_way() -> None:
    ways = driver.get_active().implementation.launch_timers()
    assert next(iter(ways)) == "cupti"
    ways["cupti"]().close()


@pytest.mark.real_gpu
def test_a_kernels_time_is_that_between_events(tmp_path: Path) -> None:
    x, y = arrays(N)
    run = lambda: doubled[(N // 1024,)](x, y, N)  # noqa: E731
    expected = tritonx.testing.do_bench(run, quantiles=[0.5]) * 1e6
    found = measured(tmp_path, "cupti", run, "doubled", 50)
    print(f"cupti {found:.0f} ns, do_bench {expected:.0f} ns")
    assert abs(found / expected - 1) < 0.2


@pytest.mark.real_gpu
def test_what_is_between_launches_is_not_in_a_time(tmp_path: Path) -> None:
    """Two events have a kernel that does nothing last longer than the kernel itself."""
    x, _ = arrays(16)
    own, between = (measured(tmp_path, way, lambda: idle[(1,)](x), "idle", 200) for way in ("cupti", "events"))
    print(f"an idle kernel: cupti {own:.0f} ns, events {between:.0f} ns")
    assert 0 < own < between


@pytest.mark.real_gpu
def test_a_trace_has_the_order_of_the_stream(tmp_path: Path) -> None:
    x, y = arrays(1 << 20)
    session = proton.start(str(tmp_path / "profile"), data="trace", backend="cupti")
    with proton.scope("outer"):
        for _ in range(50):
            doubled[(1024,)](x, y, 1 << 20)
        driver.get_active().implementation.synchronize()
    proton.finalize(session)
    events = json.loads((tmp_path / "profile.chrome_trace").read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    [outer] = [event for event in events if event["name"] == "outer"]
    assert len(kernels) == 50 and all(kernel["dur"] > 0 for kernel in kernels)
    for one, other in itertools.pairwise(kernels):
        assert one["ts"] + one["dur"] <= other["ts"] + 1e-3
    assert outer["ts"] - 100 < kernels[0]["ts"]
    assert kernels[-1]["ts"] + kernels[-1]["dur"] < outer["ts"] + outer["dur"] + 100


@pytest.mark.real_gpu
def test_launches_of_others_are_counted_in_their_scope(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(4096, device="cuda")
    y = torch.zeros_like(x)
    torch.cuda.synchronize()
    session = proton.start(str(tmp_path / "profile"), backend="cupti")
    torch.cos(x)
    for _ in range(3):
        with proton.scope("outer"):
            doubled[(4,)](x, y, 4096)
            torch.sin(x)
            with proton.scope("inner"):
                torch.exp(x)
            torch.sin(x)
    proton.deactivate(session)
    torch.cos(x)
    proton.activate(session)
    torch.cos(x)
    proton.finalize(session)
    root = json.loads((tmp_path / "profile.hatchet").read_text())[0]

    def counts(node: dict[str, Any]) -> dict[str, int]:
        return {c["frame"]["name"]: c["metrics"]["count"] for c in node["children"] if c["metrics"].get("count")}

    def child(node: dict[str, Any], name: str) -> dict[str, Any]:
        return next(c for c in node["children"] if c["frame"]["name"] == name)

    outer = child(root, "outer")
    inner = child(outer, "inner")
    assert sum(n for name, n in counts(root).items() if "cos" in name) == 2
    assert counts(outer).pop("doubled") == 3
    assert sum(n for name, n in counts(outer).items() if "sin" in name) == 6
    assert sum(n for name, n in counts(inner).items() if "exp" in name) == 3


@pytest.mark.real_gpu
def test_launches_are_timed_where_another_has_cupti(tmp_path: Path) -> None:
    """While PyTorch's profiler runs a session takes CUPTI or the next best way, and both see the kernel."""
    torch = pytest.importorskip("torch")
    profiler = pytest.importorskip("torch.profiler")
    x = torch.ones(4096, device="cuda")
    y = torch.zeros_like(x)
    doubled[(4,)](x, y, 4096)
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as theirs:
        try:
            driver.get_active().implementation.launch_timers()["cupti"]().close()
            taken = False
        except NoTimer:
            taken = True
        session = proton.start(str(tmp_path / "profile"))
        doubled[(4,)](x, y, 4096)
        torch.cuda.synchronize()
        proton.finalize(session)
    [found] = json.loads((tmp_path / "profile.hatchet").read_text())[0]["children"]
    print("PyTorch's profiler has CUPTI to itself" if taken else "both have CUPTI")
    assert found["metrics"]["count"] == 1 and found["metrics"]["time (ns)"] > 0
    assert theirs is not None
