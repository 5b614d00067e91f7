"""Run with the plug-in on the path: vector add, softmax and a matmul through it, each against NumPy."""

from __future__ import annotations

import sys

import numpy as np

import tritonx
import tritonx.language as tl


@tritonx.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask) * 2.0, mask=mask)


@tritonx.jit
def softmax(y, x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + at, mask=at < cols, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * cols + at, v / tl.sum(v, axis=0), mask=at < cols)


@tritonx.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        at = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        bt = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(at, bt)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1000), dtype=np.float32)
    z = np.empty_like(x)
    kernel = add[(tritonx.cdiv(1000, 128),)](x, y, z, 1000, BLOCK=128)
    assert kernel.target.backend == "toy", kernel.target
    np.testing.assert_allclose(z, x + 2 * y, rtol=1e-6)
    assert kernel.asm["ttir"].count("toy.copy_async") == 2, "the plug-in's pass did not run"
    assert kernel.asm["numpy"].startswith("# add for toy:v1")

    table = rng.standard_normal((7, 100), dtype=np.float32)
    out = np.empty_like(table)
    softmax[(7,)](out, table, 100, BLOCK=128)
    e = np.exp(table - table.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)

    grid = lambda meta: (tritonx.cdiv(33, meta["BM"]), tritonx.cdiv(41, meta["BN"]))  # noqa: E731
    for dtype, product in ((np.float32, "tt.dot"), (np.float16, "toy.mma")):
        a = rng.standard_normal((33, 50)).astype(dtype)
        b = rng.standard_normal((50, 41)).astype(dtype)
        c = np.empty((33, 41), np.float32)
        kernel = matmul[grid](a, b, c, 33, 41, 50, BM=16, BN=16, BK=16)
        assert product in kernel.asm["ttir"]
        np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-5)

    add[(1,)](x, y, z, 1, BLOCK=1, trace=True)
    print("all right", "llvmlite" in sys.modules)


if __name__ == "__main__":
    main()
