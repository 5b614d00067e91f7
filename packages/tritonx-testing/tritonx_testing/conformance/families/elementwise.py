"""Arithmetic, comparisons and selections: exact, except that devices may approximate the division of fp32."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import EXACT, ROUNDED, Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES, FLOATS, INTEGERS, floats, integers

DIVISION = Tolerance(ulps=2, flush=1)
"""The largest error that Triton allows in ``/``: that of ``div.full.f32``."""


@tritonx.jit
def integer_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr, BITS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    shift = y & (BITS - 1)
    out = out_ptr + i
    tl.store(out, x + y)
    tl.store(out + N, x - y)
    tl.store(out + 2 * N, x * y)
    tl.store(out + 3 * N, x & y)
    tl.store(out + 4 * N, x | y)
    tl.store(out + 5 * N, x ^ y)
    tl.store(out + 6 * N, ~x)
    tl.store(out + 7 * N, x << shift)
    tl.store(out + 8 * N, x >> shift)
    tl.store(out + 9 * N, tl.minimum(x, y))
    tl.store(out + 10 * N, tl.maximum(x, y))
    tl.store(out + 11 * N, tl.where(x > y, x, y ^ 1))
    tl.store(out + 12 * N, tl.abs(x))


@tritonx.jit
def division_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, x // y)
    tl.store(out_ptr + N + i, x % y)
    tl.store(out_ptr + 2 * N + i, x // D)
    tl.store(out_ptr + 3 * N + i, x % D)


@tritonx.jit
def comparison_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, x < y)
    tl.store(out_ptr + N + i, x <= y)
    tl.store(out_ptr + 2 * N + i, x > y)
    tl.store(out_ptr + 3 * N + i, x >= y)
    tl.store(out_ptr + 4 * N + i, x == y)
    tl.store(out_ptr + 5 * N + i, x != y)
    tl.store(out_ptr + 6 * N + i, (x < y) | ~(x == y) & (y > 1))


@tritonx.jit
def float_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    out = out_ptr + i
    tl.store(out, x + y)
    tl.store(out + N, x - y)
    tl.store(out + 2 * N, x * y)
    tl.store(out + 3 * N, -x)
    tl.store(out + 4 * N, tl.abs(x))
    tl.store(out + 5 * N, tl.minimum(x, y))
    tl.store(out + 6 * N, tl.maximum(x, y))
    tl.store(out + 7 * N, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 8 * N, tl.where(x < y, x, y))
    tl.store(out + 9 * N, x / y)


@tritonx.jit
def float_remainder_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x % tl.load(y_ptr + i))
    tl.store(out_ptr + N + i, x % 1.25)


@tritonx.jit
def wide_float_kernel(x_ptr, y_ptr, z_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    out = out_ptr + i
    tl.store(out, tl.fma(x, y, tl.load(z_ptr + i)))
    tl.store(out + N, tl.floor(x))
    tl.store(out + 2 * N, tl.ceil(x))
    tl.store(out + 3 * N, tl.clamp(x, -0.5, 0.5))


@tritonx.jit
def high_product_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.umulhi(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@tritonx.jit
def scalar_kernel(x_ptr, out_ptr, a, b, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x * a + i * b)
    tl.store(out_ptr + N, a * b - 7)
    tl.store(out_ptr + N + 1, tl.cdiv(a, 3) + tl.program_id(0))


def _integers(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = integers(rng, dtype, count), integers(rng, dtype, count)
        bits = x.dtype.itemsize * 8
        shift = y & x.dtype.type(bits - 1)
        parts = {
            "x + y": x + y, "x - y": x - y, "x * y": x * y, "x & y": x & y, "x | y": x | y, "x ^ y": x ^ y, "~x": ~x,
            "x << s": x << shift, "x >> s": x >> shift, "minimum": np.minimum(x, y), "maximum": np.maximum(x, y),
            "where": np.where(x > y, x, y ^ x.dtype.type(1)), "abs": np.abs(x),
        }  # fmt: skip
        return Trial((x, y, Output(x.dtype, tuple(Part(n, v) for n, v in parts.items()))), {"N": count, "BITS": bits})

    return make


def _truncating(x: Array, y: Array) -> tuple[Array, Array]:
    """Quotient and remainder as C has them."""
    a, b = x.astype(object), np.broadcast_to(y, x.shape).astype(object)
    signed = [abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in zip(a, b, strict=True)]
    quotient = np.array(signed, dtype=object)
    return quotient.astype(x.dtype), (a - quotient * b).astype(x.dtype)


def _division(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = integers(rng, dtype, count), integers(rng, dtype, count)
        y = np.where((y == 0) | (y == y.dtype.type(-1) if y.dtype.kind == "i" else False), y.dtype.type(3), y)
        (q, r), (qd, rd) = _truncating(x, y), _truncating(x, np.array(7, x.dtype))
        parts = (Part("x // y", q), Part("x % y", r), Part("x // 7", qd), Part("x % 7", rd))
        return Trial((x, y, Output(x.dtype, parts)), {"N": count, "D": 7})

    return make


def _comparison(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        if dtype in INTEGERS:
            x, y = integers(rng, dtype, count), integers(rng, dtype, count)
        else:
            x, y = floats(rng, dtype, count, special=True), floats(rng, dtype, count, special=True)
        y = np.where(rng.random(count) < 0.2, x, y)
        one = y.dtype.type(1)
        parts = {
            "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y,
            "logic": (x < y) | ~(x == y) & (y > one),
        }  # fmt: skip
        return Trial((x, y, Output(np.int8, tuple(Part(n, v) for n, v in parts.items()))), {"N": count})

    return make


def _floats(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = floats(rng, dtype, count, special=True), floats(rng, dtype, count, special=True)
        nan = np.where(np.isnan(x) | np.isnan(y), np.nan, np.fmax(x, y))
        parts: list[tuple[str, Array, Tolerance]] = [
            ("x + y", x + y, EXACT), ("x - y", x - y, EXACT), ("x * y", x * y, EXACT), ("-x", -x, EXACT),
            ("abs", np.abs(x), EXACT), ("minimum", np.fmin(x, y), EXACT), ("maximum", np.fmax(x, y), EXACT),
            ("maximum, NaN propagated", nan, EXACT), ("where", np.where(x < y, x, y), EXACT),
            ("x / y", x.astype(np.float64) / y.astype(np.float64), DIVISION),
        ]  # fmt: skip
        return Trial((x, y, Output(x.dtype, tuple(Part(*p) for p in parts))), {"N": count})

    return make


def _fused(x: Array, y: Array, z: Array) -> Array:
    """x · y + z, rounded once, to f64. An 80-bit product is not enough where ``z`` cancels most of it."""
    triples = zip(*(a.astype(np.float64).tolist() for a in (x, y, z)), strict=True)
    return np.array([float(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in triples])


def _wide_floats(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y, z = (floats(rng, dtype, count) for _ in range(3))
        parts = (
            Part("fma", _fused(x, y, z), ROUNDED),
            Part("floor", np.floor(x)),
            Part("ceil", np.ceil(x)),
            Part("clamp", np.clip(x, -0.5, 0.5)),
        )
        return Trial((x, y, z, Output(x.dtype, parts)), {"N": count})

    return make


def _float_remainder(dtype: str, count: int) -> MakeTrial:
    """Numbers of eight bits with small quotients: whoever computes x - trunc(x / y) y is exact as well."""

    def make(rng: np.random.Generator) -> Trial:
        x = (rng.integers(-255, 256, count) / 8).astype(DTYPES[dtype])
        y = (rng.integers(1, 64, count) / 8 * rng.choice([-1, 1], count)).astype(DTYPES[dtype])
        wide = x.astype(np.float64)
        parts = (Part("x % y", np.fmod(wide, y.astype(np.float64))), Part("x % 1.25", np.fmod(wide, 1.25)))
        return Trial((x, y, Output(x.dtype, parts)), {"N": count})

    return make


def _high_product(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = integers(rng, dtype, count), integers(rng, dtype, count)
        high = (x.astype(object) * y.astype(object)) >> (x.dtype.itemsize * 8)
        return Trial((x, y, Output.of(high.astype(x.dtype))), {"N": count})

    return make


def _scalars(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = integers(rng, "int32", count)
        a, b = int(rng.integers(2, 1000)), int(rng.integers(2, 1000))
        vector = x * np.int32(a) + np.arange(count, dtype=np.int32) * np.int32(b)
        scalars = np.array([a * b - 7, -(-a // 3)], np.int32)
        parts = (Part("vector", vector), Part("scalars", scalars))
        return Trial((x, Output(np.int32, parts), a, b), {"N": count})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    sizes = cover.choose([(128, 4)], [(1, 1), (16, 1), (128, 4), (512, 2), (2048, 8)])
    for count, warps in sizes:
        options = {"num_warps": warps}
        for dtype in INTEGERS:
            yield Case(
                f"elementwise/integers-{dtype}-{count}-w{warps}", integer_kernel, _integers(dtype, count), options
            )
            yield Case(
                f"elementwise/division-{dtype}-{count}-w{warps}", division_kernel, _division(dtype, count), options
            )
        for dtype in cover.choose(("int8", "uint32", "int64", *FLOATS), INTEGERS + FLOATS):
            yield Case(
                f"elementwise/comparison-{dtype}-{count}-w{warps}",
                comparison_kernel,
                _comparison(dtype, count),
                options,
            )
        for dtype in FLOATS:
            yield Case(f"elementwise/floats-{dtype}-{count}-w{warps}", float_kernel, _floats(dtype, count), options)
            yield Case(
                f"elementwise/remainder-{dtype}-{count}-w{warps}",
                float_remainder_kernel,
                _float_remainder(dtype, count),
                options,
                optional=dtype == "fp64",
            )
        for dtype in ("fp32", "fp64"):
            yield Case(
                f"elementwise/functions-{dtype}-{count}-w{warps}",
                wide_float_kernel,
                _wide_floats(dtype, count),
                options,
            )
        for dtype in ("uint32", "uint64"):
            yield Case(
                f"elementwise/umulhi-{dtype}-{count}-w{warps}",
                high_product_kernel,
                _high_product(dtype, count),
                options,
            )
    for count, warps in ((1, 1), (32, 8), (1024, 1), (4096, 4)):
        yield Case(
            f"elementwise/integers-int32-{count}-w{warps}-shape",
            integer_kernel,
            _integers("int32", count),
            {"num_warps": warps},
        )
        yield Case(f"elementwise/scalars-{count}-w{warps}", scalar_kernel, _scalars(count), {"num_warps": warps})
