"""Layouts through reshapes, joins and splits, by Triton's names: elements stay where they are."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.unit.layouts.test_infer import cases, held, numbered
from tritonx.layouts import infer, named
from tritonx.layouts.encodings import BlockedEncoding, DistributedEncoding, Ints, LinearEncoding, SliceEncoding
from tritonx.layouts.samples import random_blocked, random_shape

TILE = BlockedEncoding((1, 128), (32, 1), (4, 1), (0, 1))
ROW = BlockedEncoding((8,), (32,), (4,), (0,))


def per_thread(encoding: DistributedEncoding, array: np.ndarray) -> list[set[int]]:
    """The elements of each thread, in any order and number."""
    return [set(thread) for warp in held(encoding, array) for thread in warp]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_reshape_keeps_the_elements_of_each_thread(rank: int) -> None:
    for rng, encoding, shape in cases(40, rank):
        array, left, after = numbered(shape), numbered(shape).size, []
        while left > 1:
            after.append(rng.choice([size for size in (1, 2, 4, 8) if size <= left]))
            left //= after[-1]
        after += [1] * (not after)
        result = named.reshaped(encoding, shape, tuple(after))
        assert per_thread(result, array.reshape(after)) == per_thread(encoding, array), (encoding, shape, after)


@pytest.mark.parametrize(
    ("encoding", "shape", "after", "result"),
    [
        (TILE, (128, 128), (128, 2, 64), BlockedEncoding((1, 2, 64), (32, 1, 1), (4, 1, 1), (0, 2, 1))),
        (ROW, (256,), (8, 32), BlockedEncoding((1, 8), (8, 4), (4, 1), (1, 0))),
        (ROW, (256,), (1, 2, 128), BlockedEncoding((1, 1, 8), (1, 2, 16), (4, 1, 1), (2, 1, 0))),
        (BlockedEncoding((1, 1), (2, 16), (4, 1), (1, 0)), (16, 16), (256,), BlockedEncoding((1,), (32,), (4,), (0,))),
    ],
)
def test_a_reshape_of_a_blocked_layout_stays_blocked(
    encoding: BlockedEncoding, shape: Ints, after: Ints, result: BlockedEncoding
) -> None:
    assert named.reshaped(encoding, shape, after) == result


def test_copies_along_another_dim_than_the_first_make_a_reshape_linear() -> None:
    encoding = BlockedEncoding((1, 1, 4), (4, 8, 1), (1, 2, 2), (2, 1, 0))
    assert isinstance(named.reshaped(encoding, (16, 2, 4), (8, 2, 4, 2)), LinearEncoding)


def test_a_join_gives_back_what_was_split(rng_seed: int = 5) -> None:
    rng, parted = random.Random(rng_seed), 0
    for _ in range(200):
        rank = rng.choice([2, 3])
        encoding, shape = random_blocked(rng, rank), (*random_shape(rng, rank - 1, 0, 6), 2)
        part = named.split_from(encoding, shape)
        assert (part is None) == (infer.split_from(encoding, shape) is None)
        if part is not None:
            parted += 1
            assert part == SliceEncoding(rank - 1, encoding)
            assert named.joined(part, shape[:-1]) == encoding
    assert parted
