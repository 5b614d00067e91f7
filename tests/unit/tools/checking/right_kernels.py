"""Kernels that are right, each of a form that is easily taken for a mistake; `CASES` has them with launches and
references."""

# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.tools.checking.wrong_kernels import floats, rng

CASES: list[tuple[Any, Callable[..., Any], Callable[..., Any] | None]] = []


def right(make: Callable[..., Any], reference: Callable[..., Any] | None = None) -> Callable[[Any], Any]:
    def add(kernel: Any) -> Any:
        CASES.append((kernel, make, reference))
        return kernel

    return add


def long(n=1000):
    yield (1,), (floats(n), np.empty(n, np.float32), n), {"B": 64}


# The stores' offsets come from what a loop counts, or from memory ----------------------------------------------------


@right(long, lambda x, y, n, B: np.cumsum(x))
@tritonx.jit
def carries_a_sum(x, y, n, B: tl.constexpr):
    carry = 0.0
    for s in range(0, n, B):
        at = s + tl.arange(0, B)
        v = tl.load(x + at, mask=at < n, other=0)
        tl.store(y + at, tl.cumsum(v) + carry, mask=at < n)
        carry += tl.sum(v)


def averaged(x, y, n, a):
    out, h = np.empty(n), 0.0
    for i in range(n):
        out[i] = h = h * a + x[i]
    return out


@right(lambda n=30: [((1,), (floats(n), np.empty(n, np.float32), n, 0.5), {})], averaged)
@tritonx.jit
def recurrence(x, y, n, a):
    h = 0.0
    for i in range(n):
        h = h * a + tl.load(x + i)
        tl.store(y + i, h)


def permuted(n=100):
    index = rng.permutation(n).astype(np.int32)
    yield (tritonx.cdiv(n, 32),), (floats(n), index, np.empty(n, np.float32), n), {"B": 32}


def scattered(x, index, y, n, B):
    out = np.empty(n)
    out[index] = x
    return out


@right(permuted, scattered)
@tritonx.jit
def scatter(x, index, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    i = tl.load(index + at, mask=at < n, other=0)
    tl.store(y + i, tl.load(x + at, mask=at < n, other=0), mask=at < n)


def either(n=10):
    yield (1,), (floats(n), np.zeros(n, np.float32), np.zeros(n, np.float32), n), {"B": 64}


@right(either, lambda x, y, z, n, B: (x, z) if n % 2 == 0 else (y, x))
@tritonx.jit
def one_of_two_outputs(x, y, z, n, B: tl.constexpr):
    """Compiled for `n == 1` it has one."""
    at = tl.arange(0, B)
    to = z
    if n % 2 == 0:
        to = y
    tl.store(to + at, tl.load(x + at, mask=at < n), mask=at < n)


# Views of one array --------------------------------------------------------------------------------------------------


def interleaved(rows=4):
    packed = floats(rows, 3, 16)
    yield (rows,), (packed[:, 0], packed[:, 1], np.empty((rows, 16), np.float32), 48), {"B": 16}


@right(interleaved, lambda q, k, y, stride, B: q + k)
@tritonx.jit
def views_beside_each_other(q, k, y, stride, B: tl.constexpr):
    at = tl.arange(0, B)
    here = tl.program_id(0) * stride + at
    tl.store(y + tl.program_id(0) * B + at, tl.load(q + here) + tl.load(k + here))


def whole_and_part(rows=4):
    full = floats(rows, 8)
    yield (rows,), (full, full[:, :4], np.empty((rows, 8), np.float32), 8), {"B": 8}


@right(whole_and_part, lambda full, part, y, stride, B: full + np.concatenate([part, part], 1))
@tritonx.jit
def view_of_another(full, part, y, stride, B: tl.constexpr):
    r, at = tl.program_id(0), tl.arange(0, B)
    tl.store(y + r * B + at, tl.load(full + r * stride + at) + tl.load(part + r * stride + at % 4))


# Arithmetic that wraps around, beside an address ---------------------------------------------------------------------


@right(lambda: [((1,), (floats(64), np.empty(64, np.float32)), {"B": 64})])
@tritonx.jit
def hash_as_a_condition(x, y, B: tl.constexpr):
    at = tl.arange(0, B)
    keep = at * 1640531535 > 0
    tl.store(y + at, tl.load(x + tl.where(keep, at, 0)))


@right(lambda n=1000: [((1,), (floats(n), np.empty(32, np.float32), n), {"B": 32})])
@tritonx.jit
def generator_beside_an_offset(x, y, n, B: tl.constexpr):
    at = state = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for _ in range(0, n, B):
        state = state * 1664525 + 1013904223
        acc += tl.load(x + at, mask=at < n, other=0) * ((state & 1) == 0)
        at += B
    tl.store(y + tl.arange(0, B), acc)


# Order ---------------------------------------------------------------------------------------------------------------


def blocks(n=300):
    if n:
        count = tritonx.cdiv(n, 32)
        outputs = np.empty(count, np.float32), np.zeros(1, np.int32), np.empty(1, np.float32)
        yield (count,), (floats(n), *outputs, n), {"B": 32, "P": 1024}


@right(blocks)
@tritonx.jit
def last_block_adds_up(x, part, count, y, n, B: tl.constexpr, P: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0)))
    if tl.atomic_add(count, 1) == tl.num_programs(0) - 1:
        i = tl.arange(0, P)
        tl.store(y, tl.sum(tl.load(part + i, mask=i < tl.num_programs(0), other=0)))


@right(lambda n=8: [((n,), (floats(n), np.ones(n, np.float32)), {})])
@tritonx.jit
def scalar_in_place(x, y):
    p = tl.program_id(0)
    tl.store(y + p, tl.load(y + p) + tl.load(x + p))


@right(lambda n=8: [((n,), (floats(n), np.zeros(n, np.float32)), {})])
@tritonx.jit
def scalar_of_the_first_lane(x, y):
    p = tl.program_id(0)
    for _ in range(5):
        tl.store(y + p, tl.load(y + p) + tl.load(x + p))


def all_at_once():
    x = floats(4, 16)
    arrays = (x, np.empty_like(x), np.empty_like(x), np.zeros(1, np.int32))
    yield (4,), arrays, {"B": 16, "launch_cooperative_grid": True}


@right(all_at_once)
@tritonx.jit
def barrier_of_the_grid(x, t, y, bar, B: tl.constexpr):
    p, at = tl.program_id(0), tl.arange(0, B)
    tl.store(t + p * B + at, tl.load(x + p * B + at) + 1)
    tl.debug_barrier()
    tl.atomic_add(bar, 1, sem="release")
    while tl.atomic_add(bar, 0, sem="acquire") < tl.num_programs(0):
        pass
    q = (p + 1) % tl.num_programs(0)
    tl.store(y + p * B + at, tl.load(t + q * B + at))


# Locks and counters --------------------------------------------------------------------------------------------------


def locked(n=200):
    yield (8,), (floats(n), np.zeros(2, np.float32), np.zeros(4, np.int32), n), {"B": 32}


@right(locked)
@tritonx.jit
def sums_under_a_lock(x, y, locks, n, B: tl.constexpr):
    """As the gradients of the weights in the tutorial of layer norm: a flag says whether the sum has begun."""
    which = tl.program_id(0) % 2
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0))
    while tl.atomic_cas(locks + which, 0, 1) == 1:
        pass
    if tl.load(locks + 2 + which) == 0:
        tl.atomic_xchg(locks + 2 + which, 1)
    else:
        s += tl.load(y + which)
    tl.store(y + which, s)
    tl.debug_barrier()
    tl.atomic_xchg(locks + which, 0)


@right(locked)
@tritonx.jit
def acquires_and_releases(x, y, locks, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0))
    while tl.atomic_cas(locks, 0, 1, sem="acquire") == 1:
        pass
    tl.store(y, tl.load(y) + s)
    tl.debug_barrier()
    tl.atomic_xchg(locks, 0, sem="release")


def counted(n=200):
    yield (8,), (floats(n), np.empty(8, np.float32), np.empty(1, np.float32), np.zeros(1, np.int32), n), {"B": 32}


@right(counted)
@tritonx.jit
def the_last_one_adds_up(x, part, y, count, n, B: tl.constexpr):
    """And takes the counter back by a plain store, for the next launch."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0)))
    if tl.atomic_add(count, 1) == 7:
        tl.store(y, tl.sum(tl.load(part + tl.arange(0, 8))))
        tl.store(count, 0)


KEPT: list[list[list[np.ndarray]]] = []
"""The arrays whose addresses alone are arguments."""


def tables(m=20, n=30, k=17):
    if m and n:
        given = [[floats(m, k), floats(n, k)], [floats(k, n), floats(k, m)]]
        groups = [*given, [np.empty((m, n), np.float32), np.empty((n, m), np.float32)]]
        KEPT.append(groups)
        addresses = [np.array([each.ctypes.data for each in group], np.int64) for group in groups]
        yield (3,), (*addresses, np.array([[m, n, k], [n, m, k]], np.int32), 2), {"B": 16}


@right(tables)
@tritonx.jit
def grouped_products(a_table, b_table, c_table, sizes, groups, B: tl.constexpr):
    """Pointers lie in memory; a program goes over the tiles of all products."""
    tile, last = tl.program_id(0), 0
    for g in range(groups):
        m, n, k = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(n, B)
        tiles = tl.cdiv(m, B) * across
        while tile >= last and tile < last + tiles:
            a = tl.load(a_table + g).to(tl.pointer_type(tl.float32))
            b = tl.load(b_table + g).to(tl.pointer_type(tl.float32))
            c = tl.load(c_table + g).to(tl.pointer_type(tl.float32))
            i = (tile - last) // across * B + tl.arange(0, B)[:, None]
            j = (tile - last) % across * B + tl.arange(0, B)[None, :]
            total = tl.zeros((B, B), tl.float32)
            for s in range(0, k, B):
                p = s + tl.arange(0, B)
                left = tl.load(a + i * k + p[None, :], mask=(i < m) & (p[None, :] < k), other=0)
                right_ = tl.load(b + p[:, None] * n + j, mask=(p[:, None] < k) & (j < n), other=0)
                total = tl.dot(left, right_, total, input_precision="ieee")
            tl.store(c + i * n + j, total, mask=(i < m) & (j < n))
            tile += tl.num_programs(0)
        last += tiles


# Promises that hold where an access goes by them ---------------------------------------------------------------------


@right(
    lambda m=20, n=32: (
        [((tritonx.cdiv(m, 16),), (floats(m, n), np.empty((m, n), np.float32), m, n), {"B": 16})]
        if m and n == 32
        else []
    ),
    lambda x, y, m, n, B: 2 * x,
)
@tritonx.jit
def rows_that_wrap_around(x, y, m, n, B: tl.constexpr):
    """As the tutorial of products promises it of rows: the addresses are apart by a stride."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    rows = tl.max_contiguous(tl.multiple_of(tl.where(i < m, i, 0), B), B)
    j = tl.max_contiguous(tl.multiple_of(tl.arange(0, 32), 32), 32)
    v = tl.load(x + rows[:, None] * n + j[None, :])
    tl.store(y + i[:, None] * n + j[None, :], 2 * v, mask=i[:, None] < m)
