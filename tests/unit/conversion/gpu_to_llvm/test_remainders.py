"""Remainders of floats are those of C's fmod, bit for bit, on the emulator of a GPU, the CPU and line by line."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx_testing.emulators.ptx import backend as nvidia

N = 512


@tritonx.jit
def remainders(a_ptr, b_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, tl.load(a_ptr + i) % tl.load(b_ptr + i))


def on_nvidia(*args: Any) -> None:
    with nvidia.active(nvidia.emulated("90")):
        remainders[(1,)](*args, N)


def by_lines(*args: Any) -> None:
    interpreted(remainders)[(1,)](*args, N)


def compiled(*args: Any) -> None:
    remainders[(1,)](*args, N)


def operands(dtype: type[np.floating[Any]]) -> tuple[Any, Any]:
    """Drawn bits, neighbours of multiples, and all pairs of edges."""
    draw = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
    word = f"u{np.dtype(dtype).itemsize}"
    limits = np.finfo(dtype)
    edges = [0.0, -0.0, 1.0, 0.1, 7.0, 1e10, -3.0, np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal]
    with np.errstate(over="ignore"):
        pairs = np.array([(a, b) for a in edges for b in edges], dtype)
    count = (N - len(pairs)) // 2
    bits = draw.integers(0, 1 << 8 * np.dtype(dtype).itemsize, (count, 2), word, endpoint=False)
    with np.errstate(all="ignore"):
        b = np.abs(draw.normal(size=count) * 2.0 ** draw.integers(-20, 20, count)).astype(dtype)
        a = (b * draw.integers(0, 1 << limits.nmant + 4, count)).astype(dtype)
        a = np.nextafter(a, draw.choice([-np.inf, np.inf], count).astype(dtype))
    near = np.stack([a, b], axis=1)
    whole = np.concatenate([pairs, bits.view(dtype), near])
    whole = np.concatenate([whole, np.ones((N - len(whole), 2), dtype)])
    return np.ascontiguousarray(whole[:, 0]), np.ascontiguousarray(whole[:, 1])


WAYS: list[Callable[..., None]] = [on_nvidia, by_lines, compiled]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_remainders(way: Callable[..., None], dtype: type[np.floating[Any]]) -> None:
    a, b = operands(dtype)
    o = np.zeros(N, dtype)
    way(a, b, o)
    with np.errstate(all="ignore"):
        want = np.fmod(a, b)
    word = f"u{np.dtype(dtype).itemsize}"
    same = (o.view(word) == want.view(word)) | (np.isnan(o) & np.isnan(want))
    assert same.all(), list(zip(a[~same], b[~same], o[~same], want[~same], strict=True))[:5]
