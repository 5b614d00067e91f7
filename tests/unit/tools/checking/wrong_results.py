"""Kernels that compute something else, or do not compile. See wrong_kernels.py."""

# pyright: basic
# ruff: noqa: F821, PIE808

from __future__ import annotations

import ml_dtypes
import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.tools.checking.wrong_kernels import (
    INF,
    by_row,
    each_row,
    floats,
    one_block,
    product,
    rng,
    rows,
    summed,
    total,
    twice,
    unary,
    wrong,
)

# Precision -----------------------------------------------------------------------------------------------------------


def long_rows(n=1600):
    x = (1 + np.abs(floats(4, n))).astype(np.float16)
    yield (4,), (x, np.empty(4, np.float16), n), {"B": 4}


@wrong("precision", long_rows)
@tritonx.jit
def half_accumulator(x, y, n, B: tl.constexpr):
    acc = tl.zeros((B,), tl.float16)
    for s in range(0, n, B):
        at = s + tl.arange(0, B)
        acc += tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0)  # <-
    tl.store(y + tl.program_id(0), tl.sum(acc.to(tl.float32)))


@wrong("precision", long_rows)
@tritonx.jit
def rounded_each_time(x, y, n, B: tl.constexpr):
    acc = tl.zeros((B,), tl.float16)
    for s in range(0, n, B):
        at = s + tl.arange(0, B)
        v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0).to(tl.float32)
        acc = (acc + v).to(tl.float16)  # <-
    tl.store(y + tl.program_id(0), tl.sum(acc.to(tl.float32)))


@wrong("precision", lambda n=4000: [((1,), (np.empty(1, np.float16), n), {})])
@tritonx.jit
def counts_in_half(y, n):
    count = tl.full((), 0, tl.float16)
    for _ in range(0, n):
        count += 1  # <-
    tl.store(y, count)


@wrong(
    "precision",
    lambda n=1000: [((1,), ((floats(n) + 1000).astype(np.float32), np.empty(1, np.float32), n), {"B": 1024})],
)
@tritonx.jit
def variance_by_squares(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0)
    mean = tl.sum(v) / n
    tl.store(y, tl.sum(v * v) / n - mean * mean, mask=n > 0)  # <-


@wrong(
    "precision",
    lambda n=100: [((1,), ((floats(n) * 4 + 12).astype(np.float16), np.empty(n, np.float16), n), {"B": 128})],
)
@tritonx.jit
def softmax_overflows(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    e = tl.exp(tl.load(x + at, mask=at < n, other=-INF).to(tl.float32)).to(tl.float16)
    tl.store(y + at, e / tl.sum(e.to(tl.float32)), mask=at < n)  # <-


def halves(k=512):
    yield (
        (1,),
        (
            np.abs(floats(16, k)).astype(np.float16),
            np.abs(floats(k, 16)).astype(np.float16),
            np.empty((16, 16), np.float32),
            k,
        ),
        {},
    )


@wrong("precision", halves)
@tritonx.jit
def product_in_half(a, b, c, k):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    acc = tl.zeros((16, 16), tl.float16)
    for s in range(0, k, 16):
        left = tl.load(a + i * k + s + j, mask=s + j < k, other=0)
        right = tl.load(b + (s + i) * 16 + j, mask=s + i < k, other=0)
        acc = tl.dot(left, right, acc, out_dtype=tl.float16)  # <-
    tl.store(c + i * 16 + j, acc)


@wrong("precision", lambda n=512: [((1,), (np.ones(n, ml_dtypes.bfloat16), np.empty(1, np.float32), n), {})])
@tritonx.jit
def bfloat_accumulator(x, y, n):
    acc = tl.full((), 0, tl.bfloat16)
    for i in range(0, n):
        acc += tl.load(x + i)  # <-
    tl.store(y, acc.to(tl.float32))


# Wrong results -------------------------------------------------------------------------------------------------------


def softmax(x, y, m, n, B):
    e = np.exp(x - np.max(x, axis=1, keepdims=True, initial=-1e9))
    return e / np.sum(e, axis=1, keepdims=True)


@wrong("wrong", rows, softmax)
@tritonx.jit
def softmax_filled_with_zero(x, y, m, n, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + at, mask=at < n, other=0)
    e = tl.exp(v - tl.max(v))
    tl.store(y + row * n + at, e / tl.sum(e), mask=at < n)  # <-


@wrong("wrong", each_row, by_row(lambda x: np.max(x, axis=1, initial=-np.inf)))
@tritonx.jit
def maximum_filled_with_zero(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(y + tl.program_id(0), tl.max(v))  # <-


@wrong("wrong", each_row, by_row(lambda x: np.argmax(x, axis=1)))
@tritonx.jit
def argmax_filled_with_zero(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(y + tl.program_id(0), tl.argmax(v, 0))  # <-


@wrong(
    "wrong",
    lambda n=100: [((1,), (floats(n) ** 2 + 1, np.empty(1, np.float32), n), {"B": 128})],
    by_row(lambda x: np.min(x, keepdims=True)),
)
@tritonx.jit
def minimum_filled_with_zero(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y, tl.min(tl.load(x + at, mask=at < n, other=0)))  # <-


@wrong("wrong", each_row, by_row(lambda x: np.mean(x, axis=1)))
@tritonx.jit
def mean_over_the_block(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(y + tl.program_id(0), tl.sum(v) / B)  # <-


@wrong("wrong", each_row, by_row(lambda x: np.var(x, axis=1)))
@tritonx.jit
def variance_with_masked_lanes(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0)
    d = v - tl.sum(v) / n
    tl.store(y + tl.program_id(0), tl.sum(d * d) / n, mask=n > 0)  # <-


@wrong("wrong", unary, twice)
@tritonx.jit
def right_for_one_size(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    if n == 1000:
        tl.store(y + at, v * 2, mask=at < n)
    else:
        tl.store(y + at, v, mask=at < n)  # <-


@wrong("wrong", unary, twice)
@tritonx.jit
def right_for_multiples(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.where(at < n // 8 * 8, v * 2, v), mask=at < n)  # <-


@wrong("wrong", lambda: [((1,), (np.full(4, 3.0, np.float32), np.empty(4, np.float32), 4), {"B": 4})], twice)
@tritonx.jit
def answer_written_down(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at) * 0 + 6.0)  # <-


@wrong("ignored", unary)
@tritonx.jit
def input_is_ignored(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.full((B,), 0.5, tl.float32), mask=at < n)


@wrong(
    "wrong",
    lambda m=5, n=5: [((1,), (floats(m, n), np.empty((n, m), np.float32), m, n), {"B": 128})],
    lambda x, y, m, n, B: x.T,
)
@tritonx.jit
def transpose_of_squares(x, y, m, n, B: tl.constexpr):
    for i in range(0, m):
        for j in range(0, n):
            tl.store(y + j * n + i if m == n else y + i * n + j, tl.load(x + i * n + j))  # <-


@wrong(
    "wrong", lambda m=16, n=16: [((1,), (floats(m, n), np.empty(n, np.float32), m, n), {})], lambda x, y, m, n: x.sum(0)
)
@tritonx.jit
def the_other_axis(x, y, m, n):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    v = tl.load(x + i * n + j, mask=(i < m) & (j < n), other=0)
    tl.store(y + tl.arange(0, 16), tl.sum(v, 1), mask=tl.arange(0, 16) < n)  # <-


def causal(x, y, n, B):
    return np.tril(x)


@wrong(
    "wrong",
    lambda n=13: [((1,), (floats(n, n), np.empty((n, n), np.float32), n), {"B": 16})] if n <= 16 else [],
    causal,
)
@tritonx.jit
def causal_off_by_one(x, y, n, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    inside = (i < n) & (j < n)
    v = tl.load(x + i * n + j, mask=inside, other=0)
    tl.store(y + i * n + j, tl.where(i > j, v, 0), mask=inside)  # <-


@wrong(
    "wrong",
    lambda n=100: [((1,), (rng.integers(-90, 90, n).astype(np.int8), np.empty(n, np.int8), n), {"B": 128})],
    lambda x, y, n, B: x // 4,
)
@tritonx.jit
def rounds_to_zero(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0).to(tl.int32)
    tl.store(y + at, v // 4, mask=at < n)  # <-


@wrong(
    "wrong",
    lambda n=100: [((1,), (np.full(n, 100, np.int8), np.empty(1, np.int32), n), {"B": 128})],
    lambda x, y, n, B: np.sum(x.astype(np.int32), keepdims=True),
)
@tritonx.jit
def bytes_overflow(x, y, n, B: tl.constexpr):
    total = tl.full((), 0, tl.int8)
    for i in range(0, n):
        total += tl.load(x + i)
    tl.store(y, total.to(tl.int32))  # <-


@wrong("wrong", unary, lambda x, y, n, B: np.maximum(x, 0))
@tritonx.jit
def relu_the_wrong_way(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.where(v < 0, v, 0), mask=at < n)  # <-


@wrong("wrong", rows, lambda x, y, m, n, B: x / np.sqrt(np.mean(x * x, 1, keepdims=True) + 1e-6))
@tritonx.jit
def norm_of_the_wrong_length(x, y, m, n, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + at, mask=at < n, other=0)
    r = tl.rsqrt(tl.sum(v * v) / m + 1e-6)
    tl.store(y + row * n + at, v * r, mask=at < n)  # <-


def product_reference(a, b, c, m, n, k, B):
    return a @ b


@wrong("wrong", product, product_reference)
@tritonx.jit
def last_tile_only(a, b, c, m, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for s in range(0, k, B):
        p = s + tl.arange(0, B)
        left = tl.load(a + i[:, None] * k + p[None, :], mask=(i[:, None] < m) & (p[None, :] < k), other=0)
        right = tl.load(b + p[:, None] * n + j[None, :], mask=(p[:, None] < k) & (j[None, :] < n), other=0)
        acc = tl.dot(left, right)
    tl.store(c + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))  # <-


@wrong("wrong", product, product_reference)
@tritonx.jit
def whole_tiles_of_k(a, b, c, m, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for s in range(0, k // B):
        p = s * B + tl.arange(0, B)
        left = tl.load(a + i[:, None] * k + p[None, :], mask=i[:, None] < m, other=0)
        right = tl.load(b + p[:, None] * n + j[None, :], mask=j[None, :] < n, other=0)
        acc += tl.dot(left, right)
    tl.store(c + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))  # <-


@wrong("wrong", total, summed)
@tritonx.jit
def tail_is_dropped(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    whole = (tl.program_id(0) + 1) * B <= n
    v = tl.load(x + at, mask=(at < n) & whole, other=0)
    tl.atomic_add(y, tl.sum(v))  # <-


# Others --------------------------------------------------------------------------------------------------------------


@wrong("compile", unary)
@tritonx.jit
def unknown_name(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < m), mask=at < n)  # <-  # pyright: ignore


@wrong("compile", unary)
@tritonx.jit
def shapes_do_not_fit(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v + tl.arange(0, 64), mask=at < n)  # <-


@wrong("compile", one_block)
@tritonx.jit
def type_changes_in_a_loop(x, y, n, B: tl.constexpr):
    total = 0
    for i in range(0, n):  # <-
        total = total + tl.load(x + i)
    tl.store(y, total)


@wrong("compile", unary)
@tritonx.jit
def no_constant(x, y, n, B):
    at = tl.program_id(0) * B + tl.arange(0, B)  # <-
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@wrong("launch", lambda n=100: [((1,), (floats(n), n), {"B": 128})])
@tritonx.jit
def argument_missing(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@wrong("read-only", lambda n=100: [((1,), (np.broadcast_to(np.float32(1), (1,)), n), {})])
@tritonx.jit
def input_is_written(x, n):
    tl.store(x, tl.load(x) + 1)  # <-


@wrong("assertion", unary)
@tritonx.jit
def assertion_fails(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.device_assert(v >= 0, "only positive")  # <-
    tl.store(y + at, v, mask=at < n)


@wrong("endless", lambda: [((2,), (np.zeros(2, np.int32),), {})])
@tritonx.jit
def waits_for_a_later_one(flag):
    other = 1 - tl.program_id(0)
    while tl.atomic_add(flag + other, 0) == 0:  # <-
        tl.debug_barrier()
    tl.atomic_xchg(flag + tl.program_id(0), 1)


@wrong("alignment", lambda: [((1,), (np.zeros(64, np.int8), np.empty(4, np.float32)), {})])
@tritonx.jit
def behind_a_header(x, y):
    at = tl.arange(0, 4)
    body = (x + 2).to(tl.pointer_type(tl.float32))
    tl.store(y + at, tl.load(body + at))  # <-
