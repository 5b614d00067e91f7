"""Matrix products, bit for bit: fma in the order of k from the accumulator on."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    p = c + m[:, None] * N + n[None, :]
    tl.store(p, tl.dot(x, y, tl.load(p), input_precision=P))


@pytest.mark.parametrize(
    "shape", [(16, 16, 16), (64, 32, 32), (1, 16, 16), (4, 8, 64), (32, 128, 16), (128, 64, 64), (2, 1, 16)]
)
@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3"])
def test_f32(compare: Any, rng: np.random.Generator, shape: tuple[int, int, int], precision: str) -> None:
    m, n, k = shape
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n), (m, n)))
    compare(product, (1,), a, b, c, M=m, N=n, K=k, P=precision)


@pytest.mark.parametrize("precision", ["bf16x3", "bf16x6"])
def test_bf16_splits(compare: Any, rng: np.random.Generator, precision: str) -> None:
    a, b, c = (rng.standard_normal((32, 32), dtype=np.float32) for _ in range(3))
    a[0, 0] = np.inf
    compare(product, (1,), a, b, c, M=32, N=32, K=32, P=precision)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.float64, ml_dtypes.float8_e5m2])
def test_other_types(compare: Any, rng: np.random.Generator, dtype: Any) -> None:
    out = {np.int8: np.int32, np.float64: np.float64}.get(dtype, np.float32)
    a, b = (rng.integers(-100, 100, s).astype(dtype) if dtype is np.int8 else rng.standard_normal(s).astype(dtype)
            for s in ((32, 64), (64, 16)))  # fmt: skip
    compare(product, (1,), a, b, np.ones((32, 16), out), M=32, N=16, K=64, P="ieee")


@tritonx.jit
def product_f16(a, b, c, S: tl.constexpr):
    i = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i), out_dtype=tl.float16))


def test_f16_result(compare: Any, rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal((32, 32)).astype(np.float16) for _ in range(2))
    compare(product_f16, (1,), a, b, np.zeros((32, 32), np.float16), S=32)


@tritonx.jit
def transposed(a, b, c, S: tl.constexpr, WHICH: tl.constexpr):
    i = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
    x, y = tl.load(a + i), tl.load(b + i)
    if WHICH == 0 or WHICH == 2:
        x = tl.trans(x)
    if WHICH >= 1:
        y = tl.trans(y)
    tl.store(c + i, tl.dot(x, y, input_precision="ieee"))


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_transposed_operands(compare: Any, rng: np.random.Generator, which: int, dtype: Any) -> None:
    a, b = (rng.standard_normal((32, 32)).astype(dtype) for _ in range(2))
    compare(transposed, (1,), a, b, np.zeros((32, 32), np.float32), S=32, WHICH=which)


@tritonx.jit
def batched(a, b, c, B: tl.constexpr, S: tl.constexpr):
    i = tl.arange(0, B)[:, None, None] * (S * S) + tl.arange(0, S)[None, :, None] * S + tl.arange(0, S)[None, None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.trans(tl.load(b + i), (0, 2, 1)), input_precision="ieee"))


def test_batch(compare: Any, rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal((4, 16, 16), dtype=np.float32) for _ in range(2))
    compare(batched, (1,), a, b, np.zeros((4, 16, 16), np.float32), B=4, S=16)


@tritonx.jit
def tiled(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WRAP: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    am, bn = (rm % M, rn % N) if WRAP else (rm, rn)
    pa = a + am[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + bn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        left = k[None, :] < K - i * BK
        top = k[:, None] < K - i * BK
        if not WRAP:
            left = left & (rm[:, None] < M)
            top = top & (rn[None, :] < N)
        acc = tl.dot(tl.load(pa, mask=left, other=0.0), tl.load(pb, mask=top, other=0.0), acc, input_precision="ieee")
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(32, 64, 32), (45, 50, 37), (33, 96, 80)])
def test_tiled(compare: Any, rng: np.random.Generator, wrap: bool, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    grid = (-(-m // 32), -(-n // 32))
    out = compare(tiled, grid, a, b, np.zeros((m, n), np.float32), m, n, k, BM=32, BN=32, BK=16, WRAP=wrap)
    np.testing.assert_allclose(out[2], a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@tritonx.jit
def attention(q, k, v, out, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d, n = tl.arange(0, D), tl.arange(0, BN)
    x = tl.load(q + m[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    high = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for start in range(0, N, BN):
        keys = tl.load(k + (start + n)[:, None] * D + d[None, :])
        s = tl.dot(x, tl.trans(keys), input_precision="ieee") * 0.3
        s = tl.where(m[:, None] >= (start + n)[None, :], s, -float("inf"))
        new = tl.maximum(high, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(high - new)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(
            p.to(v.dtype.element_ty), tl.load(v + (start + n)[:, None] * D + d[None, :]), acc, input_precision="ieee"
        )
        high = new
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_attention(compare: Any, rng: np.random.Generator, dtype: Any) -> None:
    n, d = 64, 32
    q, k, v = (rng.standard_normal((n, d)).astype(dtype) for _ in range(3))
    out = compare(attention, (2,), q, k, v, np.zeros((n, d), np.float32), n, D=d, BM=32, BN=16, close=(2e-3, 2e-3))
    s = np.where(np.tri(n, dtype=bool), q.astype(np.float64) @ k.astype(np.float64).T * 0.3, -np.inf)
    p = np.exp2(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(out[3], p @ v.astype(np.float64) / p.sum(1, keepdims=True), rtol=3e-3, atol=3e-3)


@tritonx.jit
def scaled_product(
    a, sa, b, sb, c, FA: tl.constexpr, FB: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    PA: tl.constexpr, PB: tl.constexpr,
):  # fmt: skip
    m, n, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    ka, kb = tl.arange(0, K // PA), tl.arange(0, K // PB)
    x = tl.load(a + m[:, None] * (K // PA) + ka[None, :])
    y = tl.load(b + kb[:, None] * N + n[None, :])
    p = tl.load(sa + m[:, None] * (K // 32) + g[None, :])
    q = tl.load(sb + n[:, None] * (K // 32) + g[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, p, FA, y, q, FB))


@pytest.mark.parametrize(("left", "right"), [("e2m1", "e2m1"), ("e4m3", "e5m2"), ("e2m1", "e4m3"), ("e5m2", "bf16")])
def test_scaled(compare: Any, rng: np.random.Generator, left: str, right: str) -> None:
    def operand(form: str, rows: int, columns: int, axis: int) -> np.ndarray:
        shape = [rows, columns]
        if form == "e2m1":
            shape[axis] //= 2
        if form == "bf16":
            return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
        return rng.integers(0, 120, shape).astype(np.uint8)

    m, n, k = 32, 16, 64
    a, b = operand(left, m, k, 1), operand(right, k, n, 0)
    sa, sb = (rng.integers(110, 140, (r, k // 32)).astype(np.uint8) for r in (m, n))
    compare(
        scaled_product, (1,), a, sa, b, sb, np.zeros((m, n), np.float32), FA=left, FB=right, M=m, N=n, K=k,
        PA=2 if left == "e2m1" else 1, PB=2 if right == "e2m1" else 1,
    )  # fmt: skip
