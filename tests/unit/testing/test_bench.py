"""Benchmark reports, comparisons and peak rates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonx import testing
from tritonx.backends.api import Target
from tritonx.runtime import driver
from tritonx.runtime.devices.benchmark import quantile
from tritonx.testing import _summarize_statistics


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_quantiles_are_numpys(values: list[float], share: float) -> None:
    assert quantile(sorted(values), share) == pytest.approx(np.quantile(values, share), rel=1e-9, abs=1e-9)


def test_summaries() -> None:
    times = [3.0, 1.0, 2.0, 10.0]
    assert _summarize_statistics(times, [0.5], "mean") == 2.5
    assert _summarize_statistics(times, [0, 1], "mean") == [1, 10]
    found = {mode: _summarize_statistics(times, None, mode) for mode in ("min", "max", "mean", "median", "all")}
    assert found == {"min": 1, "max": 10, "mean": 4, "median": 2.5, "all": times}
    with pytest.raises(ValueError, match="must be in the range"):
        quantile(times, 1.5)
    with pytest.raises(ValueError, match="return_mode must be one of"):
        testing.do_bench(lambda: None, return_mode="mode")


class FakeDriver:
    """Each run takes a millisecond, whatever it does."""

    def __init__(self) -> None:
        self.runs: list[int] = []

    def synchronize(self, device: int | None = None) -> None: ...

    def time(self, run: Any, repeat: int, *, flush_cache: bool = True) -> list[float]:
        self.runs.append(repeat)
        for _ in range(repeat):
            run()
        return [1.0] * repeat

    def current_device(self) -> int:
        return 0

    def current_target(self, device: int | None = None) -> Target:
        return Target("chip", 90, 32)

    def properties(self, device: int) -> dict[str, int]:
        return {"mem_clock_rate": 2_619_000, "mem_bus_width": 5120, "multiprocessor_count": 132}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    own = FakeDriver()
    active = type("Active", (), {"implementation": own, "backend": type("B", (), {"name": "chip"})})()
    monkeypatch.setattr(driver, "get_active", lambda: active)
    return own


def test_do_bench_spends_the_time_it_was_given(fake: FakeDriver) -> None:
    calls: list[int] = []
    tensor = type("Tensor", (), {"grad": 5})()
    result = testing.do_bench(lambda: calls.append(1), warmup=7, rep=20, grad_to_none=[tensor], quantiles=[0.5, 0.9])
    assert result == [1.0, 1.0]
    assert fake.runs == [5, 20]
    assert len(calls) == 1 + 5 + 7 + 20
    assert tensor.grad is None


def test_peaks_of_a_known_device(fake: FakeDriver) -> None:
    assert testing.get_dram_gbps() == pytest.approx(3352, rel=1e-3)
    assert testing.get_max_tensorcore_tflops("float16", 1_830_000) == pytest.approx(989, rel=1e-2)
    assert testing.get_max_simd_tflops("float32", 1_830_000) == pytest.approx(62, rel=1e-1)
    with pytest.raises(ValueError, match="not supported"):
        testing.get_max_tensorcore_tflops("float64", 1)


def test_assert_close() -> None:
    testing.assert_close(np.array([1.0, np.nan, np.inf]), np.array([1.005, np.nan, np.inf]))
    testing.assert_close(np.ones(3, ml_dtypes.bfloat16), np.ones(3), atol=0)
    with pytest.raises(AssertionError, match="scaled"):
        testing.assert_close(np.zeros(3), np.full(3, 0.02), err_msg="scaled")
    with pytest.raises(AssertionError):
        testing.assert_close(np.array([np.inf]), np.array([1.0]))


def test_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = testing.Benchmark(
        x_names=["n"],
        x_vals=[1, 2],
        line_arg="way",
        line_vals=["a", "b"],
        line_names=["A", "B"],
        plot_name="plot",
        args={"base": 10},
        ylabel="ms",
    )

    @testing.perf_report(benchmark)
    def measure(n: int, way: str, base: int, extra: int = 0) -> Any:
        value = base * n + extra
        return value if way == "a" else (value + 0.5, value, value + 1)

    measure.run(print_data=True, save_path=str(tmp_path), extra=1)
    assert (tmp_path / "plot.csv").read_text() == "n,A (ms),B (ms)\n1,11.000000,11.500000\n2,21.000000,21.500000\n"
    assert "21.500000" in capsys.readouterr().out
    pairs = testing.Benchmark(["m", "n"], [(1, 2), 3], "way", ["a"], ["A"], "p", {})
    assert [x for x, _ in pairs.measure(lambda m, n, way: m * n)] == [(1, 2), (3, 3)]
    with pytest.raises(ValueError, match="Expected 2 values"):
        testing.Benchmark(["m", "n"], [(1, 2, 3)], "way", ["a"], ["A"], "p", {}).measure(lambda **_: 1)
