"""Ops that exchange data through scratch memory: who touches which of its bytes, held against the layouts; and
programs of a few lines with and without a mistake."""

from __future__ import annotations

import os
from functools import reduce
from operator import or_
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.interpreter.asynchronous.test_reports import found, module_of, without
from tritonx.analysis.scratch import bits_along, exchange_bytes
from tritonx.dialects.tile import HistogramOp
from tritonx.interpreter.asynchronous import Kind
from tritonx.interpreter.asynchronous.meanings.scratch import _of_copies, _of_histogram, partial_phases
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


@pytest.mark.parametrize("draw", range(25))
def test_each_part_of_a_line_has_one_place(draw: int) -> None:
    """What warps exchange of a reduction or a scan: each writes places of its own, all of which are the scratch memory
    that is asked for, and reads those of the warps that differ from it along the axis alone."""
    random = Random(SEED * 100 + draw)
    layout, axis = drawn(random), random.randrange(2)
    bits, values = bits_along(layout, axis), random.choice([1, 2, 4])
    sizes = tuple(random.choice([1, 2, 4, 8]) for _ in range(random.choice([1, 1, 2, 3])))
    what = f"{SEED * 100 + draw}: {layout}, axis {axis}, {values} values of {sizes}"
    (write, written, waits_alone), (read, seen, last) = partial_phases(layout, axis, values, sizes)
    assert (write, waits_alone, read, last) == (Mode.WRITE, False, Mode.READ, True)
    beside = 1 << layout.in_bits(LANE) - bits.lane_mask.bit_count()
    total = 0
    for warp, taken in enumerate(written):
        assert taken.bit_count() == beside * values * sum(sizes), what
        assert not total & taken, what
        total |= taken
        line = [taken for other, taken in enumerate(written) if not (warp ^ other) & ~bits.warp_mask]
        assert seen[warp] == reduce(or_, line), what
    slots = beside * values << layout.in_bits(WARP)
    assert total == sum(
        (1 << slots * size) - 1 << start for size, start in zip(sizes, starts(slots, sizes), strict=True)
    ), what
    if bits.warps:
        assert exchange_bytes(layout, bits, values, sizes) == starts(slots, (*sizes, 0))[-1], what


def starts(slots: int, sizes: tuple[int, ...]) -> list[int]:
    """Where the places of each operand begin: at multiples of 16 bytes."""
    return [sum((slots * size + 15) // 16 * 16 for size in sizes[:number]) for number in range(len(sizes))]


@pytest.mark.parametrize("bins", [2, 64, 256, 1024])
def test_bins_are_cleared_by_one_warp_each(bins: int) -> None:
    """In turns of a bin a thread; then any warp may count in any of them, and read it."""
    row = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    body = f"""
    %v = arith.constant dense<1> : tensor<256xi32, {row}>
    %h = tt.histogram %v : tensor<256xi32, {row}> -> tensor<{bins}xi32, {row}>
"""
    op = next(op for op in module_of(body).walk() if isinstance(op, HistogramOp))
    group: Any = SimpleNamespace(group=SimpleNamespace(warps=4), machine=SimpleNamespace(warp_size=32))
    cleared, counted, seen = _of_histogram(op, group)
    everything = (1 << 4 * bins) - 1
    for warp, taken in enumerate(cleared[1]):
        own = sum(15 << 4 * bin for bin in range(bins) if bin // 32 % 4 == warp)
        assert taken == own
    assert counted[1] == seen[1] == (everything,) * 4
    assert [mode for mode, _, _ in (cleared, counted, seen)] == [Mode.WRITE, Mode.ATOMIC, Mode.READ]
    assert [alone for _, _, alone in (cleared, counted, seen)] == [False, False, True]


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
