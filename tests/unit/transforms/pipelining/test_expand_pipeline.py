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
from tritonx.ir.verify import verify
from tritonx.transforms.pipelining.expand_pipeline import ExpandPipeline
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
