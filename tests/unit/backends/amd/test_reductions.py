"""What a thread makes of its own registers in a reduction: three at a time where there is an instruction for that."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def either(a, b):
    return a | b


@tritonx.jit
def reduced(x, o, HOW: tl.constexpr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    """Rows or columns of a tile that lies row after row."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n[None, :])
    if HOW == "max":
        found = tl.max(v, AXIS)
    elif HOW == "min":
        found = tl.min(v, AXIS)
    elif HOW == "sum":
        found = tl.sum(v, AXIS)
    else:
        found = tl.reduce(v, AXIS, either)
    tl.store(o + (m if AXIS == 1 else n), found)


THREES = {
    ("max", "float32"): "v_max3_(num_)?f32",
    ("min", "float32"): "v_min3_(num_)?f32",
    ("max", "int32"): "v_max3_i32",
    ("min", "int32"): "v_min3_i32",
    ("max", "uint32"): "v_max3_u32",
    ("min", "uint32"): "v_min3_u32",
    ("sum", "int32"): "v_add3_u32",
    ("or", "int32"): "v_or3_b32",
}
NUMPY: dict[str, Any] = {"max": np.max, "min": np.min, "sum": np.sum, "or": np.bitwise_or.reduce}


@pytest.mark.parametrize(("how", "element"), [*THREES, ("sum", "float32"), ("max", "float16"), ("max", "int64")])
def test_is_right(emulator: Any, how: str, element: str) -> None:
    rng = np.random.default_rng([SEED, *how.encode(), *element.encode()])
    m, n = int(rng.choice((1, 2, 4))), int(rng.choice((64, 256, 512)))
    axis = int(rng.integers(2))
    shape = (m, n) if axis == 1 else (n, m)
    x = rng.integers(-1000, 1000, shape).astype(element)
    if element == "float32" and how != "sum":
        x[rng.random(shape) < 0.2] = -np.inf if how == "max" else np.inf
        x[rng.random(shape) < 0.2] = np.nan  # which max and min pass over
    o = np.full(m, -77).astype(element)
    emulator(reduced, 1, x, o, kwargs={"HOW": how, "M": shape[0], "N": shape[1], "AXIS": axis}, num_warps=1)
    where = f"seed {SEED}, {emulator.arch}, {shape}, {axis}"
    pass_over = {"max": np.fmax.reduce, "min": np.fmin.reduce}
    exact = (pass_over.get(how, NUMPY[how]) if element == "float32" else NUMPY[how])(x, axis=axis)
    np.testing.assert_array_equal(o, exact, err_msg=where)


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
@pytest.mark.parametrize(("how", "element"), THREES)
def test_instructions(compiled: Any, how: str, element: str, chip: str) -> None:
    """Of 32 elements of a thread, in pairs there would be 31."""
    lanes = 64 if chip.startswith("gfx9") else 32
    constants = {"HOW": how, "M": 1, "N": 32 * lanes, "AXIS": 1}
    x, o = np.zeros((1, 32 * lanes), element), np.zeros(1, element)
    code = compiled(chip, reduced, [x, o], constants, num_warps=1, until="amdgcn").stages["amdgcn"]
    assert len(re.findall(THREES[how, element], code)) >= 15
