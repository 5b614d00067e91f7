"""Loops of drawn kernels, run by drawn schedules, do what they did, whatever the trip count."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tritonx
import tritonx.language as tl
from tests.unit.transforms.pipelining.schedules import draw_schedules
from tritonx.dialects import scf
from tritonx.interpreter.ir_launch import launch
from tritonx.ir.pipeline import pass_context
from tritonx.ir.properties import stated_number
from tritonx.ir.verify import verify
from tritonx.transforms.pipelining.expand_pipeline import ExpandPipeline
from tritonx.transforms.pipelining.iterations import iterations_if_any
from tritonx.transforms.pipelining.loop_schedule import LAST_STAGE
from tritonx.transforms.tile.pipeline import TILE_PIPELINE

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = 4 * int(os.environ.get("TRITONX_RANDOM_KERNELS", "10"))


@tritonx.jit
def sums(x, o, first, last, step, N: tl.constexpr, KIND: tl.constexpr):
    """Loads ahead, a value of two rounds before, an index that is loaded, a counter of its own, a branch."""
    i = tl.arange(0, N)
    total, before, older, place = tl.zeros((N,), tl.int32), i, i * 3, first
    for k in tl.range(first, last, step):
        a = tl.load(x + (k & 7) * N + i)
        if KIND == 1:
            a = tl.load(x + (a & 63) + i)
        if KIND == 2:
            a += (k * 1000) // (last - k)
        total += a * (place + 1) - older + before // (place + 5)
        older = before
        before = a ^ k
        place = place * 5 % 101
        if KIND == 3:
            if k % 3 == 1:
                total += tl.load(x + k + i, mask=i > 2, other=7)
    tl.store(o + i, total)
    tl.store(o + N + i, older)
    tl.store(o + 2 * N + i, before + place)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_drawn_schedules_keep_what_a_loop_does(draw: int) -> None:
    seed = SEED + draw
    random = Random(seed)
    n, trips, step, first = 16, random.choice((0, 1, 2, 3, 4, 5, 9)), random.choice((1, 1, 3)), random.randrange(-3, 4)
    last = first + max(0, (trips - 1) * step + random.randrange(1, step + 1)) if trips else first - random.randrange(3)
    constants = {"N": n, "KIND": random.randrange(4)}
    if constants["KIND"] == 3:
        first, last = abs(first), abs(first) + abs(last - first)
    x = np.random.default_rng(seed).integers(-99, 99, 10 * n + 64).astype(np.int32)
    what = f"seed {seed}, {first}, {last}, {step}, {constants}"
    pipelined = True

    def transform(module: ModuleOp) -> None:
        nonlocal pipelined
        for one in TILE_PIPELINE:
            one.apply(pass_context(), module)
        loops = any(isinstance(op, scf.ForOp) for op in module.walk())
        pipelined = draw_schedules(module, random) > 0 or not loops
        ExpandPipeline().apply(pass_context(), module)
        verify(module)
        assert not any("loop.stage" in op.attributes for op in module.walk()), what

    expected, got = (np.full(3 * n, 12345, np.int32) for _ in range(2))
    launch(sums, 1, x, expected, first, last, step, **constants)
    launch(sums, 1, x, got, first, last, step, transform=transform, **constants)
    assert pipelined, what
    np.testing.assert_array_equal(got, expected, err_msg=what)


@tritonx.jit
def few(x, o, first, LENGTH: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr):
    """The bounds differ by a number; the last overflows where the first one is large."""
    i = tl.arange(0, N)
    total, before, place = tl.zeros((N,), tl.int32), i, first
    for k in tl.range(first, first + LENGTH, STEP):
        a = tl.load(x + (k & 7) * N + i)
        if KIND == 1:
            a = tl.load(x + (a & 63) + i)
        total += a * (place + 1) - before
        before = a ^ k
        place = place * 5 % 101
    tl.store(o + i, total)
    tl.store(o + N + i, before + place)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_loops_of_few_iterations_are_written_out(draw: int) -> None:
    seed = SEED + draw
    random = Random(seed)
    n, trips, step = 16, random.choice((1, 1, 2, 2, 3, 4)), random.choice((1, 3, 64))
    length = (trips - 1) * step + random.randrange(1, step + 1)
    first = random.choice((random.randrange(-5, 99), (1 << 31) - random.randrange(1, 2 * length + 1)))
    constants = {"LENGTH": length, "STEP": step, "N": n, "KIND": random.randrange(2)}
    x = np.random.default_rng(seed).integers(-99, 99, 10 * n + 64).astype(np.int32)
    what = f"seed {seed}, {first}, {constants}"

    def transform(module: ModuleOp) -> None:
        for one in TILE_PIPELINE:
            one.apply(pass_context(), module)
        loops = [op for op in module.walk() if isinstance(op, scf.ForOp)]
        assert [iterations_if_any(loop) for loop in loops] == [trips] * len(loops), what
        assert len(loops) == (trips > 1) or trips == 1, what
        drawn = draw_schedules(module, random)
        stages = [stated_number(loop.attributes, LAST_STAGE) for loop in loops]
        ExpandPipeline(short=True).apply(pass_context(), module)
        verify(module)
        left = sum(isinstance(op, scf.ForOp) for op in module.walk())
        assert left == sum(last is None or trips > last for last in stages), (what, drawn)

    expected, got = (np.full(2 * n, 12345, np.int32) for _ in range(2))
    launch(few, 1, x, expected, first, **constants)
    launch(few, 1, x, got, first, transform=transform, **constants)
    np.testing.assert_array_equal(got, expected, err_msg=what)
