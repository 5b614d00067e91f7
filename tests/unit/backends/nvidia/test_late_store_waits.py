"""Stores of the copy engine that are waited for late, and those that something in the loop relies on: executed by the
machine, for which what is not waited for is not written."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])
B = 32
"""Rows and columns of a block."""


@tritonx.jit
def stored(x, y, pointer, flags, n, KIND: tl.constexpr, B: tl.constexpr):
    """Blocks of `x` to `y`; `pointer` is of the array that `made` kinds describe themselves."""
    rows = tl.arange(0, B)
    if KIND == "made" or KIND == "made, read":
        y = tl.make_tensor_descriptor(pointer, [8 * B, B], [B, 1], [B, B])
    for i in range(n):
        block = x.load([i * B, 0])
        if KIND == "made in the loop":
            y = tl.make_tensor_descriptor(pointer + i * B * B, [B, B], [B, 1], [B, B])
            y.store([0, 0], block + 1)
        elif KIND != "the next round":
            y.store([i * B, 0], block + 1)
        if KIND == "two":
            y.store([(i + 1) * B, 0], block + 2)
        if KIND == "a branch":
            if i % 2 == 1:
                y.atomic_add([0, 0], block)
        if KIND == "the next round":
            x.store([(i + 1) * B, 0], block + 1)
        if KIND == "read":
            y.store([(i + 1) * B, 0], y.load([0, 0]) + 1)
        if KIND == "made, read":
            y.store([(i + 1) * B, 0], (y.load([0, 0]) + tl.load(pointer + rows)[None, :]).to(tl.float16))
        if KIND == "signalled":
            tl.atomic_xchg(flags + i, 1, sem="release")


LATE = "apart", "two", "a branch", "made"
EARLY = "the next round", "read", "made, read", "made in the loop", "signalled"


@pytest.mark.parametrize("kind", [*LATE, *EARLY])
def test_what_is_stored_is_there(kind: str) -> None:
    random = Random(f"{SEED} {kind}")
    rng = np.random.default_rng(random.randrange(1 << 30))
    for rounds in (0, 2, 5):
        warps, options = random.choice((1, 4, 8)), {"num_stages": random.choice((1, 2, 3, 4))}
        x, y = (rng.integers(-2, 3, (8 * B, B)).astype(np.float16) for _ in range(2))
        blocks = [TensorDescriptor.from_tensor(each, [B, B]) for each in (x, y)]
        pointer: Any = rng.integers(-2, 3, (8 * B, B)).astype(np.float16)
        args = (*blocks, pointer, np.zeros(8, np.int32), rounds)
        program = Program(stored, args, {"KIND": kind, "B": B}, "cuda:90", warps, 1, options)
        expected, _ = program.run()
        acted = {one.name for one, changed in program.through() if changed}
        got, found = program.run()
        where = f"seed {SEED}, {rounds} rounds, {warps} warps, {options}"
        assert not found, "\n".join(map(str, (*found, where)))
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=where)
        assert ("late-store-waits" in acted) == (kind in LATE), where
