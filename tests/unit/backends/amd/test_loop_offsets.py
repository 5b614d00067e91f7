"""Offsets of blocks that a loop moves: strides are multiplied by in front of it, bounds of 64 bits compared in 32."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.backends.amd.conftest import CHIPS
from tritonx.ir.text import print_module

SEED = int(os.environ["TRITONX_SEED"])
EDGES = (-(1 << 31), -(1 << 31) + 1, -65, -64, -63, -1, 0, 1, 17, 63, 64, (1 << 31) - 65, (1 << 31) - 64, (1 << 31) - 1)


@tritonx.jit
def bounds(out_ptr, start, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.cast(start, tl.int64) + i
    inside = (x >= 0) & (x < tl.cast(n, tl.int64))
    tl.store(out_ptr + i, inside.to(tl.int32))


@tritonx.jit
def rows(x_ptr, out_ptr, steps, stride, R: tl.constexpr, C: tl.constexpr):
    """Sums of blocks of rows of an array, one below the other."""
    r, c = tl.arange(0, R), tl.arange(0, C)
    total = tl.zeros((R, C), tl.float32)
    for k in range(0, steps * R, R):
        total += tl.load(x_ptr + (k + r)[:, None] * stride + c[None, :])
    tl.store(out_ptr + r[:, None] * C + c[None, :], total)


@tritonx.jit
def described(x_ptr, out_ptr, begin, height, width, stride, R: tl.constexpr, C: tl.constexpr):
    """The same through a descriptor, from a row on that there may not be."""
    x = tl.make_tensor_descriptor(x_ptr, shape=[height, width], strides=[stride, 1], block_shape=[R, C])
    r, c = tl.arange(0, R), tl.arange(0, C)
    total = tl.zeros((R, C), tl.float32)
    for k in range(begin, height, R):
        total += x.load([k, 0])
    tl.store(out_ptr + r[:, None] * C + c[None, :], total)


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
def test_bounds_at_the_ends_of_32_bits(emulator: Any) -> None:
    random = Random(f"{SEED} {emulator.arch}")
    for start, n in [(random.choice(EDGES), random.choice(EDGES)) for _ in range(6)]:
        out = np.full(64, 7, np.int32)
        code = emulator(bounds, 1, out, start, n, kwargs={"N": 64}, num_warps=1)
        x = start + np.arange(64, dtype=np.int64)
        np.testing.assert_array_equal(out, (x >= 0) & (x < n), err_msg=f"seed {SEED}, {start}, {n}")
        assert start in (0, 1) or n in (0, 1) or not re.search(r"v_cmp_\w+_i64", code)


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
def test_rows_of_a_loop(emulator: Any) -> None:
    random = Random(f"{SEED} {emulator.arch}")
    steps, stride, warps = random.randrange(5), random.randrange(16, 40), random.choice((1, 2, 4))
    rng = np.random.default_rng(random.randrange(1 << 30))
    x = rng.integers(-9, 10, (max(1, steps) * 16, stride)).astype(np.float32)
    out = np.full((16, 16), np.nan, np.float32)
    emulator(rows, 1, x, out, steps, stride, kwargs={"R": 16, "C": 16}, num_warps=warps)
    exact = x[: steps * 16, :16].reshape(steps, 16, 16).sum(axis=0)
    np.testing.assert_array_equal(out, exact, err_msg=f"seed {SEED}, {steps} steps, {stride}, {warps} warps")


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
def test_rows_through_a_descriptor(emulator: Any) -> None:
    random = Random(f"{SEED} described {emulator.arch}")
    height, width, stride = random.randrange(20, 70), random.randrange(1, 17), random.choice((16, 32, 48))
    begin, warps = random.randrange(-40, 20), random.choice((1, 2, 4))
    x = np.random.default_rng(random.randrange(1 << 30)).integers(-9, 10, (height, stride)).astype(np.float32)
    out = np.full((16, 16), np.nan, np.float32)
    emulator(described, 1, x, out, begin, height, width, stride, kwargs={"R": 16, "C": 16}, num_warps=warps)
    exact = np.zeros((16, 16))
    for k in range(begin, height, 16):
        for r in range(16):
            if 0 <= k + r < height:
                exact[r, :width] += x[k + r, :width]
    what = f"seed {SEED}, {height}x{width} of {stride} from {begin}, {warps} warps"
    np.testing.assert_array_equal(out, exact, err_msg=what)


@pytest.mark.parametrize("chip", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_nothing_is_multiplied_in_the_loop(compiled: Callable[..., Any], chip: str) -> None:
    """A thread multiplies no tile, and compares none of 64 bits."""
    x, out = np.zeros((64, 32), np.float32), np.zeros((16, 16), np.float32)
    for kernel, rest in ((rows, (4, 33)), (described, (3, 64, 16, 32))):
        made = compiled(chip, kernel, [x, out, *rest], {"R": 16, "C": 16}, num_warps=2)
        text = made.stages["ttgir"]
        text = text if isinstance(text, str) else print_module(text)
        loop = text[text.index("scf.for") : text.index("scf.yield")]
        assert not re.search(r"arith\.(muli|cmpi)[^\n]*tensor<[^\n]*xi64", loop)
        assert not re.search(r"arith\.muli[^\n]*tensor<", loop)
