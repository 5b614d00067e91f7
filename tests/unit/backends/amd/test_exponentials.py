"""`tl.exp` and `libdevice.exp` of f32 on AMD's processors, beside f64."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.language.extra import libdevice

SEED = int(os.environ["TRITONX_SEED"])
SMALLEST_NORMAL = 2.0**-126


@tritonx.jit
def exponentials(x, o, LIBRARY: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    tl.store(o + at, libdevice.exp(v) if LIBRARY else tl.exp(v))


def units(found: np.ndarray[Any, Any], exact: np.ndarray[Any, Any]) -> float:
    """The greatest distance, in units in the last place of a normal number."""
    unit = np.spacing(np.maximum(exact, SMALLEST_NORMAL).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(found.astype(np.float64) - exact) / unit))


@pytest.mark.parametrize(("most", "bound"), [(1, 2.0), (10, 9.0), (88, 65.0)])
def test_a_product_with_the_logarithm(emulator: Any, most: float, bound: float) -> None:
    rng = np.random.default_rng([SEED, most])
    x = rng.uniform(-most, most, 1024).astype(np.float32)
    out = np.full_like(x, np.nan)
    emulator(exponentials, 1, x, out, kwargs={"LIBRARY": False, "N": x.size}, num_warps=4)
    assert units(out, np.exp(x.astype(np.float64))) <= bound


def test_the_library_keeps_two_units(emulator: Any) -> None:
    x = np.random.default_rng([SEED, 3]).uniform(-103, 88, 1024).astype(np.float32)
    out = np.full_like(x, np.nan)
    emulator(exponentials, 1, x, out, kwargs={"LIBRARY": True, "N": x.size}, num_warps=4)
    assert units(out, np.exp(x.astype(np.float64))) <= 2


@pytest.mark.parametrize("library", [False, True])
def test_ends_of_the_range(emulator: Any, library: bool) -> None:
    """Subnormal results are kept."""
    x = np.resize(np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0, 89.0, 1e30, -1e30, -90.0, -100.0, 3e38, -104.5]), 64)
    out = np.full_like(x, 7)
    emulator(exponentials, 1, x, out, kwargs={"LIBRARY": library, "N": x.size}, num_warps=1)
    with np.errstate(over="ignore"):
        exact = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(out, exact, rtol=1e-5, atol=2.0**-149)
    assert np.all(out[(x == -90) | (x == -100)] > 0)
