"""The CPU backend beside NumPy, as ratios within one run.

    python benchmarks/cpu.py [--threads N] [--json FILE] [--check]

Both sides are limited to the same number of threads (default 1): the process starts itself again with
OPENBLAS_NUM_THREADS and TRITONX_CPU_THREADS set. The two are run alternately and compared by the median of their times,
so that a change of the clock or of the load of the machine meets both. `--check` fails where a ratio misses its target.

On one thread it also prints the least processor time of the kernels of `cpu_peers.py` beside NumPy, PyTorch, Numba and
JAX, as far as they are installed (`--only peers`: nothing else).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from cpu_peers import matmul_kernel, print_table

import tritonx
import tritonx.language as tl


@dataclass(frozen=True)
class Measurement:
    """``ratio`` is NumPy's time over ours (for launch and compile: the limit over our time), ``target`` what it must
    reach.
    """

    name: str
    ours_ms: float
    theirs_ms: float
    ratio: float
    target: float

    @property
    def reached(self) -> bool:
        return self.ratio >= self.target

    def __str__(self) -> str:
        mark = "ok" if self.reached else "MISSED"
        return (
            f"{self.name:38s} ours {self.ours_ms:9.4f} ms   against {self.theirs_ms:9.4f} ms   "
            f"ratio {self.ratio:6.2f} (target {self.target:.2f}) {mark}"
        )


def _clock() -> Callable[[], int]:
    """On one thread, that thread's CPU time: the wall clock would count what else runs on a shared machine."""
    return time.thread_time_ns if os.environ.get("TRITONX_CPU_THREADS") == "1" else time.perf_counter_ns


TURN = 20
"""Timed runs of one side before the other's."""


def interleaved(ours: Callable[[], object], theirs: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Median milliseconds of each. They take turns of ``TURN`` runs.

    Half as many runs before each turn do not count: the threads of BLAS and OpenMP wait for more work in a loop for a
    while, which takes cores from the other side.
    """
    times: tuple[list[float], list[float]] = ([], [])
    clock = _clock()
    for _ in range(max(repeat // TURN, 2)):
        for run, into in zip((ours, theirs), times, strict=True):
            for _ in range(TURN // 2):
                run()
            for _ in range(TURN):
                start = clock()
                run()
                into.append((clock() - start) / 1e6)
    return statistics.median(times[0]), statistics.median(times[1])


def compared(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], target: float, repeat: int
) -> Measurement:
    a, b = interleaved(ours, theirs, repeat)
    return Measurement(name, a, b, b / a, target)


# ---- kernels


@tritonx.jit
def softmax_kernel(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + columns, mask=columns < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + columns, e / tl.sum(e, axis=0), mask=columns < n)


@tritonx.jit
def gaussian_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.exp(-v * v) + tl.exp(v), mask=i < n)


@tritonx.jit
def exp_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)


@tritonx.jit
def small_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


# ---- measurements


def softmax(rows: int = 4096, columns: int = 1024) -> Measurement:
    x = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
    out = np.empty_like(x)

    def theirs() -> np.ndarray:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def ours() -> None:
        softmax_kernel[(rows,)](out, x, columns, columns, BLOCK=columns)

    ours()
    np.testing.assert_allclose(out, theirs(), rtol=2e-6, atol=1e-9)
    return compared(f"softmax {rows}x{columns} f32", ours, theirs, 2.0, 15)


def gaussian(n: int = 1 << 22) -> Measurement:
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    out = np.empty_like(x)
    grid = (tritonx.cdiv(n, 4096),)

    def ours() -> None:
        gaussian_kernel[grid](x, out, n, BLOCK=4096)

    def theirs() -> np.ndarray:
        return np.exp(-x * x) + np.exp(x)

    ours()
    np.testing.assert_allclose(out, theirs(), rtol=2e-6)
    return compared("exp(-x*x) + exp(x), 4M f32", ours, theirs, 1.2, 15)


def exponential(n: int = 1 << 16) -> Measurement:
    """One exp and nothing else, in the second-level cache, NumPy writing to an array that is there: its best case."""
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    out, other = np.empty_like(x), np.empty_like(x)
    grid = (tritonx.cdiv(n, 4096),)

    def ours() -> None:
        for _ in range(20):
            exp_kernel[grid](x, out, n, BLOCK=4096)

    def theirs() -> None:
        for _ in range(20):
            np.exp(x, out=other)

    return compared("exp(x), 64k f32 in cache, 20 times", ours, theirs, 1.0, 25)


def matmul(size: int = 512) -> Measurement:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    c, d = np.empty_like(a), np.empty_like(a)
    blocks = {"BM": 128, "BN": 128, "BK": 64}
    grid = (tritonx.cdiv(size, blocks["BM"]), tritonx.cdiv(size, blocks["BN"]))

    def ours() -> None:
        matmul_kernel[grid](a, b, c, size, size, size, size, size, size, **blocks)

    ours()
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-3)
    return compared(f"matmul {size}^3 f32", ours, lambda: np.matmul(a, b, out=d), 0.6, 41)


def launch() -> Measurement:
    """`kernel[grid](...)` of a small kernel, arguments as a user passes them; the limit is 10 µs."""
    x, y, out = (np.zeros(256, np.float32) for _ in range(3))
    small_kernel[(1,)](x, y, out, 256, BLOCK=256)
    times: list[float] = []
    clock = _clock()
    for _ in range(15):
        start = clock()
        for _ in range(1000):
            small_kernel[(1,)](x, y, out, 256, BLOCK=256)
        times.append((clock() - start) / 1e9)
    ours = statistics.median(times)
    return Measurement("launch of a small kernel", ours, 0.010, 0.010 / ours, 1.0)


_COMPILE = """
import sys, time, json
sys.path.insert(0, {examples!r})
import numpy as np, tritonx
from importlib import import_module
from tritonx.runtime.compiling import compiler
spent = []
original = compiler.compile
def timed(*args, **kwargs):
    start = time.process_time()
    try:
        return original(*args, **kwargs)
    finally:
        spent.append(time.process_time() - start)
compiler.compile = timed
import harness
module = import_module({name!r})
case = module.case(harness.Device(), np.random.default_rng(0))
case.launch()
print(json.dumps(spent))
"""


def compile_example(name: str, runs: int = 3) -> Measurement:
    """The first compile in a fresh process with an empty cache of kernels; the limit is 0.5 s.

    It includes importing the compiler (from compiled Python files, as an installation has them: the first run makes
    them), and is the process's CPU time: it runs on one thread, and the wall clock would measure the machine's other
    load too.
    """
    examples = str(Path(__file__).parent.parent / "examples")
    code = _COMPILE.format(examples=examples, name=name)
    slowest: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for n in range(runs + 1):
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            environment |= {"PYTHONPYCACHEPREFIX": folder + "/bytecode", "TRITONX_CACHE_DIR": f"{folder}/{n}"}
            result = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            slowest.append(max(json.loads(result.stdout.splitlines()[-1])))
    ours = statistics.median(slowest[1:])
    return Measurement(f"cold compile of {name}", ours * 1e3, 500.0, 0.5 / ours, 1.0)


EXAMPLES = ("vector_add", "softmax", "layer_norm", "matmul", "flash_attention", "cumsum", "histogram")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="names of measurements, separated by commas")
    arguments = parser.parse_args()
    threads = str(arguments.threads)
    if os.environ.get("OPENBLAS_NUM_THREADS") != threads or os.environ.get("TRITONX_CPU_THREADS") != threads:
        os.environ.update(OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads, TRITONX_CPU_THREADS=threads)
        flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1" if threads == "1" else ""
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
        os.execv(sys.executable, [sys.executable, *sys.argv])
    wanted = set(filter(None, arguments.only.split(",")))
    measurements: list[Measurement] = []
    for run in (softmax, gaussian, exponential, matmul, launch):
        if not wanted or run.__name__ in wanted:
            measurements.append(run())
            print(measurements[-1], flush=True)
    if threads == "1" and (not wanted or "peers" in wanted):
        sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
        print_table()
    for name in EXAMPLES:
        if not wanted or "compile" in wanted:
            measurements.append(compile_example(name))
            print(measurements[-1], flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(m) for m in measurements], indent=1))
    return int(arguments.check and not all(m.reached for m in measurements))


if __name__ == "__main__":
    sys.exit(main())
