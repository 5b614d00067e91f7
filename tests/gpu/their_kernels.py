"""Kernels for Triton itself: ``test_files`` takes what it makes of them."""

import triton
import triton.language as tl


@triton.jit
def product(a, b, c, K, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (start + k)[None, :])
        y = tl.load(b + (start + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + i, e / tl.sum(e, axis=0), mask=i < n)
