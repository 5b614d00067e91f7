"""Reductions: sums, extrema, their arguments, bits, combine functions of the user and of tuples, over any axis.

Sums are over small whole numbers and so are exact in any order.
"""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d, grid_3d
from tritonx_testing.conformance.values import DTYPES, FLOATS, INTEGERS, integers, small_integers


@tritonx.jit
def reduce_2d_kernel(x_ptr, out_ptr, index_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    r = tl.arange(0, R)
    tl.store(out_ptr + r, tl.sum(x.to(out_ptr.dtype.element_ty), axis=AXIS).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + R + r, tl.max(x, axis=AXIS))
    tl.store(out_ptr + 2 * R + r, tl.min(x, axis=AXIS))
    tl.store(index_ptr + r, tl.argmax(x, axis=AXIS))
    tl.store(index_ptr + R + r, tl.argmin(x, axis=AXIS))


@tritonx.jit
def reduce_1d_kernel(x_ptr, out_ptr, index_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.sum(x.to(out_ptr.dtype.element_ty), axis=0).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 1, tl.max(x, axis=0))
    tl.store(out_ptr + 2, tl.min(x))
    tl.store(index_ptr, tl.argmax(x, axis=0))
    value, index = tl.min(x, axis=0, return_indices=True)
    tl.store(index_ptr + 1, index)
    tl.store(out_ptr + 3, value)


@tritonx.jit
def reduce_3d_kernel(
    x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr
):
    x = tl.load(x_ptr + grid_3d(A, B, C))
    tl.store(out_ptr + tl.arange(0, R), tl.reshape(tl.sum(x, axis=AXIS), (R,)))
    kept = tl.max(x, axis=AXIS, keep_dims=True)
    tl.store(out_ptr + R + grid_3d(A, B, C), x - kept)


@tritonx.jit
def bits_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    m = tl.arange(0, M)
    tl.store(out_ptr + m, tl.xor_sum(x, axis=1))
    tl.store(out_ptr + M + m, tl.reduce_or(x, axis=1))


@tritonx.jit
def last_larger(a, b):
    if a > b:
        r = a * 2 - b
    else:
        r = b
    return tl.maximum(a, b) + (r - r)


@tritonx.jit
def sum_and_largest(a0, b0, a1, b1):
    return a0 + a1, tl.maximum(b0, b1) + (a0 - a0)


@tritonx.jit
def custom_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = grid_2d(M, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    m = tl.arange(0, M)
    tl.store(out_ptr + m, tl.reduce(x, 1, last_larger))
    total, largest = tl.reduce((x, y), 1, sum_and_largest)
    tl.store(out_ptr + M + m, total)
    tl.store(out_ptr + 2 * M + m, largest)


@tritonx.jit
def chain_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = grid_2d(M, N)
    x = tl.load(x_ptr + i)
    centred = x - tl.sum(x, axis=1)[:, None]
    centred = centred - tl.max(centred, axis=0)[None, :]
    tl.store(out_ptr + i, centred)
    tl.store(out_ptr + M * N, tl.sum(tl.sum(x, axis=0), axis=0))
    tl.store(out_ptr + M * N + 1, tl.max(x))


@tritonx.jit
def negated_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    m = tl.arange(0, M)
    tl.store(out_ptr + m, tl.max(0 - x, axis=1).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + M + m, tl.min(0 - x, axis=1).to(out_ptr.dtype.element_ty))


@tritonx.jit
def largest_or_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL).to(a.dtype)


@tritonx.jit
def smallest_or_nan(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL).to(a.dtype)


@tritonx.jit
def extremes_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    m = tl.arange(0, M)
    tl.store(out_ptr + m, tl.max(x, axis=1))
    tl.store(out_ptr + M + m, tl.min(x, axis=1))
    tl.store(out_ptr + 2 * M + m, tl.reduce(x, 1, largest_or_nan))
    tl.store(out_ptr + 3 * M + m, tl.reduce(x, 1, smallest_or_nan))


@tritonx.jit
def float_sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.sum(total, axis=0))


def _reduce(dtype: str, m: int, n: int, axis: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, dtype, (m, n), -50, 50)
        wide = x.astype(np.float64)
        total = wide.sum(axis=axis).astype(np.int64) if dtype in INTEGERS else wide.sum(axis=axis)
        parts = (Part("sum", total), Part("max", x.max(axis=axis)), Part("min", x.min(axis=axis)))
        index = (Part("argmax", wide.argmax(axis=axis)), Part("argmin", wide.argmin(axis=axis)))
        constants = {"M": m, "N": n, "AXIS": axis, "R": n if axis == 0 else m}
        return Trial((x, Output(_sum_dtype(x.dtype), parts), Output(np.int32, index)), constants)

    return make


def _sum_dtype(dtype: Any) -> Any:
    """Wide enough for the sums: 16-bit floats do not hold them all."""
    return np.dtype(np.float32) if dtype.kind in "fV" and dtype.itemsize == 2 else dtype


def _reduce_1d(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        low = 16 if dtype == "fp16" else 1
        x = small_integers(rng, dtype, n, -50 // low, max(50 // low, 2))
        wide = x.astype(np.float64)
        total = wide.sum().astype(np.int64) if dtype in INTEGERS else wide.sum()
        with np.errstate(all="ignore"):
            values = np.array([total, x.max(), x.min(), x.min()]).astype(_sum_dtype(x.dtype))
        index = np.array([wide.argmax(), wide.argmin()])
        return Trial((x, Output.of(values), Output.of(index, dtype=np.int32)), {"N": n})

    return make


def _reduce_3d(dtype: str, shape: tuple[int, int, int], axis: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, dtype, shape, -5, 5)
        parts = (
            Part("sum", x.astype(np.float64).sum(axis=axis).astype(x.dtype)),
            Part("x - max", x - x.max(axis=axis, keepdims=True)),
        )
        constants = dict(zip("ABC", shape, strict=True)) | {"AXIS": axis, "R": x.size // shape[axis]}
        return Trial((x, Output(x.dtype, parts)), constants)

    return make


def _bits(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = integers(rng, dtype, (m, n)) & integers(rng, dtype, (m, n))
        parts = (Part("xor", np.bitwise_xor.reduce(x, axis=1)), Part("or", np.bitwise_or.reduce(x, axis=1)))
        return Trial((x, Output(x.dtype, parts)), {"M": m, "N": n})

    return make


def _custom(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = (small_integers(rng, dtype, (m, n), -9, 10) for _ in range(2))
        parts = (
            Part("branches", x.max(axis=1)),
            Part("first of a pair", x.astype(np.float64).sum(axis=1).astype(x.dtype)),
            Part("second of a pair", y.max(axis=1)),
        )
        return Trial((x, y, Output(x.dtype, parts)), {"M": m, "N": n})

    return make


def _chain(m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", (m, n), -99, 99)
        centred = x - x.sum(axis=1, dtype=np.int32)[:, None]
        parts = (Part("centred", centred - centred.max(axis=0)), Part("scalars", np.array([x.sum(), x.max()])))
        return Trial((x, Output(np.int32, parts)), {"M": m, "N": n})

    return make


def _negated(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, dtype, (m, n), 1, 99)
        negated = (0 - x.astype(np.int64)).astype(x.dtype)
        parts = (Part("max", negated.max(axis=1)), Part("min", negated.min(axis=1)))
        return Trial((x, Output(x.dtype.type, parts)), {"M": m, "N": n})

    return make


def _float_sum(n: int, block: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.standard_normal(n).astype(np.float32)
        bound = Tolerance(absolute=float(np.abs(x).sum()) * 2.0**-23 * 32)
        return Trial(
            (x, Output.of(np.array([x.astype(np.float64).sum()]), bound, dtype=np.float32), n), {"BLOCK": block}
        )

    return make


SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-7, -1e-7, 60000.0, -60000.0)


def _extremes(dtype: str, m: int, n: int) -> MakeTrial:
    """Rows of special values, each of a choice of its own: some of NaN only, some without, some of one sign. The NaN of
    a row are of one sign, since it is nowhere said whose sign a result has, and copies of it may differ.
    """

    def make(rng: np.random.Generator) -> Trial:
        rows: list[Array] = []
        for row in range(m):
            kinds = [SPECIAL[:1], SPECIAL[1:], SPECIAL[:3], SPECIAL[4::2], SPECIAL[3::2], SPECIAL][row % 6]
            values = rng.choice(kinds, n)
            values[np.isnan(values)] = np.copysign(np.nan, rng.choice([-1, 1]))
            rows.append(values)
        x = np.array(rows).astype(DTYPES[dtype])
        wide = x.astype(np.float64)
        parts = (
            Part("max", np.fmax.reduce(wide, axis=1)),
            Part("min", np.fmin.reduce(wide, axis=1)),
            Part("max, NaN propagated", np.maximum.reduce(wide, axis=1)),
            Part("min, NaN propagated", np.minimum.reduce(wide, axis=1)),
        )
        return Trial((x, Output(x.dtype, parts)), {"M": m, "N": n})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    shapes = [(32, 32), (4, 64), (64, 4), (16, 128), (1, 256), (128, 1), (8, 512), (128, 64), (2, 2), (256, 8)]
    for (m, n), axis, dtype, w in cover.zipped(shapes * 2, (1, 0, 0, 1, 1, 0, 1), (*INTEGERS, *FLOATS), (4, 1, 8, 2)):
        name = f"reduce/2d-{dtype}-{m}x{n}-axis{axis}-w{w}"
        yield Case(name, reduce_2d_kernel, _reduce(dtype, m, n, axis), {"num_warps": w})
    for n, dtype, w in cover.zipped(
        (1, 2, 32, 128, 1024, 4096), ("fp32", "int32", "int8", "fp16", "int64", "fp64"), (4, 1, 8, 2)
    ):
        yield Case(f"reduce/1d-{dtype}-{n}-w{w}", reduce_1d_kernel, _reduce_1d(dtype, n), {"num_warps": w})
    for shape, axis, dtype, w in cover.zipped(
        [(4, 8, 16), (2, 16, 32), (16, 4, 2)], (0, 1, 2), ("fp32", "int32", "fp16"), (4, 2, 8)
    ):
        name = f"reduce/3d-{dtype}-{'x'.join(map(str, shape))}-axis{axis}-w{w}"
        yield Case(name, reduce_3d_kernel, _reduce_3d(dtype, shape, axis), {"num_warps": w})
    for dtype, m, n, w in (("int32", 16, 64, 4), ("uint8", 4, 32, 1), ("int64", 2, 256, 8), ("int16", 64, 8, 2)):
        yield Case(f"reduce/bits-{dtype}-{m}x{n}-w{w}", bits_kernel, _bits(dtype, m, n), {"num_warps": w})
    for dtype, m, n, w in (("int32", 8, 64, 4), ("fp32", 2, 512, 8), ("int64", 64, 4, 1), ("fp32", 1, 128, 4)):
        yield Case(f"reduce/custom-{dtype}-{m}x{n}-w{w}", custom_kernel, _custom(dtype, m, n), {"num_warps": w})
    for m, n, w in ((32, 32, 4), (8, 256, 8), (64, 2, 1)):
        yield Case(f"reduce/chain-int32-{m}x{n}-w{w}", chain_kernel, _chain(m, n), {"num_warps": w})
    for (m, n), dtype, w in cover.zipped([(4, 256), (8, 64), (1, 1024)], INTEGERS, (1, 4, 2)):
        yield Case(f"reduce/negated-{dtype}-{m}x{n}-w{w}", negated_kernel, _negated(dtype, m, n), {"num_warps": w})
    for n, block, w in ((5000, 1024, 4), (300, 64, 1), (70000, 8192, 16), (70000, 16384, 32)):
        name, options = f"reduce/float-sum-{n}-by-{block}-w{w}", {"num_warps": w}
        yield Case(name, float_sum_kernel, _float_sum(n, block), options, optional=w > 16)
    for (m, n), dtype, w in cover.zipped([(8, 64), (16, 256), (2, 1024), (16, 8)], FLOATS, (4, 1, 8, 2)):
        name = f"reduce/extremes-{dtype}-{m}x{n}-w{w}"
        yield Case(name, extremes_kernel, _extremes(dtype, m, n), {"num_warps": w})
