"""Reads that transpose, executed as the instruction is described, compared with the layouts."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from tritonx.layouts import linear_layout, simulate
from tritonx.layouts.access import placement
from tritonx.layouts.dims import LANE, WARP
from tritonx.layouts.encodings import AmdMfmaEncoding, DotOperandEncoding, SwizzledSharedEncoding
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.transposed_access import (
    CHUNK_BITS,
    TransposedAccess,
    read_accesses,
    transposed_access,
    transposes_operands,
)

SEED = int(os.environ["TRITONX_SEED"])


def read(access: TransposedAccess, memory: np.ndarray, held: np.ndarray, bits: int) -> None:
    """Each lane passes the address of a chunk of a row of 16; it gets one element of each row."""
    elements = CHUNK_BITS // bits
    lane, warp = (np.array(all_xors(access.lanes.columns(dim))) for dim in (LANE, WARP))
    for one in access.accesses:
        start = (warp[:, None] ^ lane[None, :]) ^ one.offset
        assert not (start % elements).any(), "an address is not aligned"
        chunks = memory[start[..., None] + np.arange(elements)]
        rows = chunks.reshape(len(warp), -1, elements, 16)
        held[..., list(one.registers)] = rows.swapaxes(2, 3).reshape(len(warp), -1, elements)


@pytest.mark.parametrize("bits", [4, 8, 16])
def test_reads_what_the_lanes_hold(bits: int) -> None:
    random = Random(f"{SEED} transposed {bits}")
    fit = 0
    for _ in range(60):
        side, width = random.choice((16, 32)), random.choice((4, 8, 16))
        warps = random.choice(((1, 1), (2, 2), (4, 1), (1, 4)))
        unit = AmdMfmaEncoding(4, warps, (side, side, 512 // side * 2), True)
        index, shape = random.choice((0, 1)), (random.choice((64, 128)), random.choice((64, 128)))
        operand = DotOperandEncoding(index, unit, width)
        fast = random.choice((0, 1))
        vec, phases = random.choice((64 // bits, 128 // bits)), random.choice((1, 2, 4))
        memory = SwizzledSharedEncoding(vec, random.choice((1, 2)), phases, (fast, 1 - fast))
        registers = linear_layout(operand, shape)
        places = placement(registers, linear_layout(memory, shape))
        access = transposed_access(places, bits)
        what = f"seed {SEED}: {operand}, {memory}, {shape}"
        assert transposes_operands(operand)
        if access is None:
            continue
        fit += 1
        assert read_accesses(places, bits, operand) is access, what
        assert fast == index, what  # not along K
        values = np.random.default_rng(random.randrange(1 << 30)).integers(0, 1 << 30, shape[0] * shape[1])
        stored = np.empty_like(values)
        held = simulate.distribute(values, registers)
        offsets = [
            places.apply(register=r, lane=x, warp=w)[0]
            for w in range(held.shape[0])
            for x in range(held.shape[1])
            for r in range(held.shape[2])
        ]
        stored[offsets] = held.reshape(-1)
        found = np.full_like(held, -1)
        read(access, stored, found, bits)
        np.testing.assert_array_equal(found[..., list(access.repeats)], held, err_msg=what)
    assert fit > 5


def test_rows_along_k_are_read_as_they_are() -> None:
    operand = DotOperandEncoding(0, AmdMfmaEncoding(4, (1, 1), (32, 32, 16), True), 8)
    places = placement(
        linear_layout(operand, (64, 64)), linear_layout(SwizzledSharedEncoding(8, 1, 8, (1, 0)), (64, 64))
    )
    assert transposed_access(places, 16) is None
