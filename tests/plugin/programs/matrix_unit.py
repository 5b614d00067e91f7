"""Run with the plug-in on the path: products through its matrix unit, bit for bit as the unit is described, and those
that it does not take."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpret
from tritonx.ir.text import parse_module

DEPTH = 16
"""Products that an instruction adds."""

FP8 = {tl.float8e5: ml_dtypes.float8_e5m2, tl.float8e4nv: ml_dtypes.float8_e4m3fn}
RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def product(a, b, c, d, FP8: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x, y = tl.load(a + m * K + k[None, :]), tl.load(b + k[:, None] * N + n)
    if FP8 is not None:
        x, y = x.to(FP8, bitcast=True), y.to(FP8, bitcast=True)
    z = tl.load(c + m * N + n)
    tl.store(d + m * N + n, tl.dot(x, y, z, out_dtype=d.dtype.element_ty))


@tritonx.jit
def batched(a, b, d, N: tl.constexpr):
    i, m, n = tl.arange(0, 2)[:, None, None], tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    at = (i * N + m) * N + n
    tl.store(d + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def run(a: Any, b: Any, c: Any, fp8: Any = None) -> tuple[Any, Any]:
    """d, and the module that made it."""
    (m, k), n = a.shape, b.shape[1]
    outputs = [np.full((m, n), 77, c.dtype) for _ in range(2)]
    arrays = [x.view(np.uint8) if fp8 is not None else x for x in (a, b)]
    kernel = product[(1,)](*arrays, c, outputs[0], fp8, m, n, k, copies=0)
    text = kernel.asm["ttir"]
    interpret(parse_module(text), 1, [*arrays, c, outputs[1]])  # by what the ops mean
    assert (outputs[0].view(np.uint8) == outputs[1].view(np.uint8)).all(), text
    return outputs[0], text


def rounded(total: Fraction) -> Any:
    """The nearest float32, of two the one whose last digit is 0."""
    near = np.float32(float(total))
    candidates = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(candidates, key=lambda v: (abs(Fraction(float(v)) - total), int(v.view(np.uint32)) & 1))


def by_instructions(a: Any, b: Any, c: Any) -> Any:
    """With rational numbers: DEPTH products and the sum so far, rounded once."""
    d = c.copy()
    for (i, j), _ in np.ndenumerate(c):
        for k in range(0, a.shape[1], DEPTH):
            terms = zip(a[i, k : k + DEPTH].tolist(), b[k : k + DEPTH, j].tolist(), strict=True)
            d[i, j] = rounded(Fraction(float(d[i, j])) + sum(Fraction(x) * Fraction(y) for x, y in terms))
    return d


def step_by_step(a: Any, b: Any, c: Any) -> Any:
    """Every step rounded, as the vector unit does."""
    for k in range(a.shape[1]):
        c = c + a[:, k, None].astype(np.float32) * b[None, k, :].astype(np.float32)
    return c


def spread(shape: tuple[int, ...], dtype: Any, least: int, most: int) -> Any:
    """Numbers of many magnitudes: what comes after the digits of a sum counts."""
    return (RNG.uniform(-2, 2, shape) * np.exp2(RNG.integers(least, most, shape))).astype(dtype)


def check_floats() -> None:
    kinds = [(np.float16, None), (ml_dtypes.bfloat16, None), *((np.dtype(kind), fp8) for fp8, kind in FP8.items())]
    differ = 0
    for dtype, fp8 in kinds:
        m, n = (int(RNG.choice([8, 16])) for _ in range(2))
        a, b = spread((m, 32), dtype, -6, 7), spread((32, n), dtype, -6, 7)
        a[:, 1::2][:, ::2], b[1::2][::2] = -a[:, ::4], b[::4]  # cancels, but for what is added between
        c = spread((m, n), np.float32, -20, 20)
        d, text = run(a, b, c, fp8)
        assert text.count("toy.mma") == 1 and "tt.dot" not in text, text
        assert (d.view(np.uint32) == by_instructions(a, b, c).view(np.uint32)).all(), dtype
        differ += int((d != step_by_step(a, b, c)).sum())
    assert differ, "every sum was as the vector unit makes it: nothing was shown"


def check_ties() -> None:
    """Sums that lie half way between two float32, but for what float64 does not hold beside them."""
    c = (2.0**20 + RNG.integers(0, 64, (8, 8)) * 2.0**-3).astype(np.float32) * RNG.choice([-1, 1], (8, 8))
    a, b = np.zeros((8, 16), np.float16), np.zeros((16, 8), np.float16)
    a[:, 0], b[0] = 2.0**-2, RNG.choice([-1, 1], 8) * 2.0**-2
    a[:, 1], b[1] = 2.0**-24, RNG.choice([-1, 0, 1], 8) * 2.0**-24
    d, _ = run(a, b, c.astype(np.float32))
    assert (d.view(np.uint32) == by_instructions(a, b, c.astype(np.float32)).view(np.uint32)).all(), (b, c, d)


def check_what_is_not_finite() -> None:
    a, b = spread((8, 16), np.float16, 0, 2), spread((16, 8), np.float16, 0, 2)
    a[1, 3], a[2, :2], a[3, 0] = np.inf, (np.inf, -np.inf), np.nan
    b[:2] = abs(b[:2])
    c = np.zeros((8, 8), np.float32)
    c[4, 4], c[5, 5] = np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        expected = a.astype(np.float64) @ b.astype(np.float64) + c
    d, _ = run(a, b, c)
    assert np.isnan(d[2]).all() and np.isinf(d[5, 5])
    np.testing.assert_array_equal(d[~np.isfinite(expected)], expected[~np.isfinite(expected)])
    assert np.isfinite(d[np.isfinite(expected)]).all()


def check_integers() -> None:
    a, b = RNG.integers(-128, 128, (16, 32), np.int8), RNG.integers(-128, 128, (32, 8), np.int8)
    c = RNG.choice([-(1 << 31), (1 << 31) - 1], (16, 8)).astype(np.int32)
    d, text = run(a, b, c)
    total = a.astype(object) @ b.astype(object) + c.astype(object)
    assert "toy.mma" in text and (d == ((total + (1 << 31)) % (1 << 32) - (1 << 31)).astype(np.int32)).all()


def check_what_it_does_not_take() -> None:
    """Small integers, of which every unit makes the same."""
    cases = [
        ((4, 8, 16), np.float16, np.float32),
        ((8, 16, 8), np.float16, np.float32),
        ((8, 8, 16), np.float32, np.float32),
        ((8, 8, 16), np.float16, np.float16),
    ]
    for (m, n, k), dtype, sums in cases:
        a, b = RNG.integers(-8, 9, (m, k)).astype(dtype), RNG.integers(-8, 9, (k, n)).astype(dtype)
        c = RNG.integers(-8, 9, (m, n)).astype(sums)
        d, text = run(a, b, c)
        assert "tt.dot" in text and "toy.mma" not in text, text
        assert (d == (a.astype(int) @ b.astype(int) + c)).all(), (m, n, k, dtype, sums)
    a, b = RNG.integers(-8, 9, (2, 2, 16, 16)).astype(np.float16)
    d = np.full((2, 16, 16), np.nan, np.float32)
    kernel = batched[(1,)](a, b, d, 16)
    assert "toy.mma" not in kernel.asm["ttir"]
    assert (d == a.astype(int) @ b.astype(int)).all()


if __name__ == "__main__":
    check_floats()
    check_ties()
    check_what_is_not_finite()
    check_integers()
    check_what_it_does_not_take()
    print("all right")
