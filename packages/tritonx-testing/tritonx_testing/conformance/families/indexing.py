"""Indexing of blocks: elements of an axis by numbers known early or late, slices of every kind, ``None`` and ``...``.

Results are compared bit by bit, NaNs of every payload and zeros of both signs among them.
"""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false, reportIndexIssue=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.families.shape import grid_2d, grid_3d
from tritonx_testing.conformance.values import ALL_FP8, DTYPES, FLOATS, INTEGERS, distinct

Slice = tuple[int | None, int | None, int | None]


@tritonx.jit
def elements_kernel(x_ptr, out_ptr, i, j, M: tl.constexpr, N: tl.constexpr, EARLY: tl.constexpr):
    kind: tl.constexpr = out_ptr.dtype.element_ty
    x = tl.load(x_ptr + grid_2d(M, N))
    m, n = tl.arange(0, M), tl.arange(0, N)
    tl.store(out_ptr + n, x[i].to(kind, bitcast=True))
    tl.store(out_ptr + N + m, x[:, j].to(kind, bitcast=True))
    tl.store(out_ptr + N + M, x[i, j].to(kind, bitcast=True))
    tl.store(out_ptr + N + M + 1 + n, x[EARLY, ...].to(kind, bitcast=True))
    tl.store(out_ptr + 2 * N + M + 1 + m, x[..., EARLY].to(kind, bitcast=True))
    tl.store(out_ptr + 2 * N + 2 * M + 1, x[EARLY, :][j].to(kind, bitcast=True))


@tritonx.jit
def slices_kernel(
    x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, R: tl.constexpr,
    C: tl.constexpr,
):  # fmt: skip
    kind: tl.constexpr = out_ptr.dtype.element_ty
    x = tl.load(x_ptr + grid_2d(M, N))
    both = x[ROWS[0] : ROWS[1] : ROWS[2], COLUMNS[0] : COLUMNS[1] : COLUMNS[2]]
    tl.store(out_ptr + grid_2d(R, C), both.to(kind, bitcast=True))
    between = x[ROWS[0] : ROWS[1] : ROWS[2], None, -1, None]
    tl.store(out_ptr + R * C + tl.arange(0, R)[:, None, None], between.to(kind, bitcast=True))


@tritonx.jit
def cube_kernel(x_ptr, out_ptr, i, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + grid_3d(A, B, C))
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    tl.store(out_ptr + a[:, None] * C + c[None, :], x[:, i])
    half = x[..., None, : C // 2]
    tl.store(out_ptr + A * C + grid_3d(A, B, C // 2)[:, :, None, :], half)
    behind: tl.constexpr = A * C + A * B * (C // 2)
    tl.store(out_ptr + behind + b, x[-1, :, i])
    tl.store(out_ptr + behind + B, x[0, i, -1])


@tritonx.jit
def row_kernel(x_ptr, out_ptr, i, N: tl.constexpr):
    n = tl.arange(0, N)
    x = tl.load(x_ptr + n)
    tl.store(out_ptr, x[i])
    tl.store(out_ptr + 1 + n, x[::-1])
    tl.store(out_ptr + 1 + N + tl.arange(0, N // 2), x[1::2])
    tl.store(out_ptr + 1 + N + N // 2 + tl.arange(0, N // 4), x[N // 8 : N // 8 + N // 4])


@tritonx.jit
def loop_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """The rows one after the other, each added to what the last one left."""
    x = tl.load(x_ptr + grid_2d(M, N))
    total = tl.zeros((N,), tl.int32)
    for i in range(M):
        total = total * 3 + x[i]
        tl.store(out_ptr + i * N + tl.arange(0, N), total)


@tritonx.jit
def bool_kernel(x_ptr, out_ptr, i, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N)) > 0
    tl.store(out_ptr + tl.arange(0, N), x[i].to(tl.int8))
    tl.store(out_ptr + N + tl.arange(0, 2), x[1:3, -1].to(tl.int8))


@tritonx.jit
def pointer_kernel(x_ptr, out_ptr, i, M: tl.constexpr, N: tl.constexpr):
    places = x_ptr + grid_2d(M, N)
    tl.store(out_ptr + tl.arange(0, N), tl.load(places[i]))
    tl.store(out_ptr + N + tl.arange(0, M), tl.load(places[::-1, 1]))


def _bits(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Any bits of the dtype, zeros of both signs and NaNs among them, and the same as integers."""
    kind = np.dtype(DTYPES[dtype])
    raw = np.dtype(f"i{kind.itemsize}")
    bits = rng.integers(np.iinfo(raw).min, np.iinfo(raw).max, shape, raw, endpoint=True)
    zero = np.array([0, np.iinfo(raw).min], raw)
    bits = np.where(rng.random(shape) < 0.2, rng.choice(zero, shape), bits)
    if kind.kind in "fV" and dtype not in ALL_FP8:
        nan = np.array(np.nan, kind).view(raw)
        bits = np.where(rng.random(shape) < 0.2, nan + rng.integers(0, 9, shape).astype(raw), bits)
    return bits.view(kind), bits


def _index(rng: np.random.Generator, extent: int) -> int:
    return int(rng.integers(-extent, extent))


def _elements(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, bits = _bits(rng, dtype, (m, n))
        i, j, early = _index(rng, m), _index(rng, n), _index(rng, min(m, n))
        parts = {"x[i]": bits[i], "x[:, j]": bits[:, j], "x[i, j]": bits[i, j], "x[EARLY, ...]": bits[early]}
        parts |= {"x[..., EARLY]": bits[:, early], "x[EARLY, :][j]": bits[early, j]}
        return Trial((x, _output(bits, parts), i, j), {"M": m, "N": n, "EARLY": early})

    return make


def _output(bits: Array, parts: dict[str, Array]) -> Output:
    return Output(bits.dtype, tuple(Part(name, np.atleast_1d(expected)) for name, expected in parts.items()))


def _slices(dtype: str, m: int, n: int, rows: Slice, columns: Slice) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, bits = _bits(rng, dtype, (m, n))
        both = bits[slice(*rows), slice(*columns)]
        parts = {"both": both, "between": bits[slice(*rows), None, -1, None]}
        constants = {"M": m, "N": n, "ROWS": rows, "COLUMNS": columns, "R": both.shape[0], "C": both.shape[1]}
        return Trial((x, _output(bits, parts)), constants)

    return make


def _cube(dtype: str, shape: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, int(np.prod(shape))).reshape(shape)
        i = _index(rng, min(shape[1:]))
        parts = {"x[:, i]": x[:, i], "half": x[..., None, : shape[2] // 2], "x[-1, :, i]": x[-1, :, i]}
        return Trial((x, _output(x, parts | {"x[0, i, -1]": x[0, i, -1]}), i), dict(zip("ABC", shape, strict=True)))

    return make


def _row(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, i = distinct(rng, dtype, n), _index(rng, n)
        parts = {"x[i]": x[i], "backwards": x[::-1], "odd": x[1::2], "unaligned": x[n // 8 : n // 8 + n // 4]}
        return Trial((x, _output(x, parts), i), {"N": n})

    return make


def _loop(m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-9, 10, (m, n)).astype(np.int32)
        totals = [x[0]]
        for row in x[1:]:
            totals.append(totals[-1] * np.int32(3) + row)
        return Trial((x, Output.of(np.stack(totals))), {"M": m, "N": n})

    return make


def _bools(m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, i = rng.integers(-1, 2, (m, n)).astype(np.int8), _index(rng, m)
        truth = (x > 0).astype(np.int8)
        return Trial((x, _output(truth, {"x[i]": truth[i], "x[1:3, -1]": truth[1:3, -1]}), i), {"M": m, "N": n})

    return make


def _pointers(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, i = distinct(rng, dtype, m * n).reshape(m, n), _index(rng, m)
        return Trial((x, _output(x, {"x[i]": x[i], "x[::-1, 1]": x[::-1, 1]}), i), {"M": m, "N": n})

    return make


SLICES: list[tuple[Slice, Slice]] = [
    ((0, 4, 1), (None, None, None)),
    ((4, 8, None), (8, 16, None)),
    ((2, 6, None), (1, 2, None)),
    ((None, None, 2), (1, None, 2)),
    ((None, None, -1), (3, 7, None)),
    ((-4, None, None), (-1, -9, -2)),
    ((3, 5, None), (None, 4, None)),
]


def cases(cover: Cover) -> Iterator[Case]:
    dtypes = (*INTEGERS, *FLOATS, *ALL_FP8)
    warps = (4, 1, 8, 2)
    shapes = [(32, 16), (4, 64), (64, 4), (16, 128), (8, 8), (2, 32), (1, 64)]
    for dtype, (m, n), w in cover.zipped(dtypes, shapes, warps):
        needs = frozenset({dtype} & set(ALL_FP8))
        name = f"indexing/elements-{dtype}-{m}x{n}-w{w}"
        yield Case(name, elements_kernel, _elements(dtype, m, n), {"num_warps": w}, needs)
    sliced = ("fp32", "int8", "fp16", "int64", "bf16", "fp64", "int16")
    for (rows, columns), (m, n), dtype, w in cover.zipped(SLICES, [(8, 16), (8, 64), (16, 32)], sliced, warps):
        name = f"indexing/slices-{dtype}-{m}x{n}-{_text(rows)},{_text(columns)}-w{w}"
        yield Case(name, slices_kernel, _slices(dtype, m, n, rows, columns), {"num_warps": w})
    for shape, dtype, w in cover.zipped([(4, 8, 16), (2, 16, 4), (16, 2, 8)], ("fp32", "int8", "int64"), warps):
        name = f"indexing/cube-{dtype}-{'x'.join(map(str, shape))}-w{w}"
        yield Case(name, cube_kernel, _cube(dtype, shape), {"num_warps": w})
    for n, dtype, w in cover.zipped((128, 8, 1024), ("fp32", "int16", "int64"), (4, 1, 8)):
        yield Case(f"indexing/row-{dtype}-{n}-w{w}", row_kernel, _row(dtype, n), {"num_warps": w})
    for m, n, w in ((16, 32, 4), (4, 128, 1)):
        yield Case(f"indexing/loop-int32-{m}x{n}-w{w}", loop_kernel, _loop(m, n), {"num_warps": w})
    yield Case("indexing/bool-16x32-w4", bool_kernel, _bools(16, 32), {"num_warps": 4})
    yield Case("indexing/pointers-fp32-8x32-w4", pointer_kernel, _pointers("fp32", 8, 32), {"num_warps": 4})


def _text(part: Slice) -> str:
    return ":".join("" if p is None else str(p) for p in part)
