"""Printing and assertions from compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.errors import DeviceAssertError


@tritonx.jit
def prints(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_print("v 100%", v, i)
    tl.device_print("done")
    tl.device_print("hex", i, hex=True)
    tl.device_print("scalar", tl.program_id(0))


def test_print(capfd: pytest.CaptureFixture[str]) -> None:
    prints[(1,)](np.array([0.5, -1.25], np.float32), N=2)
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "pid (0, 0, 0) idx (0) v 100%: (operand 0) 0.500000" or "0.500000" in lines[0]
    assert "-1.250000" in lines[1]
    assert any("0x00000001" in line for line in lines)
    assert len(lines) == 8


@tritonx.jit
def asserts(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v < 10, "too large")
    tl.store(out + i + tl.program_id(0) * N, v)


def test_assertion_names_the_line_and_the_element() -> None:
    x = np.arange(32, dtype=np.float32) / 4
    out = np.full(32, -1, np.float32)
    asserts[(1,)](x, out, N=32, debug=True)
    assert np.array_equal(out, x)
    x[19] = 11
    out[:] = -1
    with pytest.raises(RuntimeError, match="device-side assert") as error:  # what PyTorch raises for CUDA
        asserts[(1,)](x, out, N=32, debug=True)
    assert isinstance(error.value, DeviceAssertError)
    text = str(error.value)
    assert "too large" in text and "test_debug.py:" in text and "element 19" in text
    assert np.all(out == -1), "nothing after the assertion runs"
    x[19] = 1
    asserts[(1,)](x, out, N=32, debug=True)
    assert np.array_equal(out, x)


@tritonx.jit
def asserts_of_one(x, at):
    here = (tl.program_id(0) * 100 + tl.program_id(1)) * 100 + tl.program_id(2)
    tl.device_assert((here != at) | (tl.load(x + tl.arange(0, 8)) != 3), "that one")


def test_an_assertion_names_its_program() -> None:
    with pytest.raises(DeviceAssertError, match=r"that one.*\(device-side assert in program \(2, 1, 4\), element 3\)"):
        asserts_of_one[(3, 2, 5)](np.arange(8, dtype=np.int32), 20104, debug=True)


def test_assertions_are_off_without_debug() -> None:
    x = np.full(32, 100, np.float32)
    out = np.zeros(32, np.float32)
    asserts[(1,)](x, out, N=32)
    assert np.array_equal(out, x)


@tritonx.jit
def assembly(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x + i)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, v)


def test_inline_assembly_is_refused_with_its_line() -> None:
    with pytest.raises(Exception, match="inline assembly") as error:
        assembly[(1,)](np.zeros(16, np.int32), np.zeros(16, np.int32), N=16)
    assert "test_debug.py" in str(error.value)


def test_arguments(compare: Any) -> None:
    compare(asserts, (1,), np.ones(16, np.float32), np.zeros(16, np.float32), N=16)
