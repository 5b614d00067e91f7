"""Kernels whose values depend on each other a thousand ops deep: nothing that compiles them follows such a chain on
Python's stack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.compiler import ASTSource

STEPS = 350
"""A thousand ops and more, of which Python has as many frames."""

SIZE = 64


@tritonx.jit
def values(x_ptr, out_ptr, n, N: tl.constexpr, B: tl.constexpr):
    """A recurrence, one by choices, and one inside a loop."""
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    p, q = tl.full([B], 1.0, tl.float32), x
    for _ in tl.static_range(N):
        p, q = q, x * q - 0.5 * p
    for k in tl.static_range(N):
        q = tl.where(q > k % 7, q - 5.0, q + x)
    for _ in range(n // 32):
        for _k in tl.static_range(N):
            q = q * 0.5 + x
    tl.store(out_ptr + i, q, mask=i < n)


def expected_values(x: np.ndarray) -> np.ndarray:
    p, q = np.ones_like(x), x
    for _ in range(STEPS):
        p, q = q, x * q - 0.5 * p
    for k in range(STEPS):
        q = np.where(q > k % 7, q - 5, q + x)
    for _ in range(2 * STEPS):
        q = q * 0.5 + x
    return q


@tritonx.jit
def addresses(x_ptr, out_ptr, n, N: tl.constexpr, B: tl.constexpr):
    """Pointers that are stepped, offsets and masks, each of which comes of the one before."""
    i = tl.arange(0, B)
    p, o, m = x_ptr + i, i, i < n
    for k in tl.static_range(N):
        p += (n ^ k) % 2 * 2 - 1  # +1 and -1 by turns
        o = (o + k) ^ n
        m = m & (i != n // 2 + k)
    tl.store(out_ptr + (o & (B - 1)), tl.load(p, mask=m, other=-1.0))


def expected_addresses(x: np.ndarray) -> np.ndarray:
    i = np.arange(SIZE)
    o, out = i, np.zeros_like(x)
    for k in range(STEPS):
        o = (o + k) ^ SIZE
    out[o & (SIZE - 1)] = np.where(i < SIZE // 2, x, -1)
    return out


@tritonx.jit
def halved(x, n, N: tl.constexpr):
    if N > 0:
        if n % (N + 1) != 1:
            for _ in range(n // 64):
                x = halved(x * 0.5, n, N - 1) + 1.0
    return x


@tritonx.jit
def nested(x_ptr, out_ptr, n, N: tl.constexpr, B: tl.constexpr):
    """Branches and loops in each other."""
    i = tl.arange(0, B)
    tl.store(out_ptr + i, halved(tl.load(x_ptr + i, mask=i < n, other=0.0), n, N // 20), mask=i < n)


def expected_nested(x: np.ndarray) -> np.ndarray:
    depth = next((d for d in range(STEPS // 20) if SIZE % (STEPS // 20 - d + 1) == 1), STEPS // 20)
    return x * 0.5**depth + depth


CASES: dict[str, tuple[Any, Any]] = {
    "values": (values, expected_values),
    "addresses": (addresses, expected_addresses),
    "nested": (nested, expected_nested),
}


@pytest.mark.parametrize("name", CASES)
def test_right_on_the_cpu(name: str) -> None:
    kernel, expected = CASES[name]
    x = (np.arange(SIZE) % 9 / 8 - 0.5).astype(np.float32)
    out = np.zeros_like(x)
    kernel[(1,)](x, out, SIZE, N=STEPS, B=SIZE)
    np.testing.assert_allclose(out, expected(x.astype(np.float64)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("name", CASES)
def test_compiles_for_gpus(name: str, target: str) -> None:
    kernel, _ = CASES[name]
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "N": "constexpr", "B": "constexpr"}
    source = ASTSource(kernel, signature, constexprs={"N": STEPS, "B": 256})
    assert tritonx.compile(source, target=target).asm
