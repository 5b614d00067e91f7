"""Products with something around them: bias, GELU and residual; problems of several sizes; a long inner dimension that
several programs share."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportMissingTypeStubs=false -- kernels are the language's, not Python's

import triton
import triton.language as tl
from kernels_products import tile_of


@triton.jit
def product(
    a_ptrs, b_ptrs, offs_k, K, stride_ak, stride_bk,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Sum over K, of blocks that the pointers begin with."""
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    return accumulator


@triton.jit
def gelu(x):
    """By the hyperbolic tangent: (1 + tanh u) / 2 is the logistic function of 2u."""
    return x * tl.sigmoid(1.5957691216 * (x + 0.044715 * x * x * x))


@triton.jit
def matmul_gelu(
    a_ptr, b_ptr, bias_ptr, residual_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """gelu(A·B + bias) + residual, of matrices whose rows lie densely."""
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]
    x = product(a_ptrs, b_ptrs, offs_k, K, 1, stride_bk, BLOCK_M, BLOCK_N, BLOCK_K)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    place = stride_cm * rows[:, None] + columns[None, :]
    x += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    x = gelu(x) + tl.load(residual_ptr + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(c_ptr + place, x.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def matmul_split(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Each of `SPLIT` programs adds its share of the inner dimension to C, which is zero before."""
    pid_m, pid_n = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
    share = tl.program_id(1)
    offs_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = share * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K * SPLIT)):
        left = K - k * BLOCK_K * SPLIT
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * SPLIT
        b_ptrs += BLOCK_K * SPLIT * stride_bk
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.atomic_add(c_ptr + stride_cm * rows[:, None] + columns[None, :], accumulator, mask=inside, sem="relaxed")


@triton.jit
def grouped(
    a_addresses, b_addresses, c_addresses, sizes_ptr, groups,
    PROGRAMS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Products of several sizes by programs that stay: each takes every `PROGRAMS`th tile of them all. `sizes` has M,
    N, K of each, multiples of the blocks."""
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        m = tl.load(sizes_ptr + group * 3)
        n = tl.load(sizes_ptr + group * 3 + 1)
        k = tl.load(sizes_ptr + group * 3 + 2)
        a_ptr = tl.load(a_addresses + group).to(tl.pointer_type(tl.float16))
        b_ptr = tl.load(b_addresses + group).to(tl.pointer_type(tl.float16))
        c_ptr = tl.load(c_addresses + group).to(tl.pointer_type(tl.float16))
        columns = tl.cdiv(n, BLOCK_N)
        tiles = tl.cdiv(m, BLOCK_M) * columns
        while tile >= first and tile < first + tiles:
            offs_m = (tile - first) // columns * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = (tile - first) % columns * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            a_ptrs = a_ptr + offs_m[:, None] * k + offs_k[None, :]
            b_ptrs = b_ptr + offs_k[:, None] * n + offs_n[None, :]
            accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for _ in range(tl.cdiv(k, BLOCK_K)):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                accumulator = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), accumulator)
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * n
            c_ptrs = c_ptr + offs_m[:, None] * n + offs_n[None, :]
            tl.store(c_ptrs, accumulator.to(tl.float16))
            tile += PROGRAMS
        first += tiles
