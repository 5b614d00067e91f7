"""Loops that take a row of a tile by a gather or a masked sum, combine it with the tile, and replace a row or store a
column: every iteration reads shared memory that the one before it has just written."""

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
from tritonx_testing.conformance.values import small_integers


@tritonx.jit
def row_of(x, r, N: tl.constexpr, D: tl.constexpr, GATHER: tl.constexpr):
    """Row ``r`` of an N×D tile, as a tile of one row."""
    if GATHER:
        return tl.gather(x, tl.full([1, D], r, tl.int16), axis=0)
    return tl.sum(tl.where((tl.arange(0, N) == r)[:, None], x, 0), 0, keep_dims=True)


@tritonx.jit
def substitution_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr, GATHER: tl.constexpr):
    """Forward substitution in two strictly lower triangular matrices, modulo 2^32."""
    i = tl.arange(0, N)
    below = i[:, None] > i[None, :]
    a = tl.where(below, tl.load(a_ptr + grid_2d(N, N)), 0)
    b = tl.where(below, tl.load(b_ptr + grid_2d(N, N)), 0)
    for r in range(1, N):
        p = tl.sum(row_of(a, r, N, N, GATHER), 0)
        q = tl.sum(row_of(b, r, N, N, GATHER), 0)
        p += tl.sum(p[:, None] * a, 0) * (i < r)
        q += tl.sum(q[:, None] * b, 0) * (i < r)
        a = tl.where((i == r)[:, None], p, a)
        b = tl.where((i == r)[:, None], q, b)
    tl.store(out_ptr + grid_2d(N, N), a)
    tl.store(out_ptr + N * N + grid_2d(N, N), b)


@tritonx.jit
def pairs_kernel(q_ptr, k_ptr, g_ptr, out_ptr, rows, D_: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
                 GATHER: tl.constexpr):  # fmt: skip
    """Products of every row with every earlier one, weighted by powers of two: a column of two matrices at a time."""
    i, d = tl.arange(0, N), tl.arange(0, D)
    known = (i < rows)[:, None] & (d < D_)[None, :]
    at = i[:, None] * D_ + d[None, :]
    q = tl.load(q_ptr + at, mask=known, other=0)
    k = tl.load(k_ptr + at, mask=known, other=0)
    g = tl.load(g_ptr + at, mask=known, other=0).to(tl.float32)
    for j in range(min(N, rows)):
        other = row_of(k, j, N, D, GATHER)
        weight = tl.exp2(g - row_of(g, j, N, D, GATHER))
        first = tl.sum(q * other * weight, 1) * (i >= j).to(tl.float32)
        second = tl.sum(k * other * weight, 1) * (i > j).to(tl.float32)
        tl.store(out_ptr + i * rows + j, first, mask=i < rows)
        tl.store(out_ptr + rows * rows + i * rows + j, second, mask=i < rows)


def _substituted(x: Array) -> Array:
    """``a[r] += a[r] · a`` row by row; what has been replaced counts."""
    a = np.tril(x, -1)
    columns = np.arange(len(a))
    for r in range(1, len(a)):
        a[r] += (a[r][:, None] * a).sum(0, dtype=a.dtype) * (columns < r)
    return a


def _substitution(n: int, gather: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = (small_integers(rng, "int32", (n, n), -2, 3) for _ in range(2))
        parts = Part("a", _substituted(a)), Part("b", _substituted(b))
        return Trial((a, b, Output(np.dtype(np.int32), parts)), {"N": n, "GATHER": gather})

    return make


def _pairs(n: int, d: int, dtype: str, gather: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        rows, known = n - 1, d - 3
        q, k = (small_integers(rng, dtype, (rows, known), -3, 4) for _ in range(2))
        g = small_integers(rng, "int32", (rows, known), -2, 3)
        exact = [x.astype(np.float64) for x in (q, k)]
        weights = np.exp2(g[:, None, :].astype(np.float64) - g[None, :, :])
        first, second = ((x[:, None, :] * exact[1][None, :, :] * weights).sum(2) for x in exact)
        parts = Part("first", np.tril(first)), Part("second", np.tril(second, -1))
        constants = {"D_": known, "N": n, "D": d, "GATHER": gather}
        return Trial((q, k, g, Output(np.dtype(np.float32), parts), rows), constants)

    return make


def cases(cover: Cover) -> Iterator[Case]:
    sizes, warps = cover.choose([16, 32], [8, 16, 32, 64]), [1, 2, 4, 8, 16]
    for n, w, gather in cover.zipped(sizes, warps, [True, False]):
        way = "gather" if gather else "sum"
        yield Case(f"rows/substitution-{way}-{n}-w{w}", substitution_kernel, _substitution(n, gather), {"num_warps": w})
    for (n, d), w, dtype, gather in cover.zipped(
        [(16, 64), (16, 128), (32, 32)], [8, 4, 1, 2, 16], ["fp32", "fp16"], [False, True]
    ):
        name = f"rows/pairs-{'gather' if gather else 'sum'}-{dtype}-{n}x{d}-w{w}"
        yield Case(name, pairs_kernel, _pairs(n, d, dtype, gather), {"num_warps": w})
