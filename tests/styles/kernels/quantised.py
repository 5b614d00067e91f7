"""Products of quantised operands."""

import tritonx as triton
import tritonx.language as tl


@triton.jit
def int8_weights(
    x_ptr, w_ptr, scale_ptr, out_ptr, M, N, K, stride_xm, stride_wk, stride_om,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = (pid_m * BM + tl.arange(0, BM)) % M
    cols = (pid_n * BN + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    x_ptrs = x_ptr + rows[:, None] * stride_xm + ks[None, :]
    w_ptrs = w_ptr + ks[:, None] * stride_wk + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = tl.load(x_ptrs, mask=ks[None, :] < K - i * BK, other=0.0)
        w = tl.load(w_ptrs, mask=ks[:, None] < K - i * BK, other=0)
        acc = tl.dot(x, w.to(tl.float16), acc)
        x_ptrs += BK
        w_ptrs += BK * stride_wk
    acc = acc * tl.load(scale_ptr + cols)[None, :]
    om = pid_m * BM + tl.arange(0, BM)
    on = pid_n * BN + tl.arange(0, BN)
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(out_ptr + om[:, None] * stride_om + on[None, :], acc.to(tl.float16), mask=mask)


@triton.jit
def int4_weights(
    x_ptr, w_ptr, scale_ptr, out_ptr, M, N, K, stride_xm, stride_wk, stride_sk, stride_om, SIZE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    x_ptrs = x_ptr + rows[:, None] * stride_xm + ks[None, :]
    w_ptrs = w_ptr + (ks[:, None] // 8) * stride_wk + cols[None, :]
    shifts = (ks % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(K // BK):
        x = tl.load(x_ptrs, mask=rows[:, None] < M, other=0.0)
        packed = tl.load(w_ptrs, mask=cols[None, :] < N, other=0)
        scale = tl.load(scale_ptr + (i * BK // SIZE) * stride_sk + cols, mask=cols < N, other=0.0)
        w = ((packed >> shifts[:, None]) & 0xF) - 8
        acc = tl.dot(x, w.to(tl.float16) * scale[None, :], acc)
        x_ptrs += BK
        w_ptrs += (BK // 8) * stride_wk
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out_ptr + rows[:, None] * stride_om + cols[None, :], acc.to(tl.float16), mask=mask)


@triton.jit
def block_scaled(
    a_ptr, b_ptr, as_ptr, bs_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_asm, stride_bsn, stride_cm,
    SIZE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = (pid_m * BM + tl.arange(0, BM)) % M
    cols = (pid_n * BN + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :]
    b_ptrs = b_ptr + cols[None, :] * stride_bn + ks[:, None]
    as_ptrs = as_ptr + rows * stride_asm
    bs_ptrs = bs_ptr + cols // SIZE * stride_bsn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - i * BK, other=0.0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - i * BK, other=0.0)
        a_s = tl.load(as_ptrs + i * BK // SIZE)
        b_s = tl.load(bs_ptrs + i * BK // SIZE)
        acc += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BK
        b_ptrs += BK
    om = pid_m * BM + tl.arange(0, BM)
    on = pid_n * BN + tl.arange(0, BN)
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(c_ptr + om[:, None] * stride_cm + on[None, :], acc.to(tl.float16), mask=mask)


@triton.jit
def int8_matmul(
    a_ptr, b_ptr, scale_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BM + tl.arange(0, BM)
    cols = pid_n * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        a = tl.load(
            a_ptr + rows[:, None] * stride_am + (k + ks)[None, :],
            mask=(rows[:, None] < M) & ((k + ks)[None, :] < K), other=0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + cols[None, :] * stride_bn + (k + ks)[:, None],
            mask=(cols[None, :] < N) & ((k + ks)[:, None] < K), other=0,
        )  # fmt: skip
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    scale = tl.load(scale_ptr + rows, mask=rows < M, other=0.0)
    out = acc.to(tl.float32) * scale[:, None]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], out.to(tl.float16), mask=mask)
