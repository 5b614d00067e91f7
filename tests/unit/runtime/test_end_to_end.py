"""Kernels from Python source to results on the CPU backend, through the whole launch path."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import arrays, driver, knobs
from tritonx.runtime.compiling.compiler import ASTSource

SCALE = tl.constexpr(3)


@tritonx.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@tritonx.jit
def softmax(y, x, row_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * row_stride + at, mask=at < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * row_stride + at, e / tl.sum(e, axis=0), mask=at < cols)


@tritonx.jit
def scaled(x, n, factor, shift, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * factor * SCALE + shift, mask=at < n)


@tritonx.jit
def optional(x, bias, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    if bias is not None:
        v += tl.load(bias + at, mask=at < n)
    tl.store(x + at, v, mask=at < n)


@tritonx.jit
def of_tuple(pair, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(pair[0] + at) * pair[1])


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_is_left_as_it_was(collecting: bool) -> None:
    """In a process of its own, since the first compile does more than the others."""
    code = f"""
import gc, weakref
import tritonx
class Node: pass
if not {collecting}:
    gc.disable()
source = "tt.func public @f() {{ tt.return }}"
import tempfile, pathlib
path = pathlib.Path(tempfile.mkdtemp()) / "f.ttir"
path.write_text(source)
tritonx.compile(str(path), target="cpu")
assert gc.isenabled() is {collecting} and gc.get_freeze_count() == 0
node = Node()
node.itself, seen = node, weakref.ref(node)
del node
gc.collect()
assert seen() is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture(autouse=True, scope="module")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITONX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        driver.set_active("cpu")
        yield
    driver.reset_active()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "uint16"])
@pytest.mark.parametrize("n", [1, 5, 128, 1000])
def test_vector_add(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = ((rng.standard_normal(n) * 50).astype(dtype) for _ in range(2))
    z = np.zeros_like(x)
    kernel = add[lambda meta: (tritonx.cdiv(n, meta["BLOCK"]),)](x, y, z, n, BLOCK=128)
    np.testing.assert_array_equal(z, x + y)
    assert kernel.target.backend == "cpu"
    assert {"ttir", "llir", "obj"} <= set(kernel.asm)


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (3, 100), (17, 781)])
def test_softmax_of_strided_rows(rows: int, cols: int) -> None:
    x = np.random.default_rng(cols).standard_normal((rows, cols + 3)).astype(np.float32)
    y = np.zeros_like(x)
    softmax[(rows,)](y, x, x.shape[1], cols, BLOCK=tritonx.next_power_of_2(cols))
    e = np.exp(x[:, :cols].astype(np.float64) - x[:, :cols].max(1, keepdims=True))
    np.testing.assert_allclose(y[:, :cols], e / e.sum(1, keepdims=True), rtol=2e-6)
    assert not y[:, cols:].any()


def test_numbers_of_all_kinds() -> None:
    for factor, shift in [(1, 1), (2, 0.5), (-7, 16), (1.25, True), (np.float32(0.5), np.int64(3)), (2**40, 0)]:
        x = np.arange(10, dtype=np.float64)
        expected = x * factor * 3 + shift
        scaled[(1,)](x, 10, factor, shift, BLOCK=16)
        np.testing.assert_allclose(x, expected, rtol=1e-7)


def test_none_and_tuples() -> None:
    x, bias = np.arange(6.0), np.full(6, 10.0)
    optional[(1,)](x, None, 6, BLOCK=8)
    np.testing.assert_array_equal(x, np.arange(6.0))
    optional[(1,)](x, bias, 6, BLOCK=8)
    np.testing.assert_array_equal(x, np.arange(6.0) + 10)
    out = np.zeros(8)
    of_tuple[(1,)]((np.arange(8.0), 5), out, BLOCK=8)
    np.testing.assert_array_equal(out, np.arange(8.0) * 5)
    of_tuple[(1,)]((np.arange(8.0), 1), out, BLOCK=8)
    np.testing.assert_array_equal(out, np.arange(8.0))


def test_device_arrays_on_the_host() -> None:
    x = arrays.to_device(np.arange(300, dtype=np.float32), backend="cpu")
    z = arrays.empty_like(x)
    add[(3,)](x, np.ones(300, np.float32), z, 300, BLOCK=128)
    np.testing.assert_array_equal(z.numpy(), np.arange(300) + 1)


def test_compiled_kernels_are_called_directly() -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    z = np.zeros_like(x)
    kernel = add.warmup(x, y, z, 100, BLOCK=128, grid=(1,))
    assert not z.any()
    kernel[(1, 1, 1)](x, y, z, 100, 128)
    np.testing.assert_array_equal(z, x + y)


def test_compile_of_sources_and_files(tmp_path: Path) -> None:
    signature = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    kernel = tritonx.compile(ASTSource(add, signature, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]}), target="cpu")
    assert "tt.divisibility = 16" in kernel.asm["ttir"]
    path = tmp_path / "add.ttir"
    path.write_text(kernel.asm["ttir"])
    again = tritonx.compile(str(path), target="cpu")
    assert [p.type for p in again.parameters] == ["*fp32", "*fp32", "*fp32", "i32"]
    x, y, z = np.ones(50, np.float32), np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    again[(1, 1, 1)](x, y, z, 50)
    np.testing.assert_array_equal(z, x + y)


def test_edited_stages_take_a_stages_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, y, z = np.ones(50, np.float32), np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    kernel = add[(1,)](x, y, z, 50, BLOCK=64)
    edited = tmp_path / "add.ttir"
    edited.write_text(kernel.asm["ttir"].replace("arith.addf", "arith.subf"))
    add[(1,)](x, y, z, 50, BLOCK=64, ir_override=str(edited))
    np.testing.assert_array_equal(z, x - y)
    assert f"Overriding kernel with file {edited}" in capsys.readouterr().out


def test_stages_are_dumped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    add.warmup(np.float32, np.float32, np.float32, 77, BLOCK=32, grid=(1,))
    assert {p.name for p in tmp_path.glob("dump/*/*")} >= {"add.ttir", "add.llir", "add.obj"}


def test_threads_may_launch_and_compile_at_once() -> None:
    @tritonx.jit
    def fresh(x, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + BLOCK, mask=at < n)

    barrier = threading.Barrier(6)

    def work(i: int) -> bool:
        x = np.zeros(16)
        barrier.wait()
        for _ in range(20):
            fresh[(1,)](x, 16, BLOCK=16 << (i % 2))
        return bool((x == 20 * (16 << (i % 2))).all())

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))
    assert len(fresh.launcher._compiled) == 2


def test_compiling_in_the_background() -> None:
    with tritonx.AsyncCompileMode(ThreadPoolExecutor(2)):
        kernels = [add.warmup(np.float32, np.float32, np.float32, 5, BLOCK=b, grid=(1,)) for b in (2, 4, 4)]
        assert all(isinstance(k, tritonx.FutureKernel) for k in kernels)
    assert kernels[1] is kernels[2]
    assert kernels[0].metadata.name == "add"
    x, z = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    add[(1,)](x, x, z, 4, BLOCK=4)
    np.testing.assert_array_equal(z, 2 * x)


def test_compiled_kernels_are_pickled() -> None:
    x, z = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel = pickle.loads(pickle.dumps(add.warmup(x, x, z, 64, BLOCK=64, grid=(1,))))
    kernel[(1, 1, 1)](x, x, z, 64)
    np.testing.assert_array_equal(z, 2 * x)
    assert kernel.src.fn.cache_key == add.cache_key
    assert kernel.src.fn.arg_names == add.arg_names


def test_the_listener_hears_of_every_compile() -> None:
    heard: list[dict[str, Any]] = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **facts: heard.append(facts)
        add.warmup(np.float32, np.float32, np.float32, 6, BLOCK=256, grid=(1,))
        tritonx.compile(heard[0]["src"], target="cpu", options={"num_warps": 1})
    assert [h["cache_hit"] for h in heard] == [False, True]
    times = heard[0]["times"]
    assert [name for name, _ in times.lowering_stages] == ["ttir", "llir", "obj"]
    assert all(type(duration) is int for _, duration in times.lowering_stages)  # of microseconds
    assert times.total == times.ir_initialization + times.total_lowering + times.store_results > 1000
    found = heard[1]["times"]
    assert found.total == found.ir_initialization > 0 and found.total_lowering == found.store_results == 0


def test_benchmarking() -> None:
    x, z = np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    fn = lambda: add[(8,)](x, x, z, 1000, BLOCK=128)  # noqa: E731
    median, low, high = tritonx.testing.do_bench(fn, warmup=1, rep=5, quantiles=[0.5, 0.2, 0.8])
    assert 0 < low <= median <= high
    assert len(tritonx.testing.do_bench(fn, warmup=1, rep=5, return_mode="all")) >= 1
    with pytest.raises(
        tritonx.testing.NoGraphs, match="backend 'cpu' cannot record launches into a graph; use do_bench"
    ):
        tritonx.testing.do_bench_cudagraph(fn)


def test_autotuning_with_measurements() -> None:
    @tritonx.autotune([tritonx.Config({"BLOCK": b}) for b in (16, 64, 256)], key=["n"], warmup=1, rep=1)
    @tritonx.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, at, mask=at < n)

    x = np.zeros(1000, np.int32)
    kernel[lambda meta: (tritonx.cdiv(1000, meta["BLOCK"]),)](x, 1000)
    np.testing.assert_array_equal(x, np.arange(1000))
    assert len(kernel.configs_timings) == 3
    assert kernel.best_config in kernel.configs_timings


def test_drivers_methods() -> None:
    active = driver.active
    assert active.get_current_target().backend == "cpu"
    assert active.get_current_device() == 0
    assert active.utils.get_device_properties(0)["multiprocessor_count"] >= 1
    cache = active.get_empty_cache_for_benchmark()
    active.clear_cache(cache)
    assert cache.nbytes >= 1 << 20
    active.get_device_interface().synchronize()
    runs: list[int] = []
    times = active.get_benchmarker()(lambda: runs.append(1), warmup=1, rep=1, return_mode="all")
    assert len(runs) > len(times) >= 1 and min(times) > 0


def test_errors_of_the_front_end_reach_the_user() -> None:
    @tritonx.jit
    def wrong(x):
        tl.store(x, nonesuch)  # noqa: F821

    with pytest.raises(tritonx.CompilationError, match="nonesuch is not defined"):
        wrong[(1,)](np.zeros(3))


def test_a_launch_calls_few_functions() -> None:
    """Of a small kernel that was launched before; how long it takes is measured by benchmarks/cpu.py."""
    x, z = np.zeros(64, np.float32), np.zeros(64, np.float32)
    for _ in range(3):
        add[(1,)](x, x, z, 64, BLOCK=64)
    called: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            called.append(frame.f_code.co_qualname if event == "call" else argument.__qualname__)

    sys.setprofile(note)
    try:
        add[(1,)](x, x, z, 64, BLOCK=64)
    finally:
        sys.setprofile(None)
    assert len(called) <= 20, called
