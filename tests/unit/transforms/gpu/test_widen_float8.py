"""Arithmetic on 8-bit floats means the same in f32: on every pair of numbers, in the interpreter."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tritonx.interpreter.machine import interpret
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.widen_float8 import WidenFloat8

FORMATS = {
    "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
}  # fmt: skip
N = 1 << 16
BINARY = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "tt.precise_divf")
EXTREMA = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
UNARY = ("arith.negf", "math.absf", "math.floor", "math.ceil", "math.sqrt", "math.exp", "math.log2")


def program(body: str, element: str) -> str:
    """`%z` of 65536 pairs `%x`, `%y` of codes."""
    tile, pointers = f"tensor<{N}x{element}>", f"tensor<{N}x!tt.ptr<{element}>>"
    lines = [f"%i = tt.make_range {{end = {N} : i32, start = 0 : i32}} : tensor<{N}xi32>"]
    for name in "xyz":
        lines.append(f"%{name}s = tt.splat %{name}p : !tt.ptr<{element}> -> {pointers}")
        lines.append(f"%{name}a = tt.addptr %{name}s, %i : {pointers}, tensor<{N}xi32>")
    loads = [f"%{name} = tt.load %{name}a : {pointers}" for name in "xy"]
    text = "\n  ".join([*lines, *loads, body.replace("TYPE", tile), f"tt.store %za, %z : {pointers}", "tt.return"])
    signature = ", ".join(f"%{name}p: !tt.ptr<{element}>" for name in "xyz")
    return f"tt.func public @f({signature}) {{\n  {text}\n}}\n"


def both(text: str, element: str) -> list[np.ndarray]:
    """Results before and after, as numbers."""
    results: list[np.ndarray] = []
    for widen in (False, True):
        module = parse_module(text)
        if widen:
            WidenFloat8().apply(pass_context(), module)
            verify(module)
        x, y = (a.astype(np.int8) for a in np.divmod(np.arange(N), 256))
        out = np.full(N, 0x55, np.int8)
        interpret(module, 1, [x, y, out])
        results.append(out.view(FORMATS[element]).astype(np.float32))
    return results


@pytest.mark.parametrize("element", FORMATS)
@pytest.mark.parametrize("op", [*BINARY, *EXTREMA, *UNARY, "math.fma", "tt.clampf"])
def test_every_pair(op: str, element: str) -> None:
    operands = "%x" if op in UNARY else "%x, %y"
    if op == "math.fma":
        operands = "%x, %y, %x"
    clamp = "%x, %y, %x, propagateNan = none"
    before, after = both(program(f"%z = {op} {clamp if op == 'tt.clampf' else operands} : TYPE", element), element)
    np.testing.assert_array_equal(after, before)
