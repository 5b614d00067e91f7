"""Arrangements for matrix instructions, executed, deliver every element; what they are for is conflict-free."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from tests.unit.layouts.test_convert import random_pair
from tritonx.layouts import LinearLayout, matrix_transfers, placement, shared_access, simulate
from tritonx.layouts.convert import conversion_layout, matrix_conversion_layout
from tritonx.layouts.encodings import BlockedEncoding, NvidiaMmaEncoding
from tritonx.layouts.lookup import linear_layout
from tritonx.layouts.matrix_access import MatrixAccess
from tritonx.layouts.matrix_conversion import row_wavefronts

SEED = int(os.environ["TRITONX_SEED"])
ROWS = BlockedEncoding((1, 8), (4, 8), (4, 1), (1, 0))
COLUMNS = BlockedEncoding((8, 1), (8, 4), (1, 4), (0, 1))
MMA = NvidiaMmaEncoding(2, 0, (2, 2), (16, 8))


def converted(source, target, bits, loads, stores):
    """Run the conversion as the emitter writes it; the matrix transfers used, (stores, loads). None without a gain."""
    target = target.order_outs(source.out_dims)
    memory = matrix_conversion_layout(source, target, bits, loads=loads, stores=stores)
    if memory is None:
        return None
    values = np.arange(1 << source.total_out_bits)
    held, scratch = simulate.distribute(values, source), np.full(memory.in_size("offset"), -1)
    expected = simulate.distribute(values, target)
    result = np.full_like(expected, -1)
    written = matrix_transfers(placement(source, memory), bits) if stores and bits <= 16 else None
    if written is not None:
        simulate.store_matrices(written, held, scratch, bits)
    else:
        simulate.store(shared_access(placement(source, memory), bits), held, scratch)
    read = matrix_transfers(placement(target, memory), bits) if loads else None
    if read is not None:
        simulate.load_matrices(read, scratch, result, bits)
        repeats = read.repeats
    else:
        access = shared_access(placement(target, memory), bits)
        simulate.load(access, scratch, result)
        repeats = access.repeats
    np.testing.assert_array_equal(result[:, :, list(repeats)], expected)
    assert written is not None or read is not None
    return written, read, memory


@pytest.mark.parametrize("number", range(8))
def test_random_conversions(number):
    rng = random.Random(SEED + number)
    done = 0
    for _ in range(300):
        source, target = random_pair(rng)
        loads, stores = rng.choice([(True, False), (True, True), (False, True)])
        done += converted(source, target, rng.choice([8, 16, 16, 32]), loads, stores) is not None
    assert done > 3


@pytest.mark.parametrize("shape", [(64, 64), (128, 64), (64, 128), (128, 128)])
def test_a_transposition_moves_rows_on_both_sides(shape):
    source, target = linear_layout(ROWS, shape), linear_layout(COLUMNS, shape)
    for loads, stores in ((True, False), (False, True)):
        done = converted(source, target, 16, loads, stores)
        assert done is not None
        written, read, memory = done
        matrices, plain = (read, source) if loads else (written, target)
        assert matrices.transposed and matrices.matrices == 4 and row_wavefronts(matrices, 16) == 1
        access = shared_access(placement(plain, memory), 16)
        assert access.vec == 8 and access.wavefronts == 4


def test_an_accumulator_leaves_in_rows():
    source, target = linear_layout(MMA, (64, 64)), linear_layout(ROWS, (64, 64))
    done = converted(source, target, 16, True, True)
    assert done is not None and done[0] is not None and not done[0].transposed
    assert row_wavefronts(done[0], 16) == 1
    assert shared_access(placement(target, done[2]), 16).vec == 8


def brought(target, memory, bits):
    """The registers that each access of the reading side brings, in its order."""
    places = placement(target, memory)
    matrices = matrix_transfers(places, bits)
    if matrices is None:
        return [list(one.registers) for one in shared_access(places, bits).accesses]
    assert row_wavefronts(matrices, bits) == 1
    return [[r for matrix in one.matrices for r in matrix] for one in matrices.transfers]


ACCUMULATORS = [
    ((m, n), warps)
    for m in (64, 128)
    for n in (64, 128, 256)
    for warps in ((4, 1), (8, 1), (4, 2))
    if 16 * warps[0] <= m
]


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize(("shape", "warps"), ACCUMULATORS)
def test_an_accumulator_of_a_warp_group_leaves_in_rows(shape, warps, bits):
    """Without a bank conflict, 16 bytes at a time, as few cycles as the bytes take; and of 16 bits what is read is
    what a store of 16 bytes takes, register by register."""
    count, lanes = warps[0] * warps[1], min(32, shape[1] * bits // 128)
    rows = BlockedEncoding((1, 128 // bits), (32 // lanes, lanes), (count, 1), (1, 0))
    mma = NvidiaMmaEncoding(3, 0, warps, (16, shape[1] // warps[1], 16))
    source, target = linear_layout(mma, shape), linear_layout(rows, shape)
    done = converted(source, target, bits, True, True)
    memory = conversion_layout(source, target, bits) if done is None else done[2]
    least = shape[0] * shape[1] * bits // 8 // count // 128
    for layout in (source, target):
        places = placement(layout, memory)
        matrices, plain = matrix_transfers(places, bits), shared_access(places, bits)
        if matrices is not None:
            assert len(matrices.transfers) * matrices.matrices * row_wavefronts(matrices, bits) == least
        else:
            assert plain.vec * bits == 128 and len(plain.accesses) * plain.wavefronts == least
    if bits == 16:
        assert all(run == list(range(run[0], run[0] + 8)) and run[0] % 8 == 0 for run in brought(target, memory, bits))


def test_no_gain_no_arrangement():
    rows, columns = linear_layout(ROWS, (64, 64)), linear_layout(COLUMNS, (64, 64))
    assert matrix_conversion_layout(rows, columns, 64, loads=True, stores=True) is None
    assert matrix_conversion_layout(rows, columns, 32, loads=True, stores=True) is None
    wide = LinearLayout([("register", [1]), ("lane", [2, 4, 8, 16, 32, 64]), ("warp", [])], [("dim0", 7)])
    narrow = LinearLayout([("register", [64]), ("lane", [32, 16, 8, 4, 2, 1]), ("warp", [])], [("dim0", 7)])
    assert matrix_conversion_layout(wide, narrow, 16, loads=True, stores=True) is None


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_the_cycles_of_a_matrix_are_the_rows_in_one_group_of_banks(bits):
    """Counted for the eight rows that the first lanes pass: 32 banks of 4 bytes hold eight of 16 bytes at a time."""
    rng = random.Random(SEED)
    seen = set()
    for _ in range(200):
        steps = tuple(rng.randrange(64) * 128 // bits for _ in range(5))
        rows = LinearLayout([("lane", steps), ("warp", [])], [("offset", 10)])
        access = MatrixAccess(False, (), rows, False, ())
        touched: dict[int, set[int]] = {}
        for lane in range(8):
            row = rows.apply(lane=lane, warp=0)[0] * bits // 128
            touched.setdefault(row % 8, set()).add(row)
        cycles = max(map(len, touched.values()))
        assert row_wavefronts(access, bits) == cycles
        seen.add(cycles)
    assert seen == {1, 2, 4, 8} or seen == {1, 2, 4}
