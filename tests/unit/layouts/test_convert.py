"""Every conversion plan, executed, delivers every element to every place of the destination."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tritonx.layouts import LinearLayout, simulate
from tritonx.layouts.convert import ExchangePlan, NoMove, RegisterMove, plan_conversion, scratch_bytes
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


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("pair", ["transpose", "store", "operand"])
def test_exchanges_have_no_conflicts(bits, pair):
    vec = 128 // bits
    rows = BlockedEncoding((1, vec), (4, 8), (4, 1), (1, 0))
    columns = BlockedEncoding((vec, 1), (8, 4), (1, 4), (0, 1))
    mma = NvidiaMmaEncoding(2, 0, (2, 2), (16, 8))
    operand = DotOperandEncoding(1, mma, max(1, 32 // bits))
    source, target = {"transpose": (rows, columns), "store": (mma, rows), "operand": (rows, operand)}[pair]
    layouts = [linear_layout(e, (64, 64)) for e in (source, target)]
    plan = check(*layouts, bits, scratch_limit=1 << 20)
    assert isinstance(plan, ExchangePlan) and scratch_bytes(plan, bits) == 64 * 64 * bits // 8
    (part,) = plan.parts
    for access in (part.write, part.read):
        # A warp of 32 lanes moves 128 bytes in a cycle.
        assert access.wavefronts == max(1, 32 * access.vec * bits // 1024)


def test_large_exchanges_are_cut():
    """Where both sides hold a direction in registers, parts go one after another through the same memory."""
    rows = linear_layout(BlockedEncoding((1, 4), (1, 32), (4, 1), (1, 0)), (128, 128))
    mma = linear_layout(NvidiaMmaEncoding(2, 0, (2, 2), (16, 8)), (128, 128))
    plan = check(mma, rows, 32, scratch_limit=16384)
    assert isinstance(plan, ExchangePlan) and len(plan.parts) == 4 and scratch_bytes(plan, 32) == 16384


def test_exchanging_a_register_bit_with_a_lane_bit():
    """Half of the registers move, by butterflies."""
    outs = [("dim0", 7)]
    source = LinearLayout([("register", [1, 64]), ("lane", [2, 4, 8, 16, 32]), ("warp", []), ("block", [])], outs)
    target = LinearLayout([("register", [2, 64]), ("lane", [1, 4, 8, 16, 32]), ("warp", []), ("block", [])], outs)
    plan = check(source, target, 32)
    assert isinstance(plan, ShufflePlan) and plan.lane_map is None and plan.shuffles == 2
    packed = check(source, target, 16)
    assert isinstance(packed, ShufflePlan) and packed.shuffles == 1 and packed.pack == 1


def test_copies_in_other_warps_are_not_fetched():
    """What every warp holds, a warp picks from itself: selects, no shuffle, no memory."""
    outs = [("dim0", 7)]
    everywhere = LinearLayout(
        [("register", [32, 64]), ("lane", [1, 2, 4, 8, 16]), ("warp", [0, 0]), ("block", [])], outs
    )
    spread = LinearLayout([("register", []), ("lane", [1, 2, 4, 8, 16]), ("warp", [32, 64]), ("block", [])], outs)
    plan = check(everywhere, spread, 32)
    assert isinstance(plan, ShufflePlan) and plan.shuffles == 0 and plan.selects
