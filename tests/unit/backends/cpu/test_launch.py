"""Ways to launch: arrays of other libraries, threads, the path without the builtin, forks, targets and options."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.cpu import BACKEND, CpuOptions
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def scale(x, out, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


class Interface:
    """An array of a library that speaks the array interface only."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.dtype = array.dtype

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__


class DLPackOnly:
    """An array of a library that speaks DLPack only."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.dtype = array.dtype

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [lambda a: a, Interface, DLPackOnly, lambda a: a.view(np.memmap)])
def test_arrays(wrap: Any) -> None:
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    scale[(2,)](wrap(x), wrap(out), 2.5, 100, BLOCK=64)
    assert np.array_equal(out, x * np.float32(2.5))


def test_a_grid_without_programs_runs_nothing() -> None:
    out = np.zeros(4, np.float32)
    scale[(0,)](out, out, 1.0, 4, BLOCK=4)
    scale[(3, 0, 2)](out, out, 1.0, 4, BLOCK=4)


@tritonx.jit
def where(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out + x + nx * (y + ny * z), x * 10000 + y * 100 + z + (nx + ny + nz) * 1000000)


def test_three_dimensions_of_programs() -> None:
    out = np.zeros((5, 4, 3), np.int32)
    where[(3, 4, 5)](out)
    z, y, x = np.indices(out.shape)
    assert np.array_equal(out, x * 10000 + y * 100 + z + 12000000)


@tritonx.jit
def arguments(out, a, b, c, d, e, f):
    tl.store(out + 0, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))
    tl.store(out + 5, f.to(tl.float64))


def test_kinds_of_arguments() -> None:
    out = np.zeros(6)
    arguments[(1,)](out, -5, 2**40, 2**63 + 2**20, 1.5, True, -(2**35))
    assert out.tolist() == [-5, 2**40, 2**63 + 2**20, 1.5, 1, -(2**35)]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads(threads: int) -> None:
    n = 100_003
    x, out = np.random.default_rng(0).standard_normal(n, dtype=np.float32), np.zeros(n, np.float32)
    for _ in range(5):
        out[:] = 0
        scale[(tritonx.cdiv(n, 128),)](x, out, 3.0, n, BLOCK=128, num_threads=threads)
        assert np.array_equal(out, x * np.float32(3))


def test_launches_from_many_python_threads() -> None:
    x = np.arange(10_000, dtype=np.float32)
    outs = [np.zeros_like(x) for _ in range(6)]

    def run(out: np.ndarray) -> None:
        for _ in range(20):
            scale[(157,)](x, out, 2.0, 10_000, BLOCK=64, num_threads=2)

    workers = [threading.Thread(target=run, args=(out,)) for out in outs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(out, x * 2) for out in outs)


@pytest.mark.parametrize("gomp", [True, False])
def test_the_path_without_the_builtin(monkeypatch: pytest.MonkeyPatch, gomp: bool) -> None:
    from tritonx.backends.cpu import loader

    if not gomp:
        monkeypatch.setattr(loader, "parallel_function", lambda: 0)
    n = 50_000
    x, out = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    compiled = scale.warmup(x, out, 2.0, n, BLOCK=64, num_threads=3, grid=(1,))
    kernel = loader.CpuKernel(compiled.image())
    kernel.launch((782, 1, 1), 0, (x, out.ctypes.data, 2.0, n))
    assert np.array_equal(out, x * 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_can_launch() -> None:
    code = """
import os, sys
import numpy as np
sys.path.insert(0, {folder!r})
from test_launch import scale
x, out = np.arange(100000, dtype=np.float32), np.zeros(100000, np.float32)
scale[(1563,)](x, out, 2.0, 100000, BLOCK=64, num_threads=2)
pid = os.fork()
if not pid:
    out[:] = 0
    scale[(1563,)](x, out, 3.0, 100000, BLOCK=64, num_threads=2)
    os._exit(0 if np.array_equal(out, x * 3) else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code.format(folder=os.path.dirname(__file__))], check=True, timeout=60)


@tritonx.jit
def through_descriptors(source, target, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([i, j], source.load([i + 1, j]) * 2)


def test_descriptors_made_on_the_host() -> None:
    x = np.arange(20 * 32, dtype=np.float32).reshape(20, 32)
    out = np.zeros_like(x)
    source, target = TensorDescriptor.from_tensor(x, [8, 16]), TensorDescriptor.from_tensor(out, [8, 16])
    through_descriptors[(3, 2)](source, target, BM=8, BN=16)
    assert np.array_equal(out, np.concatenate([x[1:] * 2, np.zeros((1, 32), np.float32)]))


def test_targets_and_options() -> None:
    assert str(BACKEND.parse_target("")) == "cpu"
    assert {str(t) for t in BACKEND.known_targets()} == {"cpu", "cpu:x86-64-v3", "cpu:x86-64-v4"}
    with pytest.raises(ValueError, match="x86-64-v3"):
        BACKEND.parse_target("z80")
    target = BACKEND.parse_target("")
    assert BACKEND.parse_options(target, {"num_threads": 3}) == CpuOptions(num_threads=3)
    with pytest.raises(ValueError, match="negative"):
        BACKEND.parse_options(target, {"num_threads": -1})
    with pytest.raises(KeyError, match="banana"):
        BACKEND.parse_options(target, {"banana": 1})


def test_importing_the_backend_imports_nothing_heavy() -> None:
    code = "import tritonx.backends.cpu, sys; print([m for m in ('xdsl', 'llvmlite', 'numpy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
    code = "import tritonx.backends.cpu.driver as d, sys; d.CpuDriver(); print('xdsl' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_a_kernel_from_the_disk_needs_no_llvm(tmp_path: Any) -> None:
    code = """
import sys
import numpy as np
sys.path.insert(0, {folder!r})
import os
os.environ["TRITONX_CACHE_DIR"] = {cache!r}
from test_launch import scale
x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
scale[(2,)](x, out, 2.0, 100, BLOCK=64)
assert np.array_equal(out, x * 2)
print([m for m in ("xdsl", "llvmlite") if m in sys.modules])
"""
    command = [sys.executable, "-c", code.format(folder=os.path.dirname(__file__), cache=str(tmp_path))]
    environment = {**os.environ, "TRITONX_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60).stdout
        for _ in range(2)
    ]
    assert outputs[0].strip() == "['xdsl', 'llvmlite']" and outputs[1].strip() == "[]"


QUIET = """
import os, sys
os.environ["TRITONX_CACHE_DIR"] = {cache!r}
sys.path.insert(0, {folder!r})
import numpy as np
from test_launch import scale
x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
events = []
for launch in range(4000):
    scale[(2,)](x, out, float(launch), 100, BLOCK=64)
    if launch == 0:
        sys.addaudithook(lambda event, args: events.append((launch, event)))
found, events = events, []
assert np.array_equal(out, x * 3999)
print([e for e in found if e[1] in ("import", "open", "compile", "exec", "mmap.__new__", "ctypes.dlopen",
                                    "subprocess.Popen", "os.putenv", "sys._getframe")])
"""


def test_no_launch_after_the_first_loads_or_compiles_anything(tmp_path: Any) -> None:
    """Of 4,000, with an empty cache and then from the cache: no import, no file, no code, no new memory for code."""
    command = [sys.executable, "-c", QUIET.format(folder=os.path.dirname(__file__), cache=str(tmp_path))]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        assert done.stdout.strip() == "[]"
