"""``break`` and ``continue`` in loops of every kind, on scalars that only the running program knows, with scalars and
blocks carried."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Case, MakeTrial, Output, Part, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d
from tritonx_testing.conformance.values import DTYPES


@tritonx.jit
def search_kernel(x_ptr, out_ptr, n, limit):
    """Each program: numbers that are not negative are added until they would be more than the limit."""
    row = x_ptr + tl.program_id(0) * n
    total = 0
    last = -1
    for i in range(n):
        value = tl.load(row + i)
        if value < 0:
            continue
        if total + value > limit:
            break
        total += value
        last = i
    out = out_ptr + tl.program_id(0) * 3
    tl.store(out, total)
    tl.store(out + 1, last)
    tl.store(out + 2, i)


@tritonx.jit
def collatz_kernel(x_ptr, out_ptr):
    n = tl.load(x_ptr + tl.program_id(0))
    steps = 0
    while True:
        if n <= 1:
            break
        steps += 1
        if n % 2 == 0:
            n = n // 2
            continue
        n = 3 * n + 1
    tl.store(out_ptr + tl.program_id(0), steps)


@tritonx.jit
def rows_kernel(x_ptr, out_ptr, m, most, N: tl.constexpr):
    """The running maximum of the rows from the last one on, without those whose sum is negative, until its sum is
    large."""
    n = tl.arange(0, N)
    largest = tl.zeros((N,), x_ptr.dtype.element_ty)
    for i in range(m, -1, -1):
        row = tl.load(x_ptr + i * N + n)
        if tl.sum(row.to(tl.int32)) < 0:
            continue
        largest = tl.maximum(largest, row).to(row.dtype)
        if tl.sum(largest.to(tl.int32)) > most:
            break
        tl.store(out_ptr + N + i * N + n, largest)
    tl.store(out_ptr + n, largest)


@tritonx.jit
def nested_kernel(x_ptr, out_ptr, n, m, N: tl.constexpr):
    at = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    for i in range(n):
        seen = 0
        for j in range(m):
            row = tl.load(x_ptr + (i * m + j) * N + at)
            first = tl.sum(tl.where(at == 0, row, 0))
            if first == 0:
                break
            if first < 0:
                seen += 1
                if seen > 1:
                    continue
                total -= row
            total = total * 2 + row
        for k in tl.static_range(4):
            if k == 1:
                continue
            if seen == k:
                break
            total += k + 1
        if tl.max(total) > 1000:
            break
    tl.store(out_ptr + at, total)


@tritonx.jit
def product_kernel(a_ptr, b_ptr, out_ptr, steps, M: tl.constexpr, K: tl.constexpr):
    """The sum of products until an element of it is too large."""
    total = tl.zeros((M, M), tl.float32)
    for k in range(steps):
        a = tl.load(a_ptr + k * M * K + grid_2d(M, K))
        b = tl.load(b_ptr + k * M * K + grid_2d(K, M))
        total += tl.dot(a, b)
        if tl.max(total) >= 40:
            break
    tl.store(out_ptr + grid_2d(M, M), total)


def _search(programs: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, limit = rng.integers(-5, 20, (programs, n)).astype(np.int32), int(rng.integers(0, 12 * n))
        found: list[list[int]] = []
        for row in x:
            total, last, i = 0, -1, 0
            for i, value in enumerate(row.tolist()):
                if value < 0:
                    continue
                if total + value > limit:
                    break
                total, last = total + value, i
            found.append([total, last, i])
        return Trial((x, Output.of(np.array(found, np.int32)), n, limit), grid=(programs,))

    return make


def _collatz(programs: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(0, 200, programs).astype(np.int32)
        counts: list[int] = []
        for n in x.tolist():
            steps = 0
            while n > 1:
                steps, n = steps + 1, n // 2 if n % 2 == 0 else 3 * n + 1
            counts.append(steps)
        return Trial((x, Output.of(np.array(counts, np.int32))), grid=(programs,))

    return make


def _rows(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-6, 7, (m, n)).astype(DTYPES[dtype])
        most = int(rng.integers(0, 6 * n))
        largest, kept = np.zeros(n, np.int64), np.full((m, n), 77)
        for i in reversed(range(m)):
            row = x[i].astype(np.int64)
            if row.sum() < 0:
                continue
            largest = np.maximum(largest, row)
            if largest.sum() > most:
                break
            kept[i] = largest
        initial = np.full((m + 1) * n, 77)
        out = Output(x.dtype, (Part("largest", largest), Part("kept", kept)), initial)
        return Trial((x, out, m - 1, most), {"N": n})

    return make


def _nested(n: int, m: int, width: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-3, 4, (n, m, width)).astype(np.int32)
        total = np.zeros(width, np.int32)
        for i in range(n):
            seen = 0
            for row in x[i]:
                if row[0] == 0:
                    break
                if row[0] < 0:
                    seen += 1
                    if seen > 1:
                        continue
                    total = total - row
                total = total * np.int32(2) + row
            for k in (0, 2, 3):
                if seen == k:
                    break
                total = total + np.int32(k + 1)
            if total.max() > 1000:
                break
        return Trial((x, Output.of(total), n, m), {"N": width})

    return make


def _product(dtype: str, steps: int, m: int, k: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = (rng.integers(-2, 4, (steps, *shape)).astype(DTYPES[dtype]) for shape in ((m, k), (k, m)))
        total = np.zeros((m, m))
        for left, right in zip(a, b, strict=True):
            total += left.astype(np.float64) @ right.astype(np.float64)
            if total.max() >= 40:
                break
        return Trial((a, b, Output.of(total.astype(np.float32)), steps), {"M": m, "K": k})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for (programs, n), w in cover.zipped([(5, 40), (3, 1), (9, 200)], (4, 1, 8)):
        yield Case(f"leaving/search-{programs}x{n}-w{w}", search_kernel, _search(programs, n), {"num_warps": w})
    for programs, w in ((12, 1), (5, 4)):
        yield Case(f"leaving/collatz-{programs}-w{w}", collatz_kernel, _collatz(programs), {"num_warps": w})
    dtypes = ("int32", "fp32", "int8", "int64", "fp16")
    for dtype, (m, n), w in cover.zipped(dtypes, [(9, 32), (6, 128), (17, 8), (1, 256)], (4, 1, 8, 2)):
        yield Case(f"leaving/rows-{dtype}-{m}x{n}-w{w}", rows_kernel, _rows(dtype, m, n), {"num_warps": w})
    for (n, m, width), w in cover.zipped([(4, 5, 32), (8, 3, 256), (2, 9, 8)], (4, 8, 1)):
        yield Case(f"leaving/nested-{n}x{m}x{width}-w{w}", nested_kernel, _nested(n, m, width), {"num_warps": w})
    for dtype, (steps, m, k), w in cover.zipped(("fp16", "bf16"), [(6, 32, 16), (9, 64, 64)], (4,)):
        name = f"leaving/product-{dtype}-{steps}x{m}x{k}-w{w}"
        yield Case(name, product_kernel, _product(dtype, steps, m, k), {"num_warps": w})
