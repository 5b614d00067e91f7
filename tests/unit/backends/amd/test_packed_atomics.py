"""Sums of 16-bit floats in global memory: two neighbours at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl

Compile = Callable[..., Any]
PACKED = [
    ("gfx90a", np.float16, "global_atomic_pk_add_f16"),
    ("gfx942", np.float16, "global_atomic_pk_add_f16"),
    ("gfx942", ml_dtypes.bfloat16, "global_atomic_pk_add_bf16"),
    ("gfx1201", ml_dtypes.bfloat16, "global_atomic_pk_add_bf16"),
]
BY_SWAP = [("gfx90a", ml_dtypes.bfloat16), ("gfx1100", np.float16)]


@tritonx.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + i, tl.load(x_ptr + i), mask=i < n)


def code(compiled: Compile, target: str, dtype: Any, n: int) -> str:
    lanes = 64 if target.startswith("gfx9") else 32
    x = np.zeros(8 * lanes, dtype)
    return compiled(target, add, [x, x.copy(), n], {"BLOCK": 8 * lanes}, num_warps=1).stages["amdgcn"]


@pytest.mark.parametrize("target, dtype, instruction", PACKED)
def test_pairs_are_added_by_an_instruction(compiled: Compile, target: str, dtype: Any, instruction: str) -> None:
    text = code(compiled, target, dtype, 128)
    assert text.count(instruction) == 4 and "cmpswap" not in text


@pytest.mark.parametrize("target, dtype", BY_SWAP)
def test_pairs_share_a_swap(compiled: Compile, target: str, dtype: Any) -> None:
    assert code(compiled, target, dtype, 128).count("global_atomic_cmpswap") == 4


def test_halves_of_a_pair_that_a_mask_tells_apart_are_added_alone(compiled: Compile) -> None:
    """Of n nothing is known."""
    text = code(compiled, "gfx942", np.float16, 127)
    assert text.count("global_atomic_cmpswap") == 8 and "pk_add" not in text
