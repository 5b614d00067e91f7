"""Searches that measure in other processes and on several devices, and the command over them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tritonx.runtime import driver, knobs
from tritonx.runtime.compiling.compile_job import perform
from tritonx.runtime.config import Config
from tritonx.runtime.errors import OutOfResources
from tritonx.runtime.tuning.across_devices import search_across_devices
from tritonx.runtime.tuning.case import Case, NoCase, kernels, measure, tuner
from tritonx.runtime.tuning.report import FASTEST, IMPOSSIBLE
from tritonx.runtime.tuning.workers import CompileWorkers
from tritonx.tools.tune import device_processes, tune

if TYPE_CHECKING:
    import distributed

SEED = int(os.environ["TRITONX_SEED"])
CONFIGS = [Config({"X": i}) for i in range(24)]


class Device:
    """A device ``speed`` times as fast as another; it does one thing at a time."""

    in_flight = 3

    def __init__(self, true: dict[Config, float], speed: float, impossible: Config) -> None:
        self.true, self.speed, self.impossible = true, speed, impossible
        self.busy = threading.Lock()
        self.seen: set[Config] = set()

    def begin(self, config: Config) -> None:
        return None

    def on_host(self) -> bool:
        return False

    def times(self, config: Config, count: int) -> Sequence[float]:
        assert self.busy.acquire(blocking=False), "measured twice at once"
        try:
            if config == self.impossible:
                raise OutOfResources(2, 1, "threads")
            self.seen.add(config)
            threading.Event().wait(0.001)
            return [self.true[config] / self.speed] * count
        finally:
            self.busy.release()

    def refuses(self, config: Config, error: Exception) -> bool:
        return isinstance(error, OutOfResources)


@pytest.mark.parametrize("number", range(8))
def test_several_devices_find_the_same(number: int) -> None:
    """However fast each is: the slow device's best is not taken for slow."""
    draw = random.Random(f"{SEED} {number}")
    true = {config: draw.uniform(1, 3) for config in CONFIGS}
    impossible = draw.choice(CONFIGS)
    devices = [Device(true, draw.uniform(0.3, 3), impossible) for _ in range(draw.randint(1, 4))]
    found = search_across_devices(devices, CONFIGS)
    wanted = min((c for c in CONFIGS if c != impossible), key=lambda c: true[c])
    (best,) = [each for each in found if each.fate == FASTEST]
    assert true[best.config] <= 1.01 * true[wanted]
    assert [each.config for each in found] == CONFIGS
    assert min(found, key=lambda each: each.times).config == best.config
    assert [each.config for each in found if each.fate == IMPOSSIBLE] == [impossible]
    assert set().union(*(device.seen for device in devices)) == set(CONFIGS) - {impossible}
    assert all(device.seen for device in devices)


def test_what_goes_wrong_on_one_device_ends_the_search() -> None:
    class Broken(Device):
        def times(self, config: Config, count: int) -> Sequence[float]:
            raise ZeroDivisionError

    true = dict.fromkeys(CONFIGS, 1.0)
    with pytest.raises(ZeroDivisionError):
        search_across_devices([Device(true, 1, CONFIGS[0]), Broken(true, 1, CONFIGS[0])], CONFIGS)


PROGRAM = """
import numpy as np
import tritonx, tritonx.language as tl

@tritonx.autotune(
    [tritonx.Config({"BLOCK": b}, pre_hook=lambda args: args["y"].fill(0)) for b in (64, 256, 1024)], key=["n"])
@tritonx.jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

@tritonx.autotune([tritonx.Config({"BLOCK": b}) for b in (16, 32)], key=["n"])
@tritonx.jit
def cleared(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 0.0, mask=at < n)

def tuning_inputs():
    for n in (1000, 5000):
        x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
        yield lambda meta, n=n: (tritonx.cdiv(n, meta["BLOCK"]),), (x, y, n)

def nothing():
    return []
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


@pytest.fixture(scope="module")
def executors() -> Iterator[dict[str, list[Executor]]]:
    """Ours, and Python's own."""
    ours = [CompileWorkers(1, modest=False) for _ in range(2)]
    python = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    yield {"ours": [*ours], "python": [python]}
    for each in (*ours, python):
        each.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.Client]:
    """Two processes of Dask's on this machine, each of which does one thing at a time."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


def test_processes_of_a_cluster_measure_and_compile(
    file: str, cluster: distributed.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured by two of Dask's executors at once, compiled by a third: each configuration is, the choice is kept."""
    cluster.run(os.environ.__setitem__, "TRITONX_CACHE_DIR", os.environ["TRITONX_CACHE_DIR"])
    places = sorted(cluster.scheduler_info()["workers"])
    compiling, submitted = cluster.get_executor(), list[Callable[..., object]]()
    submit = compiling.submit
    monkeypatch.setattr(compiling, "submit", lambda fn, *args: submitted.append(fn) or submit(fn, *args))
    with knobs.autotuning.scope():
        knobs.autotuning.executor = compiling
        report = tune(Case(file, "doubled", 1), [cluster.get_executor(workers=[place]) for place in places])
    assert len(report.tried) == 3
    assert all(each.runs >= 2 for each in report.tried)
    assert submitted == [perform] * 3
    x, y = np.random.default_rng(SEED).random(5000, np.float32), np.zeros(5000, np.float32)
    found = tuner(Case(file, "doubled", 1))
    found[lambda meta: (-(-5000 // meta["BLOCK"]),)](x, y, 5000)
    np.testing.assert_array_equal(y, 2 * x)
    assert found.best_config == report.ordered[0].config


@pytest.mark.parametrize("whose", ["ours", "python"])
def test_another_process_measures(whose: str, file: str, executors: dict[str, list[Executor]]) -> None:
    case = Case(file, "doubled", 1)
    report = tune(case, executors[whose])
    assert len(report.tried) == 3
    assert all(each.runs >= 2 for each in report.tried)
    found = tuner(case)
    assert list(found.cache) == [(5000, "float32", "float32")]
    x, y = np.random.default_rng(SEED).random(5000, np.float32), np.zeros(5000, np.float32)
    found[lambda meta: (-(-5000 // meta["BLOCK"]),)](x, y, 5000)
    np.testing.assert_array_equal(y, 2 * x)
    assert found.best_config == report.ordered[0].config


def test_a_process_measures_what_it_is_told(file: str) -> None:
    configs = tuner(Case(file, "cleared")).configs
    assert len(measure(Case(file, "cleared"), 1, str(configs[1]), 4)) == 4
    for number in (0, len(configs)):
        with pytest.raises(NoCase, match="where it is measured, and not BLOCK"):
            measure(Case(file, "cleared"), number, str(configs[1]), 4)


def test_what_is_missing_is_said(file: str, tmp_path: Path) -> None:
    assert kernels(file) == ("doubled", "cleared")
    with pytest.raises(NoCase, match="no tuned kernel 'other'; those it has: doubled, cleared"):
        tuner(Case(file, "other"))
    with pytest.raises(NoCase, match="gives no launches"):
        tune(Case(file, "cleared", inputs="nothing"))
    with pytest.raises(NoCase, match=r"no function absent\(\)"):
        tune(Case(file, "cleared", inputs="absent"))
    with pytest.raises(NoCase, match="is no file"):
        kernels(str(tmp_path / "none.py"))
    driver.set_active("cpu")
    try:
        with pytest.raises(NoCase, match="backend 'cpu' cannot give a process one of several devices"):
            device_processes(["0"])
    finally:
        driver.reset_active()


def command(file: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "tritonx", "tune", *arguments]
    return subprocess.run(line, capture_output=True, text=True, env={**os.environ}, timeout=200)


def test_the_command(file: str, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    done = command(file, f"{file}:cleared", "--workers", "0", "--html", str(page))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("cleared, key (") == 2
    assert "BLOCK=16" in done.stdout
    assert page.read_text().count("<svg") == 2
    again = command(file, f"{file}:cleared", "--workers", "0")  # from the disk
    assert again.stdout.count("measured by an earlier search") == 2
    failed = command(file, f"{file}:other")
    assert failed.returncode == 2
    assert "no tuned kernel 'other'" in failed.stderr


def test_what_the_command_found_is_used(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tune(Case(file, "cleared"))
    tuned = tuner(Case(file, "cleared"))
    tuned.cache.clear()
    monkeypatch.setattr(type(tuned), "_tried", lambda *_: pytest.fail("searched again"))
    x = np.zeros(1000, np.float32)
    tuned[lambda meta: (-(-1000 // meta["BLOCK"]),)](x, x, 1000)
    assert tuned.best_config == first.ordered[0].config
