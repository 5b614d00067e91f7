"""Reductions and scans: the halving tree and the serial scan, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def sum_1d(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + i), axis=0))


@pytest.mark.parametrize("size", [1, 2, 8, 16, 64, 128, 256, 1024, 4096, 32768])
def test_sum_of_every_length(compare: Any, rng: np.random.Generator, size: int) -> None:
    x = rng.standard_normal(size, dtype=np.float32)
    compare(sum_1d, (1,), x, np.zeros(1, np.float32), BLOCK=size)


@tritonx.jit
def reduce_2d(x, rows, columns, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(rows + m, tl.sum(tile, axis=1))
    tl.store(columns + n, tl.max(tile, axis=0))


@pytest.mark.parametrize("shape", [(4, 64), (64, 4), (16, 16), (1, 32), (32, 1), (128, 128), (2, 512), (256, 8)])
def test_both_axes(compare: Any, rng: np.random.Generator, shape: tuple[int, int]) -> None:
    x = rng.standard_normal(shape, dtype=np.float32)
    compare(reduce_2d, (1,), x, np.zeros(shape[0], np.float32), np.zeros(shape[1], np.float32), M=shape[0], N=shape[1])


@tritonx.jit
def reduce_3d(x, out, AXIS: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, R: tl.constexpr):
    i = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    y = tl.sum(tl.load(x + i), axis=AXIS)
    tl.store(out + tl.arange(0, R), tl.reshape(y, (R,)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_three_dimensions(compare: Any, rng: np.random.Generator, axis: int) -> None:
    shape = (8, 4, 32)
    x = rng.standard_normal(shape, dtype=np.float32)
    rest = x.size // shape[axis]
    compare(reduce_3d, (1,), x, np.zeros(rest, np.float32), AXIS=axis, A=8, B=4, C=32, R=rest)


@tritonx.jit
def arg_extrema(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + m, tl.argmax(tile, axis=1))
    tl.store(out + M + m, tl.argmin(tile, axis=1))
    value, index = tl.max(tile, axis=1, return_indices=True)
    tl.store(out + 2 * M + m, index + value.to(tl.int32))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8, np.uint8, np.float16])
def test_arguments_of_extrema(compare: Any, rng: np.random.Generator, dtype: Any) -> None:
    x = rng.integers(0, 50, (16, 64)).astype(dtype)
    compare(arg_extrema, (1,), x, np.zeros(48, np.int32), M=16, N=64)


@tritonx.jit
def custom(a, b):
    if a > b:
        r = a * 2 - b
    else:
        r = b
    return r


@tritonx.jit
def reduce_custom(x, out, N: tl.constexpr):
    n = tl.arange(0, N)
    tl.store(out, tl.reduce(tl.load(x + n), 0, custom))


def test_combine_function_with_control_flow(compare: Any, rng: np.random.Generator) -> None:
    x = rng.integers(-100, 100, 64).astype(np.int32)
    compare(reduce_custom, (1,), x, np.zeros(1, np.int32), N=64)


@tritonx.jit
def logic(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.xor_sum(v, axis=0))
    tl.store(out + 1, tl.sum(v.to(tl.int8), axis=0))
    tl.store(out + 2, tl.min(v, axis=0))


def test_integers(compare: Any, rng: np.random.Generator) -> None:
    compare(logic, (1,), rng.integers(-(2**31), 2**31 - 1, 256).astype(np.int32), np.zeros(3, np.int32), N=256)


@tritonx.jit
def scans(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    tl.store(out + i, tl.cumsum(v, axis=AXIS, reverse=REVERSE) + tl.cumprod(v, axis=AXIS, reverse=REVERSE))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_scans(compare: Any, rng: np.random.Generator, axis: int, reverse: bool, dtype: Any) -> None:
    x = (rng.standard_normal((8, 32)) * 2).astype(dtype)
    compare(scans, (1,), x, np.zeros((8, 32), dtype), M=8, N=32, AXIS=axis, REVERSE=reverse)


@tritonx.jit
def first_order(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@tritonx.jit
def recurrence(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    _, y = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, first_order)
    tl.store(out + i, y)


def test_scan_of_pairs(compare: Any, rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal(128, dtype=np.float32) for _ in range(2))
    compare(recurrence, (1,), a, b, np.zeros(128, np.float32), N=128)


@tritonx.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + c, e / tl.sum(e, axis=0), mask=c < n)


@pytest.mark.parametrize("n", [2, 100, 256])
def test_softmax(compare: Any, rng: np.random.Generator, n: int) -> None:
    x = rng.standard_normal((5, n), dtype=np.float32)
    compare(softmax, (5,), x, np.zeros((5, n), np.float32), n, BLOCK=256, ulps=6)


@tritonx.jit
def padded(x, y, out, kept, n, m, OTHER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=OTHER)
    b = tl.load(y + i, mask=i < m)
    both = tl.where(i < n, a * b, a - 1.5)
    tl.store(out, tl.sum(a, axis=0))
    tl.store(out + 1, tl.sum(both, axis=0))
    tl.store(out + 2, tl.max(a, axis=0))
    tl.store(out + 3, tl.sum(tl.where(i < m, b, 0.25) * a, axis=0))
    tl.store(kept + i, a - tl.sum(both, axis=0))


def _halved(x: np.ndarray) -> np.float32:
    while x.size > 1:
        x = x[: x.size // 2] + x[x.size // 2 :]
    return x[0]


@pytest.mark.parametrize("other", [0.0, -0.0, -1.5])
@pytest.mark.parametrize("block", [256, 1024])
def test_padding_is_part_of_the_sum(block: int, other: float, rng: np.random.Generator) -> None:
    """Chunks behind the last true mask are not loaded, and count all the same, to the sign of a zero."""
    eighth = block // 8
    edges = [k * eighth + d for k in range(9) for d in (-1, 0, 1, 16)]
    lengths = [n for n in (*edges, 5, block * 3 // 4 + 7) if 0 <= n <= block]
    for n in lengths:
        m = int(rng.choice(lengths))
        x, y = rng.standard_normal((2, block), dtype=np.float32)
        out, kept = np.zeros(4, np.float32), np.zeros(block, np.float32)
        padded[(1,)](x, y, out, kept, n, m, OTHER=other, B=block, enable_fp_fusion=False)
        i = np.arange(block)
        a, b = np.where(i < n, x, np.float32(other)), np.where(i < m, y, np.float32(0))
        both = np.where(i < n, a * b, a - np.float32(1.5))
        wanted = [_halved(a), _halved(both), a.max(), _halved(np.where(i < m, b, np.float32(0.25)) * a)]
        assert out.view(np.int32).tolist() == np.array(wanted, np.float32).view(np.int32).tolist(), (n, m)
        np.testing.assert_array_equal(kept, a - out[1])


def test_an_empty_row_of_negative_zeros_has_a_negative_zero() -> None:
    out, kept = np.ones(4, np.float32), np.zeros(256, np.float32)
    padded[(1,)](kept, kept, out, kept, 0, 0, OTHER=-0.0, B=256)
    assert np.signbit(out[0]) and out[0] == 0
