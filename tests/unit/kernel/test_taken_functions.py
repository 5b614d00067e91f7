"""Kernels whose function a library took before it pickled them are launched, and compiled in another way, as others."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonx.kernel.taken_functions import function_in

GENERATED = """
import tritonx
import tritonx.language as tl

class Wrapped:
    def __init__(self, fn):
        self.fn = fn

@tritonx.jit
def helper(x):
    return x * 2

@Wrapped
@tritonx.jit
def kernel(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, helper(tl.load(x + at)))
"""
WORKER = """
import pickle, sys
from importlib.util import module_from_spec, spec_from_file_location
import numpy as np
spec = spec_from_file_location("generated.abc", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)
kernel = module.kernel.fn
x = np.zeros(64, np.float32)
compiled = kernel.warmup(x, np.zeros(64, np.float32), N=64, grid=(1,))
kernel.fn = kernel.__globals__ = kernel.used_global_vals = kernel._hash_lock = None
with open(sys.argv[2], "wb") as file:
    pickle.dump(compiled, file)
"""
"""As PyTorch's workers do."""


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    file = tmp_path / "generated.py"
    file.write_text(GENERATED)
    return file


def of_a_worker(generated: Path) -> Any:
    made = generated.with_suffix(".pickle")
    command = [sys.executable, "-c", WORKER, str(generated), str(made)]
    subprocess.run(command, check=True, env={**os.environ, "TRITONX_INTERPRET": "0"})
    return pickle.loads(made.read_bytes())


def test_arguments_that_need_other_code(generated: Path) -> None:
    """Two that overlap in part; what was compiled reads and writes a piece at a time."""
    kernel = of_a_worker(generated)
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel[(1,)](x, y)
    np.testing.assert_array_equal(y, 2 * x)
    both = np.arange(80, dtype=np.float32)
    kernel[(1,)](both[:64], both[8:72])
    np.testing.assert_array_equal(both[8:72], 2 * x)


def test_a_file_that_is_another_now(generated: Path) -> None:
    kernel = of_a_worker(generated)
    generated.write_text(GENERATED.replace("tl.store(y + at,", "tl.store(y + at * 1,"))
    both = np.arange(80, dtype=np.float32)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"generated\.py has another kernel than the one that was compiled"):
            kernel[(1,)](both[:64], both[8:72])
    kernel[(1,)](both[:8], np.zeros(64, np.float32))


def test_where_it_is_looked_for(generated: Path, tmp_path: Path) -> None:
    assert function_in(str(generated), "generated.abc", "kernel").__name__ == "kernel"
    assert function_in("nowhere.py", __name__, "test_where_it_is_looked_for") is test_where_it_is_looked_for
    for name in ("missing", "Wrapped", "tl"):
        with pytest.raises(LookupError, match="there is no function"):
            function_in(str(generated), "generated.abc", name)
    with pytest.raises(LookupError, match="is no Python file"):
        function_in(str(tmp_path / "text"), "generated.abc", "kernel")
