"""Products whose weights are integers, and products of 8-bit floats with scales of blocks."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportMissingTypeStubs=false -- kernels are the language's, not Python's

import triton
import triton.language as tl
from kernels_products import tile_of


@triton.jit
def stored(c_ptr, accumulator, pid_m, pid_n, M, N, stride_cm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * rows[:, None] + columns[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def matmul_int8_weights(
    a_ptr, b_ptr, scale_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A·B, of weights of 8 bits with one scale a column. K is a multiple of the block."""
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs)
        accumulator = tl.dot(a, tl.load(b_ptrs).to(a.dtype), accumulator)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    accumulator *= tl.load(scale_ptr + offs_n)[None, :]
    stored(c_ptr, accumulator, pid_m, pid_n, M, N, stride_cm, BLOCK_M, BLOCK_N)


@triton.jit
def matmul_int4_weights(
    a_ptr, b_ptr, scale_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_sk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, SHARED: tl.constexpr,
):  # fmt: skip
    """A·B, of weights of 4 bits less 8: a byte has the even row's in its low half and the odd row's above. `SHARED`
    rows of a column have one scale. K is a multiple of the block, and `SHARED` too."""
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + (offs_k[:, None] // 2) * stride_bk + offs_n[None, :]
    shift = (offs_k % 2) * 4
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs)
        scale = tl.load(scale_ptr + (k * BLOCK_K // SHARED) * stride_sk + offs_n)
        weights = ((tl.load(b_ptrs) >> shift[:, None]) & 15).to(a.dtype) - 8.0
        accumulator = tl.dot(a, (weights * scale[None, :]).to(a.dtype), accumulator)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K // 2 * stride_bk
    stored(c_ptr, accumulator, pid_m, pid_n, M, N, stride_cm, BLOCK_M, BLOCK_N)


@triton.jit
def matmul_block_scales(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_sm, stride_sn, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A·Bᵀ, where `BLOCK_K` elements of a row of A have a scale, and squares of as many rows and columns of B. K is a
    multiple of the block."""
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] + offs_n[None, :] * stride_bn
    a_scale_ptrs = a_scale_ptr + offs_m * stride_sm
    b_scale_ptrs = b_scale_ptr + (offs_n // BLOCK_K) * stride_sn
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        scale = tl.load(a_scale_ptrs + k)[:, None] * tl.load(b_scale_ptrs + k)[None, :]
        accumulator += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs)) * scale
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    stored(c_ptr, accumulator, pid_m, pid_n, M, N, stride_cm, BLOCK_M, BLOCK_N)


@triton.jit
def vector_times_weights(x_ptr, w_ptr, out_ptr, N, K, stride_wn, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """W·x, of a vector: sums, no matrix product. Both sizes are multiples of the blocks."""
    rows = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    w_ptrs = w_ptr + rows[:, None] * stride_wn + offs_k[None, :]
    total = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + k + offs_k).to(tl.float32)
        total += tl.load(w_ptrs).to(tl.float32) * x[None, :]
        w_ptrs += BLOCK_K
    tl.store(out_ptr + rows, tl.sum(total, axis=1).to(out_ptr.dtype.element_ty))
