"""Modules of products on arrays, as text, executed before and after a pass."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tritonx.interpreter.machine import interpret
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

TYPES = {"f32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "i8": np.int8}


def pointers(name, shape, element):
    """Text that loads a row-major matrix from `%name`."""
    rows, columns = shape
    count = rows * columns
    return f"""
  %{name}r = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %{name}m = tt.reshape %{name}r : tensor<{count}xi32> -> tensor<{rows}x{columns}xi32>
  %{name}s = tt.splat %{name} : !tt.ptr<{element}> -> tensor<{rows}x{columns}x!tt.ptr<{element}>>
  %{name}p = tt.addptr %{name}s, %{name}m : tensor<{rows}x{columns}x!tt.ptr<{element}>>, tensor<{rows}x{columns}xi32>
"""


def load(name, shape, element):
    rows, columns = shape
    return (
        pointers(name, shape, element)
        + f"  %{name}v = tt.load %{name}p : tensor<{rows}x{columns}x!tt.ptr<{element}>>\n"
    )


def function(parts, body, m, n):
    signature = ", ".join(f"%{name}: !tt.ptr<{element}>" for name, _, element in parts)
    loads = "".join(load(*part) for part in parts)
    store = pointers("o", (m, n), "f32") + f"  tt.store %op, %d : tensor<{m}x{n}x!tt.ptr<f32>>\n"
    return f"tt.func public @f({signature}, %o: !tt.ptr<f32>) {{{loads}{body}{store}  tt.return\n}}\n"


def both(text, arrays, shape, change):
    """Results before and after the pass ``change``, and the text after it."""
    results, module = [], parse_module(text)
    for apply in (False, True):
        if apply:
            change.apply(pass_context(), module)
            verify(module)
        out = np.zeros(shape, np.float32)
        interpret(module, 1, [*(a.copy() for a in arrays), out])
        results.append(out)
    return *results, str(module)
