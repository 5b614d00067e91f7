"""Libdevice's conversions between numbers over the whole range of each type, each rounding, on the CPU backend."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl

SEED = int(os.environ["TRITONX_SEED"])
FLOATS = {"float": np.float32, "double": np.float64}
INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
ROUNDINGS = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
N = 256


@tritonx.jit
def apply(x, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i)))


def converted(name: str, x: Any, dtype: Any) -> Any:
    out = np.full(N, 77, dtype)
    apply[(1,)](x, out, getattr(tl.extra.libdevice, name), N)
    return out


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_to_integers(source: str, target: str, rounding: str) -> None:
    rng, dtype, limits = np.random.default_rng(SEED), FLOATS[source], np.iinfo(INTEGERS[target])
    bits = rng.uniform(-3, limits.bits - (limits.min < 0) - 0.01, N)
    x = (np.exp2(bits) * (rng.choice([-1, 1], N) if limits.min < 0 else 1)).astype(dtype)
    exact = ROUNDINGS[rounding](x.astype(np.longdouble))
    expected = exact.astype(np.int64 if limits.min < 0 else np.uint64).astype(INTEGERS[target])
    assert np.array_equal(converted(f"{source}2{target}_{rounding}", x, INTEGERS[target]), expected), f"seed {SEED}"


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", FLOATS)
def test_from_integers(source: str, target: str) -> None:
    rng, limits = np.random.default_rng(SEED), np.iinfo(INTEGERS[source])
    x = rng.integers(limits.min, limits.max, N, INTEGERS[source], endpoint=True)
    x[:2] = limits.min, limits.max
    assert np.array_equal(converted(f"{source}2{target}_rn", x, FLOATS[target]), x.astype(FLOATS[target])), (
        f"seed {SEED}"
    )
