"""Kernels whose loops become pipelines, with inputs on which sums are exact, and the trip counts of their loops."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.described_kernels import DESCRIBED, rounds
from tests.unit.transforms.gpu.flattened_kernels import FLATTENED
from tests.unit.transforms.gpu.kernels import Draw, rows
from tests.unit.transforms.gpu.weight_kernels import WEIGHTS

STAGES = (2, 3, 4)


@tritonx.jit
def matmul(
    a, b, o, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MASKED: tl.constexpr, BY_COLUMNS: tl.constexpr
):
    """Rows of A and columns of B of any length: the last tile is masked if they are MASKED. B lies in memory column
    after column, or row after row."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    tl.assume(inner >= 0)
    a_ptrs = a + m[:, None] * inner + k[None, :]
    if BY_COLUMNS:
        b_ptrs = b + k[:, None] + n[None, :] * inner
    else:
        b_ptrs = b + k[:, None] * N + n[None, :]
    total = tl.zeros((M, N), tl.int32 if a.dtype.element_ty.is_int() else tl.float32)
    for step in range(tl.cdiv(inner, K)):
        if MASKED:
            left = inner - step * K
            x = tl.load(a_ptrs, mask=k[None, :] < left, other=0)
            y = tl.load(b_ptrs, mask=k[:, None] < left, other=0)
        else:
            x = tl.load(a_ptrs)
            y = tl.load(b_ptrs)
        total = tl.dot(x, y, total)
        a_ptrs += K
        b_ptrs += K if BY_COLUMNS else K * N
    tl.store(o + rows(M, N), total)


def product(random: Random, stages: int) -> Draw:
    warps = random.choice((4, 8))
    m, n, k = random.choice((64, 128)), random.choice((16, 32)), random.choice((16, 32))
    masked = random.random() < 0.6
    inner = max(0, rounds(random, stages) * k - masked * random.choice((0, 8)))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a = rng.integers(-4, 5, (m, max(inner, 8))).astype(np.float16)
    b = rng.integers(-4, 5, (max(inner, 8), n)).astype(np.float16)
    by_columns = random.random() < 0.4
    if by_columns:
        b = np.ascontiguousarray(b.T)
    constants = {"M": m, "N": n, "K": k, "MASKED": masked, "BY_COLUMNS": by_columns}
    return Draw(matmul, (a, b, np.full((m, n), np.nan, np.float32), inner), constants, warps)


@tritonx.jit
def chain_kernel(
    a, b, c, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SCALED: tl.constexpr, LATE: tl.constexpr
):
    """Two products a round, the second of what the first one made, and of what is loaded behind it if that is LATE."""
    x = tl.load(a + rows(M, K))
    total = tl.zeros((M, K), tl.float32)
    for step in range(steps):
        y = tl.load(b + step * K * N + rows(K, N))
        if not LATE:
            z = tl.load(c + step * N * K + rows(N, K))
        between = tl.dot(x, y)
        if LATE:
            z = tl.load(c + step * N * K + rows(N, K))
        if SCALED:
            total = total * 0.5
        total = tl.dot((between % 4).to(tl.float16), z, total)
    tl.store(o + rows(M, K), total)


def chain(random: Random, stages: int) -> Draw:
    warps = random.choice((4, 8))
    m, n, k = random.choice((16, 64, 16 * warps)), random.choice((32, 64)), random.choice((32, 64))
    steps = min(6, rounds(random, stages))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b, c = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (6, k, n), (6, n, k)))
    constants = {"M": m, "N": n, "K": k, "SCALED": random.random() < 0.5, "LATE": random.random() < 0.5}
    return Draw(chain_kernel, (a, b, c, np.full((m, k), np.nan, np.float32), steps), constants, warps)


@tritonx.jit
def two_chains_kernel(a, b, c, o, steps, M: tl.constexpr, N: tl.constexpr):
    """Two pairs of products a round, whose sums and results may be more than registers hold at a time."""
    x = tl.load(a + rows(M, N))
    first, second = tl.zeros((M, N), tl.float32), tl.zeros((M, N), tl.float32)
    for step in range(steps):
        y = tl.load(b + step * N * N + rows(N, N))
        z = tl.load(c + step * N * N + rows(N, N))
        first = tl.dot((tl.dot(x, y) % 4).to(tl.float16), z, first)
        second = tl.dot((tl.dot(x, z) % 4).to(tl.float16), y, second)
    tl.store(o + rows(M, N), first)
    tl.store(o + M * N + rows(M, N), second)


def two_chains(random: Random, stages: int) -> Draw:
    m, n = random.choice((64, 128)), random.choice((32, 64))
    steps = min(4, rounds(random, stages))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b, c = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, n), (4, n, n), (4, n, n)))
    return Draw(two_chains_kernel, (a, b, c, np.full((2, m, n), np.nan, np.float32), steps), {"M": m, "N": n}, 4)


@tritonx.jit
def gathered_kernel(a, b, index, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Rows of B by an index that is loaded."""
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        row = tl.load(index + step * K + tl.arange(0, K))
        x = tl.load(a + step * M * K + rows(M, K))
        y = tl.load(b + row[:, None] * N + tl.arange(0, N)[None, :])
        total = tl.dot(x, y, total)
    tl.store(o + rows(M, N), total)


def gathered(random: Random, stages: int) -> Draw:
    m, n, k, warps = 64, random.choice((16, 32)), random.choice((16, 32)), 4
    steps = rounds(random, stages)
    rng = np.random.default_rng(random.randrange(1 << 30))
    a = rng.integers(-4, 5, (max(steps, 1), m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (50, n)).astype(np.float16)
    index = rng.integers(0, 50, max(steps, 1) * k).astype(np.int32)
    constants = {"M": m, "N": n, "K": k}
    return Draw(gathered_kernel, (a, b, index, np.full((m, n), np.nan, np.float32), steps), constants, warps)


@tritonx.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o, steps, M: tl.constexpr, N: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr
):
    """With a softmax that is made as the keys come."""
    rows_, columns, within = tl.arange(0, M), tl.arange(0, N), tl.arange(0, HEAD)
    q = tl.load(q_ptr + rows(M, HEAD))
    k_ptrs = k_ptr + within[:, None] + columns[None, :] * HEAD
    v_ptrs = v_ptr + columns[:, None] * HEAD + within[None, :]
    most = tl.full((M,), float("-inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, HEAD), tl.float32)
    for step in range(steps):
        k = tl.load(k_ptrs)
        scores = tl.dot(q, k)
        if CAUSAL:
            scores += tl.where(rows_[:, None] >= step * N + columns[None, :], 0, -1.0e6)
        new = tl.maximum(most, tl.max(scores, 1))
        p = tl.math.exp2(scores - new[:, None])
        alpha = tl.math.exp2(most - new)
        total = total * alpha + tl.sum(p, 1)
        out = out * alpha[:, None]
        v = tl.load(v_ptrs)
        out = tl.dot(p.to(v.dtype), v, out)
        most = new
        k_ptrs += N * HEAD
        v_ptrs += N * HEAD
    tl.store(o + rows(M, HEAD), out + total[:, None])


def attention(random: Random, stages: int) -> Draw:
    """Sums are rounded, in the same order before and behind a pass."""
    warps = random.choice((4, 8))
    m, n, head = random.choice((16, 64, 16 * warps)), random.choice((32, 64)), random.choice((32, 64))
    steps = min(6, rounds(random, stages))
    rng = np.random.default_rng(random.randrange(1 << 30))
    q, k, v = (rng.standard_normal((size, head)).astype(np.float16) for size in (m, 6 * n, 6 * n))
    constants = {"M": m, "N": n, "HEAD": head, "CAUSAL": random.random() < 0.3}
    return Draw(attention_kernel, (q, k, v, np.full((m, head), np.nan, np.float32), steps), constants, warps)


@tritonx.jit
def window_kernel(
    x, w, o, taps, width, outer, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, CHANNELS: tl.constexpr
):
    """Rows of pixels, of each of which `taps` neighbours are multiplied with weights: all elements are loaded one by
    one, masked by pixels, taps and channels. Weights lie in columns `outer` apart, of elements `inner` apart."""
    pixels, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    column = pixels % width
    total = tl.zeros((M, N), tl.float32)
    for tap in range(taps):
        x_ptrs = x + (pixels // width * width)[:, None] + (k * M)[None, :] + column[:, None] + tap
        x_mask = (pixels < M - 3)[:, None] & (k < CHANNELS)[None, :] & (column + tap < width)[:, None]
        w_ptrs = w + n[None, :] * outer + k[:, None] * inner + tap
        w_mask = (k < CHANNELS)[:, None] & (n < N - 1)[None, :]
        total = tl.dot(tl.load(x_ptrs, mask=x_mask, other=0.0), tl.load(w_ptrs, mask=w_mask, other=0.0), total)
    tl.store(o + rows(M, N), total)


def window(random: Random, stages: int) -> Draw:
    m, n, k = random.choice((64, 128)), random.choice((16, 32)), random.choice((16, 32))
    taps = max(1, rounds(random, stages))
    rng = np.random.default_rng(random.randrange(1 << 30))
    x = rng.integers(-4, 5, k * m + taps).astype(np.float16)
    w = rng.integers(-4, 5, n * k * taps + taps).astype(np.float16)
    constants = {"M": m, "N": n, "K": k, "CHANNELS": k - random.choice((0, 3))}
    width = random.choice((7, 16, 33))
    args = (x, w, np.full((m, n), np.nan, np.float32), taps, width, k * taps, taps)
    return Draw(window_kernel, args, constants, random.choice((4, 8)))


PIPELINED: dict[str, Callable[[Random, int], Draw]] = {
    "window": window,
    "product": product,
    "chain": chain,
    "two chains": two_chains,
    "gathered": gathered,
    "attention": attention,
    **WEIGHTS,
    **DESCRIBED,
    **FLATTENED,
}
"""By name: a kernel, for so many stages."""
