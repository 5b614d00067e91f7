"""Ops that only move data: every element must arrive unchanged, whatever the layout."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import distinct


@tritonx.jit
def grid_2d(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@tritonx.jit
def grid_3d(A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None] * (B * C)
    return a + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]


@tritonx.jit
def transpose_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    tl.store(out_ptr + grid_2d(N, M), tl.trans(x))
    tl.store(out_ptr + M * N + grid_2d(M, N), tl.trans(tl.trans(x) * 2))


@tritonx.jit
def permute_kernel(
    x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, P: tl.constexpr, Q: tl.constexpr, R: tl.constexpr
):
    x = tl.load(x_ptr + grid_3d(A, B, C))
    y = tl.permute(x, (P, Q, R))
    tl.store(out_ptr + grid_3d(y.shape[0], y.shape[1], y.shape[2]), y)


@tritonx.jit
def reshape_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    tl.store(out_ptr + tl.arange(0, M * N), tl.reshape(x, (M * N,)))
    tl.store(out_ptr + M * N + grid_2d(N, M), tl.reshape(x, (N, M)))
    tl.store(out_ptr + 2 * M * N + tl.arange(0, M * N), tl.ravel(tl.trans(x)))
    wide = tl.reshape(x, (M // 2, 2, N))
    tl.store(out_ptr + 3 * M * N + grid_3d(2, M // 2, N), tl.permute(wide, (1, 0, 2)))


@tritonx.jit
def ranges_kernel(out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """What varies along one dimension only, as a value rather than in an address."""
    zero = tl.zeros((A, B, C), tl.int32)
    place = out_ptr + grid_3d(A, B, C)
    tl.store(place, tl.arange(0, A)[:, None, None] + zero)
    tl.store(place + A * B * C, tl.arange(0, B)[None, :, None] + zero)
    tl.store(place + 2 * A * B * C, tl.arange(0, C)[None, None, :] + zero)


@tritonx.jit
def broadcast_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M))
    y = tl.load(y_ptr + tl.arange(0, N))
    i = grid_2d(M, N)
    tl.store(out_ptr + i, tl.broadcast_to(x[:, None], (M, N)))
    tl.store(out_ptr + M * N + i, tl.broadcast_to(tl.expand_dims(y, 0), (M, N)))
    tl.store(out_ptr + 2 * M * N + i, x[:, None] - y[None, :])
    tl.store(out_ptr + 3 * M * N + i, tl.broadcast_to(tl.load(x_ptr + 1), (M, N)))


@tritonx.jit
def join_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + grid_2d(N, 2), tl.join(x, y))
    tl.store(out_ptr + 2 * N + tl.arange(0, 2 * N), tl.interleave(x, y))
    first, second = tl.split(tl.reshape(tl.interleave(y, x), (N, 2)))
    tl.store(out_ptr + 4 * N + i, first)
    tl.store(out_ptr + 5 * N + i, second)


@tritonx.jit
def join_2d_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = grid_2d(M, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + grid_3d(M, N, 2), tl.join(x, y))
    tl.store(out_ptr + 2 * M * N + grid_2d(M, 2 * N), tl.interleave(x, y))
    first, second = tl.split(tl.permute(tl.reshape(tl.load(x_ptr + i), (M, 2, N // 2)), (0, 2, 1)))
    tl.store(out_ptr + 4 * M * N + grid_2d(M, N // 2), first)
    tl.store(out_ptr + 4 * M * N + M * (N // 2) + grid_2d(M, N // 2), second)


@tritonx.jit
def flip_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + grid_2d(M, N))
    tl.store(out_ptr + grid_2d(M, N), tl.flip(x, 1))
    tl.store(out_ptr + M * N + grid_2d(M, N), tl.flip(x, 0))


@tritonx.jit
def cat_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    both = tl.cat(tl.load(x_ptr + i), tl.load(y_ptr + i), can_reorder=True)
    tl.store(out_ptr, tl.sum(both.to(tl.int64), axis=0))
    tl.store(out_ptr + 1, tl.max(both.to(tl.int64), axis=0))
    tl.store(out_ptr + 2, tl.min(both.to(tl.int64), axis=0))


def _parts(x: Array, parts: dict[str, Array]) -> Output:
    return Output(x.dtype, tuple(Part(name, np.ascontiguousarray(value)) for name, value in parts.items()))


def _transpose(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, m * n).reshape(m, n)
        return Trial((x, _parts(x, {"trans": x.T, "twice": (x * x.dtype.type(2))})), {"M": m, "N": n})

    return make


def _permute(dtype: str, shape: tuple[int, int, int], order: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, int(np.prod(shape))).reshape(shape)
        constants = dict(zip("ABCPQR", shape + order, strict=True))
        return Trial((x, _parts(x, {"permute": x.transpose(order)})), constants)

    return make


def _reshape(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, m * n).reshape(m, n)
        parts = {
            "flat": x.reshape(-1), "N by M": x.reshape(n, m), "ravel of trans": x.T.reshape(-1),
            "3d": x.reshape(m // 2, 2, n).transpose(1, 0, 2),
        }  # fmt: skip
        return Trial((x, _parts(x, parts)), {"M": m, "N": n})

    return make


def _broadcast(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = distinct(rng, dtype, m), distinct(rng, dtype, n)
        parts = {
            "column": np.broadcast_to(x[:, None], (m, n)), "row": np.broadcast_to(y, (m, n)),
            "difference": x[:, None] - y, "scalar": np.full((m, n), x[1]),
        }  # fmt: skip
        return Trial((x, y, _parts(x, parts)), {"M": m, "N": n})

    return make


def _join(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = distinct(rng, dtype, n), distinct(rng, dtype, n)
        both = np.stack([x, y], axis=1)
        parts = {"join": both, "interleave": both.reshape(-1), "split, first": y, "split, second": x}
        return Trial((x, y, _parts(x, parts)), {"N": n})

    return make


def _join_2d(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = distinct(rng, dtype, m * n).reshape(m, n), distinct(rng, dtype, m * n).reshape(m, n)
        both = np.stack([x, y], axis=2)
        parts = {"join": both, "interleave": both.reshape(m, 2 * n), "left": x[:, : n // 2], "right": x[:, n // 2 :]}
        return Trial((x, y, _parts(x, parts)), {"M": m, "N": n})

    return make


def _ranges(shape: tuple[int, int, int]) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        parts = {f"along axis {d}": i.astype(np.int32) for d, i in enumerate(np.indices(shape))}
        return Trial((_parts(np.zeros(0, np.int32), parts),), dict(zip("ABC", shape, strict=True)))

    return make


def _flip(dtype: str, m: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = distinct(rng, dtype, m * n).reshape(m, n)
        return Trial((x, _parts(x, {"axis 1": x[:, ::-1], "axis 0": x[::-1]})), {"M": m, "N": n})

    return make


def _cat(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, y = distinct(rng, dtype, n), distinct(rng, dtype, n) + np.int32(5)
        both = np.concatenate([x, y]).astype(np.int64)
        return Trial((x, y, Output.of(np.array([both.sum(), both.max(), both.min()]))), {"N": n})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    dtypes = ("fp32", "int8", "fp16", "int64", "bf16", "int16", "fp64")
    warps = (4, 1, 8, 2)
    shapes = [(32, 32), (16, 128), (128, 4), (2, 64), (64, 2), (8, 8), (64, 64)]
    for (m, n), dtype, w in cover.zipped(shapes, dtypes, warps):
        yield Case(f"shape/trans-{dtype}-{m}x{n}-w{w}", transpose_kernel, _transpose(dtype, m, n), {"num_warps": w})
        yield Case(f"shape/reshape-{dtype}-{m}x{n}-w{w}", reshape_kernel, _reshape(dtype, m, n), {"num_warps": w})
        yield Case(f"shape/broadcast-{dtype}-{m}x{n}-w{w}", broadcast_kernel, _broadcast(dtype, m, n), {"num_warps": w})
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    cubes = [(4, 8, 16), (2, 32, 8), (16, 2, 4), (8, 8, 8)]
    for shape, order, dtype, w in cover.zipped(cubes, orders, ("int32", "fp16", "int8"), warps):
        name = f"shape/permute-{dtype}-{'x'.join(map(str, shape))}-{''.join(map(str, order))}-w{w}"
        yield Case(name, permute_kernel, _permute(dtype, shape, order), {"num_warps": w})
    for shape, w in cover.zipped([(8, 4, 32), (2, 64, 1), (1, 16, 16)], (4, 1, 8)):
        yield Case(f"shape/ranges-{'x'.join(map(str, shape))}-w{w}", ranges_kernel, _ranges(shape), {"num_warps": w})
    for n, dtype, w in cover.zipped((128, 16, 1024, 2), ("int32", "fp16", "int8", "fp64"), warps):
        yield Case(f"shape/join-{dtype}-{n}-w{w}", join_kernel, _join(dtype, n), {"num_warps": w})
    for (m, n), dtype, w in cover.zipped([(16, 16), (4, 64), (64, 2)], ("fp32", "int8", "bf16"), (4, 8, 1)):
        yield Case(f"shape/join-{dtype}-{m}x{n}-w{w}", join_2d_kernel, _join_2d(dtype, m, n), {"num_warps": w})
    for (m, n), dtype, w in cover.zipped([(8, 32), (64, 4)], ("fp32", "int16"), (4, 1)):
        yield Case(f"shape/flip-{dtype}-{m}x{n}-w{w}", flip_kernel, _flip(dtype, m, n), {"num_warps": w})
    for n, w in cover.zipped((256, 512, 1024), (1, 4, 8)):
        yield Case(f"shape/cat-int32-{n}-w{w}", cat_kernel, _cat("int32", n), {"num_warps": w})
