"""Layouts through shape ops: what a register holds after the op is what the op says, without moving anything."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tritonx.layouts import LayoutError, equivalent, infer, linear_layout, simulate
from tritonx.layouts.distributed import cga_of
from tritonx.layouts.encodings import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    NvidiaMmaEncoding,
    SliceEncoding,
)
from tritonx.layouts.samples import random_blocked, random_mma, random_shape

ROWS = BlockedEncoding((1, 4), (4, 8), (4, 1), (1, 0))


def held(encoding, array):
    """[warp, lane, register] elements of an array."""
    layout = linear_layout(encoding, array.shape)
    dims = layout.out_dims
    return simulate.distribute(
        array.transpose(*reversed(range(array.ndim))).reshape(-1, order="C"), layout.order_outs(dims)
    )


def numbered(shape):
    return np.arange(int(np.prod(shape))).reshape(shape)


def cases(count, rank=2):
    rng = random.Random(3)
    for _ in range(count):
        make = rng.choice([random_blocked, random_mma]) if rank == 2 else random_blocked
        encoding = make(rng, rank)
        if not getattr(encoding, "cga", ()):
            yield rng, encoding, random_shape(rng, rank, 0, 6)


def test_transposition():
    for rng, encoding, shape in [*cases(40), *cases(20, 3)]:
        array = numbered(shape)
        order = list(range(len(shape)))
        rng.shuffle(order)
        result = infer.transposed(encoding, order, shape)
        np.testing.assert_array_equal(held(result, array.transpose(order)), held(encoding, array))
        back = infer.transposed_source(result, order, tuple(shape[d] for d in order))
        assert equivalent(back, encoding, shape)


def test_reshape():
    for rng, encoding, shape in cases(60):
        array = numbered(shape)
        size = array.size
        first = 1 << rng.randrange(size.bit_length())
        for new in ((size,), (first, size // first), (size // first, 1, first)):
            result = infer.reshaped(encoding, shape, new)
            np.testing.assert_array_equal(held(result, array.reshape(new)), held(encoding, array))


def test_blocked_stays_blocked_through_a_reshape():
    result = infer.reshaped(ROWS, (128, 64), (32, 4, 64))
    assert isinstance(result, BlockedEncoding)
    assert equivalent(infer.reshaped(result, (32, 4, 64), (128, 64)), ROWS, (128, 64))


def test_expand():
    for _, encoding, shape in cases(30):
        array = numbered(shape)
        for axis in range(3):
            wide = infer.expanded(encoding, axis, shape)
            np.testing.assert_array_equal(held(wide, np.expand_dims(array, axis)), held(encoding, array))
    assert infer.expanded(SliceEncoding(1, ROWS), 1, (128,)) is ROWS
    assert infer.expanded_source(ROWS, 0) == SliceEncoding(0, ROWS) == infer.reduced(ROWS, 0)


def test_join_and_split():
    for _, encoding, shape in cases(30):
        left = numbered(shape)
        right = left + left.size
        joined = infer.joined(encoding, shape)
        together = held(joined, np.stack((left, right), axis=-1))
        pair = np.stack((held(encoding, left), held(encoding, right)), axis=-1)
        bit = infer.split_register(joined, (*shape, 2))
        assert bit == 0
        np.testing.assert_array_equal(together, pair.reshape(*pair.shape[:2], -1))
        assert equivalent(infer.split_from(joined, (*shape, 2)), encoding, shape)
    across = BlockedEncoding((1, 1), (16, 2), (4, 1), (1, 0))
    assert infer.split_from(across, (64, 2)) is None
    with pytest.raises(LayoutError, match="last extent of 2"):
        infer.split_register(ROWS, (128, 64))


def test_concatenation():
    for _, encoding, shape in cases(30):
        top = numbered(shape)
        bottom = top + top.size
        result = infer.concatenated(encoding, shape)
        both = held(result, np.concatenate((top, bottom)))
        np.testing.assert_array_equal(both, np.concatenate((held(encoding, top), held(encoding, bottom)), axis=2))
        assert equivalent(infer.concatenated_source(result, (2 * shape[0], *shape[1:])), encoding, shape)
    assert infer.concatenated_source(BlockedEncoding((1,), (32,), (4,), (0,)), (128,)) is None


def test_recognising_blocked():
    for shape in ((128, 64), (32, 32)):
        found = infer.simplest_encoding(linear_layout(ROWS, shape))
        assert isinstance(found, BlockedEncoding) and equivalent(found, ROWS, shape)
    mma = linear_layout(NvidiaMmaEncoding(2, 0, (4, 1), (16, 8)), (64, 32))
    assert isinstance(infer.simplest_encoding(mma), LinearEncoding)


def test_the_blocks_of_a_slice_step_as_its_parents_do_in_the_dims_that_are_left():
    rng = random.Random(5)
    for _ in range(200):
        parent = random_blocked(rng, 3)
        dim = rng.randrange(3)
        kept = [d for d in range(3) if d != dim]
        assert cga_of(SliceEncoding(dim, parent)) == tuple(tuple(basis[d] for d in kept) for basis in parent.cga)


def test_pairs_taken_apart():
    """Element n of the operand makes 2n and 2n + 1 along the axis, in its thread; the way back is exact."""
    for rng, encoding, shape in [*cases(60), *cases(20, 3)]:
        axis = rng.randrange(len(shape))
        wide = tuple(2 * n if d == axis else n for d, n in enumerate(shape))
        result = infer.unpacked(encoding, axis, shape)
        pairs = np.repeat(numbered(shape), 2, axis=axis)
        here, there = held(encoding, numbered(shape)), held(result, pairs)
        for thread, made in zip(here.reshape(-1, here.shape[-1]), there.reshape(-1, there.shape[-1]), strict=True):
            assert set(thread) == set(made)
        back = infer.unpacked_source(result, axis, wide)
        assert back is not None and equivalent(back, encoding, shape)


def test_neighbours_in_two_threads_come_from_no_pair():
    lanes = BlockedEncoding((1, 1), (4, 8), (4, 1), (1, 0))
    assert infer.unpacked_source(lanes, 1, (32, 32)) is None
    assert infer.unpacked_source(lanes, 0, (32, 32)) is None
    assert infer.unpacked_source(ROWS, 1, (32, 32)) == BlockedEncoding((1, 2), (4, 8), (4, 1), (1, 0))


def test_operands_of_products_have_twice_the_width_along_k():
    parent = NvidiaMmaEncoding(2, 0, (2, 2), (16, 8))
    operand = DotOperandEncoding(0, parent, 2)
    assert infer.unpacked(operand, 1, (64, 32)) == DotOperandEncoding(0, parent, 4)
    assert infer.unpacked_source(operand, 1, (64, 64)) == DotOperandEncoding(0, parent, 1)
    assert infer.unpacked_source(DotOperandEncoding(1, parent, 1), 0, (64, 64)) is None
