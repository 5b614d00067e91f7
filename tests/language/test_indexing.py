"""Indexing of blocks against NumPy, on drawn slices; what Triton takes stays what it was."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter.errors import DeviceAssertion
from tritonx.interpreter.function import interpreted

SEED = int(os.environ["TRITONX_SEED"])
SHAPES = ((4, 8, 16), (3, 8, 20), (5, 7, 6), (1, 96, 3))


@tritonx.jit
def indexed(
    x_ptr, out_ptr, i, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, COUNT: tl.constexpr, WHICH: tl.constexpr,
    AXIS: tl.constexpr, S: tl.constexpr, T: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]
    x = tl.load(x_ptr + rows * C + tl.arange(0, C)[None, None, :])
    if AXIS == 0:
        y = x[i, S[0] : S[1] : S[2], T[0] : T[1] : T[2]]
    elif AXIS == 1:
        y = x[S[0] : S[1] : S[2], i, T[0] : T[1] : T[2]]
    elif AXIS == 2:
        y = x[S[0] : S[1] : S[2], None, T[0] : T[1] : T[2], i]
    else:
        y = x[WHICH, ..., S[0] : S[1] : S[2]]
    tl.store(out_ptr + tl.arange(0, COUNT), tl.reshape(y, (COUNT,)))


def drawn_slice(random: Random, extent: int) -> tuple[int | None, int | None, int | None]:
    """A slice that keeps something of an axis."""
    while True:
        start, stop = (random.choice([None, random.randint(-extent, extent)]) for _ in range(2))
        step = random.choice([None, 1, 2, -1, 3, -2])
        if range(*slice(start, stop, step).indices(extent)):
            return start, stop, step


@pytest.mark.parametrize("draw", range(24))
def test_numpy_gives_the_same(draw: int) -> None:
    random = Random(f"{SEED}/{draw}")
    shape = random.choice(SHAPES)
    x = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    axis, which = draw % 4, random.randrange(-shape[0], shape[0])
    others = [n for d, n in enumerate(shape) if d != axis][-2:] if axis < 3 else [shape[2], shape[2]]
    s, t = (drawn_slice(random, n) for n in others)
    i = random.randrange(-shape[axis % 3], shape[axis % 3])
    first, second = slice(*s), slice(*t)
    index: Any = [(i, first, second), (first, i, second), (first, None, second, i), (which, ..., first)][axis]
    expected = x[index]
    out = np.full(expected.size, -1, np.int16)
    kernel = indexed if draw % 3 == 0 else interpreted(indexed)
    kernel[(1,)](x, out, i, *shape, expected.size, which, axis, s, t)
    np.testing.assert_array_equal(
        out.reshape(expected.shape), expected, f"seed {SEED}, draw {draw}: {shape}, {s}, {t}, {i}"
    )


@tritonx.jit
def picks(x_ptr, out_ptr, i):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr, x[i])


@pytest.mark.parametrize("index", [8, -9, 2**40])
def test_an_index_out_of_range_is_an_error_line_by_line(index: int) -> None:
    with pytest.raises(DeviceAssertion, match=r"out of range for an axis of 8(.|\n)*line|test_indexing.py"):
        interpreted(picks)[(1,)](np.zeros(8, np.float32), np.zeros(1, np.float32), index)


@tritonx.jit
def axes_only(x_ptr, out_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 8)[:, :])
    tl.store(out_ptr + tl.arange(0, 8)[None, :, None], x[None, :, None] + n[None, None, None] + n[:])


def test_colons_and_none_are_what_they_are_in_triton() -> None:
    """There a ``:`` more than there are axes means nothing."""
    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    axes_only[(1,)](x, out, 5)
    np.testing.assert_array_equal(out, x + 10)


@tritonx.jit
def scalar_with_axes(x_ptr, out_ptr):
    """A scalar is a block of one element for each None: kernels spread statistics of a row that may be one number."""
    s = tl.load(x_ptr)
    tl.static_assert(s[:, None].shape == (1,))
    tl.static_assert(s[None, :].shape == (1,))
    tl.static_assert(s[None, :, None].shape == (1, 1))
    tl.store(out_ptr + tl.arange(0, 4), tl.broadcast_to(s[:, None], (4,)) + s[None])


@pytest.mark.parametrize("run", [lambda f: f, interpreted], ids=["compiled", "interpreted"])
def test_scalars_are_blocks_of_one_element(run: Any) -> None:
    x, out = np.array([3.5], np.float32), np.zeros(4, np.float32)
    run(scalar_with_axes)[(1,)](x, out)
    assert (out == 7).all()
