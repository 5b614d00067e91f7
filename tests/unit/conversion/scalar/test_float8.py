"""Conversions of 8-bit floats in integer arithmetic, compiled for the host and run on every code and on numbers about
each of them, against the interpreter's rounding (tests/unit/interpreter/test_rounding.py compares that with a search).
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
from tritonx.conversion.scalar.conversions import narrowed, widened
from tritonx.conversion.scalar.ops import Ops
from tritonx.conversion.tile_to_loops.numbers import HostNumbers, Literal
from tritonx.interpreter.rounding import Rounding, round_to
from tritonx.interpreter.values import dtype_of
from tritonx.ir.types import FLOAT8_TYPES

SEED = int(os.environ["TRITONX_SEED"])
FORMATS = {type_.name: dtype_of(type_) for type_ in FLOAT8_TYPES}


def compiled(source: str, result: str, write: Callable[[Ops, str], str]) -> tuple[Callable[[int], int], Any]:
    """The conversion as a function from bits to bits, and what keeps it alive."""
    module = Module()
    ops = Ops(Writer(module), 0, HostNumbers(fuse=False), lambda _: Literal())
    value = ops.cast("bitcast", "i32", "%x", "float") if source == "float" else "%x"
    value = write(ops, value)
    into, back = (t.replace("float", "i32") for t in (source, result))
    value = ops.cast("bitcast", "float", value, "i32") if result == "float" else value
    lines = [f"define {back} @called({into} %x) {{", *ops.writer.lines, f"  ret {back} {value}", "}"]
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine: Any = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module.print((), lines)), machine)
    engine.finalize_object()
    integers = {"i8": ctypes.c_uint8, "i32": ctypes.c_uint32}
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
