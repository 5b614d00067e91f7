"""Products that were split along K give, bit by bit where sums are exact, what they gave, in the interpreter."""

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
