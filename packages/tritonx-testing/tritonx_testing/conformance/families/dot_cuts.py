"""Matrix products of parts of larger arrays: slices, every other row, transposes, reversed axes, one matrix repeated.

Operands and results are given by a start and a stride for each axis, and are made by tiles smaller than they are, in a
grid of programs. What lies between the elements of a result must stay as it was."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES, FP8


@tritonx.jit
def matrix_kernel(
    a_ptr, b_ptr, out_ptr, a_start, a_row, a_column, b_start, b_row, b_column, out_start, out_row, out_column, inner,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=out_ptr.dtype.element_ty)
    for start in range(0, inner, K):
        k = start + tl.arange(0, K)
        a = tl.load(a_ptr + a_start + m[:, None] * a_row + k[None, :] * a_column)
        b = tl.load(b_ptr + b_start + k[:, None] * b_row + n[None, :] * b_column)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=out_ptr.dtype.element_ty)
    tl.store(out_ptr + out_start + m[:, None] * out_row + n[None, :] * out_column, total)


@tritonx.jit
def batch_kernel(
    a_ptr, b_ptr, out_ptr, a_start, a_batch, a_row, a_column, b_start, b_batch, b_row, b_column,
    out_start, out_batch, out_row, out_column,
    B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    batch = (tl.program_id(2) * B + tl.arange(0, B))[:, None, None]
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + a_start + batch * a_batch + m[None, :, None] * a_row + k[None, None, :] * a_column)
    b = tl.load(b_ptr + b_start + batch * b_batch + k[None, :, None] * b_row + n[None, None, :] * b_column)
    c = tl.dot(a, b, input_precision="ieee", out_dtype=out_ptr.dtype.element_ty)
    tl.store(out_ptr + out_start + batch * out_batch + m[None, :, None] * out_row + n[None, None, :] * out_column, c)


@dataclass(frozen=True)
class Cut:
    """A part of ``memory``: its elements' places there, as an array of the part's shape."""

    memory: Array
    places: Array

    @property
    def position(self) -> tuple[int, ...]:
        """The first element's place, and from there how far it is to the next along each axis."""
        first = int(self.places.flat[0])
        neighbours = [self.places.take(1, axis).flat[0] for axis in range(self.places.ndim)]
        return (first, *(int(place) - first for place in neighbours))

    @property
    def values(self) -> Array:
        return self.memory[self.places]


def _places(kind: str, shape: tuple[int, ...]) -> tuple[int, Array]:
    """How many elements the array has that a part of ``shape`` is cut from, and where the part lies in it."""
    *batch, rows, columns = shape
    if kind == "whole":
        whole = (*shape,)
        part: Any = ...
    elif kind == "sliced":
        whole = (*batch, rows + 9, columns + 24)
        part = (..., slice(3, 3 + rows), slice(5, 5 + columns))
    elif kind == "wider":  # aligned, and wider by as much again
        whole = (*batch, 2 * rows, 2 * columns)
        part = (..., slice(rows), slice(columns))
    elif kind == "strided":
        whole = (*batch, 2 * rows, 3 * columns)
        part = (..., slice(None, None, 2), slice(1, None, 3))
    elif kind == "reversed":
        whole = (*batch, rows + 2, columns + 1)
        part = (*[slice(None, None, -1)] * len(batch), slice(rows, 0, -1), slice(columns - 1, None, -1))
    elif kind == "transposed":
        whole = (*batch, columns, rows + 16)
        part = (..., slice(None), slice(rows))
    elif kind == "repeated":  # every matrix of a batch is the same one
        count = rows * columns
        return count, np.broadcast_to(np.arange(count).reshape(rows, columns), shape)
    else:  # "batch last"
        whole = (rows, columns, *batch)
        part = ...
    places = np.arange(int(np.prod(whole))).reshape(whole)[part]
    if kind == "transposed":
        places = places.swapaxes(-1, -2)
    elif kind == "batch last" and batch:
        places = np.moveaxis(places, -1, 0)
    return int(np.prod(whole)), places


def cut(rng: np.random.Generator, kind: str, shape: tuple[int, ...], dtype: str) -> Cut:
    """A part of an array of small random numbers."""
    count, places = _places(kind, shape)
    integer = np.dtype(DTYPES[dtype]).kind in "iu"
    numbers = rng.integers(-8, 9, count) / (1 if integer else 4)
    return Cut(numbers.astype(DTYPES[dtype]), places)


def _arguments(
    rng: np.random.Generator, dtype: str, kinds: tuple[str, str, str], shapes: tuple[tuple[int, ...], ...]
) -> tuple[object, ...]:
    """Both operands, the output, and the start and strides of each. The sums of the numbers' products are exact."""
    out = {"int8": "int32", "fp64": "fp64"}.get(dtype, "fp32")
    a, b = (cut(rng, kind, shape, dtype) for kind, shape in zip(kinds[:2], shapes[:2], strict=True))
    result = cut(rng, kinds[2], shapes[2], out)
    expected = result.memory.copy()
    expected[result.places] = a.values.astype(np.float64) @ b.values.astype(np.float64)
    output = Output.of(expected, initial=result.memory)
    return (a.memory, b.memory, output, *a.position, *b.position, *result.position)


def _matrix(dtype: str, kinds: tuple[str, str, str], tile: tuple[int, int, int]) -> MakeTrial:
    m, n, k = tile
    rows, columns, inner = 2 * m, 2 * n, 2 * k

    def make(rng: np.random.Generator) -> Trial:
        args = _arguments(rng, dtype, kinds, ((rows, inner), (inner, columns), (rows, columns)))
        return Trial((*args, inner), {"M": m, "N": n, "K": k}, (2, 2))

    return make


def _batch(dtype: str, kinds: tuple[str, str, str], tile: tuple[int, int, int], batch: int) -> MakeTrial:
    m, n, k = tile
    rows, columns, count = 2 * m, 2 * n, 2 * batch

    def make(rng: np.random.Generator) -> Trial:
        args = _arguments(rng, dtype, kinds, ((count, rows, k), (count, k, columns), (count, rows, columns)))
        return Trial(args, {"B": batch, "M": m, "N": n, "K": k}, (2, 2, 2))

    return make


KINDS = ("wider", "sliced", "transposed", "strided", "reversed", "whole", "batch last", "repeated")
RESULTS = KINDS[:-1]
"""A repeated result would be written by several programs."""

TILES = ((16, 16, 32), (32, 16, 32), (16, 32, 64))


def cases(cover: Cover) -> Iterator[Case]:
    pairs = cover.zipped(KINDS, ("fp16", "bf16", "fp32", "int8", "fp64", *FP8))
    for i, (kind, dtype) in enumerate(pairs):
        kinds = (kind, KINDS[(5 * i + 1) % len(KINDS)], RESULTS[(3 * i + i // len(KINDS)) % len(RESULTS)])
        tile, w = TILES[i % len(TILES)], (4, 1, 2, 8)[i % 4]
        needs = frozenset({dtype} & {*FP8})
        name = f"{dtype}-{'x'.join(map(str, tile))}-{'-'.join(kinds)}-w{w}".replace(" ", "_")
        yield Case(f"dot_cuts/{name}", matrix_kernel, _matrix(dtype, kinds, tile), {"num_warps": w}, needs)
        for batch in cover.choose((2,), (1, 2, 4)):
            make = _batch(dtype, kinds, tile, batch)
            yield Case(f"dot_cuts/{batch}x{name}", batch_kernel, make, {"num_warps": w}, needs)
