"""Kernels with products of what they load through pointers, which `describe-loads` acts on: as tutorials write them,
and in other ways that mean the same. The arrays have something between their rows that must not be read, and sums are
exact."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl


@dataclass(frozen=True)
class Regular:
    """A launch; ``described`` is how many loads become a descriptor's, ``output`` the argument that is compared with
    ``expected``."""

    kernel: Any
    grid: tuple[int, ...]
    args: tuple[Any, ...]
    constants: dict[str, Any]
    described: int
    output: int
    expected: Any


def matrix(random: Random, rows: int, columns: int, dtype: str = "float16", *, turned: bool = False) -> Any:
    """Small numbers with NaN behind each row (or column), up to a multiple of 16 elements and further."""
    if turned:
        return matrix(random, columns, rows, dtype).T
    rng = np.random.default_rng(random.randrange(1 << 30))
    apart = -(-columns // 16) * 16 + 16 * random.randrange(2)
    whole = np.full((max(1, rows), max(16, apart)), np.nan, dtype)
    found = whole[:rows, :columns]
    found[...] = rng.integers(-3, 4, found.shape)
    return found


def strides(array: Any) -> tuple[int, ...]:
    return tuple(step // array.itemsize for step in array.strides)


def product_of(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64)


@tritonx.jit
def confined(index, bound, HOW: tl.constexpr):
    if HOW == "remainder":
        return index % bound
    if HOW == "minimum":
        return tl.minimum(index, bound - 1)
    if HOW == "select":
        return tl.where(index < bound, index, 0)
    return index


@tritonx.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
    M_BLOCK: tl.constexpr, N_BLOCK: tl.constexpr, K_BLOCK: tl.constexpr,
    HOW: tl.constexpr, MOVING: tl.constexpr, SPLIT: tl.constexpr, ASSUMED: tl.constexpr,
):  # fmt: skip
    """A tile of A·B, with rows and columns kept below M and N in several ways, and pointers that move or are made.
    Strides are said to be above 0, and extents as well, by `ASSUMED`."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    if ASSUMED:
        tl.assume(stride_am > 0)
        tl.assume(stride_ak > 0)
        tl.assume(stride_bk > 0)
        tl.assume(stride_bn > 0)
    if ASSUMED > 1:
        tl.assume(M > 0)
        tl.assume(N > 0)
        tl.assume(K > 0)
    rows, columns = pid_m * M_BLOCK + tl.arange(0, M_BLOCK), pid_n * N_BLOCK + tl.arange(0, N_BLOCK)
    offs_m, offs_n = confined(rows, M, HOW), confined(columns, N, HOW)
    offs_k = tl.program_id(2) * K_BLOCK + tl.arange(0, K_BLOCK)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    total = tl.zeros((M_BLOCK, N_BLOCK), tl.float32)
    for k in range(tl.cdiv(K, K_BLOCK * SPLIT)):
        left = K - k * (K_BLOCK * SPLIT)
        if not MOVING:
            a_ptrs = a_ptr + offs_m[:, None] * stride_am + (offs_k + k * K_BLOCK * SPLIT)[None, :] * stride_ak
            b_ptrs = b_ptr + (offs_k + k * K_BLOCK * SPLIT)[:, None] * stride_bk + offs_n[None, :] * stride_bn
        if HOW == "mask":
            a = tl.load(a_ptrs, mask=(offs_k[None, :] < left) & (rows[:, None] < M), other=0.0)
            b = tl.load(b_ptrs, mask=(left > offs_k[:, None]) & (columns[None, :] <= N - 1), other=0.0)
        else:
            a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        if MOVING:
            a_ptrs += K_BLOCK * SPLIT * stride_ak
            b_ptrs += K_BLOCK * SPLIT * stride_bk
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    if SPLIT > 1:
        tl.atomic_add(c_ptrs, total, mask=inside)
    else:
        tl.store(c_ptrs, tl.where(total > 0, total, total * 2), mask=inside)


def matmul(random: Random, *, empty: bool = False) -> Regular:
    m, n, k = (random.choice((2, 15, 16, 31, 33, 48, 70)) for _ in range(3))
    k = 0 if empty else k
    blocks = {"M_BLOCK": random.choice((16, 32)), "N_BLOCK": random.choice((16, 32)), "K_BLOCK": 16}
    a = matrix(random, m, k, turned=random.random() < 0.5)
    b = matrix(random, k, n, turned=random.random() < 0.5)
    split = random.choice((1, 1, 2, 3))
    c = matrix(random, m, n, "float32")
    c[...] = 0
    sums = product_of(a, b)
    expected = sums if split > 1 else np.where(sums > 0, sums, sums * 2)
    constants = {
        **blocks,
        "HOW": random.choice(("remainder", "minimum", "select", "mask")),
        "MOVING": random.random() < 0.5,
        "SPLIT": split,
        "ASSUMED": random.choice((0, 1) if empty else (0, 1, 2)),
    }
    grid = -(-m // blocks["M_BLOCK"]), -(-n // blocks["N_BLOCK"]), split
    args = a, b, c, m, n, k, *strides(a), *strides(b), strides(c)[0]
    return Regular(matmul_kernel, grid, args, constants, 2, 2, expected)


@tritonx.jit
def batched_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, K, stride_az, stride_am, stride_bz, stride_bk, stride_cz, stride_cm,
    M: tl.constexpr, N: tl.constexpr, K_BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Whole blocks, of matrices that lie apart; offsets in 64 bits where that is asked for."""
    batch = tl.program_id(0)
    if WIDE:
        batch = batch.to(tl.int64)
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, K_BLOCK):
        offs_k = k + tl.arange(0, K_BLOCK)
        a = tl.load(a_ptr + batch * stride_az + rows[:, None] * stride_am + offs_k[None, :])
        b = tl.load(b_ptr + batch * stride_bz + offs_k[:, None] * stride_bk + columns[None, :])
        total = tl.dot(a.to(tl.float16), b.to(tl.float16), total)
    total += tl.load(bias_ptr + columns)[None, :]
    tl.store(c_ptr + batch * stride_cz + rows[:, None] * stride_cm + columns[None, :], total)


def batched(random: Random) -> Regular:
    dtype, z, k = random.choice(("float16", "float32")), random.randrange(1, 4), 16 * random.randrange(4)
    rng = np.random.default_rng(random.randrange(1 << 30))
    a = rng.integers(-3, 4, (z, 16, max(k, 16))).astype(dtype)
    b = rng.integers(-3, 4, (z, max(k, 16), 32)).astype(dtype)
    bias, c = rng.integers(-3, 4, 32).astype(np.float32), np.full((z, 16, 32), np.nan, np.float32)
    expected = product_of(a[:, :, :k], b[:, :k]) + bias
    args = a, b, bias, c, k, *strides(a)[:2], *strides(b)[:2], *strides(c)[:2]
    return Regular(
        batched_kernel, (z,), args, {"M": 16, "N": 32, "K_BLOCK": 16, "WIDE": random.random() < 0.5}, 2, 3, expected
    )


@tritonx.jit
def two_loops_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, n, first, HEAD: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """As attention goes through keys and values, in two loops: the second goes on where the first has ended."""
    base = tl.program_id(0).to(tl.int64) * n * HEAD
    within, columns, rows = tl.arange(0, HEAD), tl.arange(0, STEP), tl.arange(0, ROWS)
    q = tl.load(q_ptr + rows[:, None] * HEAD + within[None, :])
    k_ptrs = k_ptr + base + within[:, None] + columns[None, :] * HEAD
    v_ptrs = v_ptr + base + columns[:, None] * HEAD + within[None, :]
    out = tl.zeros((ROWS, HEAD), tl.float32)
    for _ in range(0, first, STEP):
        scores = tl.dot(q, tl.load(k_ptrs))
        out = tl.dot(scores.to(tl.float16), tl.load(v_ptrs), out)
        k_ptrs += STEP * HEAD
        v_ptrs += STEP * HEAD
    for start in range(first, n, STEP):
        scores = tl.dot(q, tl.load(k_ptrs))
        scores = tl.where((start + columns)[None, :] <= first + rows[:, None], scores, 0.0)
        out = tl.dot(scores.to(tl.float16), tl.load(v_ptrs), out)
        k_ptrs += STEP * HEAD
        v_ptrs += STEP * HEAD
    tl.store(o_ptr + tl.program_id(0) * ROWS * HEAD + rows[:, None] * HEAD + within[None, :], out)


def two_loops(random: Random) -> Regular:
    heads, n, first = random.randrange(1, 3), 16 * random.randrange(1, 5), 16 * random.randrange(3)
    first = min(first, n)
    rng = np.random.default_rng(random.randrange(1 << 30))
    q = rng.integers(-1, 2, (16, 16)).astype(np.float16)
    k, v = (rng.integers(-1, 2, (heads, n, 16)).astype(np.float16) for _ in range(2))
    o = np.full((heads, 16, 16), np.nan, np.float32)
    scores = product_of(q, k.transpose(0, 2, 1))
    seen = np.arange(n)[None, :] <= first + np.arange(16)[:, None]
    expected = np.where(seen | (np.arange(n) < first), scores, 0.0) @ v.astype(np.float64)
    return Regular(
        two_loops_kernel, (heads,), (q, k, v, o, n, first), {"HEAD": 16, "ROWS": 16, "STEP": 16}, 4, 3, expected
    )


@tritonx.jit
def shifted_kernel(
    x_ptr, w_ptr, o_ptr, n, stride_x, ROWS: tl.constexpr, C: tl.constexpr, TAPS: tl.constexpr, ASSUMED: tl.constexpr
):
    """A convolution: rows before the first one and behind the last one are zeros."""
    tl.assume(stride_x > 0)
    if ASSUMED:
        tl.assume(n > 0)
    rows, channels = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, C)
    total = tl.zeros((ROWS, C), tl.float32)
    for tap in range(TAPS):
        at = rows + (tap - TAPS // 2)
        inside = (at[:, None] >= 0) & (at[:, None] < n)
        x = tl.load(x_ptr + at[:, None] * stride_x + channels[None, :], mask=inside, other=0.0)
        w = tl.load(w_ptr + (tap * C + channels)[:, None] * C + channels[None, :])
        total = tl.dot(x, w, total)
    tl.store(o_ptr + rows[:, None] * C + channels[None, :], total, mask=rows[:, None] < n)


def shifted(random: Random) -> Regular:
    n, taps = random.choice((1, 15, 17, 40)), random.choice((3, 5))
    x = matrix(random, n, 16)
    w = np.random.default_rng(random.randrange(1 << 30)).integers(-3, 4, (taps, 16, 16)).astype(np.float16)
    o = np.full((n, 16), np.nan, np.float32)
    padded = np.pad(x.astype(np.float64), ((taps // 2, taps // 2), (0, 0)))
    expected = sum(padded[tap : tap + n] @ w[tap].astype(np.float64) for tap in range(taps))
    args = x, w, o, n, strides(x)[0]
    constants = {"ROWS": 16, "C": 16, "TAPS": taps, "ASSUMED": random.random() < 0.5}
    return Regular(shifted_kernel, (-(-n // 16),), args, constants, 2, 2, expected)


@tritonx.jit
def block_pointer_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm, BLOCK: tl.constexpr,
):  # fmt: skip
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    a = tl.make_block_ptr(a_ptr, (M, K), (stride_am, 1), (row, 0), (BLOCK, BLOCK), (1, 0))
    b = tl.make_block_ptr(b_ptr, (K, N), (stride_bk, 1), (0, column), (BLOCK, BLOCK), (1, 0))
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(0, K, BLOCK):
        x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(x, tl.load(b, boundary_check=(0, 1), padding_option="zero"), total)
        a = tl.advance(a, (0, BLOCK))
        b = tl.advance(b, (BLOCK, 0))
    rows, columns = row + tl.arange(0, BLOCK), column + tl.arange(0, BLOCK)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], total, mask=inside)


def block_pointers(random: Random) -> Regular:
    m, n, k = (random.choice((2, 15, 16, 31, 33)) for _ in range(3))
    a, b, c = matrix(random, m, k), matrix(random, k, n), matrix(random, m, n, "float32")
    args = a, b, c, m, n, k, strides(a)[0], strides(b)[0], strides(c)[0]
    grid = -(-m // 16), -(-n // 16)
    return Regular(block_pointer_kernel, grid, args, {"BLOCK": 16}, 2, 2, product_of(a, b))


REGULAR: dict[str, Callable[[Random], Regular]] = {
    "matmul": matmul,
    "empty": lambda random: matmul(random, empty=True),
    "batched": batched,
    "two loops": two_loops,
    "shifted": shifted,
    "block pointers": block_pointers,
}
