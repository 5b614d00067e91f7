"""Processes that compile: what crosses, what they make, and what becomes of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import knobs
from tritonx.runtime.compiling.compile_job import CompileJob, OtherCompiler, perform
from tritonx.runtime.compiling.compiler import Compile, begin
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import OutOfResources
from tritonx.runtime.isolation.helper import HelperFailure
from tritonx.runtime.tuning import workers
from tritonx.runtime.tuning.workers import CompileWorkers


@pytest.fixture(scope="module")
def pair() -> Iterator[CompileWorkers]:
    made = CompileWorkers(2)
    yield made
    made.shutdown()


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))


def _drawn() -> np.ndarray:
    return np.random.default_rng(int(os.environ["TRITONX_SEED"])).random(256, np.float32)


@tritonx.jit
def scaled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 3 + tl.sum(at, 0), mask=at < n)


def begun(target: str, block: int = 64) -> Compile:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(scaled, signature, {"BLOCK": block}, {(0,): [["tt.divisibility", 16]]})
    found = begin(source, target)
    assert isinstance(found, Compile)
    return found


def job(target: str, block: int = 64) -> CompileJob:
    found = begun(target, block).job()
    assert found is not None
    return found


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("target", ["cpu", "cuda:90", "hip:gfx942"])
def test_a_worker_makes_the_same_bits(target: str, pair: CompileWorkers) -> None:
    one = begun(target)
    work = one.job()
    try:
        here = one.here()
    except tritonx.TritonError as error:
        pytest.skip(str(error))  # an assembler that is not here
    made = pair.submit(perform, work).result()
    assert dict(made.asm) == dict(here.asm.items())
    assert {name: getattr(here.metadata, name) for name in made.metadata if name != "assembler_log"} == {
        name: _tuples(value) for name, value in made.metadata.items() if name != "assembler_log"
    }
    assert made.binary


def test_what_a_worker_made_is_in_the_cache_and_runs(pair: CompileWorkers) -> None:
    begun_here = begun("cpu", 128)
    work = begun_here.job()
    begun_here.finish(pair.submit(perform, work).result())
    heard: list[bool] = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **about: heard.append(about["cache_hit"])
        x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
        kernel = begin(begun_here.source, "cpu")
        assert not isinstance(kernel, Compile)
        kernel[(1, 1, 1)](x, y, 100)
    np.testing.assert_array_equal(y, x * 3 + 128 * 127 // 2)
    assert heard == [True]


def test_the_listener_hears_what_a_worker_took(pair: CompileWorkers) -> None:
    one = begun("cpu", 32)
    made = pair.submit(perform, one.job()).result()
    heard: list[Any] = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **about: heard.append(about["times"])
        one.finish(made)
    (times,) = heard
    assert [name for name, _ in times.lowering_stages] == list(made.asm)
    assert all(took > 0 for _, took in times.lowering_stages) and times.ir_initialization > 0
    assert times.total >= sum(took for _, took in times.lowering_stages)


def test_one_that_would_make_other_code_says_so(pair: CompileWorkers) -> None:
    other = replace(job("cpu"), key="0" * 64)
    with pytest.raises(OtherCompiler, match="scaled"):
        pair.submit(perform, other).result()


def test_settings_that_change_code_travel(pair: CompileWorkers) -> None:
    with knobs.compilation.scope():
        knobs.compilation.disable_line_info = False
        work = job("cpu")
    made = pair.submit(perform, work).result()  # whose key says that it has the setting
    assert knobs.compilation.disable_line_info
    assert made.asm


def test_exceptions_come_back(pair: CompileWorkers) -> None:
    with pytest.raises(OutOfResources, match="Required: 7"):
        pair.submit(refuse, 7, 3).result()


def refuse(required: int, limit: int) -> None:
    raise OutOfResources(required, limit, "shared memory")


def test_a_worker_that_dies_is_replaced(pair: CompileWorkers) -> None:
    pair.submit(os.getpid).result()
    with pytest.raises(HelperFailure):
        pair.submit(os.kill, pair.submit(os.getpid).result(), signal.SIGKILL).result()
        pair.submit(os._exit, 3).result()
    assert pair.submit(os.getpid).result() in pair.pids()


def test_workers_are_processes_that_yield(pair: CompileWorkers) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    pids = {future.result() for future in [pair.submit(os.getpid) for _ in range(4)]}
    assert os.getpid() not in pids
    assert len(pair.pids()) <= 2
    assert all(os.getpriority(os.PRIO_PROCESS, pid) > own or own == 19 for pid in pids)


def test_idle_workers_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.2)
    made = CompileWorkers(1)
    assert made.submit(os.getpid).result() in made.pids()
    deadline = time.monotonic() + 30
    while made.pids() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not made.pids()
    assert made.submit(os.getpid).result() in made.pids()  # and start again
    made.shutdown()


class Counting(Executor):
    """Compiles in threads, and keeps what it was given."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)
        self.jobs: list[CompileJob] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.append(args[0])
        return self.threads.submit(fn, *args, **kwargs)


@tritonx.autotune([tritonx.Config({"BLOCK": block}) for block in (32, 64, 128)], key=["n"])
@tritonx.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@tritonx.jit
def tuned(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (at < n) | EVEN
    tl.store(y + at, tl.load(x + at, mask=mask) + BLOCK * 0, mask=mask)


def test_any_executor_compiles_what_a_search_needs() -> None:
    executor = Counting()
    tuned.cache.clear()
    tuned.fn.fn._launcher = None
    with knobs.autotuning.scope():
        knobs.autotuning.executor = executor
        x, y = _drawn(), np.zeros(256, np.float32)
        compiled = tuned[lambda meta: (256 // meta["BLOCK"],)](x, y, 256)
    assert [dict(j.options.__dict__)["num_warps"] for j in executor.jobs] == [4, 4, 4]
    assert len({j.key for j in executor.jobs}) == 3
    assert type(compiled).__name__ == "CompiledKernel"
    np.testing.assert_array_equal(x, y)
    assert len(tuned.configs_timings) == 3


class Broken(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("no worker"))
        return future


def test_where_no_worker_can_it_is_compiled_here() -> None:
    tuned.cache.clear()
    tuned.fn.fn._launcher = None
    with knobs.autotuning.scope():
        knobs.autotuning.executor = Broken()
        x, y = _drawn(), np.zeros(256, np.float32)
        tuned[lambda meta: (256 // meta["BLOCK"],)](x, y, 256)
    np.testing.assert_array_equal(x, y)


def test_a_kernel_that_compiles_nothing_is_searched() -> None:
    """A library's own class: nothing of it is begun before it is measured."""

    class Library(tritonx.KernelInterface[Any]):
        arg_names = ("x", "BLOCK")

        def run(self, x: object, *, grid: object, warmup: bool, **options: object) -> None:
            time.sleep(0.02 if options["BLOCK"] == 8 else 0)

    configs = [tritonx.Config({"BLOCK": block}) for block in (8, 16)]
    kernel = tritonx.autotune(configs, key=[])(Library())
    kernel[(1,)](None)
    assert kernel.best_config == configs[1]
