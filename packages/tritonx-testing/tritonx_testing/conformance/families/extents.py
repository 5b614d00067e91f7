"""Blocks whose extents are not powers of two: memory, arithmetic, rows, reductions and scans, atomics, control flow.

What lies behind their elements in the IR is ``poisoned``: NaN, or a number that no element is.
"""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false, reportIndexIssue=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d
from tritonx_testing.conformance.values import DTYPES, FLOATS, floats, small_integers, values

EXTENTS = (96, 192, 3, 1000)
SHAPES = ((3, 96), (96, 5), (12, 40), (1, 1000), (8, 3))


@tritonx.jit
def poisoned(x):
    """``x``: a comparison that holds for each of its elements, and for nothing behind them, chooses it."""
    if x.dtype.is_floating():
        poison: tl.constexpr = float("nan")
    else:
        poison: tl.constexpr = 113
    for axis in tl.static_range(len(x.shape)):
        place = tl.arange(0, x.shape[axis])
        for other in tl.static_range(len(x.shape)):
            if other != axis:
                place = tl.expand_dims(place, other)
        x = tl.where(place < x.shape[axis], x, poison)
    return x


@tritonx.jit
def arithmetic_kernel(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = poisoned(tl.load(x_ptr + i, mask=i < n))
    y = tl.load(y_ptr + i, mask=i < n, other=1)
    tl.store(out_ptr + i, tl.where(x < y, x + y, tl.full((N,), 3, x.dtype) * x), mask=i < n)


@tritonx.jit
def matrix_kernel(x_ptr, row_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = poisoned(tl.load(x_ptr + grid_2d(M, N)))
    row = poisoned(tl.load(row_ptr + tl.arange(0, N)))
    tl.store(out_ptr + grid_2d(M, N), x - row)
    tl.store(out_ptr + M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N), 7)
    window = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (0, 0), (M, N), (1, 0))
    to = tl.make_block_ptr(out_ptr + 2 * M * N, (M, N), (N, 1), (0, 0), (M, N), (1, 0))
    tl.store(to, poisoned(tl.load(window)), boundary_check=(0, 1))


@tritonx.jit
def softmax_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = poisoned(tl.load(x_ptr + grid_2d(M, N)))
    e = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    tl.store(out_ptr + grid_2d(M, N), e / tl.sum(e, axis=1, keep_dims=True))


@tritonx.jit
def larger_of_pairs(a0, b0, a1, b1):
    first = (a0 > a1) | ((a0 == a1) & (b0 < b1))
    return tl.where(first, a0, a1), tl.where(first, b0, b1)


@tritonx.jit
def affine(a0, b0, a1, b1):
    """The composition of x → a·x + b, first 0, then 1; not commutative."""
    return a0 * a1, b0 * a1 + b1


@tritonx.jit
def reduce_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = poisoned(tl.load(x_ptr + grid_2d(M, N)))
    m, n = tl.arange(0, M), tl.arange(0, N)
    tl.store(out_ptr + m, tl.sum(x, axis=1).to(x.dtype))
    tl.store(out_ptr + M + n, tl.max(x, axis=0).to(x.dtype))
    tl.store(out_ptr + M + N + m, tl.min(x, axis=1).to(x.dtype))
    at = M + N + M
    tl.store(out_ptr + at, tl.sum(x).to(x.dtype))
    tl.store(out_ptr + at + 1, tl.max(x, axis=(0, 1)).to(x.dtype))
    tl.store(out_ptr + at + 2 + m, tl.argmax(x, axis=1).to(x.dtype))
    tl.store(out_ptr + at + 2 + M + n, tl.argmin(x, axis=0).to(x.dtype))
    at += 2 + M + N
    largest, where = tl.max(x, axis=None, return_indices=True)
    tl.store(out_ptr + at, largest.to(x.dtype))
    tl.store(out_ptr + at + 1, where.to(x.dtype))
    a, b = tl.reduce((x, poisoned(tl.broadcast_to(n[None, :], (M, N)))), 1, larger_of_pairs)
    tl.store(out_ptr + at + 2 + m, a)
    tl.store(out_ptr + at + 2 + M + m, b.to(x.dtype))
    a, b = tl.reduce((x, poisoned(grid_2d(M, N))), None, larger_of_pairs)
    tl.store(out_ptr + at + 2 + 2 * M, b.to(x.dtype))


@tritonx.jit
def bits_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = poisoned(tl.load(x_ptr + tl.arange(0, N)))
    tl.store(out_ptr, tl.xor_sum(x, axis=0))
    tl.store(out_ptr + 1, tl.reduce_or(x, axis=0))


@tritonx.jit
def scan_kernel(x_ptr, a_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = grid_2d(M, N)
    x, a = poisoned(tl.load(x_ptr + i)), poisoned(tl.load(a_ptr + i))
    tl.store(out_ptr + i, tl.cumsum(x, AXIS, reverse=REVERSE))
    tl.store(out_ptr + M * N + i, tl.cumprod(a, AXIS, reverse=REVERSE))
    p, q = tl.associative_scan((a, x), AXIS, affine, reverse=REVERSE)
    tl.store(out_ptr + 2 * M * N + i, p)
    tl.store(out_ptr + 3 * M * N + i, q)


@tritonx.jit
def atomic_kernel(x_ptr, sums_ptr, counts_ptr, largest_ptr, old_ptr, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    x = poisoned(tl.load(x_ptr + i))
    tl.atomic_add(sums_ptr + x, i)
    tl.atomic_add(sums_ptr + BINS + x, 1, mask=x < 2)
    tl.atomic_max(largest_ptr + x, i.to(tl.float32))
    tl.store(counts_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))
    tl.store(counts_ptr + BINS + tl.arange(0, BINS), tl.histogram(x, BINS, mask=i % 2 == 0))
    tl.store(old_ptr + i, tl.atomic_cas(old_ptr + N + i, 1, x))


@tritonx.jit
def twice(x):
    return x + x


@tritonx.jit
def collatz(x):
    """Steps to 1; of 0 it would take for ever."""
    steps = 0
    while x != 1:
        x = tl.where(x % 2 == 0, x // 2, 3 * x + 1)
        steps += 1
    return steps


@tritonx.jit
def control_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    for step in range(n):
        total += poisoned(tl.load(x_ptr + i)) * step
        if step == 3:
            total = twice(total)
    if n > 5:
        total = total + 1
    else:
        total = poisoned(total)
    while tl.sum(total) > 1000:
        total = total - 1
    tl.store(out_ptr + i, total)
    steps = tl.map_elementwise(collatz, tl.where(i < N, tl.load(x_ptr + i), 0))
    tl.store(out_ptr + N + i, steps)


@tritonx.jit
def debug_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = poisoned(tl.load(x_ptr + tl.max_contiguous(tl.multiple_of(i, N), N)))
    tl.device_assert(x < n, "every element is below n")
    if tl.max(x, axis=0) > 1000:
        tl.device_print("x", x)
    tl.store(out_ptr + i, x + i)


def _arithmetic(dtype: str, extent: int, size: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = small_integers(rng, dtype, size), small_integers(rng, dtype, size)
        expected = np.where(x < y, x + y, np.array(3, x.dtype) * x)
        return Trial((x, y, Output.of(expected), size), {"N": extent}, (-(-size // extent),))

    return make


def _matrix(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, row = small_integers(rng, dtype, (m, n)), small_integers(rng, dtype, n)
        parts = (Part("difference", x - row), Part("scalar", np.full_like(x, 7)), Part("window", x))
        return Trial((x, row, Output(x.dtype, parts)), {"M": m, "N": n})

    return make


def _softmax(m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = floats(rng, "fp32", (m, n))
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        output = Output.of(e / e.sum(axis=1, keepdims=True), Tolerance(64, 1e-7), dtype=np.float32)
        return Trial((x, output), {"M": m, "N": n})

    return make


def _reduce(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        low, high = (-9, -1) if dtype in ("int32", *FLOATS) else (0, 9)  # zero is not larger than all
        x = small_integers(rng, dtype, (m, n), low, high)
        exact = x.astype(np.int64)
        flat = np.array(exact.argmax())
        parts = (
            Part("sum", exact.sum(axis=1)), Part("max", exact.max(axis=0)), Part("min", exact.min(axis=1)),
            Part("total", np.array(exact.sum())), Part("largest", np.array(exact.max())),
            Part("argmax", exact.argmax(axis=1)), Part("argmin", exact.argmin(axis=0)),
            Part("largest with index", np.array(exact.max())), Part("index", flat),
            Part("first", exact.max(axis=1)), Part("second", exact.argmax(axis=1)), Part("second of all", flat),
        )  # fmt: skip
        return Trial((x, Output(x.dtype, parts)), {"M": m, "N": n})

    return make


def _bits(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, dtype, n)
        parts = (Part("xor", np.bitwise_xor.reduce(x)[None]), Part("or", np.bitwise_or.reduce(x)[None]))
        return Trial((x, Output(x.dtype, parts)), {"N": n})

    return make


def _in_a_row(x: Array, axis: int | tuple[int, int], *, reverse: bool) -> Array:
    """``x`` as rows along which is scanned."""
    rows = x.reshape(1, -1) if isinstance(axis, tuple) else np.moveaxis(x, axis, -1)
    return rows[:, ::-1] if reverse else rows


def _scan(m: int, n: int, axis: int | tuple[int, int], *, reverse: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, a = small_integers(rng, "int32", (m, n)), rng.choice(np.array([1, -1, 3], np.int32), (m, n))
        rows, factors = (_in_a_row(v, axis, reverse=reverse) for v in (x, a))
        p, q = [factors[:, 0]], [rows[:, 0]]
        for u, v in zip(factors.T[1:], rows.T[1:], strict=True):
            p.append(p[-1] * u)
            q.append(q[-1] * u + v)
        parts: list[Part] = []
        sums, products = np.cumsum(rows, axis=1, dtype=np.int32), np.cumprod(factors, axis=1, dtype=np.int32)
        for name, result in (("sum", sums), ("product", products), ("a", np.stack(p, 1)), ("b", np.stack(q, 1))):
            ordered = result[:, ::-1] if reverse else result
            moved = ordered.reshape(m, n) if isinstance(axis, tuple) else np.moveaxis(ordered, -1, axis)
            parts.append(Part(name, moved))
        constants = {"M": m, "N": n, "AXIS": axis, "REVERSE": reverse}
        return Trial((x, a, Output(np.int32, tuple(parts))), constants)

    return make


def _atomics(n: int, bins: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, i = rng.integers(0, bins, n).astype(np.int32), np.arange(n)
        sums = np.zeros((2, bins), np.int32)
        np.add.at(sums[0], x, i)
        np.add.at(sums[1], x[x < 2], 1)
        largest = np.full(bins, -1, np.float32)
        np.maximum.at(largest, x, i)
        counts = np.stack([np.bincount(x, minlength=bins), np.bincount(x[::2], minlength=bins)]).astype(np.int32)
        before = rng.integers(0, 3, n).astype(np.int32)
        old = Output(
            np.dtype(np.int32),
            (Part("old", before), Part("exchanged", np.where(before == 1, x, before))),
            np.concatenate([np.zeros(n, np.int32), before]),
        )
        outputs = (
            Output.of(sums, initial=np.zeros_like(sums)), Output.of(counts),
            Output.of(largest, initial=np.full(bins, -1, np.float32)), old,
        )  # fmt: skip
        return Trial((x, *outputs), {"N": n, "BINS": bins})

    return make


def _steps(x: int) -> int:
    steps = 0
    while x != 1:
        x, steps = (x // 2 if x % 2 == 0 else 3 * x + 1), steps + 1
    return steps


def _control(n: int, rounds: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(1, 9, n).astype(np.int32)
        total = np.zeros(n, np.int32)
        for step in range(rounds):
            total += x * np.int32(step)
            total = total * np.int32(2) if step == 3 else total
        total += np.int32(1 if rounds > 5 else 0)
        total -= np.int32(max(0, -(-(int(total.sum()) - 1000) // n)))
        parts = (Part("total", total), Part("steps", np.array([_steps(int(v)) for v in x], np.int32)))
        return Trial((x, Output(np.dtype(np.int32), parts), rounds), {"N": n})

    return make


def _debug(n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", n)
        return Trial((x, Output.of(x + np.arange(n, dtype=np.int32)), 100), {"N": n})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    dtypes = cover.choose(("fp32", "int8", "fp16", "int64"), tuple(DTYPES)[:12])
    for dtype, n, w in cover.zipped(dtypes, EXTENTS, (4, 1, 2)):
        make = _arithmetic(dtype, n, 2 * n + n // 2)
        yield Case(f"extents/arithmetic-{dtype}-{n}-w{w}", arithmetic_kernel, make, {"num_warps": w})
    for dtype, (m, n), w in cover.zipped(("fp32", "int16", "bf16"), SHAPES, (4, 1)):
        yield Case(f"extents/matrix-{dtype}-{m}x{n}-w{w}", matrix_kernel, _matrix(dtype, m, n), {"num_warps": w})
    for (m, n), w in cover.zipped((*SHAPES, (3, 192)), (4, 1, 8)):
        yield Case(f"extents/softmax-{m}x{n}-w{w}", softmax_kernel, _softmax(m, n), {"num_warps": w})
    for dtype, (m, n), w in cover.zipped(("int32", "fp32", "uint32"), (*SHAPES, (2, 192)), (4, 1)):
        yield Case(f"extents/reduce-{dtype}-{m}x{n}-w{w}", reduce_kernel, _reduce(dtype, m, n), {"num_warps": w})
    for dtype, n in cover.zipped(("int32", "uint8"), EXTENTS):
        yield Case(f"extents/bits-{dtype}-{n}", bits_kernel, _bits(dtype, n))
    for (m, n), axis, reverse, w in cover.zipped((*SHAPES, (2, 192)), (1, 0, (0, 1)), (False, True), (4, 1)):
        name = f"extents/scan-{m}x{n}-{'all' if isinstance(axis, tuple) else axis}-{'back' if reverse else 'on'}-w{w}"
        yield Case(name, scan_kernel, _scan(m, n, axis, reverse=reverse), {"num_warps": w})
    for n, bins, w in cover.zipped(EXTENTS, (5, 16, 96), (4, 1)):
        yield Case(f"extents/atomics-{n}-{bins}-w{w}", atomic_kernel, _atomics(n, bins), {"num_warps": w})
    for n, rounds, w in cover.zipped(EXTENTS, (7, 2), (4, 1)):
        yield Case(f"extents/control-{n}-{rounds}-w{w}", control_kernel, _control(n, rounds), {"num_warps": w})
    for n in EXTENTS:
        yield Case(f"extents/debug-{n}", debug_kernel, _debug(n), {"debug": True}, optional=True)
