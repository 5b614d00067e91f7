"""Products that were split along K give, bit by bit where sums are exact, what they gave, in the interpreter; so do
those whose operands are loaded in parts, under a mask of their own."""

from __future__ import annotations

import numpy as np
import pytest

from tritonx.interpreter.machine import interpret
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.split_dots import SplitDots

TEXT = """
tt.func public @f(%a: !tt.ptr<f64>, %b: !tt.ptr<f64>, %o: !tt.ptr<f64>) {{
  {a}
  {b}
  {o}
  %av = tt.load %ap : tensor<{batch}{m}x{k}x!tt.ptr<f64>>
  %bv = tt.load %bp : tensor<{batch}{k}x{n}x!tt.ptr<f64>>
  %c = arith.constant dense<1.0> : tensor<{batch}{m}x{n}xf64>
  %d = tt.dot %av, %bv, %c : tensor<{batch}{m}x{k}xf64> * tensor<{batch}{k}x{n}xf64> -> tensor<{batch}{m}x{n}xf64>
  tt.store %op, %d : tensor<{batch}{m}x{n}x!tt.ptr<f64>>
  tt.return
}}
"""


def pointers(name: str, shape: tuple[int, ...]) -> str:
    """Text that points at a row-major array."""
    count, dims = int(np.prod(shape)), "x".join(map(str, shape))
    return f"""
  %{name}r = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %{name}m = tt.reshape %{name}r : tensor<{count}xi32> -> tensor<{dims}xi32>
  %{name}s = tt.splat %{name} : !tt.ptr<f64> -> tensor<{dims}x!tt.ptr<f64>>
  %{name}p = tt.addptr %{name}s, %{name}m : tensor<{dims}x!tt.ptr<f64>>, tensor<{dims}xi32>
"""


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize(("limit", "products"), [(1 << 20, 1), (40 << 10, 2), (1 << 10, 4)])
def test_same_sums(batch: tuple[int, ...], limit: int, products: int) -> None:
    m, n, k = 16, 32, 128
    shapes = {"a": (*batch, m, k), "b": (*batch, k, n), "o": (*batch, m, n)}
    parts = {name: pointers(name, shape) for name, shape in shapes.items()}
    text = TEXT.format(m=m, n=n, k=k, batch="".join(f"{size}x" for size in batch), **parts)
    module = parse_module(text)
    SplitDots(limit if not batch else 2 * limit).apply(pass_context(), module)
    verify(module)
    assert str(module).count("tt.dot") == products
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 8, shapes[name]).astype(np.float64) for name in "ab")
    out = np.zeros(shapes["o"])
    interpret(module, 1, [a, b, out])
    np.testing.assert_array_equal(out, a @ b + 1)


MASKED = """
tt.func public @f(%a: !tt.ptr<f64>, %b: !tt.ptr<f64>, %o: !tt.ptr<f64>, %length: i32) {{
  %none = arith.constant dense<0.0> : tensor<{m}x{k}xf64>
  {operands}
  %bound = tt.splat %length : i32 -> tensor<{m}x{k}xi32>
  %mask = arith.cmpi slt, %ac, %bound : tensor<{m}x{k}xi32>
  %av = tt.load %ap, %mask, %none : tensor<{m}x{k}x!tt.ptr<f64>>
  %bv = tt.load %bp : tensor<{k}x{n}x!tt.ptr<f64>>
  {between}
  %two = arith.constant dense<2.0> : tensor<{k}x{n}xf64>
  %twice = arith.mulf %bv, %two : tensor<{k}x{n}xf64>
  %c = arith.constant dense<1.0> : tensor<{m}x{n}xf64>
  %d = tt.dot %av, %twice, %c : tensor<{m}x{k}xf64> * tensor<{k}x{n}xf64> -> tensor<{m}x{n}xf64>
  tt.store %op, %d : tensor<{m}x{n}x!tt.ptr<f64>>
  tt.return
}}
"""


def by_rows_and_columns(name: str, rows: int, columns: int) -> str:
    tile = f"{rows}x{columns}"
    return f"""
  %{name}i = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
  %{name}j = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
  %{name}i1 = tt.expand_dims %{name}i {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
  %{name}j1 = tt.expand_dims %{name}j {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
  %{name}w = arith.constant dense<{columns}> : tensor<{rows}x1xi32>
  %{name}s = arith.muli %{name}i1, %{name}w : tensor<{rows}x1xi32>
  %{name}r = tt.broadcast %{name}s : tensor<{rows}x1xi32> -> tensor<{tile}xi32>
  %{name}c = tt.broadcast %{name}j1 : tensor<1x{columns}xi32> -> tensor<{tile}xi32>
  %{name}o = arith.addi %{name}r, %{name}c : tensor<{tile}xi32>
  %{name}base = tt.splat %{name} : !tt.ptr<f64> -> tensor<{tile}x!tt.ptr<f64>>
  %{name}p = tt.addptr %{name}base, %{name}o : tensor<{tile}x!tt.ptr<f64>>, tensor<{tile}xi32>
"""


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("length", [0, 50, 128])
def test_operands_are_loaded_in_parts(between: bool, length: int) -> None:
    """Unless what they read is written ``between``: 1 for all that was loaded."""
    m, n, k = 16, 32, 128
    operands = "".join(
        by_rows_and_columns(name, *shape) for name, shape in (("a", (m, k)), ("b", (k, n)), ("o", (m, n)))
    )
    ones = f"""%ones = arith.constant dense<1.0> : tensor<{k}x{n}xf64>
  tt.store %bp, %ones : tensor<{k}x{n}x!tt.ptr<f64>>"""
    text = MASKED.format(m=m, n=n, k=k, operands=operands, between=ones if between else "")
    module = parse_module(text)
    SplitDots(1 << 10).apply(pass_context(), module)
    verify(module)
    assert str(module).count("tt.load") == (2 if between else 8)
    rng = np.random.default_rng(length)
    a, b = rng.integers(-8, 8, (m, k)).astype(np.float64), rng.integers(-8, 8, (k, n)).astype(np.float64)
    out, expected = np.zeros((m, n)), a[:, :length] @ (2 * b[:length]) + 1
    interpret(module, 1, [a, b, out, length])
    np.testing.assert_array_equal(out, expected)
