"""Every conversion plan, executed, delivers every element to every place of the destination."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pytest

from tritonx.layouts import LayoutError, LinearLayout, simulate
from tritonx.layouts.convert import NoMove, RegisterMove, SharedMemoryPlan, owners, plan_conversion, scratch_bytes
from tritonx.layouts.encodings import (
    AmdMfmaEncoding,
    BlockedEncoding,
    DotOperandEncoding,
    NvidiaMmaEncoding,
    SliceEncoding,
)
from tritonx.layouts.lookup import linear_layout
from tritonx.layouts.samples import random_distributed, split
from tritonx.layouts.shuffle import ShufflePlan

SEED = int(os.environ["TRITONX_SEED"])


def check(source, target, bits, **options):
    plan = plan_conversion(source, target, bits, **options)
    values = np.arange(1 << source.total_out_bits)
    held = simulate.distribute(values, source)
    expected = simulate.distribute(values, target.order_outs(source.out_dims))
    np.testing.assert_array_equal(simulate.run(plan, held, target), expected)
    if isinstance(plan, ShufflePlan):
        for able in (lambda mask: True, lambda mask: mask >= 16):
            np.testing.assert_array_equal(simulate.run(plan.using(able, able), held, target), expected)
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


@pytest.mark.parametrize("number", range(8))
def test_random_conversions(number):
    rng = random.Random(SEED + number)
    kinds = set()
    for _ in range(60):
        source, target = random_pair(rng)
        bits = rng.choice([8, 16, 32, 64])
        limit = rng.choice([512, 32768])
        kinds.add(type(check(source, target, bits, scratch_limit=limit, shuffles=rng.random() < 0.8)))
    assert {NoMove, RegisterMove, ShufflePlan, SharedMemoryPlan} & kinds


def random_cga(rng, rank):
    """Of two or four blocks, which split dims or hold copies."""
    extents, bases = [1] * rank, []
    for _ in range(rng.randrange(1, 3)):
        basis = [0] * rank
        if (dim := rng.randrange(rank + 1)) < rank:
            basis[dim] = extents[dim]
            extents[dim] *= 2
        bases.append(tuple(basis))
    return tuple(bases)


@pytest.mark.parametrize("number", range(4))
def test_conversions_in_each_block_of_a_cluster(number):
    """Where a block has all that it wants: parts of what it holds, which are others in each."""
    rng = random.Random(SEED + number)
    kinds, parts = set(), 0
    while parts < 40:
        shape = split(rng, rng.randrange(5, 12), 2)
        cga = random_cga(rng, 2)
        wanted = rng.choice([cga, (*cga[1:], cga[0]), random_cga(rng, 2)])
        encodings = (random_blocked(rng, 2, 5, 2) for _ in range(2))
        mma = NvidiaMmaEncoding(2, 0, split(rng, 2, 2), (16, 8))
        source, target = (
            linear_layout(replace(rng.choice([e, mma]), cga=c), shape)
            for e, c in zip(encodings, (cga, wanted), strict=True)
        )
        if source.in_bits("block") != target.in_bits("block"):
            continue
        bits, limit = rng.choice([8, 16, 32, 64]), rng.choice([512, 32768])
        try:
            plan = plan_conversion(source, target, bits, scratch_limit=limit)
        except LayoutError:
            continue
        kinds.add(type(plan))
        parts += source.columns("block") != target.columns("block")
        values = np.arange(1 << source.total_out_bits)
        for block in range(source.in_size("block")):
            held, expected = (simulate.distribute(values, layout, block) for layout in (source, target))
            np.testing.assert_array_equal(simulate.run(plan, held, target, block), expected)
    assert SharedMemoryPlan in kinds


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
def test_conversions_through_memory_have_no_conflicts(bits, pair):
    vec = 128 // bits
    rows = BlockedEncoding((1, vec), (4, 8), (4, 1), (1, 0))
    columns = BlockedEncoding((vec, 1), (8, 4), (1, 4), (0, 1))
    mma = NvidiaMmaEncoding(2, 0, (2, 2), (16, 8))
    operand = DotOperandEncoding(1, mma, max(1, 32 // bits))
    source, target = {"transpose": (rows, columns), "store": (mma, rows), "operand": (rows, operand)}[pair]
    layouts = [linear_layout(e, (64, 64)) for e in (source, target)]
    plan = check(*layouts, bits, scratch_limit=1 << 20)
    assert isinstance(plan, SharedMemoryPlan) and scratch_bytes(plan, bits) == 64 * 64 * bits // 8
    (part,) = plan.parts
    for access in (part.write, part.read):
        # A warp of 32 lanes moves 128 bytes in a cycle.
        assert access.wavefronts == max(1, 32 * access.vec * bits // 1024)


def test_large_conversions_are_cut():
    """Where both sides hold a direction in registers, parts go one after another through the same memory."""
    rows = linear_layout(BlockedEncoding((1, 4), (1, 32), (4, 1), (1, 0)), (128, 128))
    mma = linear_layout(NvidiaMmaEncoding(2, 0, (2, 2), (16, 8)), (128, 128))
    plan = check(mma, rows, 32, scratch_limit=16384)
    assert isinstance(plan, SharedMemoryPlan) and len(plan.parts) == 4 and scratch_bytes(plan, 32) == 16384


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_what_is_larger_than_the_memory_is_cut_before_vectors_are_long(bits):
    """A result of 256 by 256 in 8 waves, whose registers have three directions in common with those of its store:
    vectors of 16 bytes would take all."""
    mfma = linear_layout(AmdMfmaEncoding(3, (4, 2), (32, 32, 8), True, (), (), 32), (256, 256))
    rows = linear_layout(BlockedEncoding((1, 8), (2, 32), (8, 1), (1, 0)), (256, 256))
    for source, target in ((mfma, rows), (rows, mfma)):
        plan = check(source, target, bits, most=64 * 1024)
        assert isinstance(plan, SharedMemoryPlan) and scratch_bytes(plan, bits) <= 64 * 1024
        assert all(part.write.vec * bits >= 32 and part.read.vec * bits >= 32 for part in plan.parts)
        if bits <= 16:  # where a block may have as much, vectors are as long as without a limit
            assert check(source, target, bits, most=160 * 1024) == check(source, target, bits)


def test_exchanging_a_register_bit_with_a_lane_bit():
    """Half of the registers move, by butterflies."""
    outs = [("dim0", 7)]
    source = LinearLayout([("register", [1, 64]), ("lane", [2, 4, 8, 16, 32]), ("warp", []), ("block", [])], outs)
    target = LinearLayout([("register", [2, 64]), ("lane", [1, 4, 8, 16, 32]), ("warp", []), ("block", [])], outs)
    plan = check(source, target, 32)
    assert isinstance(plan, ShufflePlan) and plan.lane_map is None and plan.shuffles == 2
    packed = check(source, target, 16)
    assert isinstance(packed, ShufflePlan) and packed.shuffles == 1 and packed.pack == 1
    swapped = plan.using(lambda mask: mask == 1, lambda mask: False)
    assert len(swapped.swaps) == 1 and not swapped.source_stages and not swapped.target_stages
    assert plan.using(lambda mask: mask == 2, lambda mask: False) == plan


def test_reading_both_of_two_lanes():
    """Lanes that are to hold copies take both words of a pair of lanes."""
    outs = [("dim0", 5)]
    source = LinearLayout([("register", [1]), ("lane", [2, 4, 8, 0, 16]), ("warp", []), ("block", [])], outs)
    target = LinearLayout([("register", [16, 1]), ("lane", [2, 4, 8, 0, 0]), ("warp", []), ("block", [])], outs)
    plan = check(source, target, 32)
    assert isinstance(plan, ShufflePlan) and plan.lane_map is not None
    assert plan.using(lambda mask: False, lambda mask: mask == 16).spread == (16,)
    assert plan.using(lambda mask: True, lambda mask: mask == 8).spread == ()


def test_copies_in_other_warps_are_not_fetched():
    """What every warp holds, a warp picks from itself: selects, no shuffle, no memory."""
    outs = [("dim0", 7)]
    everywhere = LinearLayout(
        [("register", [32, 64]), ("lane", [1, 2, 4, 8, 16]), ("warp", [0, 0]), ("block", [])], outs
    )
    spread = LinearLayout([("register", []), ("lane", [1, 2, 4, 8, 16]), ("warp", [32, 64]), ("block", [])], outs)
    plan = check(everywhere, spread, 32)
    assert isinstance(plan, ShufflePlan) and plan.shuffles == 0 and plan.selects


def places_of_warps(plan):
    """For each warp, the places of the scratch that it touches in any part."""
    found = {}
    for part in plan.parts:
        for access in (part.write, part.read):
            for vector in access.accesses:
                starts = simulate.addresses(access, vector.offset)
                for warp, row in enumerate(starts):
                    found.setdefault(warp, set()).update(int(start) + i for start in row for i in range(access.vec))
    return [found[warp] for warp in sorted(found)]


@pytest.mark.parametrize("number", range(4))
def test_warps_that_wait_for_themselves_keep_to_places_of_their_own(number):
    rng = random.Random(SEED + number)
    alone = 0
    for _ in range(20_000):  # one of two hundred pairs waits for itself in several warps
        if alone == 4:
            break
        source, target = random_pair(rng)
        plan = plan_conversion(source, target, 32, scratch_limit=rng.choice([64, 256, 32768]), shuffles=False)
        if not isinstance(plan, SharedMemoryPlan) or not plan.same_warp:
            continue
        places = places_of_warps(plan)
        assert sum(map(len, places)) == len(set().union(*places))
        alone += len(places) > 1
    assert alone == 4


def test_rows_of_products_stay_in_their_warps():
    """The accumulator of a product whose warps lie along M, to a layout that gives each warp the same sixteen rows."""
    mma = linear_layout(NvidiaMmaEncoding(2, 0, (4, 1), (16, 8)), (64, 64))
    own = linear_layout(BlockedEncoding((4, 8), (4, 8), (4, 1), (1, 0)), (64, 64))
    others = linear_layout(BlockedEncoding((1, 8), (4, 8), (4, 1), (1, 0)), (64, 64))
    for target, inside in ((own, True), (others, False)):
        plan = check(mma, target, 32, shuffles=False)
        assert isinstance(plan, SharedMemoryPlan) and plan.same_warp is inside
        assert (owners(plan) is not None) is inside
    back = plan_conversion(own, mma, 32, shuffles=False)
    assert owners(plan_conversion(mma, own, 32, shuffles=False)) == owners(back)


def test_warps_keep_to_their_places_in_all_parts():
    mma = linear_layout(NvidiaMmaEncoding(2, 0, (4, 1), (16, 8)), (64, 256))
    own = linear_layout(BlockedEncoding((4, 8), (4, 8), (4, 1), (1, 0)), (64, 256))
    plan = check(mma, own, 32, scratch_limit=16384, shuffles=False)
    assert isinstance(plan, SharedMemoryPlan) and plan.same_warp and len(plan.parts) == 2
    places = places_of_warps(plan)
    assert len(places) == 4 and sum(map(len, places)) == len(set().union(*places)) == plan.elements


def test_what_many_threads_read_is_read_in_vectors() -> None:
    """Threads write 4 neighbours of a row each; of these 16 lanes read all 32 rows of two columns, 64 words each. No
    vector serves both sides, so that it serves the readers."""
    loaded = linear_layout(BlockedEncoding((1, 4), (8, 4), (4, 1), (1, 0)), (32, 16))
    scanned = linear_layout(SliceEncoding(2, BlockedEncoding((1, 1, 1), (1, 2, 16), (1, 4, 1), (2, 1, 0))), (32, 16))
    plan = plan_conversion(loaded, scanned, 32)
    assert isinstance(plan, SharedMemoryPlan)
    (part,) = plan.parts
    assert (len(part.write.accesses), len(part.read.accesses)) == (4, 16)
    assert part.read.vec == 4
