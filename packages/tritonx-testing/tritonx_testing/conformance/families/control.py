"""Control flow: loops with carried tiles and scalars, while, branches, early returns, calls, static loops."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d
from tritonx_testing.conformance.values import integers, small_integers


@tritonx.jit
def fibonacci_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x_ptr + i)
    b = tl.load(y_ptr + i)
    steps = 0
    for k in range(n):
        a, b = b, a + b
        steps += k
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b + steps)


@tritonx.jit
def bounds_kernel(x_ptr, out_ptr, start, stop, step, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), dtype=tl.int32)
    for k in range(start, stop, step):
        for j in tl.range(k):
            total += tl.load(x_ptr + i) * (k - j)
    tl.store(out_ptr + i, total)


@tritonx.jit
def downwards_kernel(x_ptr, out_ptr, start, stop, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), dtype=tl.int32)
    for k in range(start, stop, -2):
        total = total * 3 + tl.load(x_ptr + i) * k
    tl.store(out_ptr + i, total)


@tritonx.jit
def while_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x_ptr + i)
    steps = v * 0
    while tl.max(v, axis=0) > 1:
        steps += (v > 1).to(tl.int32)
        v = tl.where(v > 1, tl.where(v % 2 == 1, 3 * v + 1, v // 2), v)
    tl.store(out_ptr + i, steps)


@tritonx.jit
def scalar_while_kernel(x_ptr, out_ptr):
    n = tl.load(x_ptr + tl.program_id(0))
    root = 0
    while (root + 1) * (root + 1) <= n:
        root += 1
    tl.store(out_ptr + tl.program_id(0), root)


@tritonx.jit
def branch_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x_ptr + i)
    pid = tl.program_id(0)
    if pid >= n:
        return
    if pid % 3 == 0:
        v = v * 2
        w = tl.sum(v, axis=0)
    elif pid % 3 == 1:
        w = tl.max(v, axis=0)
        if w > 4:
            v += 1
    else:
        w = pid
        v = -v
    tl.store(out_ptr + pid * N + i, v + w)


@tritonx.jit
def polynomial(x, C: tl.constexpr, DEGREE: tl.constexpr):
    y = x * 0
    for _ in tl.static_range(DEGREE):
        y = y * x + C
    return y


@tritonx.jit
def choose(x, y, n):
    if n > 2:
        return x + y
    return x - y


@tritonx.jit
def call_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, polynomial(x, 3, 4))
    tl.store(out_ptr + N + i, choose(x, y, n))
    tl.store(out_ptr + 2 * N + i, polynomial(choose(y, x, n), 1, 2) if N > 64 else x)


@tritonx.jit
def transposing_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = grid_2d(N, N)
    v = tl.load(x_ptr + i)
    total = v * 0
    for k in range(n):
        total += v * k + tl.sum(v, axis=0)[None, :]
        v = tl.trans(v) + 1
    tl.store(out_ptr + i, total + v)


@tritonx.jit
def grid_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    width, height = tl.num_programs(0), tl.num_programs(1)
    place = (z * height + y) * width + x
    tl.store(out_ptr + place, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


@tritonx.jit
def pointer_loop_kernel(x_ptr, out_ptr, rows, N: tl.constexpr):
    i = tl.arange(0, N)
    p = x_ptr + i
    total = tl.zeros((N,), dtype=tl.int64)
    for _ in range(rows):
        total += tl.load(p)
        p += N
    tl.store(out_ptr + i, total)


def _fibonacci(n: int, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = (integers(rng, "int32", count) for _ in range(2))
        p, q = a, b
        for _ in range(n):
            p, q = q, p + q
        parts = (Part("a", p), Part("b", q + np.int32(n * (n - 1) // 2)))
        return Trial((a, b, Output(np.int32, parts), n), {"N": count})

    return make


def _bounds(start: int, stop: int, step: int, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = integers(rng, "int32", count)
        factor = sum(k - j for k in range(start, stop, step) for j in range(k))
        return Trial((x, Output.of(x * np.int32(factor)), start, stop, step), {"N": count})

    return make


def _downwards(start: int, stop: int, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = integers(rng, "int32", count)
        total = x * 0
        for k in range(start, stop, -2):
            total = total * np.int32(3) + x * np.int32(k)
        return Trial((x, Output.of(total), start, stop), {"N": count})

    return make


def _collatz(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(1, 100, count).astype(np.int32)
        steps: list[int] = []
        for value in x:
            v, n = int(value), 0
            while v > 1:
                v, n = (3 * v + 1 if v % 2 else v // 2), n + 1
            steps.append(n)
        return Trial((x, Output.of(np.array(steps, np.int32))), {"N": count})

    return make


def _roots(rng: np.random.Generator) -> Trial:
    x = rng.integers(0, 400, 11).astype(np.int32)
    return Trial((x, Output.of(np.floor(np.sqrt(x)).astype(np.int32))), {}, (11,))


def _branches(programs: int, n: int, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", count)
        initial = integers(rng, "int32", (programs, count))
        expected = initial.copy()
        for pid in range(min(programs, n)):
            if pid % 3 == 0:
                expected[pid] = x * 2 + (x * 2).sum()
            elif pid % 3 == 1:
                expected[pid] = x + (x.max() > 4) + x.max()
            else:
                expected[pid] = -x + pid
        return Trial((x, Output.of(expected, initial=initial), n), {"N": count}, (programs,))

    return make


def _calls(n: int, count: int) -> MakeTrial:
    def polynomial_of(x: Array, c: int, degree: int) -> Array:
        y = x * 0
        for _ in range(degree):
            y = y * x + np.int32(c)
        return y

    def make(rng: np.random.Generator) -> Trial:
        x, y = (small_integers(rng, "int32", count) for _ in range(2))
        last = polynomial_of(y + x if n > 2 else y - x, 1, 2) if count > 64 else x
        parts = (
            Part("static loop", polynomial_of(x, 3, 4)),
            Part("returns", x + y if n > 2 else x - y),
            Part("nested", last),
        )
        return Trial((x, y, Output(np.int32, parts), n), {"N": count})

    return make


def _transposing(n: int, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", (count, count))
        v, total = x, x * 0
        for k in range(n):
            total = total + v * np.int32(k) + v.sum(axis=0, dtype=np.int32)[None, :]
            v = v.T + np.int32(1)
        return Trial((x, Output.of(total + v), n), {"N": count})

    return make


def _grid(grid: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        z, y, x = np.indices(grid[::-1])
        return Trial((Output.of((x + 10 * y + 100 * z + 1000 * grid[2]).astype(np.int32)),), {}, grid)

    return make


def _pointers(rows: int, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = integers(rng, "int64", (rows, count))
        return Trial((x, Output.of(x.sum(axis=0, dtype=np.int64)), rows), {"N": count})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for n, count, w in ((0, 64, 1), (1, 128, 4), (7, 256, 4)):
        yield Case(f"control/for-{n}-{count}-w{w}", fibonacci_kernel, _fibonacci(n, count), {"num_warps": w})
    for start, stop, step in ((0, 5, 1), (2, 11, 3), (5, 5, 1)):
        yield Case(
            f"control/bounds-{start}-{stop}-{step}", bounds_kernel, _bounds(start, stop, step, 64), {"num_warps": 2}
        )
    for start, stop in ((7, 2), (3, 9)):
        yield Case(f"control/downwards-{start}-{stop}", downwards_kernel, _downwards(start, stop, 64))
    for count, w in ((128, 4), (32, 1)):
        yield Case(f"control/while-{count}-w{w}", while_kernel, _collatz(count), {"num_warps": w})
    yield Case("control/while-scalar", scalar_while_kernel, _roots)
    for programs, n, count, w in ((7, 5, 64, 4), (4, 4, 128, 2)):
        yield Case(f"control/branches-{count}-w{w}", branch_kernel, _branches(programs, n, count), {"num_warps": w})
    for n, count in ((1, 64), (3, 128)):
        yield Case(f"control/calls-{n}-{count}", call_kernel, _calls(n, count))
    for n, count, w in ((5, 16, 4), (2, 32, 8), (0, 16, 1)):
        yield Case(
            f"control/transposing-{n}-{count}-w{w}", transposing_kernel, _transposing(n, count), {"num_warps": w}
        )
    yield Case("control/grid", grid_kernel, _grid((3, 4, 2)), {"num_warps": 1})
    yield Case("control/pointers", pointer_loop_kernel, _pointers(9, 128))
