"""Matrix products: operand types and precisions, shapes and transposes, accumulators, batches, chains, microscaling.

Integers are exact. Floating-point errors are bounded for each element by a fraction of Σ|a||b| over k: 2⁻²⁰ where
products and sums are in fp32, 2⁻⁹ for operands that are first rounded to tf32, and one rounding of the result's own
type."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Tolerance, Trial, ceil_div
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d, grid_3d
from tritonx_testing.conformance.values import ALL_FP8, DTYPES, Shape, small_integers

FRACTION = {"ieee": 2.0**-20, "tf32": 2.0**-9, "tf32x3": 2.0**-18}


@tritonx.jit
def dot_kernel(
    a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
    TRANSPOSE_A: tl.constexpr, TRANSPOSE_B: tl.constexpr,
):  # fmt: skip
    if TRANSPOSE_A:
        a = tl.trans(tl.load(a_ptr + grid_2d(K, M)))
    else:
        a = tl.load(a_ptr + grid_2d(M, K))
    if TRANSPOSE_B:
        b = tl.trans(tl.load(b_ptr + grid_2d(N, K)))
    else:
        b = tl.load(b_ptr + grid_2d(K, N))
    accumulator = tl.full((M, N), 1, dtype=out_ptr.dtype.element_ty)
    c = tl.dot(a, b, accumulator, input_precision=PRECISION, out_dtype=out_ptr.dtype.element_ty)
    tl.store(out_ptr + grid_2d(M, N), c)


@tritonx.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, inner, K):
        k = start + tl.arange(0, K)
        a = tl.load(a_ptr + m[:, None] * inner + k[None, :], mask=(m[:, None] < rows) & (k[None, :] < inner), other=0.0)
        b = tl.load(
            b_ptr + k[:, None] * columns + n[None, :], mask=(k[:, None] < inner) & (n[None, :] < columns), other=0.0
        )
        total = tl.dot(a, b, total)
    total = tl.maximum(total, 0.0)
    mask = (m[:, None] < rows) & (n[None, :] < columns)
    tl.store(out_ptr + m[:, None] * columns + n[None, :], total.to(out_ptr.dtype.element_ty), mask=mask)


@tritonx.jit
def halved_kernel(a_ptr, b_ptr, out_ptr, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The indices of a step's two products are halves of one range."""
    m, n, steps = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, inner, K):
        first, second = tl.split(tl.trans(tl.reshape(steps, (2, K // 2))))
        for half in tl.static_range(2):
            k = start + (first if half == 0 else second)
            a = tl.load(a_ptr + m[:, None] * inner + k[None, :], mask=k[None, :] < inner, other=0.0)
            b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=k[:, None] < inner, other=0.0)
            total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * N + n[None, :], total)


@tritonx.jit
def batched_kernel(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    c = tl.dot(tl.load(a_ptr + grid_3d(B, M, K)), tl.load(b_ptr + grid_3d(B, K, N)))
    tl.store(out_ptr + grid_3d(B, M, N), c)


@tritonx.jit
def batches_kernel(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The batch in two axes, that is one for the op."""
    a = tl.load(a_ptr + grid_3d(B, M, K)).reshape(2, B // 2, M, K)
    b = tl.load(b_ptr + grid_3d(B, K, N)).reshape(2, B // 2, K, N)
    c = tl.dot(a, b, tl.zeros((2, B // 2, M, N), tl.float32))
    tl.store(out_ptr + grid_3d(B, M, N), c.reshape(B, M, N))


@tritonx.jit
def chain_kernel(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + grid_2d(M, K))
    b = tl.load(b_ptr + grid_2d(K, N))
    c = tl.load(c_ptr + grid_2d(N, K))
    first = tl.dot(a, b)
    scaled = first - tl.max(first, axis=1)[:, None]
    tl.store(out_ptr + grid_2d(M, K), tl.dot(scaled.to(c.dtype), c))


@tritonx.jit
def scaled_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr,
):  # fmt: skip
    a = tl.load(a_ptr + grid_2d(M, K))
    b = tl.load(b_ptr + grid_2d(K, N))
    a_scale = tl.load(a_scale_ptr + grid_2d(M, K // 32))
    b_scale = tl.load(b_scale_ptr + grid_2d(N, K // 32))
    c = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT)
    tl.store(out_ptr + grid_2d(M, N), c)


def _operand(rng: np.random.Generator, dtype: str, shape: Shape) -> Array:
    if dtype in ("int8", "uint8"):
        return rng.integers(-128 if dtype == "int8" else 0, 128, shape).astype(DTYPES[dtype])
    return rng.standard_normal(shape).astype(DTYPES[dtype])


def _product(a: Array, b: Array, start: float, fraction: float, out: str) -> tuple[Array, Tolerance]:
    """The exact product and how far from it the result may be."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    if out == "int32":
        return a.astype(np.int64) @ b.astype(np.int64) + int(start), Tolerance()
    absolute = fraction * (np.abs(x) @ np.abs(y) + 1)
    return x @ y + start, Tolerance(ulps=1.01 if out != "fp64" else 64, absolute=absolute if out != "fp64" else 1e-12)


def _dot(dtype: str, m: int, n: int, k: int, precision: str, flips: tuple[bool, bool], out: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = _operand(rng, dtype, (m, k)), _operand(rng, dtype, (k, n))
        fraction = 2.0**-8 if out == "fp16" else FRACTION[precision]
        expected, bound = _product(a, b, 1, fraction, out)
        stored = [np.ascontiguousarray(v.T) if flip else v for v, flip in zip((a, b), flips, strict=True)]
        constants = {"M": m, "N": n, "K": k, "PRECISION": precision, "TRANSPOSE_A": flips[0], "TRANSPOSE_B": flips[1]}
        return Trial((*stored, Output.of(expected, bound, dtype=DTYPES[out])), constants)

    return make


def _matmul(dtype: str, shape: tuple[int, int, int], tile: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        rows, columns, inner = shape
        a, b = _operand(rng, dtype, (rows, inner)), _operand(rng, dtype, (inner, columns))
        expected, bound = _product(a, b, 0, 2.0**-9 if dtype == "fp32" else 2.0**-20, "fp32")
        grid = (ceil_div(rows, tile[0]), ceil_div(columns, tile[1]))
        args = (a, b, Output.of(np.maximum(expected, 0), bound, dtype=DTYPES[dtype]), rows, columns, inner)
        return Trial(args, dict(zip("MNK", tile, strict=True)), grid)

    return make


def _halved(m: int, n: int, k: int, inner: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = _operand(rng, "fp16", (m, inner)), _operand(rng, "fp16", (inner, n))
        expected, bound = _product(a, b, 0, 2.0**-20, "fp32")
        return Trial((a, b, Output.of(expected, bound, dtype=np.float32), inner), {"M": m, "N": n, "K": k})

    return make


def _batched(dtype: str, batch: int, m: int, n: int, k: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = _operand(rng, dtype, (batch, m, k)), _operand(rng, dtype, (batch, k, n))
        expected, bound = _product(a, b, 0, 2.0**-9 if dtype == "fp32" else 2.0**-20, "fp32")
        return Trial((a, b, Output.of(expected, bound, dtype=np.float32)), {"B": batch, "M": m, "N": n, "K": k})

    return make


def _chain(m: int, n: int, k: int) -> MakeTrial:
    """Small whole numbers, so that both products are exact and fit in fp16."""

    def make(rng: np.random.Generator) -> Trial:
        a, b, c = (small_integers(rng, "fp16", s, -3, 4) for s in ((m, k), (k, n), (n, k)))
        first = a.astype(np.float64) @ b.astype(np.float64)
        expected = (first - first.max(axis=1, keepdims=True)) @ c.astype(np.float64)
        return Trial((a, b, c, Output.of(expected, dtype=np.float32)), {"M": m, "N": n, "K": k})

    return make


def _scaled(a_format: str, b_format: str, m: int, n: int, k: int) -> MakeTrial:
    types = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}

    def make(rng: np.random.Generator) -> Trial:
        a = rng.standard_normal((m, k)).astype(DTYPES[types[a_format]])
        b = rng.standard_normal((k, n)).astype(DTYPES[types[b_format]])
        a_scale, b_scale = (rng.integers(124, 131, (s, k // 32)).astype(np.uint8) for s in (m, n))
        x = a.astype(np.float64) * np.repeat(np.exp2(a_scale.astype(np.float64) - 127), 32, axis=1)
        y = b.astype(np.float64) * np.repeat(np.exp2(b_scale.astype(np.float64) - 127), 32, axis=1).T
        expected, bound = _product(x, y, 0, 2.0**-8, "fp32")
        args = (a, a_scale, b, b_scale, Output.of(expected, bound, dtype=np.float32))
        return Trial(args, {"M": m, "N": n, "K": k, "A_FORMAT": a_format, "B_FORMAT": b_format})

    return make


def _tiles(cover: Cover) -> Iterator[Case]:
    shapes = [(16, 16, 16), (32, 32, 32), (64, 64, 64), (128, 64, 32), (16, 128, 64), (64, 16, 128), (32, 64, 16)]
    kinds = [
        ("fp16", "ieee", "fp32"), ("bf16", "ieee", "fp32"), ("fp32", "ieee", "fp32"), ("fp32", "tf32", "fp32"),
        ("int8", "ieee", "int32"), ("fp16", "ieee", "fp16"), ("fp32", "tf32x3", "fp32"), ("fp64", "ieee", "fp64"),
    ]  # fmt: skip
    flips = [(False, False), (True, False), (False, True), (True, True)]
    rows = cover.zipped(shapes * 4, kinds, (*flips, flips[0]), (4, 1, 8, 2, 4, 8))
    for (m, n, k), (dtype, precision, out), flip, w in rows:
        if dtype == "int8" and k < 32:
            k = 32
        orders = "".join("T" if f else "N" for f in flip)
        name = f"dot/{dtype}-{precision}-{out}-{m}x{n}x{k}-{orders}-w{w}"
        make = _dot(dtype, m, n, k, precision, flip, out)
        yield Case(name, dot_kernel, make, {"num_warps": w}, optional=precision != "ieee")


def cases(cover: Cover) -> Iterator[Case]:
    yield from {case.name: case for case in _tiles(cover)}.values()
    for m, n, k, flips, w in (
        (128, 64, 64, (True, False), 4), (64, 16, 128, (False, True), 8), (16, 16, 32, (False, False), 1),
    ):  # fmt: skip
        make = _dot("fp64", m, n, k, "ieee", flips, "fp64")
        yield Case(f"dot/fp64-deep-{m}x{n}x{k}-w{w}", dot_kernel, make, {"num_warps": w})
    for m in (32, 64):  # 128 and 256 KiB of operands: no GPU's block has as much as the second
        make = _dot("fp16", m, m, 1024, "ieee", (False, False), "fp32")
        # in larger blocks the threads reach all of an operand at once: its exchange cannot be cut
        yield Case(f"dot/fp16-deep-{m}x{m}x1024-w8", dot_kernel, make, {"num_warps": 8}, max_warps=8)
    for small in ALL_FP8:  # the second too small for a matrix unit, the third for units that sum in fp32
        for m, n, k, out in ((32, 64, 64, "fp32"), (4, 8, 32, "fp32"), (32, 32, 32, "fp16")):
            make = _dot(small, m, n, k, "ieee", (False, False), out)
            yield Case(f"dot/{small}-{out}-{m}x{n}x{k}-w4", dot_kernel, make, {}, frozenset({small}))
    for dtype, shape, tile, w in (
        ("fp16", (100, 130, 70), (32, 64, 32), 4), ("bf16", (64, 64, 256), (64, 64, 64), 8),
        ("fp32", (40, 33, 50), (16, 32, 16), 1), ("fp16", (256, 128, 96), (128, 128, 32), 8),
    ):  # fmt: skip
        yield Case(
            f"dot/matmul-{dtype}-{'x'.join(map(str, shape))}-w{w}",
            matmul_kernel,
            _matmul(dtype, shape, tile),
            {"num_warps": w},
        )
    for m, n, k, inner, w in ((64, 64, 128, 300, 4), (32, 64, 64, 192, 8), (16, 32, 64, 100, 1)):
        yield Case(f"dot/halved-{m}x{n}x{k}-of-{inner}-w{w}", halved_kernel, _halved(m, n, k, inner), {"num_warps": w})
    for name, kernel, dtype, batch, m, n, k, w in (
        ("batched", batched_kernel, "fp16", 4, 16, 32, 16, 4), ("batched", batched_kernel, "fp32", 2, 16, 16, 32, 1),
        ("batches", batches_kernel, "fp16", 4, 16, 32, 16, 4),
    ):  # fmt: skip
        yield Case(
            f"dot/{name}-{dtype}-{batch}x{m}x{n}x{k}-w{w}",
            kernel,
            _batched(dtype, batch, m, n, k),
            {"num_warps": w},
        )
    for m, n, k, w in ((64, 32, 16, 4), (16, 64, 32, 1), (128, 64, 64, 8)):
        yield Case(f"dot/chain-{m}x{n}x{k}-w{w}", chain_kernel, _chain(m, n, k), {"num_warps": w})
    for a, b in (("e4m3", "e5m2"), ("e5m2", "bf16")):
        needs = {"e4m3": "fp8e4nv", "e5m2": "fp8e5"}
        wanted = frozenset(needs[f] for f in (a, b) if f in needs)
        yield Case(f"dot/scaled-{a}-{b}-32x32x64", scaled_kernel, _scaled(a, b, 32, 32, 64), {}, wanted)
