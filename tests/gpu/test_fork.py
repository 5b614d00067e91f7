"""A child of a process that has launched: it compiles, it sees the device, and a launch says why it cannot be. A
child of one that has only asked for the device launches."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.runtime.errors import StartedBeforeFork


@tritonx.jit
def add(x_ptr, y_ptr, VALUE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + VALUE)


@pytest.mark.real_gpu
def test_a_child_compiles_and_does_not_launch() -> None:
    if get_active().backend.name != "cuda":
        pytest.skip("other drivers say nothing of forks")
    x = to_device(np.arange(64, dtype=np.float32))
    y = to_device(np.full(64, np.nan, np.float32))
    add[(1,)](x, y, VALUE=1, BLOCK=64)
    assert np.array_equal(y.numpy(), np.arange(1, 65))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert get_active().is_active()
            target = tritonx.runtime.driver.registry.get_backend("cuda").parse_target("90")
            types = {"x_ptr": "*fp32", "y_ptr": "*fp32"}
            source = tritonx.compiler.ASTSource(add, types, {"VALUE": 2, "BLOCK": 64})
            assert tritonx.compile(source, target=target).asm["ptx"]
            with pytest.raises(StartedBeforeFork):
                add[(1,)](x, y, VALUE=2, BLOCK=64)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    add[(1,)](x, y, VALUE=3, BLOCK=64)
    assert np.array_equal(y.numpy(), np.arange(3, 67))


PROGRAM = """
import os
import numpy as np
from tests.gpu.test_fork import add
from tritonx.backends.registry import get_backend
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import ActiveDriver

assert ActiveDriver(get_backend("cuda")).is_active()
child = os.fork()
if child == 0:
    x, y = to_device(np.arange(64, dtype=np.float32)), to_device(np.full(64, np.nan, np.float32))
    add[(1,)](x, y, VALUE=4, BLOCK=64)
    os._exit(0 if np.array_equal(y.numpy(), np.arange(4, 68)) else 1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.real_gpu
def test_a_process_that_only_asks_whether_there_is_a_device_may_fork() -> None:
    if get_active().backend.name != "cuda":
        pytest.skip("other drivers say nothing of forks")
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
