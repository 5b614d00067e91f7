"""Library functions composed of other ops, against what the interpreter says the library's function is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx import jit
from tritonx.backends.api import Target
from tritonx.frontend.compile import make_module
from tritonx.frontend.semantics import extern
from tritonx.frontend.semantics.library import COMPOSED
from tritonx.interpreter.machine import interpret
from tritonx.interpreter.options import InterpreterOptions
from tritonx.language.libdevice_table import overloads

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
    "mulhi": high_half, "mul24": product_of_24_bits, "hadd": average(0), "rhadd": average(1), "sad": difference_plus,
}  # fmt: skip

CASES = [(name, types, result) for name in COMPOSED for types, result in overloads(name).items()]


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
    base = ("tanh", "rint", "round", "logb", "cbrt", "hypot", "erfc")
    table: Any = {n: {t: (n, r) for t, r in overloads(n).items()} for n in base}
    monkeypatch.setattr(extern, "extern_functions", lambda target: table)
    got = run(name, types, result, arrays)
    if "int" in result or "as_" in name or name == "hiloint2double":
        np.testing.assert_array_equal(got, expected.view(got.dtype))
    else:
        precise = np.finfo(got.dtype).eps
        relative = 1e-4 if name.startswith("fast_") else precise * (200 if "pi" in name else 8)
        absolute = precise * 4 if "pi" in name or "normcdf" in name else 0
        with np.errstate(over="ignore"):
            expected = expected.astype(got.dtype)
        np.testing.assert_allclose(got, expected, rtol=relative, atol=absolute)
