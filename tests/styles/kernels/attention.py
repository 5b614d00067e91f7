"""Attention: forward over a sequence, causal or not, and one query a sequence."""

import tritonx as triton
import tritonx.language as tl


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, H, N, stride_b, stride_h, stride_n,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0)
    bh = tl.program_id(1)
    base = bh // H * stride_b + bh % H * stride_h
    offs_m = start_m * BM + tl.arange(0, BM)
    offs_n = tl.arange(0, BN)
    offs_d = tl.arange(0, D)
    q = tl.load(q_ptr + base + offs_m[:, None] * stride_n + offs_d[None, :], mask=offs_m[:, None] < N, other=0.0)
    k_ptrs = k_ptr + base + offs_n[None, :] * stride_n + offs_d[:, None]
    v_ptrs = v_ptr + base + offs_n[:, None] * stride_n + offs_d[None, :]
    m_i = tl.full((BM,), float("-inf"), dtype=tl.float32)
    l_i = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start_n in range(0, N, BN):
        k = tl.load(k_ptrs, mask=(start_n + offs_n)[None, :] < N, other=0.0)
        s = tl.dot(q, k) * scale
        s = tl.where((start_n + offs_n)[None, :] < N, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs, mask=(start_n + offs_n)[:, None] < N, other=0.0)
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_new
        k_ptrs += BN * stride_n
        v_ptrs += BN * stride_n
    acc = acc / l_i[:, None]
    tl.store(o_ptr + base + offs_m[:, None] * stride_n + offs_d[None, :], acc.to(tl.float16), mask=offs_m[:, None] < N)


@triton.jit
def causal_attention(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, N, stride_h, stride_n,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0)
    base = tl.program_id(1) * stride_h
    rows = start_m * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * stride_n + dims[None, :], mask=rows[:, None] < N, other=0.0)
    m_i = tl.full((BM,), float("-inf"), dtype=tl.float32)
    l_i = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, (start_m + 1) * BM, BN):
        cols = start + tl.arange(0, BN)
        k = tl.load(k_ptr + base + cols[:, None] * stride_n + dims[None, :], mask=cols[:, None] < N, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(rows[:, None] >= cols[None, :], s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + base + cols[:, None] * stride_n + dims[None, :], mask=cols[:, None] < N, other=0.0)
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(o_ptr + base + rows[:, None] * stride_n + dims[None, :], acc.to(tl.float16), mask=rows[:, None] < N)


@triton.jit
def decode(
    q_ptr, k_ptr, v_ptr, o_ptr, length_ptr, scale, stride_q, stride_kb, stride_kn,
    BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    sequence = tl.program_id(0)
    length = tl.load(length_ptr + sequence)
    dims = tl.arange(0, D)
    places = tl.arange(0, BN)
    q = tl.load(q_ptr + sequence * stride_q + dims).to(tl.float32)
    top = float("-inf")
    total = 0.0
    acc = tl.zeros((D,), dtype=tl.float32)
    for start in range(0, length, BN):
        offsets = sequence * stride_kb + (start + places)[:, None] * stride_kn + dims[None, :]
        k = tl.load(k_ptr + offsets, mask=(start + places)[:, None] < length, other=0.0)
        s = tl.sum(k.to(tl.float32) * q[None, :], axis=1) * scale
        s = tl.where(start + places < length, s, float("-inf"))
        above = tl.maximum(top, tl.max(s, axis=0))
        p = tl.exp2(s - above)
        alpha = tl.exp2(top - above)
        v = tl.load(v_ptr + offsets, mask=(start + places)[:, None] < length, other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), axis=0)
        total = total * alpha + tl.sum(p, axis=0)
        top = above
    tl.store(o_ptr + sequence * stride_q + dims, (acc / total).to(tl.float16))
