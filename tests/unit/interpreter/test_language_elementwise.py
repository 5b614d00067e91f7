"""Elementwise functions of the language against NumPy, line by line and as IR."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx.language as tl
from tritonx.runtime.jit import jit

RNG = np.random.default_rng(11)
N = 128


@jit
def unary(x, o, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, f(tl.load(x + i)))


@jit
def cast_to(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, v.to(o.dtype.element_ty))


UNARY = {
    "exp": math.exp,
    "exp2": lambda v: 2.0**v,
    "log": math.log,
    "log2": math.log2,
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "rsqrt": lambda v: 1 / math.sqrt(v),
    "erf": math.erf,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unary(run: Any, name: str, dtype: type) -> None:
    x = RNG.uniform(0.05, 6, N).astype(dtype)
    o = np.zeros_like(x)
    run(unary, (1,), x, o, f=getattr(tl, name), N=N)
    wanted = np.array([UNARY[name](float(v)) for v in x])
    np.testing.assert_allclose(o, wanted, rtol=2e-7 if dtype == np.float32 else 1e-15)


@jit
def arithmetic(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a + b)
    tl.store(o + N + i, a - b)
    tl.store(o + 2 * N + i, a * b)
    tl.store(o + 3 * N + i, a // b)
    tl.store(o + 4 * N + i, a % b)
    tl.store(o + 5 * N + i, a & b)
    tl.store(o + 6 * N + i, a | b)
    tl.store(o + 7 * N + i, a ^ b)
    tl.store(o + 8 * N + i, a << (b & 3))
    tl.store(o + 9 * N + i, a >> (b & 3))
    tl.store(o + 10 * N + i, -a)
    tl.store(o + 11 * N + i, ~a)
    tl.store(o + 12 * N + i, tl.where(a < b, a, b))
    tl.store(o + 13 * N + i, (a == b) | (a != b) & (a >= b))
    tl.store(o + 14 * N + i, tl.maximum(a, b) - tl.minimum(a, b))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_integer_arithmetic(run: Any, dtype: type) -> None:
    info = np.iinfo(dtype)
    x, y = (RNG.integers(info.min, info.max, N, dtype=dtype, endpoint=True) for _ in range(2))
    y[y == 0] = 1
    y[(y.astype(object) == -1)] = 3
    o = np.zeros(15 * N, dtype)
    run(arithmetic, (1,), x, y, o, N=N)
    bits = info.bits

    def c_div(a: int, b: int) -> int:
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    definitions = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, c_div, lambda a, b: a - c_div(a, b) * b,
        lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
        lambda a, b: a << (b & 3), lambda a, b: a >> (b & 3),
        lambda a, b: -a, lambda a, b: ~a, min, lambda a, b: int(a == b or a >= b), lambda a, b: max(a, b) - min(a, b),
    ]  # fmt: skip
    for row, definition in enumerate(definitions):
        wanted = [definition(int(a), int(b)) % (1 << bits) for a, b in zip(x, y, strict=True)]
        got = [int(v) % (1 << bits) for v in o[row * N : (row + 1) * N]]
        assert got == wanted, row


FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@jit
def float_arithmetic(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a + b)
    tl.store(o + N + i, a - b)
    tl.store(o + 2 * N + i, a * b)
    tl.store(o + 3 * N + i, a / b)
    tl.store(o + 4 * N + i, a % b)
    tl.store(o + 5 * N + i, tl.maximum(a, b))
    tl.store(o + 6 * N + i, tl.fma(a.to(tl.float32), b.to(tl.float32), b.to(tl.float32)))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda t: np.dtype(t).name)
def test_float_arithmetic(run: Any, dtype: type) -> None:
    x, y = (RNG.standard_normal(N).astype(dtype) for _ in range(2))
    o = np.zeros(7 * N, dtype)
    run(float_arithmetic, (1,), x, y, o, N=N)
    a, b = x.astype(np.float64), y.astype(np.float64)
    wanted = [a + b, a - b, a * b, a / b, np.fmod(a, b), np.maximum(a, b), a * b + b]
    eps = float(ml_dtypes.finfo(dtype).eps)
    for row, exact in enumerate(wanted):
        got = o[row * N : (row + 1) * N].astype(np.float64)
        single = 1e-6 if row == 6 else 0  # computed in f32
        np.testing.assert_allclose(got, exact, rtol=max(eps, single), atol=max(eps, single), err_msg=str(row))


DTYPES: dict[str, type] = {
    **{name: getattr(np, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    **{name: getattr(np, name) for name in ("bool", "float16", "float32", "float64")},
    "bfloat16": ml_dtypes.bfloat16, "float8_e5m2": ml_dtypes.float8_e5m2, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
}  # fmt: skip


def exists(source: str, target: str) -> bool:
    """The language converts fp8 from and to floats only."""
    pair = {source, target}
    return not any(n.startswith("float8") for n in pair) or all("float" in n for n in pair)


@pytest.mark.parametrize(("source", "target"), [(s, t) for s in DTYPES for t in DTYPES if exists(s, t)])
def test_casts(run: Any, source: str, target: str) -> None:
    x = RNG.integers(0, 100, 32).astype(DTYPES[source])
    o = np.zeros(32, DTYPES[target])
    run(cast_to, (1,), x, o, N=32)
    values = x.astype(np.float64)
    if target == "bool":
        wanted = values != 0
    elif target.startswith(("int", "uint")):
        wanted = values.astype(np.int64).astype(DTYPES[target])
    else:
        wanted = values.astype(np.float32).astype(DTYPES[target])
    np.testing.assert_array_equal(o.astype(np.float64), wanted.astype(np.float64))


@jit
def rounding(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(o.dtype.element_ty, fp_downcast_rounding="rtz"))


@pytest.mark.parametrize("target", ["float16", "bfloat16", "float8_e5m2"])
def test_rounding_towards_zero(run: Any, target: str) -> None:
    x = RNG.standard_normal(64).astype(np.float32)
    o = np.zeros(64, DTYPES[target])
    run(rounding, (1,), x, o, N=64)
    got = np.abs(o.astype(np.float64))
    eps = float(ml_dtypes.finfo(DTYPES[target]).eps)
    assert (got <= np.abs(x)).all() and (got > np.abs(x) * (1 - eps)).all()


@jit
def extern(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, tl.extra.libdevice.tanh(v))
    tl.store(o + N + i, tl.extra.libdevice.pow(v, 1.5))
    tl.store(o + 2 * N + i, tl.extra.libdevice.erfinv(v / 4))
    tl.store(o + 3 * N + i, tl.extra.libdevice.rint(v))


def test_external_functions(run: Any) -> None:
    x = RNG.uniform(0.1, 3.5, N).astype(np.float32)
    o = np.zeros(4 * N, np.float32)
    run(extern, (1,), x, o, N=N)
    np.testing.assert_allclose(o[:N], np.tanh(x), rtol=2e-7)
    np.testing.assert_allclose(o[N : 2 * N], x.astype(np.float64) ** 1.5, rtol=2e-7)
    np.testing.assert_allclose([math.erf(v) for v in o[2 * N : 3 * N]], x / 4, rtol=2e-6)
    np.testing.assert_array_equal(o[3 * N :], np.rint(x))


@jit
def first_of(a, b):
    if a > b:
        r = a - b
    else:
        r = b * 2
    return r, a + b


@jit
def mapped(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    r, s = tl.map_elementwise(first_of, tl.load(x + i), tl.load(y + i))
    tl.store(o + i, r)
    tl.store(o + N + i, s)


def test_map_elementwise_with_branches(run: Any) -> None:
    x, y = (RNG.standard_normal(N).astype(np.float32) for _ in range(2))
    o = np.zeros(2 * N, np.float32)
    run(mapped, (1,), x, y, o, N=N)
    np.testing.assert_array_equal(o[:N], np.where(x > y, x - y, y * 2))
    np.testing.assert_array_equal(o[N:], x + y)


@jit
def bits(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, v.to(tl.int32, bitcast=True))
    tl.store(o + N + i, tl.umulhi(v.to(tl.int32, bitcast=True), 1000003))
    tl.store(o + 2 * N + i, tl.clamp(v, -0.5, 0.5).to(tl.int32, bitcast=True))
    tl.store(o + 3 * N + i, tl.cdiv(i, 3) + (i // 3) * 0)


def test_bits_and_clamp(run: Any) -> None:
    x = RNG.standard_normal(N).astype(np.float32)
    o = np.zeros(4 * N, np.int32)
    run(bits, (1,), x, o, N=N)
    np.testing.assert_array_equal(o[:N], x.view(np.int32))
    high = (x.view(np.uint32).astype(np.uint64) * 1000003) >> 32
    np.testing.assert_array_equal(o[N : 2 * N].view(np.uint32), high.astype(np.uint32))
    np.testing.assert_array_equal(o[2 * N : 3 * N], np.clip(x, np.float32(-0.5), np.float32(0.5)).view(np.int32))
    np.testing.assert_array_equal(o[3 * N :], -(-np.arange(N) // 3))
