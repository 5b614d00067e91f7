"""Merging of dimensions: which ones a nest tells apart."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tritonx.conversion.tile_to_loops import collapse, control
from tritonx.conversion.tile_to_loops.isa import AVX512
from tritonx.conversion.tile_to_loops.lower import lower_module
from tritonx.ir.text import parse_module


def shapes(module: ModuleOp, monkeypatch: object) -> list[tuple[int, ...]]:
    """The shapes in which the groups of a kernel are walked."""
    found: list[tuple[int, ...]] = []
    original = collapse.collapsed_shape

    def record(e: object, group: object) -> tuple[int, ...]:
        found.append(original(e, group))  # pyright: ignore[reportArgumentType]
        return found[-1]

    monkeypatch.setattr(control, "collapsed_shape", record)  # pyright: ignore[reportAttributeAccessIssue]
    lower_module(module, AVX512, data_layout="", fuse=False)
    return found


def kernel(body: str) -> ModuleOp:
    return parse_module(f"""
tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {{
  %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %xi = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %xi : tensor<64x!tt.ptr<i32>>
  %c = tt.reshape %v : tensor<64xi32> -> tensor<2x2x2x2x2x2xi32>
  {body}
  tt.return
}}""")


_SUM = """
  %s = "tt.reduce"(%c) <{axis = AXIS : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tt.reduce.return %t : i32
  }) : (tensor<2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2xi32>
  %r = tt.reshape %s : tensor<2x2x2x2x2xi32> -> tensor<32xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %j = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %yj = tt.addptr %ys, %j : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  tt.store %yj, %r : tensor<32x!tt.ptr<i32>>"""


def test_a_reduction_keeps_its_own_axis(monkeypatch: object) -> None:
    assert shapes(kernel(_SUM.replace("AXIS", "2")), monkeypatch) == [(64,), (1, 4, 2, 1, 1, 8), (32,)]


def test_a_reduction_along_the_last_axis(monkeypatch: object) -> None:
    assert shapes(kernel(_SUM.replace("AXIS", "5")), monkeypatch) == [(64,), (1, 1, 1, 1, 32, 2), (32,)]


def test_a_transposition_tells_all_moved_dimensions_apart(monkeypatch: object) -> None:
    module = kernel("""
  %t = tt.trans %c {order = array<i32: 0, 1, 2, 5, 4, 3>} : tensor<2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2xi32>
  %r = tt.reshape %t : tensor<2x2x2x2x2x2xi32> -> tensor<64xi32>
  tt.store %xi, %r : tensor<64x!tt.ptr<i32>>""")
    assert (1, 1, 8, 2, 2, 2) in shapes(module, monkeypatch)


def test_a_store_is_walked_by_its_addresses_though_their_tile_is_in_memory(monkeypatch: object) -> None:
    """Two matrices of 16 rows of 16, 512 apart: rows and columns are one dimension, matrices and rows are not."""
    module = parse_module("""
tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %c = arith.constant dense<512> : tensor<2x1x1xi32>
  %r = arith.constant dense<16> : tensor<1x16x1xi32>
  %zero = arith.constant dense<0.000000e+00> : tensor<2x16x16xf32>
  %b = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %b1 = tt.expand_dims %b {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %b2 = tt.expand_dims %b1 {axis = 2 : i32} : tensor<2x1xi32> -> tensor<2x1x1xi32>
  %bs = arith.muli %b2, %c : tensor<2x1x1xi32>
  %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %i2 = tt.expand_dims %i1 {axis = 2 : i32} : tensor<1x16xi32> -> tensor<1x16x1xi32>
  %is = arith.muli %i2, %r : tensor<1x16x1xi32>
  %j = tt.expand_dims %i1 {axis = 1 : i32} : tensor<1x16xi32> -> tensor<1x1x16xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<2x1x1x!tt.ptr<f32>>
  %yb = tt.addptr %ys, %bs : tensor<2x1x1x!tt.ptr<f32>>, tensor<2x1x1xi32>
  %yw = tt.broadcast %yb : tensor<2x1x1x!tt.ptr<f32>> -> tensor<2x16x1x!tt.ptr<f32>>
  %iw = tt.broadcast %is : tensor<1x16x1xi32> -> tensor<2x16x1xi32>
  %yi = tt.addptr %yw, %iw : tensor<2x16x1x!tt.ptr<f32>>, tensor<2x16x1xi32>
  %yv = tt.broadcast %yi : tensor<2x16x1x!tt.ptr<f32>> -> tensor<2x16x16x!tt.ptr<f32>>
  %jw = tt.broadcast %j : tensor<1x1x16xi32> -> tensor<2x16x16xi32>
  %p = tt.addptr %yv, %jw : tensor<2x16x16x!tt.ptr<f32>>, tensor<2x16x16xi32>
  tt.store %p, %zero : tensor<2x16x16x!tt.ptr<f32>>
  tt.return
}""")
    assert shapes(module, monkeypatch)[-1] == (2, 1, 256)
