"""Library functions composed of other ops, against what the interpreter says the library's function is."""

from __future__ import annotations

import math
import os
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx import jit
from tritonx.backends.api import Target
from tritonx.frontend.compile import make_module
from tritonx.frontend.semantics import extern
from tritonx.frontend.semantics.directed import DIRECTED
from tritonx.frontend.semantics.library import COMPOSED
from tritonx.frontend.semantics.special import SPECIAL
from tritonx.interpreter.machine import interpret
from tritonx.interpreter.options import InterpreterOptions
from tritonx.language.extra.libdevice_table import names, overloads
from tritonx.runtime.compiling.targets import extern_functions

SEED = int(os.environ["TRITONX_SEED"])
N = 256
NUMPY = {"fp32": np.float32, "fp64": np.float64, "int32": np.int32, "int64": np.int64, "uint32": np.uint32,
         "uint64": np.uint64}  # fmt: skip
SHORT = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}


@jit
def one(x, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i)))


@jit
def two(x, y, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i), tl.load(y + i)))


@jit
def three(x, y, z, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i), tl.load(y + i), tl.load(z + i)))


@jit
def four(x, y, z, w, out, f: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, f(tl.load(x + i), tl.load(y + i), tl.load(z + i), tl.load(w + i)))


def inputs(name: str, types: tuple[str, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(len(name))
    arrays: list[np.ndarray] = []
    for position, type_ in enumerate(types):
        dtype = NUMPY[type_]
        if type_.startswith("fp"):
            x = rng.normal(scale=20, size=N).astype(dtype)
            if "log" in name or "pow" in name or "sqrt" in name:
                x = np.abs(x)
            if "exp" in name:
                x = x / 4
            if name in ("erfinv", "erfcinv", "normcdfinv"):
                x = np.tanh(x / 15) if name == "erfinv" else np.abs(x % (2 if name == "erfcinv" else 1))
            if "2uint" in name or "2ull" in name:
                x = np.abs(x) * 1000
        elif name in ("ldexp", "scalbn") and position == 1:
            x = rng.integers(-160 if types[0] == "fp32" else -1200, 160 if types[0] == "fp32" else 1200, N).astype(
                dtype
            )
        else:
            info = np.iinfo(dtype)
            x = rng.integers(info.min, info.max, N, dtype, endpoint=True) >> rng.integers(0, 30, N).astype(dtype)
            x[:3] = [0, info.max, info.min]
        arrays.append(x)
    return arrays


def run(name: str, types: tuple[str, ...], result: str, arrays: list[np.ndarray]) -> np.ndarray:
    kernel = {1: one, 2: two, 3: three, 4: four}[len(types)]
    pointers = [f"*{SHORT.get(t, t)}" for t in (*types, result)]
    signature = dict(zip(kernel.arg_names, [*pointers, "constexpr", "constexpr"], strict=True))
    constants = {(len(types) + 1,): getattr(tl.extra.libdevice, name), (len(types) + 2,): N}
    module = make_module(kernel, signature, constants, {}, InterpreterOptions(), Target("elsewhere"))
    out = np.zeros(N, NUMPY[result])
    interpret(module, (1,), [*arrays, out])
    return out


def from_bits(dtype: Any) -> Any:
    return lambda x: x.view(dtype)


def high_half(x: Any, y: Any) -> Any:
    bits = x.dtype.itemsize * 8
    return np.array([int(a) * int(b) >> bits for a, b in zip(x, y, strict=True)], x.dtype)


def product_of_24_bits(x: Any, y: Any) -> Any:
    if x.dtype.kind == "u":
        return (x & 0xFFFFFF) * (y & 0xFFFFFF)
    return ((x << 8) >> 8) * ((y << 8) >> 8)


def average(up: int) -> Any:
    return lambda x, y: np.array([(int(a) + int(b) + up) >> 1 for a, b in zip(x, y, strict=True)], x.dtype)


def difference_plus(x: Any, y: Any, z: Any) -> Any:
    total = [abs(int(a) - int(b)) + int(c) for a, b, c in zip(x, y, z, strict=True)]
    return np.array([t & 0xFFFFFFFF for t in total], np.uint32).view(z.dtype)


def chosen_bytes(x: Any, y: Any, selectors: Any) -> Any:
    found: list[int] = []
    for a, b, selector in zip(x, y, selectors, strict=True):
        data = int.to_bytes((int(b) & 0xFFFFFFFF) << 32 | int(a) & 0xFFFFFFFF, 8, "little")
        nibbles = [int(selector) >> 4 * k & 15 for k in range(4)]
        chosen = [data[n & 7] if n < 8 else 255 * (data[n & 7] >> 7) for n in nibbles]
        found.append(int.from_bytes(bytes(chosen), "little", signed=True))
    return np.array(found, np.int32)


def upper_half(x: Any) -> Any:
    return (x.view(np.int64) & -(2**32)).view(np.float64)


def as_float(dtype: Any) -> Any:
    return lambda x: x.astype(dtype)


def truncated(dtype: Any) -> Any:
    return lambda x: np.trunc(x).astype(dtype)


# What the interpreter has no library function of that name for.
REFERENCES: dict[str, Any] = {
    "fma_rn": lambda x, y, z: x.astype(np.longdouble) * y + z,
    "fast_expf": np.exp, "fast_logf": np.log, "fast_log2f": np.log2, "fast_sinf": np.sin, "fast_cosf": np.cos,
    "fast_dividef": np.divide, "fast_exp10f": lambda x: np.exp(x * np.log(10.0)), "fast_log10f": np.log10,
    "fast_tanf": np.tan, "fast_powf": np.power, "fast_tanhf": np.tanh,
    "int2float_rn": as_float(np.float32), "int2double_rn": as_float(np.float64), "uint2float_rn": as_float(np.float32),
    "uint2double_rn": as_float(np.float64), "ll2float_rn": as_float(np.float32), "ll2double_rn": as_float(np.float64),
    "ull2float_rn": as_float(np.float32), "ull2double_rn": as_float(np.float64),
    "double2float_rn": as_float(np.float32),
    "float2int_rz": truncated(np.int32), "double2int_rz": truncated(np.int32), "float2ll_rz": truncated(np.int64),
    "double2ll_rz": truncated(np.int64), "float2uint_rz": truncated(np.int32), "double2uint_rz": truncated(np.int32),
    "float2ull_rz": truncated(np.int64), "double2ull_rz": truncated(np.int64),
    "float_as_int": from_bits(np.int32), "float_as_uint": from_bits(np.int32), "int_as_float": from_bits(np.float32),
    "uint_as_float": from_bits(np.float32), "double_as_longlong": from_bits(np.int64),
    "longlong_as_double": from_bits(np.float64),
    "hiloint2double": lambda h, low: np.stack([low, h], axis=-1).reshape(-1).view(np.float64),
    "double2hiint": lambda x: x.view(np.int32)[1::2], "double2loint": lambda x: x.view(np.int32)[::2],
    "byte_perm": chosen_bytes, "rcp64h": lambda x: upper_half(1 / x),
    "mulhi": high_half, "mul24": product_of_24_bits, "hadd": average(0), "rhadd": average(1), "sad": difference_plus,
}  # fmt: skip

CASES = [
    (name, types, result) for name in COMPOSED if name not in DIRECTED for types, result in overloads(name).items()
]


@pytest.mark.parametrize(("name", "types", "result"), CASES, ids=[f"{c[0]}-{'-'.join(c[1])}" for c in CASES])
def test_composed(name: str, types: tuple[str, ...], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = inputs(name, types)
    if name in REFERENCES:
        with np.errstate(all="ignore"):
            wide = [a.astype(np.float64) if name.startswith("fast_") else a for a in arrays]
            expected = REFERENCES[name](*wide)
    else:
        expected = run(name, types, result, arrays)
    # The same with a library that has only what the compositions are made of.
    base = ("tanh", "rint", "round", "logb", "cbrt", "hypot", "erf", "erfc", "exp", "log", "sqrt", "copysign")
    table: Any = {n: {t: (n, r) for t, r in overloads(n).items()} for n in base}
    monkeypatch.setattr(extern, "extern_functions", lambda target: table)
    got = run(name, types, result, arrays)
    if "int" in result or "as_" in name or name == "hiloint2double":
        np.testing.assert_array_equal(got, expected.view(got.dtype))
    else:
        precise = np.finfo(got.dtype).eps
        relative = (
            1e-4
            if name.startswith("fast_")
            else precise * (200 if "pi" in name else 4096 if name == "erfcx" else 32 if name in SPECIAL else 8)
        )
        absolute = precise * 4 if "pi" in name or "normcdf" in name else 0
        with np.errstate(over="ignore"):
            expected = expected.astype(got.dtype)
        np.testing.assert_allclose(got, expected, rtol=relative, atol=absolute)


def exactly(order: int, x: float) -> Fraction:
    """The modified Bessel function of the first kind by its series, in fractions."""
    half = Fraction(x) / 2
    term = total = half**order / math.factorial(order)
    for k in range(1, 40 + 2 * int(abs(x))):
        term = term * half * half / (k * (k + order))
        total += term
    return total


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_functions_are_their_series(order: int) -> None:
    """On the CPU backend; below and beyond the argument from which the asymptotic series is used."""
    x = np.random.default_rng(SEED).uniform(-60, 60, N)
    x[:8] = 0.0, -0.0, 20.0, np.nextafter(20.0, 0), -20.0, 1e-200, 713.5, -713.5
    for dtype, tolerance in ((np.float64, 16), (np.float32, 0.5001)):
        given, out = x.astype(dtype), np.zeros(N, dtype)
        one[(1,)](given, out, getattr(tl.extra.libdevice, f"cyl_bessel_i{order}"), N)
        for argument, found in zip(given.tolist(), out.tolist(), strict=True):
            expected = exactly(order, argument)
            if abs(expected) > Fraction(float(np.finfo(dtype).max)):
                assert found == math.copysign(np.inf, expected)
            elif expected:
                unit = Fraction(float(np.spacing(dtype(abs(found)))))
                assert abs(Fraction(found) - expected) <= Fraction(tolerance) * unit, f"{argument}, seed {SEED}"
    assert np.signbit(out[1]) == bool(order)


SPECIAL_VALUES = {
    "cyl_bessel_i0": [(np.inf, np.inf), (-np.inf, np.inf), (720.0, np.inf)],
    "cyl_bessel_i1": [(np.inf, np.inf), (-np.inf, -np.inf)],
    "erfcx": [(np.inf, 0.0), (-np.inf, np.inf), (1e300, 1 / (1e300 * math.sqrt(math.pi))), (0.0, 1.0)],
    "erfinv": [(1.0, np.inf), (-1.0, -np.inf), (1.5, np.nan), (-2.0, np.nan), (0.0, 0.0)],
    "erfcinv": [(0.0, np.inf), (2.0, -np.inf), (-0.1, np.nan), (2.1, np.nan), (1.0, 0.0)],
    "normcdfinv": [(0.0, -np.inf), (1.0, np.inf), (1.1, np.nan), (0.5, 0.0)],
}


@pytest.mark.parametrize("name", SPECIAL_VALUES)
def test_special_functions_at_their_ends(name: str) -> None:
    pairs = [*SPECIAL_VALUES[name], (np.nan, np.nan)]
    given = np.resize(np.array([x for x, _ in pairs]), N)
    out = np.zeros(N)
    one[(1,)](given, out, getattr(tl.extra.libdevice, name), N)
    np.testing.assert_allclose(out, np.resize(np.array([y for _, y in pairs]), N), rtol=1e-15)


def test_erfcx_is_as_exact_as_erfc() -> None:
    """The interpreter's own, which `test_composed` goes by, has the error of x² as a factor."""
    x = np.random.default_rng(SEED).uniform(-25, 20, N)
    out = np.zeros(N)
    one[(1,)](x, out, tl.extra.libdevice.erfcx, N)
    for argument, found in zip(x.tolist(), out.tolist(), strict=True):
        expected = Decimal(math.erfc(argument)) * (Decimal(argument) ** 2).exp()
        assert abs(Decimal(found) / expected - 1) < Decimal("3e-15"), f"{argument}, seed {SEED}"


def test_erfcinv_is_the_inverse_down_to_the_smallest_numbers() -> None:
    """A relative error of y is one of 2y² in erfc(y)."""
    q = 10.0 ** np.random.default_rng(SEED).uniform(-300, 0, N)
    out = np.zeros(N)
    one[(1,)](q, out, tl.extra.libdevice.erfcinv, N)
    back = np.array([math.erfc(y) for y in out])
    assert np.all(np.abs(back / q - 1) <= 4e-16 * (4 + 2 * out * out) * 2), f"seed {SEED}"


def test_the_cpu_has_every_name() -> None:
    assert names().keys() - extern_functions(Target("cpu")).keys() - COMPOSED.keys() == set()
