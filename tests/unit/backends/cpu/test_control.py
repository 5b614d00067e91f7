"""Control flow: carried tiles and scalars, branches, early returns, calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def fibonacci(x, y, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    for _ in range(n):
        a, b = b, a + b
    tl.store(out + i, a)
    tl.store(out + N + i, b)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_tiles_that_swap(compare: Any, rng: np.random.Generator, n: int) -> None:
    x, y = (rng.integers(0, 50, 64).astype(np.int32) for _ in range(2))
    compare(fibonacci, (1,), x, y, np.zeros(128, np.int32), n, N=64)


@tritonx.jit
def rotate(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    total = v * 0
    for k in range(n):
        total += v * k + tl.sum(v, axis=0)[None, :]
        v = tl.trans(v) + 1
    tl.store(out + i, total + v)


def test_tile_carried_through_a_transposition(compare: Any, rng: np.random.Generator) -> None:
    compare(rotate, (1,), rng.standard_normal((16, 16), dtype=np.float32), np.zeros((16, 16), np.float32), 5, N=16)


@tritonx.jit
def handed_on(x, out, n, N: tl.constexpr, COUNT: tl.constexpr, FOR: tl.constexpr):
    """The first ``COUNT`` of five tiles go through a loop in a loop, each as another one's successor."""
    i = tl.arange(0, N)
    a, b, c, d, e = (
        tl.load(x + i),
        tl.load(x + N + i),
        tl.load(x + 2 * N + i),
        tl.load(x + 3 * N + i),
        tl.load(x + 4 * N + i),
    )
    for k in range(n):
        p, q, r, s, t = a, b, c, d, e
        if FOR:
            for m in range(k):
                if COUNT == 2:
                    p, q = q * 3, p + m
                elif COUNT == 3:
                    p, q, r = r + m, p * 3, q - 1
                elif COUNT == 4:
                    p, q, r, s = q + m, s, p * 3, r - 1
                else:
                    p, q, r, s, t = t, p + m, s * 3, q, r - 1
        else:
            m = 0
            while m < k:
                if COUNT == 2:
                    p, q = q * 3, p + m
                elif COUNT == 3:
                    p, q, r = r + m, p * 3, q - 1
                elif COUNT == 4:
                    p, q, r, s = q + m, s, p * 3, r - 1
                else:
                    p, q, r, s, t = t, p + m, s * 3, q, r - 1
                m += 1
        a, b, c, d, e = b + p, c - q, d + r, e - s, a + t
    tl.store(out + i, a)
    tl.store(out + N + i, b)
    tl.store(out + 2 * N + i, c)
    tl.store(out + 3 * N + i, d)
    tl.store(out + 4 * N + i, e)


@pytest.mark.parametrize("loop", ["for", "while"])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_tiles_that_go_through_a_loop_in_a_loop(compare: Any, rng: np.random.Generator, count: int, loop: str) -> None:
    """And that the outer one still needs as they were."""
    x = rng.integers(-50, 50, 5 * 64).astype(np.int32)
    compare(handed_on, (1,), x, np.zeros_like(x), 5, N=64, COUNT=count, FOR=loop == "for")


@tritonx.jit
def branches(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    if n > 10:
        v = v * 2
        w = tl.sum(v, axis=0)
    elif n > 5:
        w = 1.0
        v = tl.exp2(tl.floor(v))
    else:
        w = tl.max(v, axis=0)
    tl.store(out + i, v + w)


@pytest.mark.parametrize("n", [3, 7, 20])
def test_branches_that_change_tiles(compare: Any, rng: np.random.Generator, n: int) -> None:
    compare(branches, (1,), rng.standard_normal(64, dtype=np.float32), np.zeros(64, np.float32), n, N=64)


@tritonx.jit
def collatz(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    steps = v * 0
    while tl.max(v, axis=0) > 1:
        odd = v % 2 == 1
        steps += (v > 1).to(tl.int32)
        v = tl.where(v > 1, tl.where(odd, 3 * v + 1, v // 2), v)
    tl.store(out + i, steps)


def test_while_with_tiles(compare: Any, rng: np.random.Generator) -> None:
    compare(collatz, (1,), rng.integers(1, 30, 64).astype(np.int32), np.zeros(64, np.int32), N=64)


@tritonx.jit
def early(x, out, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    v = tl.load(x + pid)
    if v < 0:
        tl.store(out + pid, -1.0)
        return
    tl.store(out + pid, v * 2)


def test_early_returns(compare: Any, rng: np.random.Generator) -> None:
    compare(early, (12,), rng.standard_normal(8, dtype=np.float32), np.zeros(12, np.float32), 8)


@tritonx.jit(noinline=True)
def scaled(x, factor, n):
    total = tl.load(x)
    if n > 5:
        return total, n
    for _ in range(n):
        total = total * factor
    return total, n


@tritonx.jit
def calls(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a, s = scaled(x, 0.5, n)
    b, t = scaled(x + 1, a, 2)
    tl.store(out + i, tl.load(x + i) * a + b + s * t)


def test_functions_that_are_not_inlined(compare: Any, rng: np.random.Generator) -> None:
    compare(calls, (1,), rng.standard_normal(64, dtype=np.float32), np.zeros(64, np.float32), 3, N=64)


@tritonx.jit
def pointers(x, out, n, STEP: tl.constexpr, N: tl.constexpr):
    p = x + tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    k = tl.arange(0, N)
    for i in range(n):
        for _ in range(2):
            total += tl.load(p, mask=k < 500, other=1.0)
            p += STEP
            k += STEP
        if i % 2 == 0:
            p += 3
    tl.store(out + tl.arange(0, N), total + tl.load(p) * 0)


def test_pointers_that_loops_advance(compare: Any, rng: np.random.Generator) -> None:
    compare(pointers, (1,), rng.standard_normal(1000, dtype=np.float32), np.zeros(64, np.float32), 4, STEP=8, N=64)


@tritonx.jit
def uneven_advance(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    offsets = i
    total = tl.zeros((N,), tl.float32)
    for _ in range(n):
        total += tl.load(x + offsets)
        offsets = offsets + i % 2
    tl.store(out + i, total)


def test_offsets_that_advance_unevenly(compare: Any, rng: np.random.Generator) -> None:
    compare(uneven_advance, (1,), rng.standard_normal(100, dtype=np.float32), np.zeros(64, np.float32), 5, N=64)


@tritonx.jit
def two_loops(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    for k in range(n):
        acc = acc * 0.5 + tl.load(x + k * N + i)
    first = acc
    for k in range(n):
        acc = acc + tl.load(x + k * N + i) * tl.sum(acc, axis=0)
    tl.store(out + i, acc)
    tl.store(out + N + i, first + 1)


def test_one_tile_through_two_loops(compare: Any, rng: np.random.Generator) -> None:
    compare(two_loops, (1,), rng.standard_normal(256, dtype=np.float32), np.zeros(128, np.float32), 4, N=64)


@tritonx.jit
def recurrence(x, y, n, B: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, B)
    last, older = tl.load(x + i), tl.load(y + i)
    for t in range(n):
        if KIND == 0:  # `last` becomes `older` when it has been replaced
            last, older = last // 3 + older * t, last
        elif KIND == 1:
            last, older = older, last // 3 - i
        else:
            last, older = last // 3 + i, last * 2 + i
    tl.store(x + i, last)
    tl.store(y + i, older)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("block", [4, 64])
def test_a_carried_tile_that_becomes_another_one(block: int, kind: int, rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 1000, (2, block)).astype(np.int64)
    last, older, i = x.copy(), y.copy(), np.arange(block)
    for t in range(4):
        third = np.trunc(last / 3).astype(np.int64)
        last, older = [(third + older * t, last), (older, third - i), (third + i, last * 2 + i)][kind]
    recurrence[(1,)](x, y, 4, B=block, KIND=kind)
    np.testing.assert_array_equal(x, last)
    np.testing.assert_array_equal(y, older)


@tritonx.jit
def nested_recurrence(x, y, out, n, B: tl.constexpr, KIND: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    at = i * B + j
    first, second, third = tl.load(x + at), tl.load(y + at), i * 3 + j
    for _ in range(n):
        if KIND == 0:  # where the inner loop begins is made before `first` has been read
            second = tl.maximum(second, third)
            for _ in range(n):
                third = tl.maximum(j, first)
                second = third
            first = second
            second = tl.trans(second)
        else:  # the inner loop takes `first` as another one than it gives back
            a, b = second // 3, first
            for t in range(n):
                a = a // 3 + b * t
                b = b // 3 + t
            first = a
            third = b
    tl.store(out + at, first)
    tl.store(out + B * B + at, second)
    tl.store(out + 2 * B * B + at, third)


@pytest.mark.parametrize("kind", range(2))
def test_a_carried_tile_around_an_inner_loop(compare: Any, rng: np.random.Generator, kind: int) -> None:
    x, y = rng.integers(0, 1000, (2, 32, 32)).astype(np.int32)
    compare(nested_recurrence, (1,), x, y, np.zeros(3 * 32 * 32, np.int32), 2, B=32, KIND=kind)
