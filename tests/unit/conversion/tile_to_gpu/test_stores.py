"""Which layouts stores get that what they store is converted for."""

from __future__ import annotations

import pytest

from tritonx.backends.nvidia.matrix_units import WarpMatrixUnit
from tritonx.conversion.tile_to_gpu.assign_layouts import AssignLayouts
from tritonx.conversion.tile_to_gpu.stores import warps_over_rows
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.ir.pipeline import run_passes
from tritonx.ir.text import parse_module
from tritonx.ir.types import encoding_of, type_of
from tritonx.layouts.encodings import BlockedEncoding

ROWS, COLUMNS, K = 64, 256, 16
OUT = f"{ROWS}x{COLUMNS}"


def pointers(name, rows, columns, stride):
    """Text of a tile of pointers `%<name>p` to f16, from `%<name>` on, in rows `%<stride>` apart."""
    shape = f"{rows}x{columns}"
    return f"""
  %{name}ri = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
  %{name}rj = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
  %{name}i0 = tt.expand_dims %{name}ri {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
  %{name}j0 = tt.expand_dims %{name}rj {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
  %{name}c = tt.splat %{stride} : i32 -> tensor<{rows}x1xi32>
  %{name}i1 = arith.muli %{name}i0, %{name}c : tensor<{rows}x1xi32>
  %{name}i = tt.broadcast %{name}i1 : tensor<{rows}x1xi32> -> tensor<{shape}xi32>
  %{name}j = tt.broadcast %{name}j0 : tensor<1x{columns}xi32> -> tensor<{shape}xi32>
  %{name}s = arith.addi %{name}i, %{name}j : tensor<{shape}xi32>
  %{name}b = tt.splat %{name} : !tt.ptr<f16> -> tensor<{shape}x!tt.ptr<f16>>
  %{name}p = tt.addptr %{name}b, %{name}s : tensor<{shape}x!tt.ptr<f16>>, tensor<{shape}xi32>
"""


PRODUCT = f"""
  %av = tt.load %ap : tensor<{ROWS}x{K}x!tt.ptr<f16>>
  %bv = tt.load %bp : tensor<{K}x{COLUMNS}x!tt.ptr<f16>>
  %zero = arith.constant dense<0.000000e+00> : tensor<{OUT}xf32>
  %d = tt.dot %av, %bv, %zero : tensor<{ROWS}x{K}xf16> * tensor<{K}x{COLUMNS}xf16> -> tensor<{OUT}xf32>
  %v = arith.truncf %d : tensor<{OUT}xf32> to tensor<{OUT}xf16>
"""
LOADED = f"  %v = tt.load %lp : tensor<{OUT}x!tt.ptr<f16>>\n"
STORE = f"  tt.store %op, %v : tensor<{OUT}x!tt.ptr<f16>>\n"
MASKED = f"""
  %mc = tt.splat %width : i32 -> tensor<{OUT}xi32>
  %m = arith.cmpi slt, %oj, %mc : tensor<{OUT}xi32>
  tt.store %op, %v, %m : tensor<{OUT}x!tt.ptr<f16>>
"""
OPERANDS = pointers("a", ROWS, K, "aligned") + pointers("b", K, COLUMNS, "aligned")


def stored(*parts):
    """The encoding of the pointers of the store in a function made of texts."""
    aligned = "{tt.divisibility = 16 : i32}"
    given = ", ".join(
        [*(f"%{name}: !tt.ptr<f16> {aligned}" for name in "ablo"), f"%aligned: i32 {aligned}, %any: i32, %width: i32"]
    )
    module = parse_module(f"tt.func public @f({given}) {{{''.join(parts)}  tt.return\n}}\n")
    run_passes(module, (AssignLayouts(GpuTarget("test", num_warps=8, units=(WarpMatrixUnit(80),))),))
    return next(encoding_of(type_of(op.operands[0])).data for op in module.walk() if op.name == "tt.store")


def blocked(per_thread, lanes, warps):
    return BlockedEncoding(per_thread, lanes, warps, (1, 0))


def test_a_product_goes_to_rows_that_are_not_aligned_with_warps_over_rows():
    """8 warps of 8 rows, and not of 64 rows and 32 columns."""
    assert stored(OPERANDS, pointers("o", ROWS, COLUMNS, "any"), PRODUCT, STORE) == blocked((1, 1), (1, 32), (8, 1))


def test_a_product_goes_to_aligned_rows_eight_at_a_time():
    assert stored(OPERANDS, pointers("o", ROWS, COLUMNS, "aligned"), PRODUCT, STORE) == blocked((1, 8), (1, 32), (8, 1))


def test_under_a_mask_of_any_width_rows_are_stored_eight_at_a_time():
    """All vectors of a row are whole or left out but the one at the mask's edge."""
    assert stored(OPERANDS, pointers("o", ROWS, COLUMNS, "aligned"), PRODUCT, MASKED).size_per_thread == (1, 8)


def test_a_mask_of_any_columns_is_stored_by_neighbouring_lanes():
    """Element by element: a lane with eight neighbours would be eight elements from the next."""
    one = MASKED.replace("slt", "ne")
    assert stored(OPERANDS, pointers("o", ROWS, COLUMNS, "aligned"), PRODUCT, one).size_per_thread == (1, 1)


def test_a_store_does_not_take_the_width_of_a_load_of_its_shape():
    more = f"""
  %lv = tt.load %lp {{isVolatile = true}} : tensor<{OUT}x!tt.ptr<f16>>
"""
    parts = OPERANDS, pointers("l", ROWS, COLUMNS, "aligned"), more, pointers("o", ROWS, COLUMNS, "any"), PRODUCT, STORE
    assert stored(*parts).size_per_thread == (1, 1)


def test_what_is_loaded_is_stored_as_it_is():
    """Nothing is converted for a store's sake."""
    found = stored(pointers("l", ROWS, COLUMNS, "any"), pointers("o", ROWS, COLUMNS, "any"), LOADED, STORE)
    assert found == blocked((1, 1), (1, 32), (1, 8))


@pytest.mark.parametrize(
    ("shape", "lanes", "warps", "order", "cga", "expected"),
    [
        ((64, 256), (1, 32), (1, 8), (1, 0), (), (8, 1)),
        ((4, 256), (1, 32), (1, 8), (1, 0), (), (4, 2)),
        ((4, 256), (1, 32), (1, 8), (1, 0), ((1, 0),), (2, 4)),
        ((256, 64), (32, 1), (8, 1), (0, 1), (), (1, 8)),
        ((2, 4, 64), (1, 1, 32), (1, 4, 2), (2, 1, 0), (), (2, 4, 1)),
        ((2, 32), (1, 32), (8, 1), (1, 0), (), (8, 1)),  # more warps than rows and columns: copies
        ((64,), (32,), (8,), (0,), (), (8,)),
    ],
)
def test_warps_over_rows(shape, lanes, warps, order, cga, expected):
    given = BlockedEncoding((1,) * len(shape), lanes, warps, order, cga)
    assert warps_over_rows(given, shape) == BlockedEncoding((1,) * len(shape), lanes, expected, order, cga)
