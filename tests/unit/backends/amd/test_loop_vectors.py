"""Rows' values beside a tile in a loop: a thread holds one of them in one register, not one for each element."""

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
from tritonx.backends.amd.emit.machine import AmdMachine

SEED = int(os.environ["TRITONX_SEED"])
TYPES = (np.float16, np.float32, np.float64, np.int32)


@tritonx.jit
def spread(x_ptr, row_ptr, out_ptr, steps, M: tl.constexpr, N: tl.constexpr):
    """Sums of how far elements are from their row's value."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    row = tl.load(row_ptr + m)
    places = m[:, None] * N + n[None, :]
    total = tl.zeros((M, N), dtype=row.dtype)
    for step in range(steps):
        x = tl.load(x_ptr + step * M * N + places)
        total += tl.abs(x - row[:, None])
    tl.store(out_ptr + places, total)


@tritonx.jit
def weights(q_ptr, k_ptr, row_ptr, out_ptr, steps, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Sums of exponentials of products, less a row's value."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    row = tl.load(row_ptr + m)
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(steps):
        k = tl.load(k_ptr + (step * N + n)[None, :] * D + d[:, None])
        total += tl.exp2(tl.dot(q, k) * scale - row[:, None])
    tl.store(out_ptr + m[:, None] * N + n[None, :], total)


def arguments(rng: np.random.Generator, dtype: type[np.number[Any]], m: int, n: int, steps: int) -> list[Any]:
    x, row = rng.integers(-9, 10, (steps, m, n)).astype(dtype), rng.integers(-9, 10, m).astype(dtype)
    return [x, row, np.full((m, n), 99, dtype), steps]


def operands(rng: np.random.Generator, m: int, n: int, d: int, steps: int) -> list[Any]:
    q, k = (rng.integers(-3, 4, (rows, d)).astype(np.float16) for rows in (m, steps * n))
    return [q, k, rng.standard_normal(m).astype(np.float32), np.full((m, n), np.nan, np.float32), steps, 0.125]


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_each_type(emulator: Any, dtype: type[np.number[Any]]) -> None:
    random = Random(f"{SEED} {emulator.arch} {dtype}")
    m, n, steps, warps = random.choice((16, 32)), random.choice((16, 32)), random.randrange(4), random.choice((1, 2))
    args = arguments(np.random.default_rng(random.randrange(1 << 30)), dtype, m, n, steps)
    emulator(spread, 1, *args, kwargs={"M": m, "N": n}, num_warps=warps)
    exact = np.abs(args[0].astype(np.float64) - args[1].astype(np.float64)[:, None]).sum(axis=0)
    np.testing.assert_array_equal(args[2], exact, err_msg=f"seed {SEED}, {m}x{n}, {steps} steps, {warps} warps")


@pytest.mark.parametrize("emulator", CHIPS, indirect=True)
def test_rows_beside_products(emulator: Any) -> None:
    random = Random(f"{SEED} {emulator.arch}")
    steps, warps = random.randrange(1, 4), random.choice((1, 2, 4))
    args = operands(np.random.default_rng(random.randrange(1 << 30)), 32, 32, 32, steps)
    emulator(weights, 1, *args, kwargs={"M": 32, "N": 32, "D": 32}, num_warps=warps)
    q, k, row = (array.astype(np.float64) for array in args[:3])
    exact = np.exp2((q @ k.T).reshape(32, steps, 32) * args[5] - row[:, None, None]).sum(axis=1)
    np.testing.assert_allclose(args[3], exact, rtol=1e-5, err_msg=f"seed {SEED}, {steps} steps, {warps} warps")


def registers(made: Any) -> int:
    return max(map(int, re.findall(r"\.vgpr_count:\s+(\d+)", made.stages["amdgcn"])))


@pytest.mark.parametrize("chip", ["gfx942", "gfx1100", "gfx1201"])
def test_one_register_for_a_row(compiled: Callable[..., Any], chip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread has 32 elements of each tile, of one row (gfx12) or of few."""
    args = operands(np.random.default_rng(SEED), 64, 64, 64, 2)
    shape = {"M": 64, "N": 64, "D": 64}
    kept = registers(compiled(chip, weights, args, shape, num_warps=4))
    monkeypatch.setattr(AmdMachine, "holds_vectors_whole", False)
    assert kept <= registers(compiled(chip, weights, args, shape, num_warps=4)) - 8
