"""Every conversion plan, executed, delivers every element to every place of the destination."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tritonx.layouts import simulate
from tritonx.layouts.convert import ExchangePlan, NoMove, RegisterMove, plan_conversion
from tritonx.layouts.encodings import BlockedEncoding, DotOperandEncoding, NvidiaMmaEncoding, SliceEncoding
from tritonx.layouts.lookup import linear_layout
from tritonx.layouts.samples import random_distributed, split
from tritonx.layouts.shuffle import ShufflePlan


def check(source, target, bits, **options):
    plan = plan_conversion(source, target, bits, **options)
    values = np.arange(1 << source.total_out_bits)
    held = simulate.distribute(values, source)
    expected = simulate.distribute(values, target.order_outs(source.out_dims))
    np.testing.assert_array_equal(simulate.run(plan, held, target), expected)
    return plan


def random_blocked(rng, rank, lanes, warps):
    order = list(range(rank))
    rng.shuffle(order)
    sizes = (split(rng, bits, rank) for bits in (rng.randrange(4), lanes, warps))
    return BlockedEncoding(*sizes, tuple(order))


def random_encoding(rng, rank, lanes, warps):
    kind = rng.randrange(4)
    if kind == 0:
        return SliceEncoding(rng.randrange(rank + 1), random_blocked(rng, rank + 1, lanes, warps))
    if kind == 1 and rank == 2 and lanes == 5:
        mma = NvidiaMmaEncoding(2, 0, split(rng, warps, 2), (16, 8))
        return rng.choice([mma, DotOperandEncoding(rng.randrange(2), mma, 1 << rng.randrange(3))])
    return random_blocked(rng, rank, lanes, warps)


def random_pair(rng):
    """Two layouts of one shape on the same number of lanes and warps."""
    rank = rng.choice([1, 2, 2, 3])
    shape = split(rng, rng.randrange(12), rank)
    lanes, warps = rng.choice([5, 5, 6]), rng.randrange(4)
    return tuple(linear_layout(random_encoding(rng, rank, lanes, warps), shape) for _ in range(2))


@pytest.mark.parametrize("seed", range(8))
def test_random_conversions(seed):
    rng = random.Random(seed)
    kinds = set()
    for _ in range(60):
        source, target = random_pair(rng)
        bits = rng.choice([8, 16, 32, 64])
        limit = rng.choice([512, 32768])
        kinds.add(type(check(source, target, bits, scratch_limit=limit, shuffles=rng.random() < 0.8)))
    assert {NoMove, RegisterMove, ShufflePlan, ExchangePlan} & kinds


def test_every_encoding_converts_to_blocked():
    rng = random.Random(99)
    for _ in range(80):
        encoding, shape = random_distributed(rng)
        source = linear_layout(encoding, shape)
        if source.total_out_bits > 12 or source.in_bits("block"):
            continue
        rank = len(shape)
        lanes, warps = source.in_bits("lane"), source.in_bits("warp")
        blocked = BlockedEncoding((1,) * rank, split(rng, lanes, rank), split(rng, warps, rank), tuple(range(rank)))
        target = linear_layout(blocked, shape)
        check(source, target, 16)
        check(target, source, 32)
