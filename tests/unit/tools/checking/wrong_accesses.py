"""Kernels that access memory wrongly. See wrong_kernels.py."""

# pyright: basic
# ruff: noqa: PIE808

from __future__ import annotations

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.tools.checking.wrong_kernels import (
    each_row,
    floats,
    one_block,
    product,
    rng,
    rows,
    strided,
    unary,
    wrong,
)

# Bounds --------------------------------------------------------------------------------------------------------------


@wrong("bounds", unary)
@tritonx.jit
def off_by_one(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at <= n, other=0), mask=at < n)  # <-


@wrong("bounds", unary)
@tritonx.jit
def store_off_by_one(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.store(y + at, v, mask=at < n + 1)  # <-


@wrong("bounds", unary)
@tritonx.jit
def load_without_mask(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at)  # <-
    tl.store(y + at, v, mask=at < n)


@wrong("bounds", unary)
@tritonx.jit
def store_without_mask(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n, other=0))  # <-


@wrong("bounds", unary)
@tritonx.jit
def one_before(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    before = tl.load(x + at - 1, mask=at < n, other=0)  # <-
    tl.store(y + at, before, mask=at < n)


@wrong("bounds", unary)
@tritonx.jit
def neighbour(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n) + tl.load(x + at + 1, mask=at < n)  # <-
    tl.store(y + at, v, mask=at < n)


@wrong("bounds", unary)
@tritonx.jit
def bytes_not_elements(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at * 4, mask=at < n)  # <-
    tl.store(y + at, v, mask=at < n)


@wrong("bounds", rows)
@tritonx.jit
def wrong_extent(x, y, m, n, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.program_id(0)
    v = tl.load(x + row + at * m, mask=at < B - 1, other=0)  # <-
    tl.store(y + row * n + at, v, mask=at < n)


@wrong("bounds", rows)
@tritonx.jit
def rows_but_no_columns(x, y, m, n, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + at, mask=row < m, other=0)  # <-
    tl.store(y + row * n + at, v, mask=at < n)


@wrong("bounds", one_block)
@tritonx.jit
def loop_too_long(x, y, n, B: tl.constexpr):
    for i in range(0, n + 1):
        tl.store(y + i, tl.load(x + i))  # <-


@wrong("bounds", one_block)
@tritonx.jit
def block_without_check(x, y, n, B: tl.constexpr):
    block = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    v = tl.load(block)  # <-
    tl.store(y + tl.arange(0, B), v, mask=tl.arange(0, B) < n)


@wrong("bounds", unary)
@tritonx.jit
def length_written_down(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < 1000)  # <-
    tl.store(y + at, v, mask=at < n)


@wrong("bounds", product)
@tritonx.jit
def product_without_masks(a, b, c, m, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for s in range(0, k, B):
        p = s + tl.arange(0, B)
        left = tl.load(a + i[:, None] * k + p[None, :])  # <-
        right = tl.load(b + p[:, None] * n + j[None, :])
        acc += tl.dot(left, right)
    tl.store(c + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@wrong(
    "bounds",
    lambda n=100: [((1,), (floats(n), np.arange(1, n + 1, dtype=np.int32), np.empty(n, np.float32), n), {"B": 128})],
)
@tritonx.jit
def indices_from_one(x, index, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    i = tl.load(index + at, mask=at < n, other=0)
    v = tl.load(x + i, mask=at < n)  # <-
    tl.store(y + at, v, mask=at < n)


# Uninitialised and unwritten -----------------------------------------------------------------------------------------


@wrong("uninitialised", unary)
@tritonx.jit
def output_is_read(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    old = tl.load(y + at, mask=at < n)  # <-
    tl.store(y + at, old + tl.load(x + at, mask=at < n), mask=at < n)


@wrong("uninitialised", lambda n=1000: [((8,), (floats(n), np.empty(1, np.float32), n), {"B": 128})])
@tritonx.jit
def atomic_on_nothing(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0))
    tl.atomic_add(y, s)  # <-


@wrong("uninitialised", one_block)
@tritonx.jit
def carried_from_nothing(x, y, n, B: tl.constexpr):
    for i in range(0, n):
        last = tl.load(y + i)  # <-
        tl.store(y + i, last + tl.load(x + i))


@wrong("uninitialised", unary)
@tritonx.jit
def scratch_is_read_first(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    if tl.program_id(0) > 0:
        tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    tl.debug_barrier()
    v = tl.load(y + at, mask=at < n)  # <-
    tl.store(y + at, v * 2, mask=at < n)


@wrong("unwritten", lambda n=1000: [((n // 128,), (floats(n), np.empty(n, np.float32), n), {"B": 128})])
@tritonx.jit
def grid_rounded_down(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@wrong("unwritten", unary)
@tritonx.jit
def last_one_missing(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n - 2), mask=at < n - 2)


@wrong("unwritten", unary)
@tritonx.jit
def first_program_returns(x, y, n, B: tl.constexpr):
    if tl.program_id(0) == 0:
        return
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@wrong("unwritten", unary)
@tritonx.jit
def pairs_only(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = (at < n) & (at % 4 < 2)
    tl.store(y + at, tl.load(x + at, mask=mask), mask=mask)


@wrong("unwritten", rows)
@tritonx.jit
def columns_beyond_the_block(x, y, m, n, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B // 2)
    tl.store(y + row * n + at, tl.load(x + row * n + at, mask=at < n), mask=at < n)


@wrong("unwritten", unary)
@tritonx.jit
def negative_only(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.store(y + at, v, mask=(at < n) & (at >= 8))


# Strides -------------------------------------------------------------------------------------------------------------


@wrong("view", strided)
@tritonx.jit
def reads_as_if_contiguous(x, y, n, x_stride, y_stride, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + at, mask=at < n)  # <-
    tl.store(y + row * y_stride + at, v, mask=at < n)


@wrong("view", strided)
@tritonx.jit
def writes_as_if_contiguous(x, y, n, x_stride, y_stride, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * x_stride + at, mask=at < n)
    tl.store(y + row * n + at, v, mask=at < n)  # <-


def two_strides(m=7, n=100):
    x, y = floats(m, n), np.empty((m, n + 5), np.float32)[:, :n]
    yield (m,), (x, y, n, x.strides[0] // 4, y.strides[0] // 4), {"B": 128}


@wrong("view", two_strides)
@tritonx.jit
def the_other_stride(x, y, n, x_stride, y_stride, B: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * x_stride + at, mask=at < n)
    tl.store(y + row * x_stride + at, v, mask=at < n)  # <-


# Overflow ------------------------------------------------------------------------------------------------------------


def huge():
    x = np.zeros(3 << 30, np.int8)
    yield (3,), (x, np.empty(3, np.int8), 1 << 30), {}


@wrong("overflow", huge)
@tritonx.jit
def row_times_stride(x, y, stride):
    row = tl.program_id(0)
    start = row * stride * 1  # <-
    tl.store(y + row, tl.load(x + start))


@wrong("overflow", huge)
@tritonx.jit
def lane_times_stride(x, y, stride):
    at = tl.arange(0, 4)
    v = tl.load(x + at * stride, mask=at < 3)  # <-
    tl.store(y + at, v, mask=at < 3)


@wrong("overflow", huge)
@tritonx.jit
def added_in_a_loop(x, y, stride):
    at = 0
    for i in range(3):
        tl.store(y + i, tl.load(x + at))
        at += stride  # <-


@wrong("overflow", huge)
@tritonx.jit
def block_of_large_rows(x, y, stride):
    row = tl.program_id(0)
    at = row * stride + (stride - 1) * (row + 1)  # <-
    tl.store(y + row, tl.load(x + at % 8))
    tl.store(y + row, tl.load(x + at, mask=at < 0, other=1))


# Undefined lanes -----------------------------------------------------------------------------------------------------


@wrong("undefined", each_row)
@tritonx.jit
def sum_of_undefined(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n)  # <-
    tl.store(y + tl.program_id(0), tl.sum(v))


@wrong("undefined", each_row)
@tritonx.jit
def maximum_of_undefined(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n)  # <-
    tl.store(y + tl.program_id(0), tl.max(v) + tl.sum(tl.where(at < n, v, 0)))


@wrong("undefined", lambda n=100: [((1,), (rng.integers(1, 9, n), np.zeros(1, np.int64), n), {"B": 128})])
@tritonx.jit
def smallest_of_undefined(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)  # <-
    tl.store(y, tl.min(v))


@wrong("undefined", product)
@tritonx.jit
def product_of_undefined(a, b, c, m, n, k, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for s in range(0, k, B):
        p = s + tl.arange(0, B)
        left = tl.load(a + i[:, None] * k + p[None, :], mask=(i[:, None] < m) & (p[None, :] < k))  # <-
        right = tl.load(b + p[:, None] * n + j[None, :], mask=(p[:, None] < k) & (j[None, :] < n), other=0)
        acc += tl.dot(left, right)
    tl.store(c + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


# A comparison, a maximum and an integer do not let a NaN through.


@wrong("undefined", lambda: [((1,), (np.abs(floats(n)), np.empty(1, np.float32), n), {"B": 32}) for n in (5, 20, 31)])
@tritonx.jit
def largest_of_positive(x, y, n, B: tl.constexpr):
    tl.store(y, tl.max(tl.load(x + tl.arange(0, B), mask=tl.arange(0, B) < n)))  # <-


@wrong("undefined", lambda: [((1,), (floats(n), np.empty(1, np.int32), n), {"B": 32}) for n in (5, 20, 31)])
@tritonx.jit
def counts_undefined(x, y, n, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B), mask=tl.arange(0, B) < n)  # <-
    tl.store(y, tl.sum((v > 0.5).to(tl.int32)))


@wrong("undefined", each_row)
@tritonx.jit
def chosen_by_itself(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n)  # <-
    tl.store(y + tl.program_id(0), tl.sum(tl.where(v > 0, v, 0)))


# Promises ------------------------------------------------------------------------------------------------------------


def wrapped_around(n=100):
    if n:
        yield (tritonx.cdiv(n, 64),), (floats(n), np.empty((tritonx.cdiv(n, 64), 64), np.float32), n), {"B": 64}


@wrong("assertion", wrapped_around)
@tritonx.jit
def promises_a_run_that_wraps_around(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    wrapped = tl.max_contiguous(tl.multiple_of(at % n, B), B)
    tl.store(y + at, tl.load(x + wrapped))  # <-


@wrong("assertion", lambda n=7: [((n,), (floats(n * 36), np.empty((n, 32), np.float32), 33), {})])
@tritonx.jit
def promises_aligned_rows(x, y, stride):
    at = tl.arange(0, 32)
    row = tl.multiple_of(tl.program_id(0) * stride, 16)
    tl.store(y + tl.program_id(0) * 32 + at, tl.load(x + row + at))  # <-


@wrong("assertion", lambda n=7: [((n,), (floats(n * 36), np.empty((n, 32), np.float32), 33), {})])
@tritonx.jit
def promises_an_aligned_stride(x, y, stride):
    stride = tl.multiple_of(stride, 4)
    at = tl.arange(0, 32)
    tl.store(y + tl.program_id(0) * 32 + at, tl.load(x + tl.program_id(0) * stride + at))  # <-
