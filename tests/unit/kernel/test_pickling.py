"""Kernels are copied and pickled as functions are: by name, by value where cloudpickle does so, or refused at once."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted

PROGRAM = """
import sys
import numpy as np
import tritonx
import tritonx.language as tl

THREE = tl.constexpr(3)

@tritonx.jit
def plus(x):
    return x + THREE

@tritonx.jit
def plain(out_ptr, N: tl.constexpr = 4):
    tl.store(out_ptr, plus(N))

@tritonx.autotune([tritonx.Config({"N": 4}), tritonx.Config({"N": 4}, num_warps=2)], key=[])
@tritonx.heuristics({"M": lambda arguments: 3})
@tritonx.jit
def tuned(out_ptr, N: tl.constexpr, M: tl.constexpr):
    tl.store(out_ptr, N + M)

@tritonx.heuristics({"N": lambda arguments: 7})
@tritonx.jit
def computed(out_ptr, N: tl.constexpr):
    tl.store(out_ptr, N)

@tl.core._aggregate
class Box:
    held: tl.tensor

    def __init__(self, held):
        self.held = held

    @tritonx.jit
    def get(self):
        return self.held

def nested(number):
    n = tl.constexpr(number)

    @tritonx.jit
    def inner(out_ptr):
        tl.store(out_ptr, n)

    return inner

def launched(kernel):
    out = np.zeros(1, np.int32)
    kernel[(1,)](out)
    return int(out[0])
"""
KERNELS = ("plain", "tuned", "computed")
COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda kernel: pickle.loads(pickle.dumps(kernel))}


class Layer:
    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.weights = [1, 2]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program above as a module that processes can import."""
    (tmp_path / "kernels_to_pickle.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    sys.modules.pop("kernels_to_pickle", None)
    import kernels_to_pickle  # pyright: ignore[reportMissingImports]  # written just now

    yield kernels_to_pickle
    sys.modules.pop("kernels_to_pickle", None)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", KERNELS)
def test_a_copy_is_launched(program: Any, name: str, how: str) -> None:
    kernel = getattr(program, name)
    assert program.launched(kernel) == 7
    made = COPIES[how](kernel)
    assert program.launched(made) == 7
    assert (made is kernel) == (how != "copy")
    assert program.launched(copy.deepcopy(Layer(kernel)).kernel) == 7


def test_a_copy_is_its_own(program: Any) -> None:
    made = copy.copy(program.plain)
    heard: list[object] = []
    made.add_pre_run_hook(lambda *_: heard.append(1))
    program.launched(program.plain)
    assert heard == []
    program.launched(made)
    assert heard == [1]
    again = copy.copy(program.tuned)
    assert again.pre_hook.__self__ is again
    assert again.cache is not program.tuned.cache


def test_parts_are_found_by_name(program: Any) -> None:
    for kernel in (program.tuned.fn, program.tuned.fn.fn, program.computed.fn, program.Box.get, program.plus, tl.sum):
        assert pickle.loads(pickle.dumps(kernel)) is kernel


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_another_process_launches_them(program: Any, method: str) -> None:
    kernels = [getattr(program, name) for name in KERNELS]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert [pool.submit(program.launched, kernel).result(timeout=120) for kernel in kernels] == [7, 7, 7]


def test_what_has_no_name_is_refused_at_once(program: Any) -> None:
    with pytest.raises((AttributeError, pickle.PicklingError), match=r"nested\.<locals>\.inner"):
        pickle.dumps(program.nested(5))
    copied = copy.copy(program.plain)
    with pytest.raises(pickle.PicklingError, match=r"not the same object as kernels_to_pickle\.plain"):
        pickle.dumps(copied)


def test_an_interpreted_kernel_is_copied(program: Any) -> None:
    assert program.launched(copy.copy(interpreted(program.plain))) == 7


MAIN = """
if __name__ == "__main__":
    import cloudpickle
    kernels = [plain, tuned, computed, nested(7)]
    sys.stdout.buffer.write(cloudpickle.dumps((kernels, launched)))
"""
OTHER = "import pickle, sys\nkernels, launched = pickle.load(sys.stdin.buffer)\nprint([launched(k) for k in kernels])"


def test_cloudpickle_takes_the_source_along(tmp_path: Path) -> None:
    """As from a notebook: the other process has no file to read the kernels in."""
    pytest.importorskip("cloudpickle")
    program = tmp_path / "notebook.py"
    program.write_text(PROGRAM + MAIN)
    written = subprocess.run([sys.executable, str(program)], capture_output=True, timeout=120, check=True).stdout
    program.unlink()
    command = [sys.executable, "-c", OTHER]
    done = subprocess.run(command, input=written, capture_output=True, cwd=tmp_path, timeout=120, check=False)
    assert done.stdout == b"[7, 7, 7, 7]\n", done.stderr.decode()[-2000:]


def test_cloudpickle_of_a_module_is_by_name(program: Any) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    for name in KERNELS:
        assert cloudpickle.loads(cloudpickle.dumps(getattr(program, name))) is getattr(program, name)
    made = cloudpickle.loads(cloudpickle.dumps(program.nested(5)))
    assert program.launched(made) == 5


def test_dask_takes_kernels_along(program: Any) -> None:
    protocol = pytest.importorskip("distributed.protocol")
    for kernel in (*(getattr(program, name) for name in KERNELS), program.nested(7)):
        made = protocol.deserialize(*protocol.serialize(kernel, serializers=["dask", "pickle"]))
        assert program.launched(made) == 7


def test_without_its_function_a_kernel_is_its_digest() -> None:
    """PyTorch takes the function away before it pickles a kernel."""

    @tritonx.jit
    def kernel(out_ptr):
        tl.store(out_ptr, 1)

    digest = kernel.cache_key
    kernel.fn = None
    assert pickle.loads(pickle.dumps(kernel)).cache_key == digest


def test_what_travels_means_the_same(program: Any) -> None:
    assert copy.copy(program.plain).cache_key == program.plain.cache_key
    assert np.array_equal(copy.deepcopy({"a": program.plain, "b": np.ones(2)})["b"], np.ones(2))
