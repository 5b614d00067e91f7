"""Ops that exchange data through scratch memory: who touches which of its bytes, held against the layouts; and
programs of a few lines with and without a mistake."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.unit.interpreter.asynchronous.test_reports import found, without
from tritonx.interpreter.asynchronous import Kind
from tritonx.interpreter.asynchronous.meanings.scratch import _of_copies
from tritonx.interpreter.asynchronous.shared import Mode
from tritonx.layouts import LinearLayout, linear_layout
from tritonx.layouts.dims import LANE, REGISTER, WARP
from tritonx.layouts.encodings import BlockedEncoding

SEED = int(os.environ["TRITONX_SEED"])


def drawn(random: Random) -> LinearLayout:
    """Often with copies of elements in registers, lanes and warps."""

    def split(bits: int) -> tuple[int, int]:
        first = random.randint(0, bits)
        return 1 << first, 1 << bits - first

    shape = random.choice([1, 2, 4, 8, 16, 32, 64]), random.choice([1, 2, 4, 8, 16, 32, 64])
    encoding = BlockedEncoding(split(random.randint(0, 3)), split(5), split(2), random.choice([(0, 1), (1, 0)]))
    return linear_layout(encoding, shape)


def elements(layout: LinearLayout, warp: int) -> frozenset[tuple[int, ...]]:
    return frozenset(
        tuple(layout.apply(register=r, lane=lane, warp=warp))
        for r in range(layout.in_size(REGISTER))
        for lane in range(layout.in_size(LANE))
    )


@pytest.mark.parametrize("draw", range(25))
def test_each_element_has_one_place(draw: int) -> None:
    """What is written is an element's bytes each, by the one warp of those that have it; and every warp reads its
    own."""
    random = Random(SEED * 100 + draw)
    layout, size = drawn(random), random.choice([1, 2, 4, 8])
    what = f"{SEED * 100 + draw}: {layout}"
    (write, written, waits_alone), (read, seen, last) = _of_copies(layout, size)
    assert (write, waits_alone, read, last) == (Mode.WRITE, False, Mode.READ, True)
    own = [elements(layout, warp) for warp in range(layout.in_size(WARP))]
    every = frozenset().union(*own)
    total = 0
    for warp, taken in enumerate(written):
        assert not total & taken, what
        total |= taken
        assert taken in (0, seen[warp]), what
    assert total == (1 << len(every) * size) - 1, what
    for warp, taken in enumerate(seen):
        assert taken.bit_count() == len(own[warp]) * size, what
        for other, theirs in enumerate(seen):
            assert (taken & theirs).bit_count() == len(own[warp] & own[other]) * size, what


ATOMIC = """
    %i = arith.constant dense<0> : tensor<16x16xi32, #rows>
    %v = arith.constant dense<1.0> : tensor<16x16xf16, #rows>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #rows>
    %q = tt.addptr %p, %i : tensor<16x16x!tt.ptr<f16>, #rows>, tensor<16x16xi32, #rows>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %q, %v {allocation.offset = 0 : i32} : (tensor<16x16x!tt.ptr<f16>, #rows>, tensor<16x16xf16, #rows>) -> tensor<16x16xf16, #rows>
    ttg.local_barrier
    %t = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    %a = ttg.convert_layout %t {allocation.offset = BESIDE : i32} : tensor<16x16xf32, #rows> -> tensor<16x16xf32, #columns>
"""  # noqa: E501

SCALAR = """
    %one = arith.constant 1.0 : f16
    %old = tt.atomic_rmw fadd, relaxed, gpu, %x, %one {allocation.offset = 0 : i32} : (!tt.ptr<f16>, f16) -> f16
    ttg.local_barrier
    %t = arith.constant dense<1.0> : tensor<16x16xf32, #rows>
    %a = ttg.convert_layout %t {allocation.offset = BESIDE : i32} : tensor<16x16xf32, #rows> -> tensor<16x16xf32, #columns>
"""  # noqa: E501


@pytest.mark.parametrize(("text", "size"), [(ATOMIC, 512), (SCALAR, 16)], ids=["tensor", "scalar"])
def test_old_values(text: str, size: int) -> None:
    """A result that several threads have goes through scratch memory, which the next op may take behind a barrier."""
    assert found(text.replace("BESIDE", "0"), 4096) == set()
    assert found(without(text, "local_barrier").replace("BESIDE", "0"), 4096) == {Kind.OVERWRITE}
    assert found(without(text, "local_barrier").replace("BESIDE", str(size)), 4096) == set()
