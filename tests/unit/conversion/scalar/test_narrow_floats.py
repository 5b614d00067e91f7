"""Conversions of 8-bit floats and bf16 in integer arithmetic, compiled for the host and run on every code and what lies
about each, against the interpreter's rounding, which tests/unit/interpreter/test_rounding.py compares with a
search; conversions of integers likewise.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.scalar.conversions import convert, integer_to_float, narrowed, widened
from tritonx.conversion.scalar.ops import Ops
from tritonx.conversion.tile_to_loops.numbers import HostNumbers, Literal
from tritonx.interpreter.rounding import Rounding, round_to
from tritonx.interpreter.rounding import integer_to_float as rounded_once
from tritonx.interpreter.values import dtype_of
from tritonx.ir.types import FLOAT8_TYPES, bf16
from tritonx_testing.differential.operands import edges, ties

SEED = int(os.environ["TRITONX_SEED"])
INTEGERS = {"float": "i32", "double": "i64"}
FORMATS = {type_.name: dtype_of(type_) for type_ in FLOAT8_TYPES}


def compiled(source: str, result: str, write: Callable[[Ops, str], str]) -> tuple[Callable[[int], int], Any]:
    """The conversion as a function from bits to bits, and what keeps it alive."""
    module = Module()
    ops = Ops(Writer(module), 0, HostNumbers(fuse=False), lambda _: Literal())
    value = ops.cast("bitcast", INTEGERS[source], "%x", source) if source in INTEGERS else "%x"
    value = write(ops, value)
    into, back = (INTEGERS.get(t, t) for t in (source, result))
    value = ops.cast("bitcast", "float", value, "i32") if result == "float" else value
    lines = [f"define {back} @called({into} %x) {{", *ops.writer.lines, f"  ret {back} {value}", "}"]
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine: Any = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module.print((), lines)), machine)
    engine.finalize_object()
    integers = {"i8": ctypes.c_uint8, "i16": ctypes.c_uint16, "i32": ctypes.c_uint32, "i64": ctypes.c_uint64}
    address = engine.get_function_address("called")
    return ctypes.CFUNCTYPE(integers[back], integers[into])(address), engine


def numbers(dtype: np.dtype) -> np.ndarray:
    """Every value of the format, the middles between neighbours, the numbers next to all of these; what overflows, what
    is not finite; and numbers from everywhere."""
    with np.errstate(all="ignore"):
        codes = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    values = np.unique(np.abs(codes[np.isfinite(codes)]))
    exact = np.concatenate((values, (values[1:] + values[:-1]) / 2, [2 * values[-1], 1e-45, 1e-38, 3e38]))
    exact = exact.astype(np.float32)
    near = np.concatenate((exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(0))))
    drawn = np.exp2(np.random.default_rng(SEED).uniform(-22, 18, 500)).astype(np.float32)
    positive = np.concatenate((near, drawn, np.array([np.inf, np.nan], np.float32)))
    return np.concatenate((positive, -positive))


@pytest.mark.parametrize("toward_zero", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_narrowing(name: str, toward_zero: bool) -> None:
    function, _engine = compiled("float", "i8", lambda ops, x: narrowed(ops, x, name, toward_zero=toward_zero))
    dtype, values = FORMATS[name], numbers(FORMATS[name])
    got = np.array([function(int(bits)) for bits in values.view(np.uint32)], np.uint8)
    with np.errstate(all="ignore"):
        finite = np.clip(values, np.finfo(np.float32).min, np.finfo(np.float32).max)  # infinities saturate too
        mode = Rounding.TOWARDS_ZERO if toward_zero else Rounding.NEAREST_EVEN
        wanted = round_to(finite, dtype, mode).view(np.uint8)
    nan = np.isnan(values)
    assert np.isnan(got[nan].view(dtype).astype(np.float32)).all()
    wrong = np.flatnonzero((got != wanted) & ~nan)
    assert not wrong.size, f"{values[wrong[0]]!r}: {got[wrong[0]]:#x}, not {wanted[wrong[0]]:#x} (seed {SEED})"


@pytest.mark.parametrize("name", FORMATS)
def test_widening(name: str) -> None:
    function, _engine = compiled("i8", "float", lambda ops, x: widened(ops, x, name))
    codes = np.arange(256, dtype=np.uint8)
    got = np.array([function(int(code)) for code in codes], np.uint32).view(np.float32)
    wanted = codes.view(FORMATS[name]).astype(np.float32)
    np.testing.assert_array_equal(got, wanted)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(wanted[zero]))


@pytest.mark.parametrize(("name", "target"), [*((name, "bf16") for name in FORMATS), ("f8E5M2", "f16")])
def test_widening_to_halves(name: str, target: str) -> None:
    """Nothing is rounded: bf16 is cut out of f32, and f8E5M2 is the upper half of f16."""
    lines: list[str] = []

    def write(ops: Ops, x: str) -> str:
        value = ops.cast("bitcast", ops.target.format(target), convert(ops, x, name, target), "i16")
        lines.extend(ops.writer.lines)
        return value

    function, _engine = compiled("i8", "i16", write)
    codes = np.arange(256, dtype=np.uint8)
    dtype = np.dtype(np.float16) if target == "f16" else dtype_of(bf16)
    got = np.array([function(int(code)) for code in codes], np.uint16).view(dtype).astype(np.float32)
    wanted = codes.view(FORMATS[name]).astype(np.float32)
    np.testing.assert_array_equal(got, wanted)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(wanted[zero]))
    assert not any("fptrunc" in line or (target == "f16" and "float" in line) for line in lines)


def halves(source: type[np.floating[Any]], dtype: np.dtype) -> np.ndarray:
    """Numbers of every size, the middles between neighbours of ``dtype`` and what lies next to these, and what is not
    finite, among it a NaN of which only the lowest bit is set."""
    random = np.random.default_rng(SEED)
    size = np.exp2(random.uniform(-140, 130, 500)) * random.choice([-1.0, 1.0], 500)
    exact = np.concatenate((size, np.exp2(random.uniform(-20, 18, 500))))
    with np.errstate(all="ignore"):
        low = round_to(exact.astype(source), dtype, Rounding.TOWARDS_ZERO)
        above = (low.view(f"u{dtype.itemsize}") + 1).astype(f"u{dtype.itemsize}").view(dtype)
        middle = (low.astype(np.float64) + above.astype(np.float64)) / 2
        found = np.concatenate((exact, middle)).astype(source)
        near = [found, np.nextafter(found, source(np.inf)), np.nextafter(found, source(0))]
    bits = np.array([np.inf], source).view(f"u{exact.astype(source).itemsize}") + 1
    return np.concatenate((*near, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], source), bits.view(source)))


@pytest.mark.parametrize("toward_zero", [False, True])
@pytest.mark.parametrize("target", ["bf16", *FORMATS])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_one_rounding(source: str, target: str, toward_zero: bool) -> None:
    """From f64 as well, which goes by way of f32."""
    given = np.float32 if source == "f32" else np.float64
    dtype = FORMATS[target] if target in FORMATS else dtype_of(bf16)
    values, width = halves(given, dtype), dtype.itemsize
    elem = "float" if source == "f32" else "double"
    function, _engine = compiled(
        elem, f"i{8 * width}", lambda ops, x: convert(ops, x, source, target, toward_zero=toward_zero)
    )
    got = np.array([function(int(bits)) for bits in values.view(f"u{values.itemsize}")], f"u{width}")
    with np.errstate(all="ignore"):
        mode = Rounding.TOWARDS_ZERO if toward_zero else Rounding.NEAREST_EVEN
        wanted = round_to(values, dtype, mode).view(f"u{width}")
    nan = np.isnan(values)
    assert np.isnan(got[nan].view(dtype).astype(np.float32)).all()
    wrong = np.flatnonzero((got != wanted) & ~nan)
    assert not wrong.size, f"{values[wrong[0]]!r}: {got[wrong[0]]:#x}, not {wanted[wrong[0]]:#x} (seed {SEED})"


@pytest.mark.parametrize("target", ["bf16", *FORMATS])
@pytest.mark.parametrize("source", ["int16", "int32", "int64", "uint16", "uint32", "uint64"])
def test_integers(source: str, target: str) -> None:
    """Next to the middles of bf16, with more digits than f32 has."""
    dtype = FORMATS[target] if target in FORMATS else dtype_of(bf16)
    values = np.concatenate((edges(source), ties(np.random.default_rng(SEED), source, 1000)))
    bits, width = 8 * values.itemsize, 8 * dtype.itemsize
    function, _engine = compiled(
        f"i{bits}", f"i{width}", lambda ops, x: integer_to_float(ops, x, f"i{bits}", target, signed=source[0] == "i")
    )
    got = np.array([function(int(x)) for x in values.view(f"u{values.itemsize}")], f"u{width // 8}")
    with np.errstate(all="ignore"):
        wanted = rounded_once(values, dtype).view(got.dtype)
    wrong = np.flatnonzero(got != wanted)
    assert not wrong.size, f"{values[wrong[0]]}: {got[wrong[0]]:#x}, not {wanted[wrong[0]]:#x} (seed {SEED})"
