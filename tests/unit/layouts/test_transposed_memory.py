"""Memory and its transposed view name the same places."""

from __future__ import annotations

import os
from random import Random

from tritonx.layouts import linear_layout
from tritonx.layouts.encodings import (
    NvmmaSharedEncoding,
    PaddedSharedEncoding,
    SharedEncoding,
    SharedLinearEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.shared import transposed_memory

SEED = int(os.environ["TRITONX_SEED"])


def draw(random: Random) -> tuple[SharedEncoding, tuple[int, ...]]:
    rank = random.choice((2, 2, 3))
    order = tuple(random.sample(range(rank), rank))
    shape = tuple(random.choice((8, 16, 64)) for _ in range(rank))
    vec, per_phase, phases = (1 << random.randrange(4) for _ in range(3))
    swizzled = SwizzledSharedEncoding(vec, per_phase, phases, order)
    match random.randrange(3):
        case 0 if rank == 2:
            return NvmmaSharedEncoding(random.choice((0, 32, 64, 128)), random.random() < 0.5, 16), (64, 64)
        case 1:
            bases = linear_layout(swizzled, shape).bases("offset")
            return SharedLinearEncoding(bases), shape
        case _:
            return swizzled, shape


def test_every_place_stays() -> None:
    for number in range(200):
        random = Random(SEED + number)
        encoding, shape = draw(random)
        order = random.sample(range(len(shape)), len(shape))
        found = transposed_memory(encoding, order, shape)
        where = f"seed {SEED + number}: {encoding} {shape} {order}"
        if isinstance(encoding, NvmmaSharedEncoding) and encoding.swizzling_byte_width:
            assert found is not None, where
        if found is None:
            continue
        inner = tuple(shape[order.index(dim)] for dim in range(len(shape)))
        view, memory = linear_layout(encoding, shape), linear_layout(found, inner)
        for offset in random.sample(range(view.in_size("offset")), 16):
            place = memory.apply(offset=offset, block=0)
            assert view.apply(offset=offset, block=0) == tuple(place[dim] for dim in order), where


def test_swizzled_memory_has_a_transpose() -> None:
    encoding = SwizzledSharedEncoding(8, 1, 8, (0, 1))
    assert transposed_memory(encoding, [1, 0], (64, 128)) == SwizzledSharedEncoding(8, 1, 8, (1, 0))
    padded = PaddedSharedEncoding((64,), (8,), (0, 1), (64, 128))
    assert transposed_memory(padded, [1, 0], (64, 128)) is None
