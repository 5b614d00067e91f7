"""Ops that move elements about: views, joins, gathers, sorting, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def moved(x, y, out, A: tl.constexpr, B: tl.constexpr):
    i, j = tl.arange(0, A)[:, None], tl.arange(0, B)[None, :]
    v, w = tl.load(x + i * B + j), tl.load(y + i * B + j)
    n: tl.constexpr = A * B
    lin = tl.arange(0, n)
    tl.store(out + lin, tl.reshape(tl.trans(v), (n,)))
    k = tl.arange(0, 2 * n)
    tl.store(out + n + k, tl.reshape(tl.join(v, w), (2 * n,)))
    tl.store(out + 3 * n + k, tl.reshape(tl.interleave(w, v), (2 * n,)))
    a, b = tl.split(tl.reshape(v, (A, B // 2, 2)))
    half = tl.arange(0, A)[:, None] * (B // 2) + tl.arange(0, B // 2)[None, :]
    tl.store(out + 5 * n + half, a * 2 - b)
    tl.store(out + 6 * n + lin, tl.flip(tl.reshape(v + w, (n,))))
    tl.store(out + 7 * n + k, tl.cat(tl.reshape(v, (n,)), tl.reshape(w, (n,)), can_reorder=True))
    tl.store(out + 9 * n + lin, tl.ravel(tl.permute(tl.reshape(v, (2, A // 2, B)), (2, 0, 1))))


@pytest.mark.parametrize("shape", [(4, 8), (16, 16), (2, 64), (32, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float16])
def test_views_and_copies(compare: Any, rng: np.random.Generator, shape: tuple[int, int], dtype: Any) -> None:
    x, y = ((rng.standard_normal(shape) * 20).astype(dtype) for _ in range(2))
    compare(moved, (1,), x, y, np.zeros(10 * x.size, dtype), A=shape[0], B=shape[1])


@tritonx.jit
def sorts(x, out, M: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + i, tl.sort(tl.load(x + i), descending=DESCENDING))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_sort(compare: Any, rng: np.random.Generator, descending: bool, dtype: Any) -> None:
    x = (rng.standard_normal((4, 32)) * 100).astype(dtype)
    out = compare(sorts, (1,), x, np.zeros((4, 32), dtype), M=4, N=32, DESCENDING=descending)
    assert np.array_equal(out[1], np.sort(x, axis=1)[:, :: -1 if descending else 1])


@tritonx.jit
def gathers(x, index, out, M: tl.constexpr, N: tl.constexpr, R: tl.constexpr, AXIS: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if AXIS == 0:
        i = tl.arange(0, R)[:, None] * N + tl.arange(0, N)[None, :]
    else:
        i = tl.arange(0, M)[:, None] * R + tl.arange(0, R)[None, :]
    tl.store(out + i, tl.gather(v * 2, tl.load(index + i), AXIS))


@pytest.mark.parametrize("axis", [0, 1])
def test_gather(compare: Any, rng: np.random.Generator, axis: int) -> None:
    x = rng.standard_normal((8, 16), dtype=np.float32)
    shape = (32, 16) if axis == 0 else (8, 32)
    index = rng.integers(0, x.shape[axis], shape).astype(np.int32)
    out = compare(gathers, (1,), x, index, np.zeros(shape, np.float32), M=8, N=16, R=32, AXIS=axis)
    assert np.array_equal(out[2], np.take_along_axis(x * 2, index, axis))


@tritonx.jit
def histograms(x, out, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS))
    tl.store(out + BINS + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS, mask=i < n))


def test_histogram(compare: Any, rng: np.random.Generator) -> None:
    compare(histograms, (1,), rng.integers(0, 16, 256).astype(np.int32), np.zeros(32, np.int32), 100, N=256, BINS=16)


@tritonx.jit
def broadcasts(x, y, out, A: tl.constexpr, B: tl.constexpr):
    r, c = tl.load(x + tl.arange(0, A)), tl.load(y + tl.arange(0, B))
    e = tl.exp2(tl.floor(r))[:, None] * c[None, :] + tl.sum(c, axis=0)
    e = tl.where(r[:, None] > c[None, :], e, -e)
    tl.store(out + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], e)


@pytest.mark.parametrize("shape", [(8, 32), (32, 8), (1, 16), (16, 1)])
def test_broadcasts(compare: Any, rng: np.random.Generator, shape: tuple[int, int]) -> None:
    x, y = (rng.standard_normal(s, dtype=np.float32) for s in shape)
    compare(broadcasts, (1,), x, y, np.zeros(shape, np.float32), A=shape[0], B=shape[1])


@tritonx.jit
def top(x, out, N: tl.constexpr, K: tl.constexpr):
    tl.store(out + tl.arange(0, K), tl.topk(tl.load(x + tl.arange(0, N)), K))


def test_topk(compare: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal(64, dtype=np.float32)
    out = compare(top, (1,), x, np.zeros(8, np.float32), N=64, K=8)
    assert np.array_equal(out[1], np.sort(x)[::-1][:8])


@tritonx.jit
def double(a, b):
    return b, a + b


@tritonx.jit
def mapped(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    a, b = tl.map_elementwise(double, v, v * 2)
    tl.store(out + i, a)
    tl.store(out + N + i, b)


def test_map_elementwise(compare: Any, rng: np.random.Generator) -> None:
    compare(mapped, (1,), rng.integers(-50, 50, 64).astype(np.int32), np.zeros(128, np.int32), N=64)


@tritonx.jit
def noise(seed, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(out + N + i, tl.randn(seed, i + 7))


def test_random_streams(compare: Any) -> None:
    compare(noise, (1,), 1234, np.zeros(512, np.float32), N=256, close=(1e-5, 1e-6))
