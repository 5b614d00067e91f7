"""Blocks whose extents are not powers of two, compiled for the CPU and line by line: what the conformance suite does
not have on every backend."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter.function import interpreted

SEED = int(os.environ["TRITONX_SEED"])
BOTH = pytest.mark.parametrize("way", [lambda kernel: kernel, interpreted], ids=["cpu", "lines"])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


@tritonx.jit
def checked_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x // y)
    tl.store(out_ptr + N + i, x % y)
    full = tl.where(i < N, y, 2147483647)  # all of the padding overflows
    tl.store(out_ptr + 2 * N + i, full + 5)


@BOTH
@pytest.mark.parametrize("n", [3, 96, 1000])
def test_the_padding_neither_traps_nor_overflows(way: Any, n: int, rng: np.random.Generator) -> None:
    x, y = rng.integers(-99, 99, n).astype(np.int32), rng.integers(1, 9, n).astype(np.int32)
    out = np.zeros((3, n), np.int32)
    way(checked_kernel)[(1,)](x, y, out, n, debug=True)
    np.testing.assert_array_equal(out, [np.trunc(x / y), np.fmod(x, y), y + 5], f"seed {SEED}")


@tritonx.jit
def rows_kernel(x_ptr, i_ptr, out_ptr, M, C: tl.constexpr, R: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, C], [C, 1], [1, C])
    target = tl.make_tensor_descriptor(out_ptr, [M, C], [C, 1], [1, C])
    i = tl.load(i_ptr + tl.arange(0, R))
    target.scatter(source.gather(i, 0) + 1, i, 0)


@BOTH
def test_rows_of_a_descriptor(way: Any, rng: np.random.Generator) -> None:
    x, i = rng.random((200, 16)).astype(np.float32), rng.permutation(200)[:12].astype(np.int32)
    out = np.full_like(x, -1)
    way(rows_kernel)[(1,)](x, i, out, 200, 16, 12)
    expected = np.full_like(x, -1)
    expected[i] = x[i] + 1
    np.testing.assert_array_equal(out, expected, f"seed {SEED}")


@tritonx.jit
def scaled_kernel(
    a_ptr, b_ptr, s_ptr, t_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, G: tl.constexpr
):
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, G)
    a, b = tl.load(a_ptr + m[:, None] * K + k[None, :]), tl.load(b_ptr + k[:, None] * N + n[None, :])
    s, t = tl.load(s_ptr + m[:, None] * G + g[None, :]), tl.load(t_ptr + n[:, None] * G + g[None, :])
    a, s = tl.where(k[None, :] < K, a, 0x7F), tl.where(g[None, :] < G, s, 255)  # NaNs in the padding
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot_scaled(a, s, "e4m3", b, t, "e4m3"))


@BOTH
@pytest.mark.parametrize(("m", "n", "k"), [(48, 24, 96), (16, 96, 160)])
def test_scaled_products(way: Any, m: int, n: int, k: int, rng: np.random.Generator) -> None:
    a, b = (rng.integers(-4, 5, shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((m, k), (k, n)))
    s, t = (rng.integers(125, 129, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    out = np.zeros((m, n), np.float32)
    way(scaled_kernel)[(1,)](a.view(np.uint8), b.view(np.uint8), s, t, out, m, n, k, k // 32)
    scales = [np.repeat(2.0 ** (x.astype(np.float64) - 127), 32, axis=1) for x in (s, t)]
    expected = (a.astype(np.float64) * scales[0]) @ (b.astype(np.float64) * scales[1].T)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5, err_msg=f"seed {SEED}")


@tritonx.jit
def nans_kernel(x_ptr, out_ptr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), tl.sort(x))
    tl.store(out_ptr + N + tl.arange(0, K), tl.topk(x, K))
    tl.store(out_ptr + N + K, tl.max(x, axis=0))
    tl.store(out_ptr + N + K + 1, tl.max(tl.where(x == x, float("nan"), x), axis=0))
    tl.store(out_ptr + N + K + 2, tl.sum(tl.full((N,), -0.0, tl.float32), axis=0))


@BOTH
def test_nans_and_zeros_of_either_sign(way: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal(96).astype(np.float32)
    x[:9] = [np.nan, np.inf, -np.inf, 0.0, -0.0, -np.nan, np.nan, np.inf, -np.inf]
    rng.shuffle(x)
    out = np.zeros(96 + 5 + 3, np.float32)
    way(nans_kernel)[(1,)](x, out, 96, 5)
    ordered = out[:96]
    assert sorted(ordered.view(np.int32)) == sorted(x.view(np.int32)), f"seed {SEED}: no element is lost"
    numbers = ordered[~np.isnan(ordered)]
    assert (np.diff(numbers[np.isfinite(numbers)]) >= 0).all() and np.isnan(ordered[[0, -1]]).any()
    np.testing.assert_array_equal(out[96:101], ordered[::-1][:5])
    assert out[101] == np.inf and np.isnan(out[102]) and np.signbit(out[103])


DTYPES = (np.float32, np.int8, np.float16, np.uint16, np.int64)


@tritonx.jit
def drawn_kernel(x_ptr, out_ptr, SHAPE: tl.constexpr, TO: tl.constexpr, AXIS: tl.constexpr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, SHAPE[0] * SHAPE[1])), SHAPE)
    y = tl.reshape(tl.trans(tl.flip(x, AXIS)), TO)
    tl.store(out_ptr + tl.arange(0, TO[0] * TO[1] * TO[2]), tl.ravel(y))


@pytest.mark.parametrize("draw", range(8))
def test_moves_are_those_of_numpy(draw: int, rng: np.random.Generator) -> None:
    random = Random(f"{SEED}/{draw}")
    to = tuple(random.choice([1, 2, 3, 4, 5, 6, 7, 12]) for _ in range(3))
    count = int(np.prod(to))
    rows = random.choice([d for d in range(1, count + 1) if count % d == 0])
    shape, axis, dtype = (rows, count // rows), random.randrange(2), random.choice(DTYPES)
    x, out = rng.integers(0, 99, count).astype(dtype), np.zeros(count, dtype)
    (interpreted(drawn_kernel) if draw % 2 else drawn_kernel)[(1,)](x, out, shape, to, axis)
    expected = np.flip(x.reshape(shape), axis).T.reshape(-1)
    np.testing.assert_array_equal(out, expected, f"seed {SEED}, draw {draw}: {shape}, {to}, {axis}, {dtype}")
