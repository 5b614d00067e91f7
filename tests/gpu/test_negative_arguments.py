"""Runs of a remainder and of a quotient where an argument is negative: code for sizes presumes that it is not."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
BLOCK = 256


def rotate(x, y, shift, n, BLOCK: tl.constexpr):
    """y[i] = x[(i + shift) mod n], as Python has the remainder."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = ((at + shift) % n + n) % n
    tl.store(y + at, tl.load(x + source, mask=at < n), mask=at < n)


def quotients(x, y, shift, n, BLOCK: tl.constexpr):
    """y[i] = x[8 + (i + shift) / 16], truncated."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + 8 + (at + shift) // 16, mask=at < n), mask=at < n)


def expected(kernel: Any, x: np.ndarray, shift: int, n: int) -> np.ndarray:
    at = np.arange(n) + shift
    return x[at % n] if kernel is rotate else x[8 + np.trunc(at / 16).astype(int)]


@pytest.mark.parametrize("unspecialized", [[], ["shift", "n"]], ids=["specialized", "not"])
@pytest.mark.parametrize("kernel", [rotate, quotients])
def test_negative_arguments(kernel: Any, unspecialized: list[str]) -> None:
    """One kernel with shifts on both sides of zero, in a random order; multiples of the divisor break the runs."""
    jitted = tritonx.jit(kernel, do_not_specialize=unspecialized)
    n = 16 * int(RNG.integers(40, 60))
    x = RNG.standard_normal(n, dtype=np.float32)
    shifts = [0, 16, 48, -16, -64, -96, -int(RNG.integers(1, 100)), int(RNG.integers(1, 100))]
    for shift in map(int, RNG.permutation(shifts)):
        y = to_device(np.full(n, np.nan, np.float32))
        jitted[(tritonx.cdiv(n, BLOCK),)](to_device(x), y, shift, n, BLOCK=BLOCK)
        np.testing.assert_array_equal(y.numpy(), expected(kernel, x, shift, n), err_msg=f"shift {shift}")
