"""Attention forward without the score matrix: K and V stream past a tile of queries, the softmax is renormalised as
it grows.
"""

from __future__ import annotations

import math

import numpy as np
from harness import Case, Device, main

import tritonx
import tritonx.language as tl


@tritonx.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, n_ctx, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64) * n_ctx * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + dims[None, :], mask=rows[:, None] < n_ctx, other=0.0)
    q = q * (scale * 1.4426950408889634)  # the softmax below works with powers of two
    m = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BLOCK_M, n_ctx) if CAUSAL else n_ctx
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        inside = cols < n_ctx
        k = tl.load(k_ptr + head + cols[None, :] * D + dims[:, None], mask=inside[None, :], other=0.0)
        v = tl.load(v_ptr + head + cols[:, None] * D + dims[None, :], mask=inside[:, None], other=0.0)
        s = tl.dot(q, k, input_precision="ieee")
        keep = inside[None, :]
        if CAUSAL:
            keep = keep & (rows[:, None] >= cols[None, :])
        s = tl.where(keep, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        total = total * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m = m_new
    tl.store(o_ptr + head + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=rows[:, None] < n_ctx)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    n, d = q.shape[1:]
    s = q @ k.transpose(0, 2, 1) * q.dtype.type(1 / math.sqrt(d))
    s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -np.inf).astype(q.dtype)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return (p / p.sum(axis=-1, keepdims=True)) @ v


def case(device: Device, rng: np.random.Generator) -> Case:
    heads, n, d, block = 8, 1000, 64, 64
    q, k, v = (rng.standard_normal((heads, n, d), dtype=np.float32) for _ in range(3))
    dq, dk, dv, do = device.put(q), device.put(k), device.put(v), device.empty((heads, n, d), np.float32)
    grid = (tritonx.cdiv(n, block), heads)
    return Case(
        title="flash attention, causal",
        shapes=f"{heads} heads × {n} × {d} f32",
        launch=lambda: attention_kernel[grid](
            dq, dk, dv, do, n, 1 / math.sqrt(d), CAUSAL=True, D=d, BLOCK_M=block, BLOCK_N=block
        ),
        result=lambda: device.get(do),
        numpy=lambda: attention(q, k, v),
        exact=lambda: attention(q.astype(np.float64), k.astype(np.float64), v.astype(np.float64)),
        tolerance=2e-6,
    )


if __name__ == "__main__":
    main(case)
