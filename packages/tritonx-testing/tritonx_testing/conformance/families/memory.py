"""Loads and stores: masks, other values, strides, odd offsets, scalars, cache modifiers, pointers to pointers."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Case, MakeTrial, Output, Trial, ceil_div
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import FLOATS, FP8, INTEGERS, distinct, values


@tritonx.jit
def copy_kernel(x_ptr, out_ptr, n, shift, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + shift + i, mask=mask), mask=mask)


@tritonx.jit
def other_kernel(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=OTHER))


@tritonx.jit
def scattered_kernel(x_ptr, index_ptr, keep_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    keep = tl.load(keep_ptr + i) != 0
    place = tl.load(index_ptr + i)
    tl.store(out_ptr + place, tl.load(x_ptr + i, mask=keep, other=0), mask=keep)


@tritonx.jit
def matrix_kernel(
    x_ptr, out_ptr, rows, columns, x_row, x_column, out_row, out_column, M: tl.constexpr, N: tl.constexpr
):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    mask = (m[:, None] < rows) & (n[None, :] < columns)
    x = tl.load(x_ptr + m[:, None] * x_row + n[None, :] * x_column, mask=mask, other=0)
    tl.store(out_ptr + m[:, None] * out_row + n[None, :] * out_column, x, mask=mask)


@tritonx.jit
def edges_kernel(
    x_ptr, y_ptr, out_ptr, rest_ptr, lo, hi, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.arange(0, COLUMNS)
    if KIND == "below":
        mask = i < hi
    elif KIND == "up-to":
        mask = hi >= i
    elif KIND == "above":
        mask = i > lo
    elif KIND == "from":
        mask = lo <= i
    elif KIND == "inside":
        mask = (i >= lo) & (i < hi)
    elif KIND == "outside":
        mask = (i < lo) | (i >= hi)
    elif KIND == "shifted":
        mask = i + lo < hi
    elif KIND == "only":
        mask = i == lo
    else:
        mask = i != lo
    masks = mask[None, :] & (row % 3 != 1)[:, None]
    at = row[:, None] * COLUMNS + i[None, :]
    x = tl.load(x_ptr + at, mask=masks, other=3)
    y = tl.load(y_ptr + at, mask=masks)
    tl.store(out_ptr + at, tl.where((i % 2 == 0)[None, :], x, y), mask=masks)
    tl.store(rest_ptr + at, x)


@tritonx.jit
def scalars_kernel(x_ptr, out_ptr, n):
    for k in range(n):
        tl.store(out_ptr + n - 1 - k, tl.load(x_ptr + k))


@tritonx.jit
def modifiers_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x_ptr + i, cache_modifier=".ca", eviction_policy="evict_last")
    b = tl.load(x_ptr + N + i, cache_modifier=".cg", eviction_policy="evict_first")
    c = tl.load(x_ptr + 2 * N + i, volatile=True)
    tl.store(out_ptr + i, a, cache_modifier=".wb")
    tl.store(out_ptr + N + i, b, cache_modifier=".cs")
    tl.store(out_ptr + 2 * N + i, c, eviction_policy="evict_first")


@tritonx.jit
def addresses_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    address = (x_ptr + i).to(tl.int64, bitcast=False) + 4
    pointer = address.to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + i, tl.load(pointer))


@tritonx.jit
def overwrite_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    swapped = tl.load(out_ptr + (N - 1 - i))
    tl.debug_barrier()
    tl.store(out_ptr + i, swapped)


def _copy(dtype: str, n: int, block: int, shift: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, n + shift)
        return Trial((x, Output.of(x[shift:]), n, shift), {"BLOCK": block}, (ceil_div(n, block),))

    return make


def _other(dtype: str, n: int, block: int, other: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, dtype, block)
        return Trial(
            (x, Output.of(np.where(np.arange(block) < n, x, x.dtype.type(other))), n), {"OTHER": other, "BLOCK": block}
        )

    return make


EDGES = ("below", "up-to", "above", "from", "inside", "outside", "shifted", "only", "all-but")


def edges(dtype: str, kind: str, rows: int, columns: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        shape = (2 * rows, columns)
        x, y, initial = (values(rng, dtype, shape) for _ in range(3))
        lo, hi = sorted(int(edge) for edge in rng.integers(-2, columns + 3, 2))
        i = np.arange(columns)
        mask = {
            "below": i < hi,
            "up-to": i <= hi,
            "above": i > lo,
            "from": i >= lo,
            "inside": (i >= lo) & (i < hi),
            "outside": (i < lo) | (i >= hi),
            "shifted": i + lo < hi,
            "only": i == lo,
            "all-but": i != lo,
        }[kind]
        masks = mask[None, :] & (np.arange(2 * rows) % 3 != 1)[:, None]
        out = np.where(masks, np.where(i % 2 == 0, x, y), initial)
        rest = np.where(masks, x, x.dtype.type(3))
        constants = {"KIND": kind, "ROWS": rows, "COLUMNS": columns}
        return Trial((x, y, Output.of(out, initial=initial), Output.of(rest), lo, hi), constants, (2,))

    return make


def _scattered(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, index = values(rng, dtype, count), rng.permutation(count).astype(np.int32)
        keep = rng.integers(0, 2, count).astype(np.int8)
        initial = values(rng, dtype, count)
        expected = initial.copy()
        expected[index[keep != 0]] = x[keep != 0]
        return Trial((x, index, keep, Output.of(expected, initial=initial)), {"N": count})

    return make


def _matrix(dtype: str, shape: tuple[int, int], tile: tuple[int, int], x_order: str, out_order: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        rows, columns = shape
        x = distinct(rng, dtype, rows * columns).reshape(shape)
        stored = np.asarray(x, order="C") if x_order == "C" else np.ascontiguousarray(x.T)
        strides = {"C": (columns, 1), "F": (1, rows)}
        expected = x if out_order == "C" else np.ascontiguousarray(x.T)
        grid = (ceil_div(rows, tile[0]), ceil_div(columns, tile[1]))
        args = (stored, Output.of(expected), rows, columns, *strides[x_order], *strides[out_order])
        return Trial(args, {"M": tile[0], "N": tile[1]}, grid)

    return make


def _scalars(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, dtype, count)
        return Trial((x, Output.of(x[::-1].copy()), count))

    return make


def _same(dtype: str, count: int, total: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, dtype, total)
        return Trial((x, Output.of(x)), {"N": count})

    return make


def _addresses(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, "int32", count + 1)
        return Trial((x, Output.of(x[1:])), {"N": count})

    return make


def _reversed(dtype: str, count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = values(rng, dtype, count)
        return Trial((x, Output.of(x[::-1].copy())), {"N": count})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    sizes = [(1000, 256, 0), (4096, 1024, 0), (1, 16, 3), (777, 128, 1), (2050, 2048, 2), (640, 64, 4)]
    for dtype in INTEGERS + FLOATS + FP8:
        needs = frozenset({dtype} & set(FP8))
        yield Case(f"memory/copy-{dtype}", copy_kernel, _copy(dtype, 1000, 256, 0), {"num_warps": 2}, needs)
    for (n, block, shift), warps, dtype in cover.zipped(sizes, (1, 2, 4, 8), ("fp32", "fp16", "int8", "int64", "bf16")):
        yield Case(
            f"memory/copy-{dtype}-{n}-{block}+{shift}-w{warps}",
            copy_kernel,
            _copy(dtype, n, block, shift),
            {"num_warps": warps},
        )
    for dtype in ("int8", "uint16", "int64", *FLOATS):
        yield Case(f"memory/other-{dtype}", other_kernel, _other(dtype, 100, 256, 3), {"num_warps": 4})
    tiles = [(4, 128), (1, 512), (8, 32), (16, 256), (2, 64)]
    for kind, dtype, (rows, columns), warps in cover.zipped(
        EDGES * 2, ("fp16", "fp32", "int8", "bf16", "int64", "uint16", "fp64"), tiles, (4, 1, 2)
    ):
        name = f"memory/edges-{kind}-{dtype}-{rows}x{columns}-w{warps}"
        yield Case(name, edges_kernel, edges(dtype, kind, rows, columns), {"num_warps": warps})
    for dtype, count in (("fp32", 256), ("int8", 64), ("int64", 1024), ("bf16", 128)):
        yield Case(f"memory/scattered-{dtype}-{count}", scattered_kernel, _scattered(dtype, count))
    shapes = [
        ((64, 64), (32, 32)),
        ((50, 70), (16, 64)),
        ((33, 129), (64, 32)),
        ((128, 8), (128, 8)),
        ((5, 300), (1, 128)),
    ]
    orders = [("C", "C"), ("C", "F"), ("F", "C"), ("F", "F")]
    for (shape, tile), order, dtype, warps in cover.zipped(
        shapes * 2, orders, ("fp32", "fp16", "int8", "int32", "fp64"), (4, 1, 2, 8)
    ):
        name = f"memory/matrix-{dtype}-{shape[0]}x{shape[1]}-by-{tile[0]}x{tile[1]}-{order[0]}{order[1]}-w{warps}"
        yield Case(name, matrix_kernel, _matrix(dtype, shape, tile, *order), {"num_warps": warps})
    yield Case("memory/scalars-fp32", scalars_kernel, _scalars("fp32", 9))
    yield Case("memory/scalars-int8", scalars_kernel, _scalars("int8", 5), {"num_warps": 1})
    yield Case("memory/modifiers-fp32", modifiers_kernel, _same("fp32", 512, 1536))
    yield Case("memory/addresses-int32", addresses_kernel, _addresses(128))
    for dtype, count, warps in (("int32", 256, 4), ("fp16", 1024, 8), ("int8", 32, 1)):
        yield Case(
            f"memory/barrier-{dtype}-{count}-w{warps}", overwrite_kernel, _reversed(dtype, count), {"num_warps": warps}
        )
