"""Arithmetic, conversions and functions on random and special values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl

SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 65504, 65519.99, 65520, 448, 464, 465, 57344, 61440,
                    1e-8, 6e-8, 3e-8, 1e-40, 3.4e38, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-16, 2.0**-17, 1e30],
                   np.float32)  # fmt: skip


@tritonx.jit
def integers(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    o = out + i
    tl.store(o, x + y * x - (x ^ y))
    tl.store(o + N, x // y)
    tl.store(o + 2 * N, x % y)
    tl.store(o + 3 * N, (x & y) | (x >> (y & 7)))
    tl.store(o + 4 * N, x << (y & 7))
    tl.store(o + 5 * N, tl.minimum(x, y) + tl.maximum(x, y) * 3)
    tl.store(o + 6 * N, tl.where(x < y, x, y) + (x == y).to(x.dtype))
    tl.store(o + 7 * N, x // 7 + x % 7)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_integers(compare: Any, rng: np.random.Generator, dtype: Any) -> None:
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, 64, dtype=dtype, endpoint=True)
    b = rng.integers(info.min, info.max, 64, dtype=dtype, endpoint=True)
    b[b == 0] = 1
    b[::3] = rng.integers(1, 9, len(b[::3]))
    compare(integers, (1,), a, b, np.zeros(512, dtype), N=64)


def test_division_by_zero_does_not_trap() -> None:
    a = np.array([5, -5, 0, -(2**31)] * 16, np.int32)
    for b in (np.zeros(64, np.int32), np.full(64, -1, np.int32)):
        integers[(1,)](a, b, np.zeros(512, np.int32), N=64)


@tritonx.jit
def division(a, out, d, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(out + i, x // d)
    tl.store(out + N + i, x % d)
    tl.store(out + 2 * N, tl.load(a) // d)


@pytest.mark.parametrize("d", [2, 3, -7, 2**31 - 1])
def test_vectors_divide_exactly(compare: Any, rng: np.random.Generator, d: int) -> None:
    a = rng.integers(-(2**31), 2**31 - 1, 256).astype(np.int32)
    a[:4] = -(2**31), 2**31 - 1, d, -d
    compare(division, (1,), a, np.zeros(513, np.int32), d, N=256)


@tritonx.jit
def floats(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    o = out + i
    tl.store(o, x + y * x - y)
    tl.store(o + N, x / y)
    tl.store(o + 2 * N, tl.maximum(x, y) - tl.minimum(x, y))
    tl.store(o + 3 * N, tl.where(x < y, -x, tl.abs(y)))
    tl.store(o + 4 * N, tl.fma(x, y, x))
    tl.store(o + 5 * N, tl.floor(x.to(tl.float32)) + tl.ceil(y.to(tl.float32)))
    tl.store(o + 6 * N, tl.sqrt(tl.abs(x.to(tl.float32))) + tl.clamp(y.to(tl.float32), -0.5, 0.5))
    tl.store(o + 7 * N, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_floats(compare: Any, rng: np.random.Generator, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        a, b = (np.concatenate([rng.standard_normal(102), rng.permutation(SPECIAL)]).astype(dtype) for _ in range(2))
    compare(floats, (1,), a, b, np.zeros(8 * 128, dtype), N=128)


@tritonx.jit
def convert(x, out, N: tl.constexpr, ROUNDING: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty, fp_downcast_rounding=ROUNDING))


FLOATS = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_float_conversions(compare: Any, rng: np.random.Generator, source: Any, target: Any) -> None:
    bits = rng.integers(0, 256, (2048, np.dtype(source).itemsize), dtype=np.uint8)
    x = bits.view(source).reshape(-1)
    with np.errstate(all="ignore"):
        x[:1024] = (rng.standard_normal(1024) * 2.0 ** rng.integers(-20, 20, 1024)).astype(source)
        x[: len(SPECIAL)] = SPECIAL.astype(source)
    compare(convert, (1,), x, np.zeros(2048, target), N=2048, ROUNDING=None)


@pytest.mark.parametrize("source", [np.float64, np.float32])
@pytest.mark.parametrize("target", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_rounding_towards_zero(compare: Any, rng: np.random.Generator, source: Any, target: Any) -> None:
    with np.errstate(all="ignore"):
        x = (rng.standard_normal(1024) * 2.0 ** rng.integers(-20, 20, 1024)).astype(source)
        x[: len(SPECIAL)] = SPECIAL.astype(source)
    compare(convert, (1,), x, np.zeros(1024, target), N=1024, ROUNDING="rtz")


@pytest.mark.parametrize(
    "source", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]
)
@pytest.mark.parametrize("target", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, np.float32,
                                    np.float16, ml_dtypes.bfloat16, np.float64, bool])  # fmt: skip
def test_integer_conversions(compare: Any, rng: np.random.Generator, source: Any, target: Any) -> None:
    x = rng.integers(0, 256, (512, np.dtype(source).itemsize), dtype=np.uint8).view(source).reshape(-1)
    if np.dtype(source).kind == "f":
        with np.errstate(all="ignore"):
            x[:256] = (rng.standard_normal(256) * 100).astype(source)
            x[256 : 256 + len(SPECIAL)] = SPECIAL.astype(source)
    compare(convert, (1,), x, np.zeros(512, target), N=512, ROUNDING=None)


@tritonx.jit
def functions(x, out, N: tl.constexpr, F: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, getattr(tl, F)(tl.load(x + i)))


@pytest.mark.parametrize(
    "name", ["exp", "exp2", "log", "log2", "sin", "cos", "erf", "sqrt", "rsqrt", "abs", "floor", "ceil", "sigmoid"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions(compare: Any, rng: np.random.Generator, name: str, dtype: Any) -> None:
    x = (rng.standard_normal(1024) * 5).astype(dtype)
    if name in ("log", "log2", "sqrt", "rsqrt"):
        x = np.abs(x)
    compare(
        functions,
        (1,),
        x,
        np.zeros(1024, dtype),
        N=1024,
        F=name,
        close=(4e-7, 1e-37) if dtype == np.float32 else (1e-14, 0),
    )


@tritonx.jit
def library(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(
        out + i,
        tl.extra.libdevice.tanh(v) + tl.extra.libdevice.atan2(v, v * 2 + 1) + tl.extra.libdevice.pow(tl.abs(v), v),
    )
    tl.store(out + N + i, tl.extra.libdevice.isnan(v).to(tl.float32) + tl.extra.libdevice.cbrt(v))


def test_libdevice(compare: Any, rng: np.random.Generator) -> None:
    compare(
        library, (1,), rng.standard_normal(64, dtype=np.float32), np.zeros(128, np.float32), N=64, close=(2e-6, 1e-6)
    )


@tritonx.jit
def bits(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.int32, bitcast=True) + tl.umulhi(i, i * 123456789))


def test_bits(compare: Any, rng: np.random.Generator) -> None:
    compare(bits, (1,), rng.standard_normal(64, dtype=np.float32), np.zeros(64, np.int32), N=64)


def _overloads() -> list[tuple[str, tuple[str, ...], str]]:
    from tritonx.conversion.tile_to_loops.libdevice import OVERLOADS
    from tritonx.language.extra.libdevice_table import names as libdevice_names

    return [
        (name, types, result)
        for name, table in OVERLOADS.items()
        for types, (_, result) in table.items()
        if name in libdevice_names()
    ]


_DTYPES = {"fp32": np.float32, "fp64": np.float64, "int32": np.int32, "int64": np.int64, "uint32": np.uint32,
           "uint64": np.uint64}  # fmt: skip


_POSITIVE = frozenset(
    "acosh log log2 log10 log1p sqrt rsqrt pow y0 y1 yn tgamma lgamma fast_powf fast_logf "
    "fast_log2f fast_log10f".split()
)
"""Functions that are defined for positive arguments."""


@tritonx.jit
def one_argument(a, out, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, getattr(tl.extra.libdevice, F)(tl.load(a + i)))


@tritonx.jit
def two_arguments(a, b, out, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, getattr(tl.extra.libdevice, F)(tl.load(a + i), tl.load(b + i)))


@tritonx.jit
def three_arguments(a, b, c, out, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, getattr(tl.extra.libdevice, F)(tl.load(a + i), tl.load(b + i), tl.load(c + i)))


@pytest.mark.parametrize(("name", "types", "result"), [o for o in _overloads() if len(o[1]) < 4])
def test_every_libdevice_function(
    compare: Any, rng: np.random.Generator, name: str, types: tuple[str, ...], result: str
) -> None:
    from tritonx.interpreter.extern import EXTERN_FUNCTIONS

    args = [
        (rng.standard_normal(64) * 3).astype(_DTYPES[t]) if t[0] == "f" else rng.integers(0, 9, 64).astype(_DTYPES[t])
        for t in types
    ]
    if name in _POSITIVE:
        place = 1 if name == "yn" else 0
        args[place] = np.abs(args[place]) + 1
    kernel = (one_argument, two_arguments, three_arguments)[len(types) - 1]
    out = np.full(64, 107, _DTYPES[result])
    if name not in EXTERN_FUNCTIONS:
        kernel[(1,)](*args, out, F=name, N=64)
        assert np.any(out != 107)
        return
    close = (3e-6, 1e-6) if result == "fp32" else (1e-13, 1e-13)
    compare(kernel, (1,), *args, out, F=name, N=64, close=close)
