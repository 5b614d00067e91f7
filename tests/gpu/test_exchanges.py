"""Tiles that change threads: transpositions of every width of element, shape and number of warps, under masks and in
loops, each several times with equal bits."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SHAPES = [(16, 16), (32, 64), (64, 32), (128, 64), (64, 128), (128, 128), (8, 256)]


@tritonx.jit
def transpose(x, y, rows, columns, M: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    inside = (m[:, None] < rows) & (n[None, :] < columns)
    tile = tl.load(x + m[:, None] * columns + n[None, :], mask=inside)
    tl.store(y + n[:, None] * rows + m[None, :], tl.trans(tile), mask=tl.trans(inside))


@tritonx.jit
def there_and_back(x, y, steps, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    for _ in range(steps):
        turned = tl.trans(tile)
        tl.store(y + n[:, None] * M + m[None, :], turned)
        tile = tl.trans(turned + 1)
    tl.store(y + M * N + m[:, None] * N + n[None, :], tile)


def random(shape: tuple[int, ...], bits: int) -> np.ndarray:
    return np.frombuffer(RNG.bytes(int(np.prod(shape)) * bits // 8), WIDTHS[bits]).reshape(shape)


def chosen(shape: tuple[int, int], bits: int) -> tuple[int, int]:
    """Two of the numbers of warps, others for each shape and width."""
    return [(1, 8), (2, 4), (4, 1), (8, 2)][(SHAPES.index(shape) + list(WIDTHS).index(bits)) % 4]


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_transpositions(shape: tuple[int, int], bits: int) -> None:
    for warps, extra in zip(chosen(shape, bits), (0, 3), strict=True):
        rows, columns = 2 * shape[0] - extra, 2 * shape[1] - extra
        x = random((rows, columns), bits)
        dx = to_device(x)
        for _ in range(4):
            dy: Any = to_device(~x.T.copy())
            transpose[(2, 2)](dx, dy, rows, columns, *shape, num_warps=warps)
            np.testing.assert_array_equal(dy.numpy(), x.T, err_msg=f"{warps} warps, {rows}x{columns}")


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_transpositions_in_a_loop(shape: tuple[int, int], bits: int) -> None:
    """The next iteration overwrites what slow warps may still read."""
    x = random(shape, bits)
    for warps in chosen(shape, bits):
        for steps in (1, 2, 9):
            dx, dy = to_device(x), to_device(random((2, x.size), bits))
            there_and_back[(1,)](dx, dy, steps, *shape, num_warps=warps)
            last, after = dy.numpy()
            np.testing.assert_array_equal(after.reshape(shape), x + x.dtype.type(steps))
            np.testing.assert_array_equal(last.reshape(shape[::-1]), (x + x.dtype.type(steps - 1)).T)
