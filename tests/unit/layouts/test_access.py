"""Index arithmetic, vector accesses and matrix loads, executed and compared with the layouts themselves."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from tritonx.layouts import (
    LinearLayout,
    access_vectors,
    axis_bits,
    contiguous_elements,
    index_plan,
    linear_layout,
    matrix_access,
    matrix_descriptor,
    memory_width,
    placement,
    redundancy,
    register_indices,
    shared_access,
    simulate,
)
from tritonx.layouts.encodings import (
    BlockedEncoding,
    DotOperandEncoding,
    NvidiaMmaEncoding,
    NvmmaSharedEncoding,
    SliceEncoding,
    SwizzledSharedEncoding,
)
from tritonx.layouts.index_math import evaluate
from tritonx.layouts.samples import random_distributed, random_shared

SEED = int(os.environ["TRITONX_SEED"])
ROWS = BlockedEncoding((1, 8), (4, 8), (4, 1), (1, 0))


@pytest.mark.parametrize("number", range(3))
def test_index_plans(number):
    rng = random.Random(SEED + number)
    for _ in range(60):
        encoding, shape = random_distributed(rng)
        layout = linear_layout(encoding, shape)
        for dim in layout.out_dims:
            plan, constants = index_plan(layout, dim), register_indices(layout, dim)
            for _ in range(10):
                place = {name: rng.randrange(layout.in_size(name)) for name in layout.in_dims}
                thread = evaluate(plan, place)
                constant = constants.values[place["register"]]
                assert thread & ~plan.reach == 0
                expected = dict(zip(layout.out_dims, layout.apply(**place), strict=True))[dim]
                assert (thread + constant if constants.additive else thread ^ constant) == expected


def test_blocked_index_is_few_terms():
    layout = linear_layout(ROWS, (128, 64))
    assert len(index_plan(layout, "dim0").terms) == 2 and len(index_plan(layout, "dim1").terms) == 1
    assert index_plan(layout, "dim0").disjoint and register_indices(layout, "dim0").additive


@pytest.mark.parametrize("number", range(3))
def test_shared_accesses(number):
    rng = random.Random(SEED + number)
    done = 0
    while done < 40:
        memory_encoding, shape, _ = random_shared(rng)
        size = int(np.prod(shape))
        if size > 4096 or getattr(memory_encoding, "cga", ()):
            continue
        rank = len(shape)
        ones = (1,) * (rank - 1)
        encoding = BlockedEncoding((*ones, 4), (*ones, 32), (2, *ones), tuple(range(rank)))
        registers, memory = linear_layout(encoding, shape), linear_layout(memory_encoding, shape)
        values = np.arange(size)
        held = simulate.distribute(values, registers)
        access = shared_access(placement(registers, memory), rng.choice([8, 16, 32]))
        stored = np.full(memory.in_size("offset"), -1)
        simulate.store(access, held, stored)
        for offset in range(0, memory.in_size("offset"), 7):
            if memory.is_injective:
                assert stored[offset] == memory.apply_packed({"offset": offset})
        loaded = np.full_like(held, -1)
        simulate.load(access, stored, loaded)
        np.testing.assert_array_equal(loaded[:, :, list(access.repeats)], held)
        done += 1


@pytest.mark.parametrize("op_idx", [0, 1])
@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_matrix_loads(op_idx, order, bits):
    mma = NvidiaMmaEncoding(2, 0, (2, 2), (16, 8))
    shape = (64, 64)
    operand = linear_layout(DotOperandEncoding(op_idx, mma, 32 // bits), shape)
    memory = linear_layout(SwizzledSharedEncoding(128 // bits, 1, 8, order), shape)
    places = placement(operand, memory)
    k_contiguous = order[0] == (1 if op_idx == 0 else 0)
    access = matrix_access(places, bits, transposed=not k_contiguous)
    if not k_contiguous and bits != 16:
        assert access is None
        return
    assert access is not None and access.matrices == 4
    assert matrix_access(places, bits, transposed=k_contiguous) is None
    held = simulate.distribute(np.arange(64 * 64), operand)
    stored = np.empty(64 * 64, dtype=np.int64)
    simulate.store(shared_access(places, bits), held, stored)
    loaded = np.full_like(held, -1)
    simulate.load_matrices(access, stored, loaded, bits)
    np.testing.assert_array_equal(loaded[:, :, list(access.repeats)], held)


def test_wgmma_accumulator_stores_as_matrices():
    layout = linear_layout(NvidiaMmaEncoding(3, 0, (4, 1), (16, 64, 16)), (64, 64))
    memory = linear_layout(NvmmaSharedEncoding(128, False, 16), (64, 64))
    places = placement(layout, memory)
    assert places.columns("register") == (1, 512, 8, 16, 32)
    assert places.columns("lane") == (2, 4, 72, 144, 288)
    access = matrix_access(places, 16, transposed=False)
    assert access is not None and access.matrices == 4


@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_descriptors_k_major(swizzle, bits):
    k = swizzle * 8 // bits
    memory = linear_layout(NvmmaSharedEncoding(swizzle, False, bits), (128, k))
    found = matrix_descriptor(memory, "dim0", "dim1", 64, bits)
    assert found is not None
    assert (found.swizzle, found.k_major, found.stride) == (swizzle, True, 8 * swizzle)


def test_descriptor_rows_contiguous():
    memory = linear_layout(NvmmaSharedEncoding(128, False, 16), (64, 256))
    found = matrix_descriptor(memory, "dim1", "dim0", 128, 16)
    assert found is not None
    # The next 64 columns are a whole 64x64 box further; eight rows of K are 1024 bytes.
    assert (found.k_major, found.leading, found.stride) == (False, 64 * 64 * 2, 1024)


def test_descriptor_refuses_other_swizzles():
    memory = linear_layout(SwizzledSharedEncoding(4, 1, 4, (1, 0)), (64, 64))
    assert matrix_descriptor(memory, "dim0", "dim1", 64, 16) is None


def test_memory_width():
    layout = linear_layout(ROWS, (128, 64))
    assert contiguous_elements(layout) == (1, 8)
    assert memory_width(layout, 16, (1, 64), (16, 16)) == (1, 8)
    assert memory_width(layout, 32, (1, 64), (16, 16)) == (1, 4)
    assert memory_width(layout, 16, (1, 64), (2, 8)) == (1, 4)
    assert memory_width(layout, 16, (1, 64), (16, 16), (1, 2)) == (1, 2)
    vectors = access_vectors(layout, 1, 4)
    assert vectors.groups[0] == (0, 1, 2, 3) and vectors.groups[1] == (4, 5, 6, 7)


def test_access_vectors_skip_copies():
    layout = linear_layout(BlockedEncoding((4,), (32,), (1,), (0,)), (64,))
    # 32 lanes of 4 are 128 places for 64 elements: lanes 16..31 hold copies, registers do not.
    vectors = access_vectors(layout, 0, 4)
    assert vectors.groups == ((0, 1, 2, 3),) and redundancy(layout).lanes == 16
    small = linear_layout(BlockedEncoding((4,), (32,), (1,), (0,)), (2,))
    assert access_vectors(small, 0, 4).groups == ((0, 1),)
    assert access_vectors(small, 0, 4).repeats == (0, 1, 0, 1)


@pytest.mark.parametrize("number", range(2))
def test_access_vectors_cover_every_element_once(number):
    rng = random.Random(SEED + number)
    for _ in range(60):
        encoding, shape = random_distributed(rng)
        layout = linear_layout(encoding, shape)
        dim = rng.randrange(len(shape))
        vectors = access_vectors(layout, dim, 8)
        seen = set()
        for group in vectors.groups:
            first = layout.apply(register=group[0])
            for i, register in enumerate(group):
                expected = tuple(x + i if d == dim else x for d, x in enumerate(first))
                assert layout.apply(register=register) == expected
                seen.add(expected)
        everything = {layout.apply(register=r) for r in range(layout.in_size("register"))}
        assert seen == everything and len(everything) == sum(map(len, vectors.groups))
        for register, same in enumerate(vectors.repeats):
            assert layout.apply(register=register) == layout.apply(register=same)


def test_axis_bits():
    layout = linear_layout(ROWS, (128, 64))
    along = axis_bits(layout, 1)
    assert along is not None
    assert along.registers == ((0, 1), (1, 2), (2, 4)) and along.lanes == ((0, 8), (1, 16), (2, 32)) and not along.warps
    assert axis_bits(LinearLayout([("register", [3])], [("dim0", 1), ("dim1", 1)]), 0) is None
    rows = linear_layout(SliceEncoding(1, ROWS), (128,))
    assert redundancy(rows).lanes == 0b111
