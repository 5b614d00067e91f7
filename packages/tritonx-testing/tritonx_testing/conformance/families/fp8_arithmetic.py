"""Arithmetic in the 8-bit floating-point formats: the exact result rounded to nearest even, or the largest number where
it lies beyond the format's range."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Trial, format_of, spacing
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import ALL_FP8, DTYPES


@tritonx.jit
def arithmetic_kernel(x_ptr, y_ptr, z_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y, z = tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i)
    tl.store(out_ptr + i, x + y)
    tl.store(out_ptr + N + i, x - y)
    tl.store(out_ptr + 2 * N + i, x * y)
    tl.store(out_ptr + 3 * N + i, x / y)
    tl.store(out_ptr + 4 * N + i, x % y)
    tl.store(out_ptr + 5 * N + i, tl.fma(x, y, z))
    tl.store(out_ptr + 6 * N + i, -x)
    tl.store(out_ptr + 7 * N + i, tl.abs(x))
    tl.store(out_ptr + 8 * N + i, x * 1.5)
    tl.store(out_ptr + 9 * N + i, tl.full((N,), -0.625, x.dtype) + y)
    tl.store(out_ptr + 10 * N + i, tl.where(x < y, z, 3.0))


@tritonx.jit
def extrema_kernel(x_ptr, y_ptr, z_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y, z = tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i)
    tl.store(out_ptr + i, tl.minimum(x, y))
    tl.store(out_ptr + N + i, tl.maximum(x, y))
    tl.store(out_ptr + 2 * N + i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 3 * N + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 4 * N + i, tl.clamp(x, tl.minimum(y, z), tl.maximum(y, z)))


@tritonx.jit
def compare_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x == y)
    tl.store(out_ptr + N + i, x != y)
    tl.store(out_ptr + 2 * N + i, x < y)
    tl.store(out_ptr + 3 * N + i, x <= y)
    tl.store(out_ptr + 4 * N + i, x > 1.0)
    tl.store(out_ptr + 5 * N + i, x >= y)


@tritonx.jit
def combine_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    tl.store(out_ptr + m, tl.sum(x, axis=1))
    tl.store(out_ptr + M + m, tl.max(x, axis=1).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 2 * M + m, tl.min(x, axis=1).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 3 * M + m[:, None] * N + n[None, :], tl.cumsum(x, axis=1))
    total = tl.zeros((M,), dtype=out_ptr.dtype.element_ty)
    for k in range(N):
        total += tl.load(x_ptr + m * N + k)
    tl.store(out_ptr + 3 * M + M * N + m, total)


@tritonx.jit
def scalar_kernel(x_ptr, y_ptr, out_ptr, n):
    i = tl.program_id(0)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if x < y:
        tl.store(out_ptr + i, x + y)
    else:
        tl.store(out_ptr + i, tl.maximum(x, -y))


def _saturated(exact: Array, dtype: Any) -> Array:
    """Rounded once, from f64 (NumPy's own conversions may go by way of f32); NaN stays."""
    most, unit = float(format_of(dtype).max), spacing(exact, dtype)
    return np.clip(np.rint(exact / unit) * unit, -most, most).astype(dtype)


def _numbers(rng: np.random.Generator, dtype: str, count: int) -> list[Array]:
    """Three arrays of any codes, some of the second like those of the first."""
    x, y, z = (rng.integers(0, 256, count, dtype=np.uint8) for _ in range(3))
    return [v.view(DTYPES[dtype]) for v in (x, np.where(rng.random(count) < 0.1, x, y), z)]


def _arithmetic(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        arrays = _numbers(rng, dtype, count)
        x, y, z = (v.astype(np.float64) for v in arrays)
        exact = {
            "x + y": x + y, "x - y": x - y, "x * y": x * y, "x / y": x / y, "x % y": np.fmod(x, y), "fma": x * y + z,
            "-x": -x, "abs": np.abs(x), "1.5 x": 1.5 * x, "y - 0.625": y - 0.625,
        }  # fmt: skip
        parts = [Part(name, _saturated(value, DTYPES[dtype])) for name, value in exact.items()]
        parts.append(Part("where", np.where(x < y, z, 3.0).astype(DTYPES[dtype])))
        return Trial((*arrays, Output(DTYPES[dtype], tuple(parts))), {"N": count})

    return make


def _extrema(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        arrays = _numbers(rng, dtype, count)
        x, y, z = (v.astype(np.float64) for v in arrays)
        exact = {
            "minimum": np.fmin(x, y), "maximum": np.fmax(x, y), "minimum, NaN": np.minimum(x, y),
            "maximum, NaN": np.maximum(x, y), "clamp": np.fmin(np.fmax(x, np.fmin(y, z)), np.fmax(y, z)),
        }  # fmt: skip
        parts = tuple(Part(name, _saturated(value, DTYPES[dtype])) for name, value in exact.items())
        return Trial((*arrays, Output(DTYPES[dtype], parts)), {"N": count})

    return make


def _compare(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        arrays = _numbers(rng, dtype, count)[:2]
        x, y = (v.astype(np.float64) for v in arrays)
        results = {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, "> 1": x > 1, ">=": x >= y}
        parts = tuple(Part(name, value) for name, value in results.items())
        return Trial((*arrays, Output(np.bool_, parts)), {"N": count})

    return make


def _combine(dtype: str, m: int, n: int) -> MakeTrial:
    """Sums of which every part is exact in three bits."""

    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-1, 2, (m, n)).astype(np.float64)
        parts = (
            Part("sum", x.sum(axis=1)), Part("max", x.max(axis=1)), Part("min", x.min(axis=1)),
            Part("cumsum", np.cumsum(x, axis=1)), Part("a loop", x.sum(axis=1)),
        )  # fmt: skip
        return Trial((x.astype(DTYPES[dtype]), Output(DTYPES[dtype], parts)), {"M": m, "N": n})

    return make


def _scalar(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        arrays = _numbers(rng, dtype, count)[:2]
        x, y = (v.astype(np.float64) for v in arrays)
        expected = np.where(x < y, x + y, np.fmax(x, _saturated(-y, DTYPES[dtype]).astype(np.float64)))
        return Trial((*arrays, Output.of(_saturated(expected, DTYPES[dtype])), count), grid=(count,))

    return make


def cases(cover: Cover) -> Iterator[Case]:
    counts = cover.choose(((1024, 4),), ((1024, 4), (64, 1), (4096, 8), (2, 1)))
    for dtype in ALL_FP8:
        needs = frozenset({dtype})
        for count, w in counts:
            for name, kernel, make in (
                ("arithmetic", arithmetic_kernel, _arithmetic), ("extrema", extrema_kernel, _extrema),
                ("compare", compare_kernel, _compare),
            ):  # fmt: skip
                title = f"fp8_arithmetic/{name}-{dtype}-{count}-w{w}"
                yield Case(title, kernel, make(dtype, count), {"num_warps": w}, needs)
        yield Case(f"fp8_arithmetic/combine-{dtype}-64x8", combine_kernel, _combine(dtype, 64, 8), {}, needs)
        yield Case(f"fp8_arithmetic/scalar-{dtype}-16-w1", scalar_kernel, _scalar(dtype, 16), {"num_warps": 1}, needs)
