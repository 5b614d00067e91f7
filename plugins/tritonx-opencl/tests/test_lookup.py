"""Gathers as the GPU emitters write them: of rows, in loops, from every layout; and that a wrong address shows."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import driver

pytestmark = pytest.mark.usefixtures("device")
SEED = int(os.environ["TRITONX_SEED"])


@pytest.fixture(autouse=True)
def opencl(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", "items")
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    driver.set_active("opencl")
    yield
    driver.reset_active()


@tritonx.jit
def rows_in_a_loop(x_ptr, index_ptr, out_ptr, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * N + n)
    for step in range(steps):
        index = tl.load(index_ptr + step * K * N + k[:, None] * N + n)
        tl.store(out_ptr + step * K * N + k[:, None] * N + n, tl.gather(x, index, 0))
        x = x + 1


@tritonx.jit
def columns(x_ptr, index_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * N + n)
    index = tl.load(index_ptr + m[:, None] * K + k)
    tl.store(out_ptr + m[:, None] * K + k, tl.gather(x, index, 1))


def rows_case(m: int, n: int, k: int, dtype: str, index: str, warps: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x, steps = rng.integers(0, 100, (m, n)).astype(dtype), 3
    at = rng.integers(0, m, (steps, k, n)).astype(index)
    got = np.full((steps, k, n), 77, dtype)
    rows_in_a_loop[(1,)](x, at, got, steps, M=m, N=n, K=k, num_warps=warps)
    expected = np.stack([np.take_along_axis(x + x.dtype.type(s), at[s].astype(np.int64), 0) for s in range(steps)])
    return got, expected


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "index", "warps"),
    [
        (16, 8, 4, "float32", "int32", 1),
        (4, 64, 16, "float16", "int8", 2),
        (32, 32, 32, "int8", "int64", 4),
        (8, 2, 1, "int64", "int16", 1),
    ],
)
def test_rows_in_loops(m: int, n: int, k: int, dtype: str, index: str, warps: int) -> None:
    got, expected = rows_case(m, n, k, dtype, index, warps, SEED)
    assert np.array_equal(got, expected), f"seed {SEED}"


@pytest.mark.parametrize(("m", "n", "k", "dtype"), [(8, 16, 4, "float64"), (2, 128, 64, "int16")])
def test_columns(m: int, n: int, k: int, dtype: str) -> None:
    rng = np.random.default_rng(SEED)
    x = rng.integers(-100, 100, (m, n)).astype(dtype)
    at = rng.integers(0, n, (m, k)).astype(np.int32)
    got = np.full((m, k), 77, dtype)
    columns[(1,)](x, at, got, M=m, N=n, K=k)
    assert np.array_equal(got, np.take_along_axis(x, at, 1)), f"seed {SEED}"


def test_rows_two_bits_too_far_apart_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store and load agree about such addresses; what tells is that they leave the kernel's shared memory."""
    from tritonx.conversion.gpu_to_llvm import lookup

    right = lookup.row_major

    def too_far(f: Any, coordinates: list[str], shape: tuple[int, ...]) -> str:
        return right(f, coordinates, (*shape[:-1], shape[-1] * 4))

    monkeypatch.setattr(lookup, "row_major", too_far)
    got, expected = rows_case(16, 8, 4, "int32", "int32", 1, SEED)
    assert not np.array_equal(got, expected), f"seed {SEED}"
