"""Kernels whose accesses nothing orders. See wrong_kernels.py."""

# pyright: basic

from __future__ import annotations

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.tools.checking.wrong_kernels import INF, floats, in_place, one_block, rng, to_zeros, total, wrong

# Races between programs ----------------------------------------------------------------------------------------------


@wrong("race", total)
@tritonx.jit
def everybody_writes(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y, tl.sum(tl.load(x + at, mask=at < n, other=0)))  # <-


@wrong("race", total)
@tritonx.jit
def sum_without_atomics(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0))
    old = tl.load(y)  # <-
    tl.store(y, old + s)


@wrong("race", total)
@tritonx.jit
def maximum_without_atomics(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.max(tl.load(x + at, mask=at < n, other=-INF))
    tl.store(y, tl.maximum(s, tl.load(y)))  # <-


@wrong("race", in_place)
@tritonx.jit
def stencil_in_place(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    right = tl.load(x + at + 1, mask=at + 1 < n, other=0)
    v = tl.load(x + at, mask=at < n) + right
    tl.debug_barrier()
    tl.store(x + at, v, mask=at < n)  # <-


@wrong("race", to_zeros)
@tritonx.jit
def overlapping_blocks(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * (B - 1) + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n) + tl.program_id(0)
    tl.store(y + at, v, mask=at < n)  # <-


@wrong("order", lambda n=1000: [((8,), (floats(n), np.ones(1, np.float32), n), {"B": 128})])
@tritonx.jit
def first_program_clears(x, y, n, B: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(y, 0.0)
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(y, tl.sum(tl.load(x + at, mask=at < n, other=0)))  # <-


def partial(n=1000):
    yield (8,), (floats(n), np.zeros(8, np.float32), np.zeros(1, np.float32), np.zeros(1, np.int32), n), {"B": 128}


@wrong("race", partial)
@tritonx.jit
def last_does_not_wait(x, part, y, count, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0)))
    if tl.program_id(0) == tl.num_programs(0) - 1:
        tl.store(y, tl.sum(tl.load(part + tl.arange(0, 8))))  # <-


@wrong("race", partial)
@tritonx.jit
def relaxed_counter(x, part, y, count, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0)))
    if tl.atomic_add(count, 1, sem="relaxed") == 7:
        tl.store(y, tl.sum(tl.load(part + tl.arange(0, 8))))  # <-


@wrong("race", partial)
@tritonx.jit
def counted_before_the_store(x, part, y, count, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    last = tl.atomic_add(count, 1) == 7
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0)))
    if last:
        tl.store(y, tl.sum(tl.load(part + tl.arange(0, 8))))  # <-


@wrong("race", partial)
@tritonx.jit
def counter_that_acquires_alone(x, part, y, count, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0)))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acquire") == 7:
        tl.store(y, tl.sum(tl.load(part + tl.arange(0, 8))))  # <-


def locked(n=200):
    yield (8,), (floats(n), np.zeros(1, np.float32), np.zeros(1, np.int32), n), {"B": 32}


@wrong("race", locked)
@tritonx.jit
def unlocked_before_the_store(x, y, lock, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    old = tl.load(y)  # <-
    tl.atomic_xchg(lock, 0)
    tl.store(y, old + s)


@wrong("race", locked)
@tritonx.jit
def unlocked_by_a_store(x, y, lock, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + at, mask=at < n, other=0))
    while tl.atomic_cas(lock, 0, 1) == 1:  # <-
        pass
    tl.store(y, tl.load(y) + s)
    tl.debug_barrier()
    tl.store(lock, 0)


@wrong("race", to_zeros)
@tritonx.jit
def scan_over_programs(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    before = tl.load(y + tl.program_id(0) * B - 1, mask=tl.program_id(0) > 0, other=0)  # <-
    tl.store(y + at, tl.cumsum(tl.load(x + at, mask=at < n, other=0)) + before, mask=at < n)


@wrong(
    "race", lambda n=1000: [((8,), (rng.integers(0, 16, n).astype(np.int32), np.zeros(16, np.int32), n), {"B": 128})]
)
@tritonx.jit
def histogram_without_atomics(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.histogram(tl.load(x + at, mask=at < n, other=0), 16)
    bins = tl.arange(0, 16)
    old = tl.load(y + bins)  # <-
    tl.store(y + bins, h + old)


@wrong("race", in_place)
@tritonx.jit
def rotated_in_place(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)  # <-
    tl.debug_barrier()
    tl.store(x + (at + B) % n, v, mask=at < n)


def split(n=64):
    yield (2, 2), (floats(n, n), np.zeros(n, np.float32), n), {"B": 64}


@wrong("race", split)
@tritonx.jit
def split_sum(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for i in range(tl.program_id(1), n, 2):
        acc += tl.load(x + i * n + at, mask=at < n, other=0)
    old = tl.load(y + at, mask=at < n)  # <-
    tl.store(y + at, old + acc, mask=at < n)


# Barriers and lanes --------------------------------------------------------------------------------------------------


@wrong("barrier", one_block)
@tritonx.jit
def reversed_through_memory(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    back = tl.load(y + n - 1 - at, mask=at < n)  # <-
    tl.debug_barrier()
    tl.store(y + at, back, mask=at < n)


@wrong("barrier", lambda n=100: [((1,), (floats(n), n), {"B": 128})])
@tritonx.jit
def reversed_in_place(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + n - 1 - at, mask=at < n)
    tl.store(x + at, v, mask=at < n)  # <-


@wrong("barrier", lambda n=100: [((1,), (floats(n), n), {"B": 128})])
@tritonx.jit
def shifted_in_place(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n - 1)
    tl.store(x + at + 1, v, mask=at < n - 1)  # <-


@wrong("barrier", lambda: [((1,), (floats(256), np.zeros(256, np.float32), np.zeros(256, np.float32)), {})])
@tritonx.jit
def transposed_through_memory(x, scratch, y):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    tl.store(scratch + i * 16 + j, tl.load(x + i * 16 + j))
    v = tl.load(scratch + j * 16 + i)  # <-
    tl.store(y + i * 16 + j, v)


@wrong("barrier", one_block)
@tritonx.jit
def scalar_after_tile(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    last = tl.load(y + n - 1, mask=n > 0, other=0)  # <-
    tl.store(y, last, mask=n == 1)


@wrong("barrier", lambda: [((1,), (floats(256), np.empty(1, np.float32), np.empty(256, np.float32)), {"B": 256})])
@tritonx.jit
def scalar_through_memory(x, y, z, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(y, tl.sum(v))
    tl.store(z + at, v * tl.load(y))  # <-


@wrong("barrier", lambda: [((1,), (floats(256), np.empty(256, np.float32), np.zeros(256, np.int32)), {"B": 256})])
@tritonx.jit
def relaxed_atomics_between(x, y, count, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at))
    tl.atomic_add(count + at, 1, sem="relaxed")
    tl.store(x + at, tl.load(y + B - 1 - at))  # <-


@wrong("lanes", total)
@tritonx.jit
def all_lanes_at_once(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at * 0, v, mask=at < n)  # <-


@wrong("lanes", one_block)
@tritonx.jit
def two_lanes_an_element(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at // 2, v, mask=at < n)  # <-


@wrong("lanes", one_block)
@tritonx.jit
def wrapped_around(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at % 7, v, mask=(at < n) & (n > 7))  # <-


@wrong(
    "lanes",
    lambda n=100: [
        (
            (1,),
            (floats(n), rng.integers(0, n, n) if n else np.zeros(0, np.int64), np.zeros(n, np.float32), n),
            {"B": 128},
        )
    ],
)
@tritonx.jit
def scattered_twice(x, index, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    i = tl.load(index + at, mask=at < n, other=0)
    tl.store(y + i, tl.load(x + at, mask=at < n), mask=at < n)  # <-


# Order ---------------------------------------------------------------------------------------------------------------


def tickets(n=8):
    yield (n,), (np.zeros(1, np.int32), np.zeros(n, np.int32)), {}


@wrong("order", tickets)
@tritonx.jit
def place_by_arrival(count, y):
    at = tl.atomic_add(count, 1)
    tl.store(y + at, tl.program_id(0))  # <-


@wrong("order", tickets)
@tritonx.jit
def last_one_wins(count, y):
    tl.atomic_xchg(count, tl.program_id(0))  # <-


@wrong("order", tickets)
@tritonx.jit
def first_one_wins(count, y):
    tl.atomic_cas(count, 0, tl.program_id(0) + 1)  # <-


@wrong("order", tickets)
@tritonx.jit
def what_was_there(count, y):
    tl.store(y + tl.program_id(0), tl.atomic_add(count, 1))  # <-
