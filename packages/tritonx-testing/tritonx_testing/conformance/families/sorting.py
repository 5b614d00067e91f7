"""Sorting, gathering, histograms."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx import level
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d
from tritonx_testing.conformance.values import DTYPES, INTEGERS, Shape, integers, values


@tritonx.jit
def sort_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = grid_2d(M, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.sort(x, 1))
    tl.store(out_ptr + M * N + i, tl.sort(x, 1, descending=True))


@tritonx.jit
def topk_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tl.store(out_ptr + grid_2d(M, K), tl.topk(tl.load(x_ptr + grid_2d(M, N)), K))


@tritonx.jit
def gather_kernel(
    x_ptr, index_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr
):
    x = tl.load(x_ptr + grid_2d(M, N))
    index = tl.load(index_ptr + grid_2d(R, C))
    tl.store(out_ptr + grid_2d(R, C), tl.gather(x, index, AXIS))


@tritonx.jit
def histogram_kernel(x_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))


@tritonx.jit
def any_histogram_kernel(x_ptr, mask_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    mask = tl.load(mask_ptr + tl.arange(0, N)) != 0
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))
    tl.store(out_ptr + BINS + tl.arange(0, BINS), tl.histogram(x, BINS, mask=mask))


@tritonx.jit
def masked_histogram_kernel(x_ptr, out_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=i < n))


def _numbers(rng: np.random.Generator, dtype: str, shape: Shape) -> Array:
    return integers(rng, dtype, shape) if dtype in INTEGERS else rng.standard_normal(shape).astype(DTYPES[dtype])


def _sort(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = _numbers(rng, dtype, (m, n))
        ascending = np.sort(x, axis=1)
        parts = (Part("ascending", ascending), Part("descending", ascending[:, ::-1]))
        return Trial((x, Output(x.dtype, parts)), {"M": m, "N": n})

    return make


def _topk(dtype: str, m: int, n: int, k: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = _numbers(rng, dtype, (m, n))
        return Trial((x, Output.of(np.sort(x, axis=1)[:, ::-1][:, :k])), {"M": m, "N": n, "K": k})

    return make


def _gather(dtype: str, m: int, n: int, r: int, c: int, axis: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, dtype, (m, n))
        index = rng.integers(0, (m, n)[axis], (r, c)).astype(np.int32)
        expected = np.take_along_axis(x, index, axis)
        return Trial((x, index, Output.of(expected)), {"M": m, "N": n, "R": r, "C": c, "AXIS": axis})

    return make


def _histogram(dtype: str, n: int, bins: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(0, bins, n).astype(DTYPES[dtype])
        return Trial((x, Output.of(np.bincount(x, minlength=bins).astype(np.int32))), {"N": n, "BINS": bins})

    return make


def _any_histogram(dtype: str, n: int, bins: int) -> MakeTrial:
    """Values of the whole range, those around the bins' ends and around whole turns of 2^8, 2^16 and 2^32 among
    them: only the ones that are 0 .. bins - 1 as the dtype has them count."""

    def make(rng: np.random.Generator) -> Trial:
        info = np.iinfo(DTYPES[dtype])
        inside = rng.integers(0, min(bins, int(info.max) + 1), n)
        turns = rng.choice([0, 0, 1, -1, 2**8, -(2**8), 2**16, 2**31, 2**32, -(2**32), 2**63], n)
        numbers = [int(a) + int(b) * int(c) for a, b, c in zip(inside, turns, rng.choice([1, 1, bins], n), strict=True)]
        numbers = [x if info.min <= x <= info.max else int(i) for x, i in zip(numbers, inside, strict=True)]
        x = np.where(rng.random(n) < 0.3, integers(rng, dtype, n), np.array(numbers, DTYPES[dtype]))
        mask = rng.integers(0, 2, n).astype(np.int8)
        counted = np.array([0 <= int(v) < bins for v in x])
        parts = [
            Part(name, np.bincount(x[chosen].astype(np.int64), minlength=bins).astype(np.int32))
            for name, chosen in (("all", counted), ("masked", counted & (mask != 0)))
        ]
        return Trial((x, mask, Output(np.int32, tuple(parts))), {"N": n, "BINS": bins})

    return make


def _masked_histogram(n: int, block: int, bins: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(0, bins, block).astype(np.int32)
        counts = np.bincount(x[:n], minlength=bins).astype(np.int32)
        return Trial((x, Output.of(counts), n), {"N": block, "BINS": bins})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    shapes = [(1, 128), (8, 16), (4, 64), (32, 2)]
    for (m, n), dtype, w in cover.zipped(shapes, ("int32", "fp32", "int8", "fp16", "uint32", "int64"), (4, 1, 8, 2)):
        yield Case(f"sorting/sort-{dtype}-{m}x{n}-w{w}", sort_kernel, _sort(dtype, m, n), {"num_warps": w})
    for m, n, k, dtype, w in ((1, 128, 8, "fp32", 4), (4, 32, 4, "int32", 1)):
        yield Case(f"sorting/topk-{dtype}-{m}x{n}-{k}-w{w}", topk_kernel, _topk(dtype, m, n, k), {"num_warps": w})
    for (m, n, r, c, axis), dtype, w in cover.zipped(
        [(16, 32, 16, 32, 0), (16, 32, 16, 32, 1), (64, 4, 128, 4, 0), (4, 128, 4, 16, 1), (32, 32, 8, 32, 0)],
        ("fp32", "int8", "fp16", "int64", "int32"), (4, 1, 8, 2, 4),
    ):  # fmt: skip
        name = f"sorting/gather-{dtype}-{m}x{n}-to-{r}x{c}-axis{axis}-w{w}"
        yield Case(name, gather_kernel, _gather(dtype, m, n, r, c, axis), {"num_warps": w})
    words = level.active().counts_words_only
    for n, bins, dtype, w in (
        (1024, 16, "int32", 4),
        (256, 128, "int32", 1),
        (64, 64, "uint32" if words else "int64", 2),
        (2048, 2, "int32", 8),
    ):
        yield Case(
            f"sorting/histogram-{dtype}-{n}-{bins}-w{w}", histogram_kernel, _histogram(dtype, n, bins), {"num_warps": w}
        )
    for dtype, (n, bins), w in cover.zipped(
        ("int32", "uint32") if words else INTEGERS, [(256, 256), (128, 16), (512, 512), (64, 2)], (4, 1, 2)
    ):
        name = f"sorting/histogram-of-any-{dtype}-{n}-{bins}-w{w}"
        yield Case(name, any_histogram_kernel, _any_histogram(dtype, n, bins), {"num_warps": w})
    for n, block, bins in ((700, 1024, 32), (3, 128, 16)):
        yield Case(f"sorting/masked-histogram-{n}-{bins}", masked_histogram_kernel, _masked_histogram(n, block, bins))
