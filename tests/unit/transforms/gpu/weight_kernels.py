"""Loops whose products need more than loads: operands that are computed of what is loaded, narrower than it is
multiplied, and results that are scaled by what is loaded; and operands that lie otherwise than they are
multiplied."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.described_kernels import rounds
from tests.unit.transforms.gpu.kernels import Draw, rows


@tritonx.jit
def weights_kernel(
    a, b, scale, o, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HALVES: tl.constexpr,
    MASKED: tl.constexpr, OTHER: tl.constexpr, SCALED: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    """B, or A if that is FIRST, of small integers, two in a byte if HALVES; the last tile is MASKED, with OTHER there;
    SCALED by rows of factors."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(tl.cdiv(inner, K)):
        left = inner - step * K
        at = step * K + k
        inside = k < left
        held = at // 2 if HALVES else at
        if FIRST:
            w_ptrs, w_mask = a + m[:, None] * (inner // 2 if HALVES else inner) + held[None, :], inside[None, :]
            v_ptrs, v_mask = b + at[:, None] * N + n[None, :], inside[:, None]
            shift = ((at % 2) * 4)[None, :]
        else:
            w_ptrs, w_mask = b + held[:, None] * N + n[None, :], inside[:, None]
            v_ptrs, v_mask = a + m[:, None] * inner + at[None, :], inside[None, :]
            shift = ((at % 2) * 4)[:, None]
        if MASKED:
            v = tl.load(v_ptrs, mask=v_mask, other=1.0 if OTHER else 0.0)
            w = tl.load(w_ptrs, mask=w_mask, other=OTHER)
        else:
            v = tl.load(v_ptrs)
            w = tl.load(w_ptrs)
        if HALVES:
            w = ((w >> shift) & 15).to(v.dtype) - 8.0
        w = w.to(v.dtype)
        if SCALED:
            if FIRST:
                w *= tl.load(scale + step * M + m)[:, None]
            else:
                w *= tl.load(scale + step * N + n)[None, :]
        if FIRST:
            total = tl.dot(w, v, total)
        else:
            total = tl.dot(v, w, total)
    tl.store(o + rows(M, N), total)


def weights(random: Random, stages: int) -> Draw:
    warps = random.choice((4, 8))
    m, n, k = random.choice((64, 128)), random.choice((16, 32, 64)), random.choice((16, 32, 64))
    masked, halves, first = random.random() < 0.4, random.random() < 0.3, random.random() < 0.3
    inner = max(0, min(6, rounds(random, stages)) * k - masked * random.choice((0, 8)))
    rng = np.random.default_rng(random.randrange(1 << 30))
    deep = max(inner, 8)
    narrow = np.uint8 if halves else random.choice((np.int8, np.uint8, np.int16, np.float32))
    wide, small = ((n, deep), (m, deep)) if first else ((m, deep), (n, deep))
    v = rng.integers(-2, 3, wide).astype(np.float16)
    if halves:
        w = rng.integers(0, 256, (small[0], deep // 2)).astype(narrow)
    else:
        w = rng.integers(0 if narrow is np.uint8 else -4, 5, small).astype(narrow)
    scale = rng.choice(np.array([0.5, 1, 2], np.float16), (7, small[0]))
    a, b = (w, np.ascontiguousarray(v.T)) if first else (v, np.ascontiguousarray(w.T))
    constants = {
        "M": m, "N": n, "K": k, "HALVES": halves, "MASKED": masked, "FIRST": first,
        "OTHER": random.choice((0, 3)), "SCALED": random.random() < 0.4,
    }  # fmt: skip
    return Draw(weights_kernel, (a, b, scale, np.full((m, n), np.nan, np.float32), inner), constants, warps)


@tritonx.jit
def scaled_kernel(a, b, left, right, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr):
    """Each product by itself, scaled by what is loaded for its rows and columns."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x = tl.load(a + step * M * K + rows(M, K))
        y = tl.trans(tl.load(b + step * K * N + rows(N, K))) if TURNED else tl.load(b + step * K * N + rows(K, N))
        total += tl.dot(x, y) * (tl.load(left + m * 8 + step)[:, None] * tl.load(right + step * N + n)[None, :])
    tl.store(o + rows(M, N), total)


def scaled(random: Random, stages: int) -> Draw:
    warps = random.choice((4, 8))
    m, n, k = random.choice((64, 128)), random.choice((16, 32, 64)), random.choice((32, 64))
    steps = min(6, rounds(random, stages))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-2, 3, (6, *shape)).astype(np.float16) for shape in ((m, k), (k, n)))
    factors = np.array([0.5, 1, 2, 4], np.float32)
    left, right = rng.choice(factors, (m, 8)), rng.choice(factors, (7, n))
    constants = {"M": m, "N": n, "K": k, "TURNED": random.random() < 0.5}
    arrays = (a, b, left, right, np.full((m, n), np.nan, np.float32))
    return Draw(scaled_kernel, (*arrays, steps), constants, warps)


@tritonx.jit
def turned_kernel(
    a, b, o, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FIRST: tl.constexpr, MASKED: tl.constexpr
):
    """B lies in rows, and A in columns if that is FIRST: of some types, matrix units want neighbours along K."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), o.dtype.element_ty)
    for step in range(tl.cdiv(inner, K)):
        at = step * K + k
        if FIRST:
            a_ptrs = a + at[None, :] * M + m[:, None]
        else:
            a_ptrs = a + m[:, None] * inner + at[None, :]
        b_ptrs = b + at[:, None] * N + n[None, :]
        if MASKED:
            x = tl.load(a_ptrs, mask=at[None, :] < inner, other=0)
            y = tl.load(b_ptrs, mask=at[:, None] < inner, other=0)
        else:
            x = tl.load(a_ptrs)
            y = tl.load(b_ptrs)
        total = tl.dot(x, y, total, input_precision="tf32", out_dtype=o.dtype.element_ty)
    tl.store(o + rows(M, N), total)


def turned(random: Random, stages: int) -> Draw:
    warps = random.choice((4, 8))
    dtype, result = random.choice(((np.float32, np.float32), (np.int8, np.int32)))
    m, n, k = random.choice((64, 128)), random.choice((16, 32, 64, 128)), random.choice((32, 64))
    first, masked = random.random() < 0.3, random.random() < 0.4
    inner = max(0, min(6, rounds(random, stages)) * k - masked * random.choice((0, 16)))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in ((m, max(inner, 8)), (max(inner, 8), n)))
    a = np.ascontiguousarray(a.T) if first else a
    constants = {"M": m, "N": n, "K": k, "FIRST": first, "MASKED": masked}
    return Draw(turned_kernel, (a, b, np.full((m, n), 77, result), inner), constants, warps)


WEIGHTS: dict[str, Callable[[Random, int], Draw]] = {"weights": weights, "scaled": scaled, "turned": turned}
"""By name: a kernel, for so many stages."""
