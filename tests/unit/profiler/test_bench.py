"""`do_bench_proton`: the time of kernels alone."""

from __future__ import annotations

import gc
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
from tritonx import testing
from tritonx.profiler.recorder import RECORDER
from tritonx.runtime import knobs


@tritonx.jit
def many(x, ROUNDS: tl.constexpr, B: tl.constexpr = 1024):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(ROUNDS):
        v = tl.sqrt(v + 1)
    tl.store(x + i, v)


@pytest.fixture
def x() -> Any:
    return np.zeros(1024, np.float32)


def test_what_is_between_kernels_is_not_counted(x: Any) -> None:
    def run() -> None:
        many[(1,)](x, 200)
        time.sleep(0.003)
        many[(1,)](x, 200)

    whole = testing.do_bench(run, warmup=1, rep=20)
    kernels = testing.do_bench_proton(run, warmup=1, rep=20)
    assert kernels < whole - 2.5 and not RECORDER.sessions


def test_times_are_those_of_the_kernels(x: Any) -> None:
    few, more = (testing.do_bench_proton(lambda r=r: many[(1,)](x, r), 1, 20, return_mode="min") for r in (1000, 4000))
    assert 2.5 < more / few < 6
    found = testing.do_bench_proton(lambda: many[(1,)](x, 10), 1, 5, quantiles=[0, 1])
    assert found[0] <= found[1]
    assert len(testing.do_bench_proton(lambda: many[(1,)](x, 10), 1, 5, return_mode="all")) >= 1


def test_inside_scopes_and_sessions(x: Any, tmp_path: Any) -> None:
    session = proton.start(str(tmp_path / "profile"))
    with proton.scope("outer"), proton.scope("inner"):
        assert testing.do_bench_proton(lambda: many[(1,)](x, 10), 1, 2) > 0
    proton.finalize(session)


def test_a_function_that_fails(x: Any) -> None:
    calls: list[int] = []

    def fails() -> None:
        calls.append(1)
        many[(1,)](x, 1)
        if len(calls) > 30:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        testing.do_bench_proton(fails, 1, 100)
    assert not RECORDER.sessions and not knobs.runtime.launch_enter_hook


def test_what_cannot_be_timed(x: Any) -> None:
    with pytest.raises(testing.NoKernels):
        testing.do_bench_proton(lambda: x.sum(), 1, 1)
    with pytest.raises(testing.NoGraphs):
        testing.do_bench_cudagraph_proton(lambda: None)
    with knobs.proton.scope():
        knobs.proton.disable = True
        with pytest.raises(RuntimeError, match="switched off"):
            testing.do_bench_proton(lambda: many[(1,)](x, 1), 1, 1)


@pytest.mark.parametrize("enabled", [True, False])
def test_graphs_are_recorded_without_the_collector(monkeypatch: pytest.MonkeyPatch, enabled: bool) -> None:
    seen: list[Any] = []

    @contextmanager
    def graph(*args: Any) -> Any:
        seen.append((args, gc.isenabled()))
        yield 5

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(graph=graph)))
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with testing.cuda_graph_without_gc(7) as found:
            assert found == 5
        assert seen == [((7,), False)] and gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
