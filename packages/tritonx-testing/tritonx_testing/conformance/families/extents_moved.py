"""Blocks whose extents are not powers of two, moved: reshaped, joined, gathered, sliced, sorted; and their products.

What lies behind their elements in the IR is poisoned, as in ``extents``.
"""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false, reportIndexIssue=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.dot import FRACTION
from tritonx_testing.conformance.families.extents import EXTENTS, poisoned
from tritonx_testing.conformance.families.shape import grid_2d, grid_3d
from tritonx_testing.conformance.values import FLOATS, distinct, floats, integers, small_integers

RESHAPES = (
    ((2, 48), (96,)), ((96,), (2, 48)), ((4, 96), (2, 2, 96)), ((3, 5), (5, 3)), ((10, 12), (8, 15)),
    ((1000,), (25, 40)), ((96, 2), (192,)), ((3, 1, 7), (21,)), ((6, 5, 4), (2, 60)), ((64,), (1, 64)),
    ((48, 4), (64, 3)),
)  # fmt: skip


@tritonx.jit
def reshape_kernel(x_ptr, out_ptr, SHAPE: tl.constexpr, TO: tl.constexpr, N: tl.constexpr):
    x = poisoned(tl.load(x_ptr + numbered(SHAPE)))
    tl.store(out_ptr + numbered(TO), tl.reshape(x, TO))
    tl.store(out_ptr + N + numbered((N,)), tl.ravel(x > 50).to(x.dtype))
    pointers = tl.reshape(poisoned_pointers(x_ptr, SHAPE), TO)
    tl.store(out_ptr + 2 * N + numbered(TO), tl.load(pointers))


@tritonx.jit
def numbered(SHAPE: tl.constexpr):
    """Row-major numbers."""
    i = tl.zeros(SHAPE, tl.int32)
    for axis in tl.static_range(len(SHAPE)):
        place = tl.arange(0, SHAPE[axis])
        for other in tl.static_range(len(SHAPE)):
            if other != axis:
                place = tl.expand_dims(place, other)
        i = i * SHAPE[axis] + place
    return i


@tritonx.jit
def poisoned_pointers(x_ptr, SHAPE: tl.constexpr):
    return x_ptr + poisoned(numbered(SHAPE))


@tritonx.jit
def join_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = poisoned(tl.load(x_ptr + i)), poisoned(tl.load(y_ptr + i))
    joined = tl.join(x, y)
    tl.store(out_ptr + grid_2d(N, 2), joined)
    left, right = tl.split(poisoned(joined))
    tl.store(out_ptr + 2 * N + i, right)
    tl.store(out_ptr + 3 * N + i, left)
    tl.store(out_ptr + 4 * N + tl.arange(0, 2 * N), tl.interleave(x, y))
    tl.store(out_ptr + 6 * N + grid_2d(2, N), tl.trans(poisoned(joined)))


@tritonx.jit
def reorder_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = poisoned(tl.load(x_ptr + i)), poisoned(tl.load(y_ptr + i))
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.sort(tl.cat(x, y, can_reorder=True)))
    tl.store(out_ptr + 2 * N + i, tl.flip(x))
    tl.store(out_ptr + 3 * N + i, tl.gather(x, poisoned((i * 7 + 2) % N), 0))


@tritonx.jit
def index_kernel(
    x_ptr, out_ptr, i, M: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, R: tl.constexpr,
    C: tl.constexpr,
):  # fmt: skip
    x = poisoned(tl.load(x_ptr + grid_2d(M, N)))
    tl.store(out_ptr + tl.arange(0, N), x[i])
    tl.store(out_ptr + N + tl.arange(0, M), x[:, -1])
    tl.store(out_ptr + N + M, x[i, 0])
    part = x[ROWS[0] : ROWS[1] : ROWS[2], COLUMNS[0] : COLUMNS[1] : COLUMNS[2]]
    tl.store(out_ptr + N + M + 1 + grid_2d(R, C), part)


@tritonx.jit
def sort_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    x = poisoned(tl.load(x_ptr + grid_2d(M, N)))
    tl.store(out_ptr + grid_2d(M, N), tl.sort(x))
    tl.store(out_ptr + M * N + grid_2d(M, N), tl.sort(x, descending=True))
    tl.store(out_ptr + 2 * M * N + grid_2d(M, K), tl.topk(x, K).to(x.dtype))


@tritonx.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a, b = poisoned(tl.load(a_ptr + grid_2d(M, K))), poisoned(tl.load(b_ptr + grid_2d(K, N)))
    c = tl.dot(a, b, poisoned(tl.full((M, N), 1.0, tl.float32)), input_precision="ieee")
    tl.store(out_ptr + grid_2d(M, N), c)


@tritonx.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, inner, K):
        k = start + tl.arange(0, K)
        a = tl.load(a_ptr + m[:, None] * inner + k[None, :], mask=(m[:, None] < rows) & (k[None, :] < inner), other=0.0)
        b = tl.load(
            b_ptr + k[:, None] * columns + n[None, :], mask=(k[:, None] < inner) & (n[None, :] < columns), other=0.0
        )
        total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * columns + n[None, :], total, mask=(m[:, None] < rows) & (n[None, :] < columns))


@tritonx.jit
def batched_kernel(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a, b = poisoned(tl.load(a_ptr + grid_3d(B, M, K))), poisoned(tl.load(b_ptr + grid_3d(B, K, N)))
    tl.store(out_ptr + grid_3d(B, M, N), tl.dot(a, b))


def _reshape(dtype: str, shape: tuple[int, ...], to: tuple[int, ...]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        count = int(np.prod(shape))
        x = distinct(rng, dtype, count)
        parts = (Part("moved", x), Part("compared", (x > 50).astype(x.dtype)), Part("loaded", x))
        return Trial((x, Output(x.dtype, parts)), {"SHAPE": shape, "TO": to, "N": count})

    return make


def _join(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = (small_integers(rng, dtype, n, -99, 99) for _ in range(2))
        both = np.stack([x, y], axis=1)
        parts = (
            Part("joined", both), Part("right", y), Part("left", x), Part("interleaved", both.reshape(-1)),
            Part("transposed", both.T),
        )  # fmt: skip
        return Trial((x, y, Output(x.dtype, parts)), {"N": n})

    return make


def _reorder(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = (small_integers(rng, dtype, n, -99, 99) for _ in range(2))
        both, found = np.concatenate([x, y]), x[(np.arange(n) * 7 + 2) % n]
        parts = (Part("sorted", np.sort(both)), Part("flipped", x[::-1]), Part("gathered", found))
        return Trial((x, y, Output(x.dtype, parts)), {"N": n})

    return make


def _index(m: int, n: int, rows: tuple[int, int, int], columns: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, i = distinct(rng, "int32", m * n).reshape(m, n), int(rng.integers(-m, m))
        part = x[slice(*rows), slice(*columns)]
        parts = (Part("row", x[i]), Part("column", x[:, -1]), Part("element", x[i, 0][None]), Part("slices", part))
        constants = {"M": m, "N": n, "ROWS": rows, "COLUMNS": columns, "R": part.shape[0], "C": part.shape[1]}
        return Trial((x, Output(x.dtype, parts), i), constants)

    return make


def _sort(dtype: str, m: int, n: int, k: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        draw = floats if dtype in FLOATS else integers
        x = draw(rng, dtype, (m, n))
        x[0, :2] = _extremes(x)
        up = np.sort(x.astype(np.float64), axis=1).astype(x.dtype)
        parts = (Part("up", up), Part("down", up[:, ::-1]), Part("largest", up[:, ::-1][:, :k]))
        return Trial((x, Output(x.dtype, parts)), {"M": m, "N": n, "K": k})

    return make


def _extremes(x: Array) -> Array:
    """What padding may be mistaken for."""
    if x.dtype.kind in "fV":
        return np.array([np.inf, -np.inf], x.dtype)
    return np.array([np.iinfo(x.dtype).max, np.iinfo(x.dtype).min], x.dtype)


def _product(a: Array, b: Array, start: float) -> Output:
    """``a @ b + start``; each element may be off by a fraction of the sum of the magnitudes."""
    wide, other = a.astype(np.float64), b.astype(np.float64)
    off = FRACTION["ieee"] * (np.abs(wide) @ np.abs(other) + 1)
    return Output.of(wide @ other + start, Tolerance(absolute=off), dtype=np.float32)


def _dot(dtype: str, m: int, n: int, k: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        a, b = small_integers(rng, dtype, (m, k)), small_integers(rng, dtype, (k, n))
        return Trial((a, b, _product(a, b, 1.0)), {"M": m, "N": n, "K": k})

    return make


def _matmul(dtype: str, block: tuple[int, int, int], size: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        (rows, columns, inner), (m, n, k) = size, block
        a, b = small_integers(rng, dtype, (rows, inner)), small_integers(rng, dtype, (inner, columns))
        grid = (-(-rows // m), -(-columns // n))
        return Trial((a, b, _product(a, b, 0.0), *size), {"M": m, "N": n, "K": k}, grid)

    return make


def _batched(b: int, m: int, n: int, k: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = small_integers(rng, "fp16", (b, m, k)), small_integers(rng, "fp16", (b, k, n))
        return Trial((x, y, _product(x, y, 0.0)), {"B": b, "M": m, "N": n, "K": k})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for (shape, to), dtype, w in cover.zipped(RESHAPES, ("int32", "fp32", "fp16", "int64"), (4, 1)):
        name = f"extents_moved/reshape-{dtype}-{'x'.join(map(str, shape))}-{'x'.join(map(str, to))}-w{w}"
        yield Case(name, reshape_kernel, _reshape(dtype, shape, to), {"num_warps": w})
    for n, dtype, w in cover.zipped(EXTENTS, ("int32", "fp16", "int8", "fp32"), (4, 1)):
        yield Case(f"extents_moved/join-{dtype}-{n}-w{w}", join_kernel, _join(dtype, n), {"num_warps": w})
        yield Case(f"extents_moved/reorder-{dtype}-{n}-w{w}", reorder_kernel, _reorder(dtype, n), {"num_warps": w})
    slices = ((0, 3, 1), (1, 6, 1), (5, 0, -2), (1, 6, 2))
    columns = ((0, 65, 1), (64, 96, 1), (0, 40, 3), (1, 96, 2), (1, 96, 1), (95, 3, -1))
    for (m, n), rows, picked in cover.zipped(((6, 96), (8, 100), (7, 192)), slices, columns):
        name = f"extents_moved/index-{m}x{n}-{'_'.join(map(str, rows))}-{'_'.join(map(str, picked))}"
        yield Case(name, index_kernel, _index(m, n, rows, picked))
    sorts = ((1, 96, 5), (3, 20, 16), (2, 192, 100), (1, 1000, 3), (4, 3, 2), (3, 16, 5))
    for (m, n, k), dtype, w in cover.zipped(sorts, ("fp32", "int32", "fp16", "uint8", "int8", "bf16"), (4, 1)):
        yield Case(f"extents_moved/sort-{dtype}-{m}x{n}-{k}-w{w}", sort_kernel, _sort(dtype, m, n, k), {"num_warps": w})
    shapes = ((96, 32, 64), (32, 192, 48), (48, 40, 96), (16, 24, 100), (24, 96, 20))
    for (m, n, k), dtype, w in cover.zipped(shapes, ("fp16", "fp32", "bf16"), (4, 2)):
        yield Case(f"extents_moved/dot-{dtype}-{m}x{n}x{k}-w{w}", dot_kernel, _dot(dtype, m, n, k), {"num_warps": w})
    blocks = ((96, 48, 32), (32, 96, 48), (48, 192, 64))
    for block, dtype, w in cover.zipped(blocks, ("fp16", "bf16"), (4,)):
        name = f"extents_moved/matmul-{dtype}-{'x'.join(map(str, block))}-w{w}"
        yield Case(name, matmul_kernel, _matmul(dtype, block, (150, 130, 200)), {"num_warps": w})
    for b, m, n, k in cover.choose(((3, 20, 24, 48),), ((3, 20, 24, 48), (2, 96, 16, 24))):
        yield Case(f"extents_moved/batched-{b}x{m}x{n}x{k}", batched_kernel, _batched(b, m, n, k))
