"""Tensor descriptors of kernels from source, arguments and made by the kernel: as their parts everywhere, as tensor
maps where the copy engine moves the blocks (`warp_group_dots` on 9.0)."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from math import prod
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.gpu.where import draws
from tests.unit.backends.nvidia.test_block_copies import (
    draw_made,
    draw_partial,
    draw_shifted,
    draw_together,
    made_and_moved,
    made_together,
    moved_block,
    shifted_block,
)
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx_testing.conformance.families.blocks import COMBINE, combine

SEED = int(os.environ["TRITONX_SEED"])
MOST = 1 << 14
"""Elements of a block of one warp: more take minutes to compile."""


def options() -> list[dict[str, Any]]:
    here = str(get_active().get_current_target())
    return [{}, {"warp_group_dots": True}, {"launch_maps": True}] if here == "cuda:90" else [{}]


@tritonx.jit
def described_product(a, b, o, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, TURNED: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, STEP):
        x = a.load([row, k])
        if TURNED:
            y = b.load([column, k]).T
        else:
            y = b.load([k, column])
        total = tl.dot(x, y, total)
    o.store([row, column], total.to(o.dtype))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("warps", [4, 8])
def test_products(warps: int, dtype: str, turned: bool) -> None:
    """Ragged, so that blocks at the edges are cut."""
    rng = np.random.default_rng(SEED)
    kind = np.dtype(dtype if dtype == "float16" else ml_dtypes.bfloat16)
    m, n, k = 200, 328, 168
    a = rng.integers(-3, 4, (m, k)).astype(kind)
    b = rng.integers(-3, 4, (n, k) if turned else (k, n)).astype(kind)
    exact = a.astype(np.float64) @ (b.T if turned else b).astype(np.float64)
    for given in options():
        o = to_device(np.full((m, n), np.nan, kind))
        block = {"M": 128, "N": 64, "STEP": 64}
        descriptors = [
            TensorDescriptor.from_tensor(to_device(a), [128, 64]), TensorDescriptor.from_tensor(to_device(b), [64, 64]),
            TensorDescriptor.from_tensor(o, [128, 64]),
        ]  # fmt: skip
        kernel: Any = described_product
        kernel[2, 6](*descriptors, k, **block, TURNED=turned, num_warps=warps, **given)
        np.testing.assert_array_equal(o.numpy().astype(np.float64), exact.astype(kind).astype(np.float64), str(given))


@tritonx.jit
def product_in_a_batch(
    a, b, o, Z, H, m, n, k, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, TURNED: tl.constexpr,
    MADE: tl.constexpr, SCALED: tl.constexpr,
):  # fmt: skip
    """Of tensors of four dimensions, a matrix a program: the blocks' leading dimensions are dropped."""
    z, h, column = tl.program_id(2) // H, tl.program_id(2) % H, tl.program_id(1) * N
    row = tl.program_id(0) * M
    if MADE:
        x_of = tl.make_tensor_descriptor(a, [Z, H, m, k], [H * m * k, m * k, k, 1], [1, 1, M, STEP])
        if TURNED:
            y_of = tl.make_tensor_descriptor(b, [Z, H, n, k], [H * n * k, n * k, k, 1], [1, 1, N, STEP])
        else:
            y_of = tl.make_tensor_descriptor(b, [Z, H, k, n], [H * n * k, n * k, n, 1], [1, 1, STEP, N])
    else:
        x_of, y_of = a, b
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, k, STEP):
        x = x_of.load([z, h, row, at]).reshape(M, STEP)
        if TURNED:
            y = y_of.load([z, h, column, at]).reshape(N, STEP).T
        else:
            y = y_of.load([z, h, at, column]).reshape(STEP, N)
        if SCALED:
            x = (x.to(tl.float32) * 2).to(x.dtype)
        total = tl.dot(x, y, total)
    rows, columns = row + tl.arange(0, M)[:, None], column + tl.arange(0, N)[None, :]
    tl.store(o + tl.program_id(2) * m * n + rows * n + columns, total, mask=(rows < m) & (columns < n))


@pytest.mark.parametrize("draw", range(draws(12)))
@pytest.mark.parametrize("made", [False, True])
def test_products_of_batches(made: bool, draw: int) -> None:
    random, rng = Random(f"batches {SEED} {draw} {made}"), np.random.default_rng(SEED + draw)
    kind = np.dtype(random.choice((np.float16, ml_dtypes.bfloat16, np.float32)))
    z, h, m, n, k = random.choice((1, 2)), random.choice((1, 3)), random.choice((40, 64)), random.choice((32, 72)), 80
    block = {"M": random.choice((32, 64)), "N": random.choice((32, 64)), "STEP": 32}
    turned, scaled = random.random() < 0.5, random.random() < 0.3
    a = rng.integers(-3, 4, (z, h, m, k)).astype(kind)
    b = rng.integers(-3, 4, (z, h, n, k) if turned else (z, h, k, n)).astype(kind)
    other = b.astype(np.float64)
    exact = a.astype(np.float64) @ (other.swapaxes(2, 3) if turned else other) * (2 if scaled else 1)
    columns = [1, 1, block["N"], block["STEP"]] if turned else [1, 1, block["STEP"], block["N"]]
    given = {"TURNED": turned, "MADE": made, "SCALED": scaled, "num_warps": random.choice((1, 4, 8))}
    for more in options():
        o, x, y = to_device(np.full((z, h, m, n), np.nan, np.float32)), to_device(a), to_device(b)
        blocks = [1, 1, block["M"], block["STEP"]], columns
        sources = [x, y] if made else [TensorDescriptor.from_tensor(t, s) for t, s in zip((x, y), blocks, strict=True)]
        grid = -(-m // block["M"]), -(-n // block["N"]), z * h
        kernel: Any = product_in_a_batch
        kernel[grid](*sources, o, z, h, m, n, k, **block, **given, num_stages=random.choice((1, 2, 3)), **more)
        what = f"seed {SEED}, {kind}, {z, h, m, n, k}, {block}, {given}, {more}"
        np.testing.assert_array_equal(o.numpy(), exact.astype(np.float32), what)


WORDS = "int32", "uint32", "int64", "uint64"
MOVED = {
    "store": ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", *WORDS),
    "add": ("float16", "bfloat16", "float32", "int32", "uint32", "uint64"),
    "max": ("float16", "bfloat16", *WORDS),
    "xor": WORDS,
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in MOVED.items() for name in names])
def test_moved_blocks(kind: str, name: str) -> None:
    random, rng = Random(f"moved {SEED} {kind} {name}"), np.random.default_rng(SEED)
    rank, dtype = random.randint(1, 5), np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    block = [random.choice((2, 4, 8)) for _ in range(rank - 1)] + [random.choice((16, 32, 64))]
    while prod(block) > MOST:
        block[block.index(max(block[:-1]))] //= 2
    shape = [extent * (3 if d == 0 else 1) - (d < rank - 1 and random.choice((0, 1))) for d, extent in enumerate(block)]
    shape[-1] = block[-1] * (3 if rank == 1 else 1)
    least, most = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (-9, 9)
    x, y = (rng.integers(least, most, shape, dtype if dtype.kind in "iu" else int).astype(dtype) for _ in range(2))
    match kind:
        case "store":
            expected = x + x
        case "add":
            expected = y + x
        case "max":
            expected = np.maximum(y, x)
        case _:
            expected = y ^ x
    for given in options():
        source, target = to_device(x), to_device(y)
        descriptors = [TensorDescriptor.from_tensor(array, block) for array in (source, target)]
        constants = {"KIND": kind, "RANK": rank, "BLOCK": block[0]}
        kernel: Any = moved_block
        kernel[-(-shape[0] // block[0]),](*descriptors, **constants, num_warps=random.choice((1, 4)), **given)
        np.testing.assert_array_equal(target.numpy(), expected, f"{given} {kind} {dtype} {block} {shape}")


@tritonx.jit
def combined_twice(
    given, x, y, rows, columns, M: tl.constexpr, N: tl.constexpr, FIRST: tl.constexpr, SECOND: tl.constexpr
):
    """Two ways, one behind the other, through one descriptor."""
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    m, n = (row + tl.arange(0, M))[:, None], (column + tl.arange(0, N))[None, :]
    tile = tl.load(x + m * columns + n, mask=(m < rows) & (n < columns))
    if given is None:
        target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [M, N])
    else:
        target = given
    combine(target, row, column, tile, FIRST)
    combine(target, row, column, tile, SECOND)


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("dtype", WORDS)
def test_combined_in_two_ways(dtype: str, made: bool) -> None:
    """Any two ways of combining integers, but that signed 64-bit numbers have no sum (there is none in Triton)."""
    random, rng = Random(f"two ways {SEED} {dtype} {made}"), np.random.default_rng(SEED)
    info = np.iinfo(dtype)
    ways = [(a, b) for a in COMBINE for b in COMBINE if dtype != "int64" or "add" not in (a, b)]
    for first, second in random.sample(ways, draws(8)):
        x, y = (rng.integers(info.min, info.max, (50, 72), dtype, endpoint=True) for _ in range(2))
        expected = COMBINE[second](COMBINE[first](y, x), x)
        for given in options():
            out = to_device(y)
            target = None if made else TensorDescriptor.from_tensor(out, [16, 64])
            kernel: Any = combined_twice
            kernel[4, 2](target, to_device(x), out, 50, 72, M=16, N=64, FIRST=first, SECOND=second, **given)
            np.testing.assert_array_equal(out.numpy(), expected, f"seed {SEED}, {given} {first}, {second} of {dtype}")


@pytest.mark.parametrize("draw", range(12))
def test_descriptors_that_a_kernel_makes(draw: int) -> None:
    """Their maps lie in global scratch memory; each block of the grid has its own."""
    random = Random(f"made {SEED} {draw}")
    made, warps = draw_made(random), random.choice((1, 4))
    for given in options():
        x, y = to_device(made.x), to_device(made.y)
        kernel: Any = made_and_moved
        kernel[(made.grid,)](x, y, *made.scalars, **made.constants, num_warps=warps, **given)
        what = f"seed {SEED}, draw {draw}, {given} {made.constants} {made.scalars} {made.x.dtype}"
        np.testing.assert_array_equal(y.numpy(), made.expected, what)


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_descriptors_that_are_made_together(warps: int) -> None:
    """A warp makes each, as far as there are so many; again and again, in many blocks at once."""
    for draw in range(3):
        made = draw_together(Random(f"together {SEED} {warps} {draw}"))
        for given in options():
            x, y, z = map(to_device, (made.x, made.y, made.z))
            kernel: Any = made_together
            for _ in range(20):
                kernel[(1,)](x, y, z, *made.scalars, **made.constants, num_warps=warps, **given)
            what = f"seed {SEED}, draw {draw}, {given} {made.constants} {made.scalars} {made.x.dtype}"
            np.testing.assert_array_equal(z.numpy(), made.x - made.y, what)


@pytest.mark.parametrize("draw", range(12))
def test_rows_that_end_within_a_piece(draw: int) -> None:
    """Nothing behind them is changed, although the copy engine writes whole pieces of 16 bytes."""
    random = Random(f"partial {SEED} {draw}")
    partial, warps = draw_partial(random), random.choice((1, 4))
    for given in options():
        descriptors, target = partial.descriptors(to_device)
        kernel: Any = moved_block
        kernel[(partial.grid,)](*descriptors, **partial.constants, num_warps=warps, **given)
        what = f"seed {SEED}, draw {draw}, {given} {partial.constants} {partial.shape} {partial.x.dtype}"
        np.testing.assert_array_equal(target.numpy(), partial.expected, what)


@pytest.mark.parametrize("draw", range(12))
def test_blocks_begin_anywhere(draw: int) -> None:
    """Within a piece of 16 bytes as well, where the copy engine would end the kernel."""
    random = Random(f"shifted {SEED} {draw}")
    made, warps = draw_shifted(random), random.choice((1, 4))
    for given in options():
        descriptors, target = made.descriptors(to_device)
        kernel: Any = shifted_block
        kernel[(1,)](*descriptors, made.column, **made.constants, num_warps=warps, **given)
        what = f"seed {SEED}, draw {draw}, {given} {made.constants} {made.column} {made.x.dtype}"
        np.testing.assert_array_equal(target.numpy(), made.expected, what)


@tritonx.jit
def read_beyond(source, out, N: tl.constexpr):
    at = tl.arange(0, 8)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, source.load([0, 0]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "int32", "int16", "uint8"])
def test_reads_end_with_the_tensor(dtype: str) -> None:
    """At any place within a piece; behind it is the padding."""
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    random, rng = Random(f"{SEED} {dtype}"), np.random.default_rng(SEED)
    x = rng.integers(1, 9, (8, 48)).astype(kind)
    for padding in ("zero", "nan") if "float" in dtype else ("zero",):
        for width in random.sample(range(15, 33), 6):
            out = to_device(np.ones((8, 32), kind))
            source = TensorDescriptor(to_device(x), [8, width], [48, 1], [8, 32], padding=padding)
            kernel: Any = read_beyond
            kernel[(1,)](source, out, N=32)
            expected = np.full((8, 32), np.nan if padding == "nan" else 0, np.float64)
            expected[:, :width] = x[:, :width]
            found = out.numpy().astype(np.float64)
            np.testing.assert_array_equal(found, expected, f"seed {SEED}, {width} of {dtype}, {padding}")
