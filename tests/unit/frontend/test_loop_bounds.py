"""Loops over ranges of every integer type around the edges of the types: as Python's ``range`` of the same numbers."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tritonx
import tritonx.language as tl
from tritonx.frontend.semantics.promotion import promote_integers
from tritonx.interpreter.function import interpreted
from tritonx_testing.emulators.ptx.backend import active, emulated

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
STEPS = (None, 1, 3, 64, -1, -5)
"""None: a step that the kernel reads."""
MOST = 40
"""Rounds of a loop."""
IDLE = 77


@tritonx.jit
def rounds(start_ptr, stop_ptr, step_ptr, o_ptr, STEP: tl.constexpr, LEFT: tl.constexpr):
    start, stop = tl.load(start_ptr), tl.load(stop_ptr)
    count, total, first = 0, tl.full((), 0, tl.int64), tl.full((), 77, tl.int64)
    for i in range(start, stop, tl.load(step_ptr) if STEP is None else STEP):
        if count == 0:
            first = i.to(tl.int64)
        count += 1
        total += i.to(tl.int64) * count
        if LEFT:
            if count == 1000:
                break
    tl.store(o_ptr, count.to(tl.int64))
    tl.store(o_ptr + 1, total)
    tl.store(o_ptr + 2, first)


def run(kernel: Any, types: tuple[str, str, str], bounds: tuple[int, int, int], step: int | None, left: bool) -> Any:
    values = (*bounds[:2], bounds[2] if step is None else 1)
    arrays = [np.array([value], type_) for value, type_ in zip(values, types, strict=True)]
    o = np.zeros(3, np.int64)
    kernel[(1,)](*arrays, o, step, left)
    return o.tolist()


def held(value: int, type_: tl.dtype) -> int:
    """The number in the integer type, then in an int64."""
    signed = value % 2**type_.int_bitwidth
    if type_.is_int_signed() or type_.int_bitwidth == 64:
        signed -= (signed >> type_.int_bitwidth - 1) << type_.int_bitwidth
    return signed


def type_of_loop(types: tuple[str, str, str], step: int | None) -> tl.dtype:
    start, stop, read = (getattr(tl, name) for name in types)
    return promote_integers(promote_integers(start, stop), read if step is None else tl.int32)


def expected(types: tuple[str, str, str], bounds: tuple[int, int, int], step: int | None) -> list[int]:
    type_ = type_of_loop(types, step)
    counted = [held(i, type_) for i in range(bounds[0], bounds[1], bounds[2])]
    total = sum(i * n for n, i in enumerate(counted, 1))
    return [len(counted), held(total, tl.int64), counted[0] if counted else IDLE]


@st.composite
def loops(draw: st.DrawFn) -> tuple[tuple[str, str, str], tuple[int, int, int], int | None]:
    types = draw(st.tuples(*[st.sampled_from(DTYPES)] * 3))
    step = draw(st.sampled_from(STEPS))
    limits = [np.iinfo(type_) for type_ in types]
    by = step or draw(st.integers(1, 100))
    edge = draw(st.sampled_from([0, *(int(bound) for each in limits[:2] for bound in (each.min, each.max))]))
    first, second = (edge + draw(st.integers(-10, 10)) for _ in range(2))
    start, stop = (
        min(max(int(limit.min), value), int(limit.max))
        for limit, value in zip(limits, (first, second + draw(st.integers(-1, 5)) * by), strict=False)
    )
    assume(-((start - stop) // by) <= MOST)  # `len` of a range takes no number of 64 bits
    type_ = type_of_loop(types, step)
    if type_.is_int_signed():  # a signed counter must have room for the sum that ends the loop
        assume(max(start, stop) + abs(by) < 2 ** (type_.int_bitwidth - 1))
    return types, (start, stop, by), step


def check(kernel: Any, loop: Any, left: bool) -> None:
    types, bounds, step = loop
    assert run(kernel, types, bounds, step, left) == expected(types, bounds, step)


@settings(max_examples=25, deadline=None)
@given(loops(), st.booleans())
def test_compiled_loops(loop: Any, left: bool) -> None:
    check(rounds, loop, left)


@settings(max_examples=80, deadline=None)
@given(loops())
def test_interpreted_loops(loop: Any) -> None:
    check(interpreted(rounds), loop, False)


@settings(max_examples=3, deadline=None)
@given(loops(), st.booleans())
def test_loops_on_the_emulator(loop: Any, left: bool) -> None:
    with active(emulated("90")):
        check(rounds, loop, left)


EDGES = [
    (("uint32", "uint32", "int32"), (2**31 - 2, 2**31 + 2, 1), 1),
    (("uint32", "uint32", "int32"), (2**32 - 5, 2**32 - 1, 3), 3),
    (("uint32", "uint32", "uint32"), (2**32 - 5, 2**32 - 1, 3), None),
    (("uint64", "uint64", "int32"), (2**63 - 2, 2**63 + 2, 1), 1),
    (("uint64", "uint64", "int32"), (2**64 - 2, 2**64 - 1, 64), 64),
    (("uint8", "uint8", "uint8"), (126, 255, 64), None),
    (("uint16", "uint16", "uint16"), (2**15 - 1, 2**15 + 9, 4), None),
    (("uint32", "int8", "int32"), (3, -1, -1), -1),
    (("int32", "uint32", "int32"), (-3, 2, 1), 1),
    (("uint32", "uint32", "int32"), (2**32 - 1, 2**32 - 5, -1), -1),
]


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("loop", EDGES, ids=str)
def test_edges(loop: Any, left: bool) -> None:
    check(rounds, loop, left)


@tritonx.jit
def down_to_zero(n_ptr, o_ptr):
    n, total = tl.load(n_ptr), 0
    for i in range(n, -1, -1):
        total = total * 10 + i.to(tl.int32)
    tl.store(o_ptr, total)


def test_an_unsigned_loop_down_to_minus_one() -> None:
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        for kernel in (down_to_zero, interpreted(down_to_zero)):
            o = np.zeros(1, np.int32)
            kernel[(1,)](np.array([3], dtype), o)
            assert o[0] == 3210


@tritonx.jit
def block_sums(x_ptr, n_ptr, o_ptr, B: tl.constexpr, FACTOR: tl.constexpr):
    n = tl.load(n_ptr)
    i, total = tl.arange(0, B), tl.zeros((B,), tl.float32)
    for begin in tl.range(n - 100, n, B, loop_unroll_factor=FACTOR):
        at = begin - (n - 100) + i
        total += tl.load(x_ptr + at, mask=at < 100, other=0.0)
    tl.store(o_ptr, tl.sum(total))


@pytest.mark.parametrize("factor", [1, 2, 3])
@pytest.mark.parametrize("emulator", [False, True])
def test_unrolled_loops(emulator: bool, factor: int) -> None:
    x = np.arange(100, dtype=np.float32)
    for n in (100, 2**31 + 50, 2**32 - 1):
        o = np.zeros(1, np.float32)
        with active(emulated("90")) if emulator else nullcontext():
            block_sums[(1,)](x, np.array([n], np.uint32), o, 16, factor)
        assert math.isclose(o[0], x.sum())
