"""Ragged descriptors: blocks of subarrays of different lengths, whose ends hold."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged
from tritonx.tools.tensor_descriptor import ImpossibleDescriptor

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))


@tritonx.jit
def move(source, target, starts, sizes, ADD: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    start = tl.load(starts + tl.program_id(0))
    size = tl.load(sizes + tl.program_id(0))
    first = tl.program_id(1) * ROWS
    block = load_ragged(source, start, size, [first, 0])
    if ADD:
        atomic_add_ragged(target, start, size, [first, 0], block + 1)
    else:
        store_ragged(target, start, size, [first, 0], block + 1)


@tritonx.jit
def move_inner(source, target, start, size, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    block = load_ragged(source, slice_off=start, slice_size=size, coords=[1, 0, 0], ragged_dim=1)
    store_ragged(target, start, size, [1, 0, 0], block + 1, ragged_dim=1)


@pytest.mark.parametrize("add", [False, True])
def test_subarrays_along_the_first_axis(add: bool) -> None:
    sizes = RNG.integers(0, 40, 6).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    x = RNG.standard_normal((max(1, int(sizes.sum())), 16)).astype(np.float32)
    y = np.full_like(x, 5)
    skipped = int(RNG.integers(len(sizes)))  # this subarray stays as it is, whatever its neighbours do
    chosen = [i for i in range(len(sizes)) if i != skipped]
    source, target = (create_ragged_descriptor(a, [8, 16]) for a in (x, y))
    move[(len(chosen), 5)](source, target, starts[chosen], sizes[chosen], ADD=add, ROWS=8, COLUMNS=16)
    expected = (5 if add else 0) + x + 1
    rows = slice(starts[skipped], starts[skipped] + sizes[skipped])
    expected[rows] = 5
    if not sizes.sum():
        expected[:] = 5
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_subarrays_along_the_second_axis() -> None:
    x = RNG.standard_normal((3, 20, 8)).astype(np.float32)
    y = np.full_like(x, 5)
    start, size = int(RNG.integers(0, 10)), int(RNG.integers(1, 8))
    source, target = (create_ragged_descriptor(a, [1, 8, 8], ragged_dim=-2) for a in (x, y))
    move_inner[(1,)](source, target, start, size, ROWS=8, COLUMNS=8)
    expected = np.full_like(x, 5)
    expected[1, start : start + size] = x[1, start : start + size] + 1
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "block", "axis", "said"),
    [
        ((4, 16), [4, 16], 1, "last dimension cannot be ragged"),
        ((4, 16), [4, 16], -1, "last dimension cannot be ragged"),
        ((2, 2, 2, 16), [1, 1, 1, 16], 0, "at most 3 dimensions"),
        ((4, 16), [16], 0, "same length as tensor shape"),
    ],
)
def test_what_cannot_be_ragged(shape: tuple[int, ...], block: list[int], axis: int, said: str) -> None:
    array: Any = np.zeros(shape, np.float32)
    with pytest.raises(ImpossibleDescriptor, match=said):
        create_ragged_descriptor(array, block, axis)
