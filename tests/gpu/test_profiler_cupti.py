"""Launches timed by CUPTI through NVIDIA's package ``cupti-python``: skipped where it is not installed.

Others may use the card at the same time, as other workers of pytest do. A launch takes longer then, so that each is
measured in both ways at once: what is between two events holds the kernel."""

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
N = 1 << 25

CLOCKS_APART = 10_000 if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1 else 100
"""Microseconds by which CUPTI's times and the host's may differ. It was 1.7 ms on a card that 16 workers shared."""

RESOLUTION = 1.0
"""Of an event, in microseconds."""


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


def measured(folder: Path, run: Callable[[], object], name: str, count: int) -> list[tuple[float, float]]:
    """Microseconds of each launch, by CUPTI and between events."""
    ways = ("cupti", "events")
    sessions = [proton.start(str(folder / way), backend=way, data="trace") for way in ways]
    for _ in range(count):
        run()
    proton.deactivate(flushing=True)
    found: list[list[float]] = []
    for session in sessions:
        events = [e for e in proton.data.get(session)["traceEvents"] if e.get("cat") == "kernel" and e["name"] == name]
        found.append([e["dur"] for e in sorted(events, key=lambda event: event["ts"])])
        proton.finalize(session)
    assert [len(each) for each in found] == [count, count]
    return list(zip(*found, strict=True))


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
    run()
    found = measured(tmp_path, run, "doubled", 50)
    own, between = min(found, key=lambda each: each[1] - each[0])
    print(f"the launch nearest to its events: cupti {own:.1f} us, events {between:.1f} us")
    assert all(0 < own < between + RESOLUTION for own, between in found)
    assert own > 0.8 * between


@pytest.mark.real_gpu
def test_what_is_between_launches_is_not_in_a_time(tmp_path: Path) -> None:
    """Two events have a kernel that does nothing last longer than the kernel itself."""
    x, _ = arrays(16)
    idle[(1,)](x)
    found = measured(tmp_path, lambda: idle[(1,)](x), "idle", 200)
    own, between = (sum(each) / len(found) for each in zip(*found, strict=True))
    print(f"an idle kernel: cupti {own:.2f} us, events {between:.2f} us")
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
    assert outer["ts"] - CLOCKS_APART < kernels[0]["ts"]
    assert kernels[-1]["ts"] + kernels[-1]["dur"] < outer["ts"] + outer["dur"] + CLOCKS_APART


@pytest.mark.real_gpu
def test_a_phase_is_written_with_the_kernels_of_its_launches(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x, y = arrays(1 << 20)
    session = proton.start(str(tmp_path / "profile"), backend="cupti", mode="periodic_flushing:format=hatchet")
    for turn in range(300):
        if turn and turn % 100 == 0:
            proton.data.advance_phase(session)
            assert (tmp_path / f"profile.part_{turn // 100 - 1}.hatchet").exists()
        with proton.scope(f"turn_{turn}"):
            torch.zeros(100, device="cuda")
            doubled[(1024,)](x, y, 1 << 20)
    proton.finalize(session)
    for part in range(3):
        root = json.loads((tmp_path / f"profile.part_{part}.hatchet").read_text())[0]
        scopes = {child["frame"]["name"]: child["children"] for child in root["children"]}
        assert list(scopes) == [f"turn_{turn}" for turn in range(100 * part, 100 * part + 100)]
        for kernels in scopes.values():
            assert len(kernels) == 2 and all(k["metrics"]["count"] == 1 for k in kernels)
            assert all(k["metrics"]["time (ns)"] > 0 for k in kernels)


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
