"""Layouts that ops ask for by themselves, and what a value's layout says of its op's."""

from __future__ import annotations

from typing import Any

import pytest

from tritonx.conversion.tile_to_gpu.costs import rematerialisation_cost
from tritonx.conversion.tile_to_gpu.descriptors import descriptor_key
from tritonx.conversion.tile_to_gpu.propagation import propagation_of
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.ir.text import parse_module
from tritonx.layouts.encodings import BlockedEncoding, SliceEncoding

TARGET = GpuTarget("test")


def op_of(text: str, type_: type[Any]) -> Any:
    module = parse_module(text, "ops")
    return next(op for op in module.walk() if isinstance(op, type_))


DESCRIPTORS = """
tt.func @f(%d: !tt.tensordesc<tensor<ROWSxCOLUMNSxELEM>>, %o: !tt.tensordesc<tensor<1xCOLUMNSxELEM>>, %n: i32) {
  %v = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<ROWSxCOLUMNSxELEM>> -> tensor<ROWSxCOLUMNSxELEM>
  %i = arith.constant dense<0> : tensor<ROWSxi32>
  %g = tt.descriptor_gather %o[%i, %n] : (!tt.tensordesc<tensor<1xCOLUMNSxELEM>>, tensor<ROWSxi32>, i32) -> tensor<ROWSxCOLUMNSxELEM>
  tt.descriptor_scatter %o[%i, %n], %v : !tt.tensordesc<tensor<1xCOLUMNSxELEM>>, tensor<ROWSxi32>, i32, tensor<ROWSxCOLUMNSxELEM>
  tt.descriptor_store %d[%n, %n], %v : !tt.tensordesc<tensor<ROWSxCOLUMNSxELEM>>, tensor<ROWSxCOLUMNSxELEM>
  tt.return
}
"""  # noqa: E501


@pytest.mark.parametrize("type_", [tile.DescriptorLoadOp, tile.DescriptorGatherOp])
@pytest.mark.parametrize(("element", "per_thread"), [("i8", 16), ("f16", 8), ("bf16", 8), ("f32", 4), ("f64", 2)])
@pytest.mark.parametrize("columns", [1, 4, 64])
def test_blocks_that_are_loaded_have_sixteen_bytes_of_a_row_a_thread(
    type_: type[Any], element: str, per_thread: int, columns: int
) -> None:
    text = DESCRIPTORS.replace("ROWS", "64").replace("COLUMNS", str(columns)).replace("ELEM", element)
    found = descriptor_key(op_of(text, type_), TARGET)
    assert isinstance(found, BlockedEncoding)
    assert found.size_per_thread == (1, min(columns, per_thread)) and found.order == (1, 0)


@pytest.mark.parametrize("type_", [tile.DescriptorStoreOp, tile.DescriptorScatterOp, tile.ReturnOp])
def test_what_is_stored_keeps_its_layout(type_: type[Any]) -> None:
    text = DESCRIPTORS.replace("ROWS", "8").replace("COLUMNS", "8").replace("ELEM", "f32")
    assert descriptor_key(op_of(text, type_), TARGET) is None


ROWS = BlockedEncoding((1, 4), (4, 8), (4, 1), (1, 0))
REDUCE = """
tt.func @f(%x: tensor<64x64xf32>) {
  %s = "tt.reduce"(%x) <{axis = AXIS : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<64x64xf32>) -> tensor<64xf32>
  tt.return
}
"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_reduction_follows_a_slice_of_its_axis_only(axis: int, dim: int) -> None:
    op = op_of(REDUCE.replace("AXIS", str(axis)), tile.ReduceOp)
    propagation = propagation_of(op)
    assert propagation.results(op, ROWS) == [SliceEncoding(axis, ROWS)]
    assert propagation.key_of_result(op, 0, SliceEncoding(dim, ROWS)) == (ROWS if dim == axis else None)
    assert propagation.key_of_result(op, 0, BlockedEncoding((1,), (32,), (4,), (0,))) is None


SOURCES = """
tt.func @f(%x: f32) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %x : f32 -> tensor<1024xf32>
  %c = arith.constant dense<1.0> : tensor<1024xf32>
  tt.return
}
"""


def test_a_range_costs_its_registers_and_what_is_everywhere_the_same_one() -> None:
    line = BlockedEncoding((1,), (32,), (4,), (0,))
    assert rematerialisation_cost(op_of(SOURCES, tile.MakeRangeOp), line) == 8
    assert rematerialisation_cost(op_of(SOURCES, tile.SplatOp), line) == 1
