"""``>>`` over every pair of integer types: the left side's type says whether the sign comes in, as in Triton 3.6."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

import tritonx.language as tl
from tritonx import jit
from tritonx.frontend.semantics.promotion import promote_integers
from tritonx.interpreter.function import interpreted

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COUNT = 16


@jit
def shift(out, x, y, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, tl.load(x + i) >> tl.load(y + i))


@jit
def shift_number(out, y, COUNT: tl.constexpr, NUMBER: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, NUMBER >> tl.load(y + i))


def expected(x: np.ndarray, y: np.ndarray, signed: bool, common: np.dtype) -> np.ndarray:
    kind = np.dtype(f"{'int' if signed else 'uint'}{common.itemsize * 8}")
    return (x.astype(kind) >> y.astype(kind)).view(common)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(INTEGERS, repeat=2)))
def test_the_left_side_decides(left: str, right: str) -> None:
    rng = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
    common = np.dtype(promote_integers(getattr(tl, left), getattr(tl, right)).name)
    x = rng.integers(np.iinfo(left).min, np.iinfo(left).max, COUNT, dtype=left, endpoint=True)
    x[:3] = np.iinfo(left).min, np.iinfo(left).max, -1 if left[0] == "i" else 1
    y = rng.integers(0, common.itemsize * 8, COUNT).astype(right)
    for kernel in (shift, interpreted(shift)):
        out = np.full(COUNT, 77, common)
        kernel[(1,)](out, x, y, COUNT)
        np.testing.assert_array_equal(out, expected(x, y, left[0] == "i", common), f"{x} >> {y}")


@pytest.mark.parametrize("right", INTEGERS)
def test_a_number_has_no_type_so_the_right_side_decides(right: str) -> None:
    y = np.arange(COUNT, dtype=right) % (np.dtype(right).itemsize * 8)
    number = np.iinfo(right).min + 1 if right[0] == "i" else np.iinfo(right).max - 1
    for kernel in (shift_number, interpreted(shift_number)):
        out = np.full(COUNT, 77, right)
        kernel[(1,)](out, y, COUNT, number)
        np.testing.assert_array_equal(out, np.array(number, right) >> y, f"{number} >> {y}")
