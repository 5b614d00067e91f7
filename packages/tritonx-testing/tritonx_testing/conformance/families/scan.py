"""Scans: sums, products, combine functions of the user and of tuples, forwards and backwards, over any axis."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d, grid_3d
from tritonx_testing.conformance.values import DTYPES, small_integers


@tritonx.jit
def larger(a, b):
    return tl.maximum(a, b).to(a.dtype)


@tritonx.jit
def affine(a0, b0, a1, b1):
    """The composition of x → a·x + b, first 0, then 1; not commutative."""
    return a0 * a1, b0 * a1 + b1


@tritonx.jit
def scan_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = grid_2d(M, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.cumsum(x, axis=AXIS, reverse=REVERSE).to(x.dtype))
    tl.store(out_ptr + M * N + i, tl.associative_scan(x, AXIS, larger, reverse=REVERSE))


@tritonx.jit
def product_kernel(x_ptr, out_ptr, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.cumprod(tl.load(x_ptr + i), axis=0, reverse=REVERSE))


@tritonx.jit
def affine_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = grid_2d(M, N)
    a, b = tl.associative_scan((tl.load(a_ptr + i), tl.load(b_ptr + i)), AXIS, affine, reverse=REVERSE)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + M * N + i, b)


@tritonx.jit
def scan_3d_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    i = grid_3d(A, B, C)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), axis=AXIS))


@tritonx.jit
def float_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), axis=0))


def _accumulate(function: np.ufunc, x: Array, axis: int, reverse: bool) -> Array:
    y = np.flip(x, axis) if reverse else x
    done = function.accumulate(y, axis=axis, dtype=x.dtype)
    return np.flip(done, axis) if reverse else done


def _scan(dtype: str, m: int, n: int, axis: int, reverse: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, dtype, (m, n), -3, 4)
        wide = x.astype(np.float64) if dtype in ("fp16", "bf16") else x
        total = _accumulate(np.add, wide, axis, reverse).astype(DTYPES[dtype])
        largest = _accumulate(np.maximum, wide, axis, reverse).astype(DTYPES[dtype])
        parts = (Part("cumsum", total), Part("maximum", largest))
        return Trial((x, Output(x.dtype, parts)), {"M": m, "N": n, "AXIS": axis, "REVERSE": reverse})

    return make


def _product(dtype: str, n: int, reverse: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.choice(np.array([1, -1, 3], np.int64) if dtype == "int32" else np.array([1.0, -1.0, 1.0]), n)
        x = x.astype(DTYPES[dtype])
        return Trial((x, Output.of(_accumulate(np.multiply, x, 0, reverse))), {"N": n, "REVERSE": reverse})

    return make


def _affine(m: int, n: int, axis: int, reverse: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = (small_integers(rng, "int32", (m, n), -5, 6) for _ in range(2))
        p, q = (np.moveaxis(np.flip(v, axis) if reverse else v, axis, 0) for v in (a, b))
        first, second = [p[0]], [q[0]]
        for u, v in zip(p[1:], q[1:], strict=True):
            first.append(first[-1] * u)
            second.append(second[-1] * u + v)
        done = [np.moveaxis(np.stack(v), 0, axis) for v in (first, second)]
        done = [np.flip(v, axis) if reverse else v for v in done]
        parts = (Part("first", done[0]), Part("second", done[1]))
        return Trial((a, b, Output(np.int32, parts)), {"M": m, "N": n, "AXIS": axis, "REVERSE": reverse})

    return make


def _scan_3d(shape: tuple[int, int, int], axis: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", shape)
        constants = dict(zip("ABC", shape, strict=True)) | {"AXIS": axis}
        return Trial((x, Output.of(np.cumsum(x, axis=axis, dtype=np.int32))), constants)

    return make


def _floats(n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.standard_normal(n).astype(np.float32)
        bound = Tolerance(absolute=np.cumsum(np.abs(x), dtype=np.float64) * 2.0**-23 * 16)
        return Trial((x, Output.of(np.cumsum(x, dtype=np.float64), bound, dtype=np.float32)), {"N": n})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    shapes = [(32, 32), (4, 64), (64, 4), (1, 512), (128, 1), (16, 128), (2, 16)]
    dtypes = ("int32", "fp32", "int8", "int64", "fp16", "uint16", "fp64", "bf16")
    for (m, n), axis, reverse, dtype, w in cover.zipped(
        shapes * 2, (1, 0), (False, False, True, True), dtypes, (4, 1, 8, 2, 4)
    ):
        name = f"scan/sum-{dtype}-{m}x{n}-axis{axis}{'-reverse' * reverse}-w{w}"
        yield Case(name, scan_kernel, _scan(dtype, m, n, axis, reverse), {"num_warps": w})
    for n, dtype, reverse, w in ((64, "int32", False, 1), (1024, "int32", True, 4), (256, "fp32", False, 8)):
        yield Case(
            f"scan/product-{dtype}-{n}{'-reverse' * reverse}-w{w}",
            product_kernel,
            _product(dtype, n, reverse),
            {"num_warps": w},
        )
    for m, n, axis, reverse, w in (
        (1, 128, 1, False, 4),
        (16, 16, 0, True, 2),
        (8, 256, 1, True, 8),
        (64, 4, 0, False, 4),
    ):
        name = f"scan/affine-int32-{m}x{n}-axis{axis}{'-reverse' * reverse}-w{w}"
        yield Case(name, affine_kernel, _affine(m, n, axis, reverse), {"num_warps": w})
    for shape, axis, w in (((4, 8, 16), 0, 4), ((2, 32, 4), 1, 1), ((8, 2, 64), 2, 8)):
        yield Case(
            f"scan/3d-int32-{'x'.join(map(str, shape))}-axis{axis}-w{w}",
            scan_3d_kernel,
            _scan_3d(shape, axis),
            {"num_warps": w},
        )
    for n, w in ((2048, 4), (64, 1)):
        yield Case(f"scan/float-sum-{n}-w{w}", float_kernel, _floats(n), {"num_warps": w})
