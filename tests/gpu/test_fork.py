"""A child of a process that has launched: it compiles, it sees the device, and a launch says why it cannot be."""

from __future__ import annotations

import os
import traceback

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
