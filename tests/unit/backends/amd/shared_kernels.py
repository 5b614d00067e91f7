"""Kernels of several tests: looked at as code objects, run in the emulator, launched by the driver."""

from __future__ import annotations

import tritonx as triton
import tritonx.language as tl


@triton.jit
def flip(x_ptr, y_ptr, N: tl.constexpr):
    cols = tl.arange(0, N)
    tl.store(y_ptr + cols, tl.flip(tl.load(x_ptr + cols), 0))


@triton.jit
def softmax(out_ptr, in_ptr, n_cols: tl.constexpr, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + cols, numerator / tl.sum(numerator, axis=0), mask=cols < n_cols)


@triton.jit
def precise_matmul(a_ptr, b_ptr, c_ptr, N: tl.constexpr, PRECISION: tl.constexpr):
    rows, cols = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    product = tl.dot(tl.load(a_ptr + rows * N + cols), tl.load(b_ptr + rows * N + cols), input_precision=PRECISION)
    tl.store(c_ptr + rows * N + cols, product)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + cols[None, :])
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], tl.dot(a, b))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, n_ctx, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):  # fmt: skip
    rows, dims = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + dims[None, :])
    most = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, n_ctx, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + cols[None, :] * D + dims[:, None])
        v = tl.load(v_ptr + cols[:, None] * D + dims[None, :])
        s = tl.where(rows[:, None] >= cols[None, :], tl.dot(q, k) * 0.125, -float("inf"))
        now = tl.maximum(most, tl.max(s, axis=1))
        p, alpha = tl.exp2(s - now[:, None]), tl.exp2(most - now)
        total = total * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        most = now
    tl.store(o_ptr + rows[:, None] * D + dims[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def up_to_diagonal(a, b, o, whole, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, LENGTH: tl.constexpr):
    """Rows of A times columns of B, which lie one behind the other, up to row `whole`, and then `LENGTH` rows more of
    which row r of the result takes the first r: as causal attention does, in two loops, the second one's bounds known
    but for a number."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    width = whole + LENGTH
    a_ptrs = a + m[:, None] * width + k[None, :]
    b_ptrs = b + k[:, None] * N + n[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, whole, K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += K
        b_ptrs += K * N
    for start in range(whole, whole + LENGTH, K):
        x = tl.load(a_ptrs)
        x = tl.where(start + k[None, :] <= whole + m[:, None], x, 0)
        total = tl.dot(x, tl.load(b_ptrs), total)
        a_ptrs += K
        b_ptrs += K * N
    tl.store(o + m[:, None] * N + n[None, :], total)
