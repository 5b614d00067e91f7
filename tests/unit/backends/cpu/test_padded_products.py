"""Products of blocks whose extents are no powers of two: what is in the padding is not computed (`demand.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), ACC)
    for i in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (i + k)[None, :], mask=(rm[:, None] < M) & ((i + k)[None, :] < K), other=0)
        y = tl.load(b + (i + k)[:, None] * N + rn[None, :], mask=((i + k)[:, None] < K) & (rn[None, :] < N), other=0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@pytest.mark.parametrize("blocks", [(96, 96, 96), (48, 96, 32), (64, 24, 40), (33, 17, 7), (5, 3, 9)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_products_of_padded_blocks(compare: Any, rng: np.random.Generator, blocks: tuple[int, ...], dtype: str) -> None:
    bm, bn, bk = blocks
    m, n, k = bm + int(rng.integers(1, bm)), bn + int(rng.integers(1, bn)), 2 * bk + int(rng.integers(0, bk))
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (k, n)))
    if dtype == "float32":
        a[0, 0], a[-1, -1], b[0, 0], b[-1, 0] = -np.inf, np.nan, -0.0, np.inf
        a[1:3] = -0.0
    accumulator = tl.int32 if dtype == "int8" else tl.float32
    out = np.zeros((m, n), np.int32 if dtype == "int8" else np.float32)
    grid = (-(-m // bm), -(-n // bn), 1)
    compare(product, grid, a, b, out, m, n, k, BM=bm, BN=bn, BK=bk, ACC=accumulator)


@tritonx.jit
def chained(a, b, start, out, B: tl.constexpr, ROUNDS: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    x, y, z = tl.load(a + i * B + j), tl.load(b + i * B + j), tl.load(start + i * B + j)
    z = tl.dot(x, y, z, input_precision="ieee")
    for _ in range(ROUNDS):
        z = tl.dot(z, y, x, input_precision="ieee")
    best = tl.max(z, axis=1)
    tl.store(out + i * B + j, tl.maximum(z, 0.0) - best[:, None])


@pytest.mark.parametrize("block", [24, 48])
def test_products_of_products(compare: Any, rng: np.random.Generator, block: int) -> None:
    a, b, start = (rng.integers(-3, 3, (block, block)).astype(np.float32) for _ in range(3))
    start[:] = -0.0
    a[:4] = -0.0
    compare(chained, (1, 1, 1), a, b, start, np.ones_like(a), B=block, ROUNDS=2)


def test_padding_is_not_computed() -> None:
    x = np.zeros(8, np.float32)
    text = str(product.warmup(x, x, x, 96, 96, 96, BM=96, BN=96, BK=96, ACC=tl.float32, grid=(1,)).asm["llir"])
    walked = [line.rsplit(", ", 1)[1] for line in text.splitlines() if "icmp eq i64 %n" in line]
    inside = text[text.index("\npanel") : text.index("\nstore") if "\nstore" in text else len(text)]
    assert walked.count("96") >= 4 and ", 96" in inside
