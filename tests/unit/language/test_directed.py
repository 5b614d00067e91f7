"""Arithmetic and conversions that round down, up and towards zero, on the CPU backend, against fractions."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.frontend.semantics.directed import DIRECTED, MODES

SEED = int(os.environ["TRITONX_SEED"])
N = 512
FLOATS = {"fp32": np.float32, "fp64": np.float64}
INTEGERS = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}


@tritonx.jit
def one(x, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i)))


@tritonx.jit
def two(x, y, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i), tl.load(y + i)))


@tritonx.jit
def three(x, y, z, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i), tl.load(y + i), tl.load(z + i)))


def drawn(rng: np.random.Generator, dtype: Any, spread: float = 1.0) -> Any:
    """Numbers of all sizes, some of few bits, so that results are exact as well."""
    info = np.finfo(dtype)
    exponents = rng.uniform(info.minexp * spread, info.maxexp * spread, N)
    near = rng.uniform(-3, 3, N)
    x = np.exp2(np.where(rng.random(N) < 0.5, exponents, near)).astype(dtype) * rng.choice([-1, 1], N).astype(dtype)
    few = rng.integers(-16, 17, N).astype(dtype) / 4
    return np.where(rng.random(N) < 0.2, few, x).astype(dtype)


def side(value: Any, compare: Callable[[Fraction], Any]) -> int:
    """The sign of ``value`` less what is exact."""
    if np.isinf(value):
        return 1 if value > 0 else -1
    difference = compare(Fraction(float(value)))
    return (difference > 0) - (difference < 0)


def assert_rounded(mode: str, value: Any, compare: Callable[[Fraction], Any], said: object) -> None:
    zero = side(value.dtype.type(0), compare)  # below zero, rounding towards it is rounding up
    up = mode == "ru" or (mode == "rz" and zero > 0)
    inwards = np.nextafter(value, value.dtype.type(-np.inf if up else np.inf))
    sign = 1 if up else -1
    assert side(value, compare) in (0, sign), said
    assert side(inwards, compare) == -sign or np.isinf(inwards), said


EXACT: dict[str, Callable[..., Callable[[Fraction], Any]]] = {
    "add": lambda a, b: lambda v: v - (a + b),
    "sub": lambda a, b: lambda v: v - (a - b),
    "mul": lambda a, b: lambda v: v - a * b,
    "div": lambda a, b: lambda v: v - a / b,
    "fma": lambda a, b, c: lambda v: v - (a * b + c),
    "rcp": lambda a: lambda v: v - 1 / a,
    "sqrt": lambda a: lambda v: v * v - a if v > 0 else v - (a > 0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("name", EXACT)
def test_arithmetic(name: str, type_: str, mode: str) -> None:
    rng, dtype = np.random.default_rng(SEED), FLOATS[type_]
    count = EXACT[name].__code__.co_argcount
    spread = 0.4 if name == "fma" and type_ == "fp64" else 1.0
    given = [drawn(rng, dtype, spread) for _ in range(count)]
    if name == "sqrt":
        given[0] = np.abs(given[0])
    if name in ("div", "rcp"):
        given[-1] = np.where(given[-1] == 0, dtype(3), given[-1])
    if name in ("add", "sub"):  # close to each other as well
        given[1][::3] = -given[0][::3] * dtype(1 + 2**-9)
    out = np.zeros(N, dtype)
    (one, two, three)[count - 1][(1,)](*given, out, getattr(tl.extra.libdevice, f"{name}_{mode}"), N)
    for value, *operands in zip(out, *given, strict=True):
        compare = EXACT[name](*[Fraction(float(x)) for x in operands])
        assert_rounded(mode, value, compare, (value, operands, SEED))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [n.removesuffix("_rd") for n in DIRECTED if "2" in n and n.endswith("_rd")])
def test_conversions(name: str, mode: str) -> None:
    rng, (source, target) = np.random.default_rng(SEED), name.split("2")
    dtype = np.float32 if target == "float" else np.float64
    if source == "double":
        x = drawn(rng, np.float64, 0.16)
    else:
        info = np.iinfo(INTEGERS[source])
        x = rng.integers(info.min, info.max, N, INTEGERS[source], endpoint=True)
        x >>= rng.integers(0, info.bits, N).astype(x.dtype)
        x[:4] = info.min, info.max, 0, 1
    out = np.zeros(N, dtype)
    one[(1,)](x, out, getattr(tl.extra.libdevice, f"{name}_{mode}"), N)
    for value, given in zip(out, x.tolist(), strict=True):
        assert_rounded(mode, value, lambda v, given=given: v - Fraction(given), (value, given, SEED))


def test_a_sum_that_is_zero_is_below_zero_rounded_down() -> None:
    x, y = (np.resize(np.array(v), N) for v in ([1.5, 0.0, -0.0, 0.0, -0.0], [-1.5, 0.0, -0.0, -0.0, 0.0]))
    for mode, expected in (("rd", [True, False, True, True, True]), ("ru", [False, False, True, False, False])):
        for dtype in FLOATS.values():
            out = np.ones(N, dtype)
            two[(1,)](x.astype(dtype), y.astype(dtype), out, getattr(tl.extra.libdevice, f"add_{mode}"), N)
            assert not out.any() and np.signbit(out[:5]).tolist() == expected


def test_infinities_and_nan_stay() -> None:
    x = np.resize(np.array([np.inf, -np.inf, np.nan, np.inf]), N)
    y = np.resize(np.array([1.0, 1.0, 1.0, -np.inf]), N)
    for mode in MODES:
        for dtype in FLOATS.values():
            out = np.zeros(N, dtype)
            two[(1,)](x.astype(dtype), y.astype(dtype), out, getattr(tl.extra.libdevice, f"add_{mode}"), N)
            assert out[0] == np.inf and out[1] == -np.inf and np.isnan(out[2:4]).all()
            two[(1,)](y.astype(dtype), x.astype(dtype), out, getattr(tl.extra.libdevice, f"div_{mode}"), N)
            assert out[0] == 0 and out[1] == 0 and np.isnan(out[2:4]).all()
