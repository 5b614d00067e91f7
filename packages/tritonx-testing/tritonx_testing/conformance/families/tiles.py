"""Programs that go through several tiles of a product in a loop, as one loop with the one inside (`flatten`): more and
fewer programs than tiles, loops without iterations, sums that go from tile to tile."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES


@tritonx.jit
def pointers_kernel(a_ptr, b_ptr, out_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Each tile's edges are masked."""
    across = tl.cdiv(columns, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(rows, M) * across, tl.num_programs(0), flatten=True):
        m = tile // across * M + tl.arange(0, M)
        n = tile % across * N + tl.arange(0, N)
        total = tl.zeros((M, N), dtype=out_ptr.dtype.element_ty)
        for start in range(0, inner, K):
            k = start + tl.arange(0, K)
            a = tl.load(a_ptr + m[:, None] * inner + k[None, :], (m < rows)[:, None] & (k < inner)[None, :], 0)
            b = tl.load(b_ptr + k[:, None] * columns + n[None, :], (k < inner)[:, None] & (n < columns)[None, :], 0)
            total = tl.dot(a, b, total, input_precision="ieee", out_dtype=out_ptr.dtype.element_ty)
        tl.store(out_ptr + m[:, None] * columns + n[None, :], total, (m < rows)[:, None] & (n < columns)[None, :])


@tritonx.jit
def descriptors_kernel(a_ptr, b_ptr, out_ptr, rows, columns, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a_blocks = tl.make_tensor_descriptor(a_ptr, [rows, inner], [inner, 1], [M, K])
    b_blocks = tl.make_tensor_descriptor(b_ptr, [inner, columns], [columns, 1], [K, N])
    out_blocks = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [M, N])
    across = tl.cdiv(columns, N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(rows, M) * across, tl.num_programs(0), flatten=True):
        row, column = tile // across * M, tile % across * N
        total = tl.zeros((M, N), dtype=out_ptr.dtype.element_ty)
        for start in range(0, inner, K):
            a = a_blocks.load([row, start])
            b = b_blocks.load([start, column])
            total = tl.dot(a, b, total, input_precision="ieee", out_dtype=out_ptr.dtype.element_ty)
        out_blocks.store([row, column], total)


@tritonx.jit
def running_kernel(x_ptr, out_ptr, ends_ptr, tiles, steps, N: tl.constexpr, FLATTEN: tl.constexpr):
    """What has been added up so far begins each tile."""
    so_far = tl.zeros((N,), tl.int32)
    for tile in tl.range(0, tiles, flatten=FLATTEN):
        total = so_far
        for step in range(steps):
            total = total * 3 + tl.load(x_ptr + (tile * steps + step) * N + tl.arange(0, N))
        tl.store(out_ptr + tile * N + tl.arange(0, N), total)
        so_far = total + tile
    tl.store(ends_ptr + tl.arange(0, N), so_far)


def _product(dtype: str, shape: tuple[int, int, int], tile: tuple[int, int, int], programs: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        (m, n, k), result = shape, np.int32 if dtype == "int8" else np.float32
        a, b = (rng.integers(-4, 5, extents).astype(DTYPES[dtype]) for extents in ((m, k), (k, n)))
        expected = (a.astype(np.int64) @ b.astype(np.int64)).astype(result)
        constants = dict(zip("MNK", tile, strict=True))
        return Trial((a, b, Output.of(expected), m, n, k), constants, (programs,))

    return make


def _running(tiles: int, steps: int, size: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-50, 50, (max(1, tiles * steps), size)).astype(np.int32)
        so_far = np.zeros(size, np.int32)
        totals: list[Array] = []
        for tile in range(tiles):
            total = so_far
            for step in range(steps):
                total = total * np.int32(3) + x[tile * steps + step]
            totals.append(total)
            so_far = total + np.int32(tile)
        out = Output.of(np.array(totals, np.int32).reshape(tiles, size))
        return Trial((x, out, Output.of(so_far), tiles, steps), {"N": size, "FLATTEN": True})

    return make


def cases(cover: Cover) -> Iterator[Case]:
    sizes = [
        ((100, 72, 88), (32, 32, 32), 5), ((128, 64, 64), (64, 32, 16), 3), ((64, 128, 8), (64, 64, 32), 9),
        ((192, 128, 160), (64, 64, 32), 2),
    ]  # fmt: skip
    for (shape, tile, programs), dtype, warps, stages in cover.zipped(
        sizes, ("fp16", "fp32", "int8", "bf16"), (4, 8, 1), (3, 2, 4)
    ):
        name = f"{dtype}-{'x'.join(map(str, shape))}-by-{'x'.join(map(str, tile))}-on-{programs}-w{warps}-s{stages}"
        options = {"num_warps": warps, "num_stages": stages}
        made = _product(dtype, shape, tile, programs)
        yield Case(f"tiles/pointers-{name}", pointers_kernel, made, options)
        if all(extent % 16 == 0 for extent in shape[1:]):
            yield Case(f"tiles/descriptors-{name}", descriptors_kernel, made, options)
    for tiles, steps in ((5, 3), (3, 0), (1, 4), (4, 1), (0, 2)):
        yield Case(f"tiles/running-{tiles}x{steps}", running_kernel, _running(tiles, steps, 64), {"num_stages": 2})
