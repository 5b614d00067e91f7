"""Decomposed products give what the products gave, in the interpreter."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tritonx.interpreter.machine import interpret
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.decompose_dots import DecomposeDots

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


def both(text, arrays, shape, matrix_types):
    """Results before and after."""
    results = []
    for decompose in (False, True):
        module = parse_module(text)
        if decompose:
            DecomposeDots(matrix_types).apply(pass_context(), module)
            verify(module)
        out = np.zeros(shape, np.float32)
        interpret(module, 1, [*(a.copy() for a in arrays), out])
        results.append(out)
    return results


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3", "bf16x6", "tf32", "ieee"])
@pytest.mark.parametrize("special", [False, True])
def test_precisions(precision, special):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(16, 32)).astype(np.float32), rng.normal(size=(32, 16)).astype(np.float32)
    c = rng.normal(size=(16, 16)).astype(np.float32)
    if special:
        a[3, 4], b[5, 6] = np.inf, -np.inf
    parts = [("a", (16, 32), "f32"), ("b", (32, 16), "f32"), ("c", (16, 16), "f32")]
    kind = "tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>"
    text = function(parts, f"  %d = tt.dot %av, %bv, %cv, inputPrecision = {precision} : {kind}\n", 16, 16)
    before, after = both(text, [a, b, c], (16, 16), "f32 bf16 f16")
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pair", [("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E4M3FN")])
def test_narrow_floats(pair):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(16, 16)).astype(TYPES[kind]) for kind in pair)
    c = np.zeros((16, 16), np.float32)
    parts = [("a", (16, 16), pair[0]), ("b", (16, 16), pair[1]), ("c", (16, 16), "f32")]
    kind = f"tensor<16x16x{pair[0]}> * tensor<16x16x{pair[1]}> -> tensor<16x16xf32>"
    text = function(parts, f"  %d = tt.dot %av, %bv, %cv, inputPrecision = ieee : {kind}\n", 16, 16)
    before, after = both(text, [a, b, c], (16, 16), "f16")
    np.testing.assert_array_equal(after, before)


SCALED = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e2m1": "i8"}


@pytest.mark.parametrize("lhs", SCALED)
@pytest.mark.parametrize("rhs", SCALED)
def test_scaled(lhs, rhs):
    rng = np.random.default_rng(2)

    def operand(kind, shape, k_axis):
        if kind == "e2m1":
            shape = tuple(n // 2 if d == k_axis else n for d, n in enumerate(shape))
            return rng.integers(-128, 128, shape).astype(np.int8)
        return rng.normal(size=shape).astype(TYPES[SCALED[kind]])

    a, b = operand(lhs, (16, 64), 1), operand(rhs, (64, 16), 0)
    # 0 is 2**-127, a subnormal; 255 is NaN.
    sa, sb = (rng.choice([0, 120, 127, 130, 255], p=[0.05, 0.3, 0.3, 0.3, 0.05], size=(16, 2)) for _ in range(2))
    c = rng.normal(size=(16, 16)).astype(np.float32)
    types = [f"tensor<{x.shape[0]}x{x.shape[1]}x{SCALED[k]}>" for x, k in ((a, lhs), (b, rhs))]
    parts = [("a", a.shape, SCALED[lhs]), ("sa", (16, 2), "i8"), ("b", b.shape, SCALED[rhs]), ("sb", (16, 2), "i8")]
    parts.append(("c", (16, 16), "f32"))
    scale = "tensor<16x2xi8>"
    body = (
        f"  %d = tt.dot_scaled %av scale %sav, %bv scale %sbv, %cv lhs = {lhs} rhs = {rhs} {{fastMath = false}}"
        f" : {types[0]}, {scale} * {types[1]}, {scale} -> tensor<16x16xf32>\n"
    )
    arrays = [a, sa.astype(np.uint8).view(np.int8), b, sb.astype(np.uint8).view(np.int8), c]
    before, after = both(function(parts, body, 16, 16), arrays, (16, 16), "bf16 f16")
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("code", [0, 1, 126, 127, 128, 200, 254, 255])
def test_each_code_of_a_scale_by_itself(code):
    """A power of two, or NaN. Numbers above zero only: else an infinity in its place would give NaN in the sum too."""
    a, b = np.full((16, 32), 1, TYPES["f8E4M3FN"]), np.full((32, 16), 1 / 32, TYPES["f8E4M3FN"])
    scales, c = np.full((16, 1), code, np.uint8).view(np.int8), np.zeros((16, 16), np.float32)
    parts = [("a", a.shape, "f8E4M3FN"), ("s", (16, 1), "i8"), ("b", b.shape, "f8E4M3FN"), ("c", c.shape, "f32")]
    body = (
        "  %d = tt.dot_scaled %av scale %sv, %bv, %cv lhs = e4m3 rhs = e4m3 {fastMath = false}"
        " : tensor<16x32xf8E4M3FN>, tensor<16x1xi8> * tensor<32x16xf8E4M3FN> -> tensor<16x16xf32>\n"
    )
    wanted = np.float32(np.nan) if code == 255 else np.ldexp(np.float32(1), code - 127)
    for result in both(function(parts, body, 16, 16), [a, scales, b, c], (16, 16), "bf16 f16"):
        np.testing.assert_array_equal(result, np.full((16, 16), wanted))
