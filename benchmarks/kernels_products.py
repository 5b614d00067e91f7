"""Kernels of products as the tutorials write them: matrix product and attention, by pointers and by descriptors."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportMissingTypeStubs=false -- kernels are the language's, not Python's

import triton
import triton.language as tl


@triton.jit
def tile_of(M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """The tile of this program, in groups of rows that share their columns in the second-level cache."""
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = pid // (GROUP * columns)
    first = group * GROUP
    size = min(rows - first, GROUP)
    pid_m = first + (pid % (GROUP * columns)) % size
    pid_n = (pid % (GROUP * columns)) // size
    return pid_m, pid_n


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c = accumulator.to(c_ptr.dtype.element_ty)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(c_ptrs, c, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def matmul_described(
    a_desc, b_desc, c_desc, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    row, column = pid_m * BLOCK_M, pid_n * BLOCK_N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = a_desc.load([row, k * BLOCK_K])
        b = b_desc.load([k * BLOCK_K, column])
        accumulator = tl.dot(a, b, accumulator)
    c_desc.store([row, column], accumulator.to(c_desc.dtype))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, n,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Forward, of heads that lie one behind the other: rows of `HEAD` elements. `n` is a multiple of the blocks."""
    block = tl.program_id(0)
    base = tl.program_id(1).to(tl.int64) * n * HEAD
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    within = tl.arange(0, HEAD)
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + within[None, :])
    k_ptrs = k_ptr + base + within[:, None] + columns[None, :] * HEAD
    v_ptrs = v_ptr + base + columns[:, None] * HEAD + within[None, :]
    most = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32) + 1.0
    out = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    scale = scale * 1.44269504
    whole = block * BLOCK_M if CAUSAL else n
    for _ in range(0, whole, BLOCK_N):
        k = tl.load(k_ptrs)
        scores = tl.dot(q, k)
        new = tl.maximum(most, tl.max(scores, 1) * scale)
        p = tl.math.exp2(scores * scale - new[:, None])
        alpha = tl.math.exp2(most - new)
        total = total * alpha + tl.sum(p, 1)
        out = out * alpha[:, None]
        v = tl.load(v_ptrs)
        out = tl.dot(p.to(v.dtype), v, out)
        most = new
        k_ptrs += BLOCK_N * HEAD
        v_ptrs += BLOCK_N * HEAD
    if CAUSAL:
        for start in range(whole, whole + BLOCK_M, BLOCK_N):
            k = tl.load(k_ptrs)
            scores = tl.dot(q, k)
            allowed = rows[:, None] >= start + columns[None, :]
            scores = scores * scale + tl.where(allowed, 0, -1.0e6)
            new = tl.maximum(most, tl.max(scores, 1))
            p = tl.math.exp2(scores - new[:, None])
            alpha = tl.math.exp2(most - new)
            total = total * alpha + tl.sum(p, 1)
            out = out * alpha[:, None]
            v = tl.load(v_ptrs)
            out = tl.dot(p.to(v.dtype), v, out)
            most = new
            k_ptrs += BLOCK_N * HEAD
            v_ptrs += BLOCK_N * HEAD
    out = out / total[:, None]
    tl.store(o_ptr + base + rows[:, None] * HEAD + within[None, :], out.to(o_ptr.dtype.element_ty))
