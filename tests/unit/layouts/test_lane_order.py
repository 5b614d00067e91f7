"""Copies of consecutive lanes: whatever the memory is like, their layout is one in which they are."""

from __future__ import annotations

import os
from random import Random

from tritonx.layouts import linear_layout
from tritonx.layouts.access import placement
from tritonx.layouts.dims import LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.encodings import BlockedEncoding, SharedEncoding, SharedLinearEncoding, SwizzledSharedEncoding
from tritonx.layouts.gf2 import rank
from tritonx.layouts.lane_order import consecutive_accesses, lane_ordered

SEED = int(os.environ["TRITONX_SEED"])


def drawn_memory(random: Random) -> tuple[SharedEncoding, tuple[int, int]]:
    rows, columns = (random.choice((5, 6, 7)) for _ in range(2))
    shape = (1 << rows, 1 << columns)
    if random.random() < 0.5:
        order = random.choice(((0, 1), (1, 0)))
        phases = random.choice((1, 2, 4, 8))
        return SwizzledSharedEncoding(random.choice((1, 2, 4)), random.choice((1, 2, 4)), phases, order), shape
    bases: list[int] = []
    while len(bases) < rows + columns:
        basis = random.randrange(1, 1 << rows + columns)
        if rank((*bases, basis)) > len(bases):
            bases.append(basis)
    return SharedLinearEncoding(tuple((basis >> columns, basis & (1 << columns) - 1) for basis in bases)), shape


def test_lanes_write_consecutive_memory() -> None:
    random = Random(f"{SEED} lane order")
    for _ in range(200):
        encoding, shape = drawn_memory(random)
        memory = linear_layout(encoding, shape)
        elements, lanes, warps = random.choice((1, 2, 4, 8)), random.choice((32, 64)), random.choice((1, 2, 4, 8))
        what = f"seed {SEED}: {encoding}, {shape}, {elements} elements, {lanes} lanes, {warps} warps"
        made = lane_ordered(memory, elements, lanes, warps)
        if made is None:
            assert elements * lanes * warps > shape[0] * shape[1], what
            continue
        places = placement(linear_layout(made, shape), memory)
        access = consecutive_accesses(places, 16, 16 * elements)
        assert access is not None and access.vec == elements, what
        written: set[int] = set()
        for warp in range(warps):
            for one in access.accesses:
                start = places.coordinate(places.apply_packed({REGISTER: one.registers[0], WARP: warp}), OFFSET)
                for lane in range(lanes):
                    at = {REGISTER: one.registers[0], LANE: lane, WARP: warp}
                    assert places.coordinate(places.apply_packed(at), OFFSET) == start + lane * elements, what
                    written |= set(range(start + lane * elements, start + (lane + 1) * elements))
        assert len(written) == shape[0] * shape[1], what


def test_others_do_not() -> None:
    """Rows that threads have eight elements of, in words of two; rows whose pieces are permuted under the lanes."""
    threads = linear_layout(BlockedEncoding((1, 8), (8, 8), (4, 1), (1, 0)), (64, 64))
    plain = linear_layout(SwizzledSharedEncoding(8, 1, 1, (1, 0)), (64, 64))
    swizzled = linear_layout(SwizzledSharedEncoding(8, 1, 8, (1, 0)), (64, 64))
    whole = consecutive_accesses(placement(threads, plain), 16, 128)
    assert whole is not None and len(whole.accesses) == 2
    assert consecutive_accesses(placement(threads, plain), 16, 32) is None
    assert consecutive_accesses(placement(threads, swizzled), 16, 128) is None
