"""Merging of dimensions: which ones a nest tells apart."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tritonx.conversion.tile_to_loops import collapse, loops
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

    monkeypatch.setattr(loops, "collapsed_shape", record)  # pyright: ignore[reportAttributeAccessIssue]
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
