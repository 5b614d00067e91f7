"""Block pointers and tensor descriptors: bounds, padding, advancing, orders, reductions by many programs."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Case, MakeTrial, Output, Trial, ceil_div
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES, FLOATS, distinct, floats, integers, small_integers

PROGRAMS = 3


@tritonx.jit
def block_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    offsets = (tl.program_id(0) * M, tl.program_id(1) * N)
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), offsets, (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), offsets, (M, N), (1, 0))
    x = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, x, boundary_check=(0, 1))


@tritonx.jit
def advance_kernel(x_ptr, out_ptr, columns, M: tl.constexpr, N: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (M, columns), (1, M), (0, 0), (M, N), (0, 1))
    total = tl.zeros((M, N), dtype=tl.float32)
    for _ in range(0, columns, N):
        total += tl.load(block, boundary_check=(1,), padding_option="zero").to(tl.float32)
        block = tl.advance(block, (0, N))
    tl.store(out_ptr + tl.arange(0, M), tl.sum(total, axis=1))


@tritonx.jit
def descriptor_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N])
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    m = tl.program_id(0) * M
    n = tl.program_id(1) * N
    target.store([m, n], source.load([m, n]))


@tritonx.jit
def combine(target, m, n, x, KIND: tl.constexpr):
    if KIND == "add":
        target.atomic_add([m, n], x)
    elif KIND == "max":
        target.atomic_max([m, n], x)
    elif KIND == "min":
        target.atomic_min([m, n], x)
    elif KIND == "and":
        target.atomic_and([m, n], x)
    elif KIND == "or":
        target.atomic_or([m, n], x)
    else:
        target.atomic_xor([m, n], x)


@tritonx.jit
def reduce_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr):
    """The programs along the last axis of the grid share a block."""
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    at_m, at_n = (m + tl.arange(0, M))[:, None], (n + tl.arange(0, N))[None, :]
    start = x_ptr + tl.program_id(2) * rows * columns
    x = tl.load(start + at_m * columns + at_n, mask=(at_m < rows) & (at_n < columns))
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    combine(target, m, n, x, KIND)


COMBINE = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def reduced(kind: str, dtype: str, shape: tuple[int, int], tile: tuple[int, int]) -> MakeTrial:
    """Floats are ordered with infinities and zeros among them, but no NaN: PTX does not say what one gives."""

    def drawn(rng: np.random.Generator) -> np.ndarray:
        if kind == "add":
            return small_integers(rng, dtype, (PROGRAMS + 1, *shape))
        if dtype in FLOATS:
            x = floats(rng, dtype, (PROGRAMS + 1, *shape), special=True)
            return np.where(np.isnan(x), x.dtype.type(0), x)
        return integers(rng, dtype, (PROGRAMS + 1, *shape))

    def make(rng: np.random.Generator) -> Trial:
        every = drawn(rng)
        exact = every.astype(np.float64) if dtype in FLOATS else every
        expected = COMBINE[kind].reduce(exact, axis=0).astype(every.dtype)
        grid = (ceil_div(shape[0], tile[0]), ceil_div(shape[1], tile[1]), PROGRAMS)
        output = Output.of(expected, initial=every[0])
        return Trial((every[1:].copy(), output, *shape), {"M": tile[0], "N": tile[1], "KIND": kind}, grid)

    return make


def _copied(dtype: str, shape: tuple[int, int], tile: tuple[int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, shape[0] * shape[1]).reshape(shape)
        grid = (ceil_div(shape[0], tile[0]), ceil_div(shape[1], tile[1]))
        return Trial((x, Output.of(x), *shape), {"M": tile[0], "N": tile[1]}, grid)

    return make


def _sums(dtype: str, rows: int, columns: int, step: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-8, 9, (columns, rows)).astype(np.float32)
        return Trial((x.astype(DTYPES[dtype]), Output.of(x.sum(axis=0)), columns), {"M": rows, "N": step})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    shapes = [((64, 64), (32, 32)), ((50, 72), (16, 64)), ((33, 128), (64, 32))]
    for (shape, tile), dtype, warps in cover.zipped(shapes, ("fp32", "fp16", "int8"), (4, 1, 8)):
        name = f"{dtype}-{shape[0]}x{shape[1]}-by-{tile[0]}x{tile[1]}-w{warps}"
        yield Case(f"blocks/pointer-{name}", block_kernel, _copied(dtype, shape, tile), {"num_warps": warps})
    for dtype, rows, columns, step in (("fp16", 32, 100, 32), ("fp32", 16, 64, 16)):
        yield Case(f"blocks/advance-{dtype}-{rows}x{columns}", advance_kernel, _sums(dtype, rows, columns, step))
    for shape, tile, dtype in (((64, 64), (32, 32), "fp32"), ((50, 72), (16, 64), "fp16")):
        name = f"blocks/descriptor-{dtype}-{shape[0]}x{shape[1]}-by-{tile[0]}x{tile[1]}"
        yield Case(name, descriptor_kernel, _copied(dtype, shape, tile))
    kinds = [("add", dtype) for dtype in ("fp16", "bf16", "fp32", "int32", "uint32", "uint64")]
    words = "int32", "uint32", "int64", "uint64"
    kinds += [(kind, dtype) for kind in ("max", "min") for dtype in ("fp16", "bf16", *words)]
    kinds += [(kind, dtype) for kind in ("and", "or", "xor") for dtype in words]
    for (kind, dtype), (shape, tile), warps in cover.zipped(kinds, shapes, (4, 1, 8)):
        name = f"atomic/blocks-{kind}-{dtype}-{shape[0]}x{shape[1]}-by-{tile[0]}x{tile[1]}-w{warps}"
        yield Case(name, reduce_kernel, reduced(kind, dtype, shape, tile), {"num_warps": warps})
