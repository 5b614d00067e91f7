"""Every op says how its layouts hang together, every table that asks knows the answer, and a layout that does not fit
is found, whichever it is."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from xdsl.ir import Dialect

from tritonx.analysis.axis_rules import is_repeatable
from tritonx.conversion.tile_to_gpu.propagation import PROPAGATIONS, propagation_of
from tritonx.conversion.tile_to_loops.families import INLINE, LOADS
from tritonx.dialects import arith, cf, gpu, math, scf, tile, ub
from tritonx.dialects.gpu_layout import ConvertLayoutOp, attribute_of
from tritonx.dialects.layout_constraints import CarriedTypes, LayoutConstraint, NoTensors, constraint_of
from tritonx.ir.context import dialect_loaders, new_context
from tritonx.ir.edit import set_type
from tritonx.ir.effects import may_read, may_write
from tritonx.ir.errors import VerifyFailure
from tritonx.ir.failure import PassError
from tritonx.ir.text import parse_module
from tritonx.ir.types import is_tensor, shape_of, with_encoding
from tritonx.ir.verify import verify
from tritonx.layouts import encodings as ttg

FOREIGN = ("builtin", "func", "test")
"""Dialects of others."""
OPS = [op for name, load in dialect_loaders().items() if name not in FOREIGN for op in load().operations]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_declares_how_its_layouts_hang_together(op):
    assert isinstance(getattr(op, "LAYOUTS", None), LayoutConstraint)


def test_layout_assignment_knows_every_constraint_of_the_tile_dialect():
    dialects: list[Dialect] = [module.__dict__[name] for module, name in (
        (tile, "Tile"), (arith, "Arith"), (math, "Math"), (scf, "Scf"), (cf, "Cf"), (ub, "Ub"), (gpu, "Gpu"),
    )]  # fmt: skip
    declared = {type(op.LAYOUTS) for dialect in dialects for op in dialect.operations}
    assert declared - {NoTensors, CarriedTypes} == set(PROPAGATIONS)


def test_an_op_that_declares_nothing_is_refused():
    text = (
        '#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"test.op"() :'
        " () -> tensor<128xf32, #b>"
    )
    module = parse_module(text, "input.mlir", context=new_context(allow_unregistered=True))
    with pytest.raises(VerifyFailure, match="declares no LAYOUTS"):
        verify(module)
    op = module.body.block.first_op
    assert constraint_of(op) is None
    with pytest.raises(PassError, match="not known"):
        propagation_of(op)
    assert not is_repeatable(op)


def test_what_is_evaluated_where_it_is_used_writes_nothing_and_reads_as_a_load_does():
    for op in INLINE - {tile.ExternElementwiseOp}:  # which says itself whether it is pure
        made = op.create()
        assert (may_read(made), may_write(made)) == (op in LOADS, False), op.name


# --- layouts that do not fit

GOOD = """
#a = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#t = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [0, 1]}>
#j = #ttg.blocked<{sizePerThread = [2, 2, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [2, 2, 1], order = [2, 1, 0]}>
#f = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#x = #ttg.slice<{dim = 1, parent = #a}>
#y = #ttg.slice<{dim = 0, parent = #a}>
#d0 = #ttg.dot_op<{opIdx = 0, parent = #a}>
#d1 = #ttg.dot_op<{opIdx = 1, parent = #a}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func @k(%m: tensor<32x64xf32, #a>, %i: tensor<32x64xi32, #a>, %p: tensor<32x64x!tt.ptr<f32>, #a>,
             %b: tensor<32x64xi1, #a>, %e: tensor<32x64xi8, #a>, %n: tensor<32xi32, #x>, %w: tensor<32xi1, #x>,
             %q: tensor<32x32xf32, #d0>, %s: tensor<32x64xf32, #d1>) {
OP
    tt.return
  }
}
"""
OPERATIONS = {
    "elementwise": "    %0 = arith.addf %m, %m : tensor<32x64xf32, #a>",
    "compare": "    %0 = arith.cmpf olt, %m, %m : tensor<32x64xf32, #a>",
    "select": "    %0 = arith.select %b, %m, %m : tensor<32x64xi1, #a>, tensor<32x64xf32, #a>",
    "load": "    %0 = tt.load %p, %b, %m : tensor<32x64x!tt.ptr<f32>, #a>",
    "store": "    tt.store %p, %m, %b : tensor<32x64x!tt.ptr<f32>, #a>",
    "atomic": "    %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %m, %b : (tensor<32x64x!tt.ptr<f32>, #a>,"
    " tensor<32x64xf32, #a>, tensor<32x64xi1, #a>) -> tensor<32x64xf32, #a>",
    "reduce": """    %0 = "tt.reduce"(%m) <{axis = 1 : i32}> ({
    ^bb0(%u: f32, %v: f32):
      %z = arith.addf %u, %v : f32
      tt.reduce.return %z : f32
    }) : (tensor<32x64xf32, #a>) -> tensor<32xf32, #x>""",
    "scan": """    %0 = "tt.scan"(%m) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%u: f32, %v: f32):
      %z = arith.addf %u, %v : f32
      tt.scan.return %z : f32
    }) : (tensor<32x64xf32, #a>) -> tensor<32x64xf32, #a>""",
    "expand_dims": "    %0 = tt.expand_dims %n {axis = 1 : i32} : tensor<32xi32, #x> -> tensor<32x1xi32, #a>",
    "broadcast": "    %1 = tt.expand_dims %n {axis = 1 : i32} : tensor<32xi32, #x> -> tensor<32x1xi32, #a>\n"
    "    %0 = tt.broadcast %1 : tensor<32x1xi32, #a> -> tensor<32x64xi32, #a>",
    "trans": "    %0 = tt.trans %m {order = array<i32: 1, 0>} : tensor<32x64xf32, #a> -> tensor<64x32xf32, #t>",
    "reshape": "    %0 = tt.reshape %m : tensor<32x64xf32, #a> -> tensor<2048xf32, #flat>",
    "join": "    %0 = tt.join %m, %m : tensor<32x64xf32, #a> -> tensor<32x64x2xf32, #j>",
    "split": "    %1 = tt.join %m, %m : tensor<32x64xf32, #a> -> tensor<32x64x2xf32, #j>\n"
    "    %0, %2 = tt.split %1 : tensor<32x64x2xf32, #j> -> tensor<32x64xf32, #a>",
    "cat": "    %0 = tt.cat %m, %m : tensor<32x64xf32, #a> -> tensor<64x64xf32, #c>",
    "fp4": "    %0 = ttg.fp4_to_fp %e {axis = 1 : i32} : tensor<32x64xi8, #a> -> tensor<32x128xf16, #f>",
    "gather": "    %0 = tt.gather %m[%i] {axis = 0 : i32} : (tensor<32x64xf32, #a>, tensor<32x64xi32, #a>) ->"
    " tensor<32x64xf32, #a>",
    "histogram": "    %0 = tt.histogram %n, %w : tensor<32xi32, #x> -> tensor<64xi32, #y>",
    "dot": "    %0 = tt.dot %q, %s, %m : tensor<32x32xf32, #d0> * tensor<32x64xf32, #d1> -> tensor<32x64xf32, #a>",
    "map": """    %0 = "tt.map_elementwise"(%m) <{pack = 1 : i32}> ({
    ^bb0(%u: f32):
      tt.map_elementwise.return %u : f32
    }) : (tensor<32x64xf32, #a>) -> tensor<32x64xf32, #a>""",
}  # fmt: skip

FLAT = (
    "#flat = #ttg.linear<{register = [[1], [64], [32], [1024]], lane = [[2], [4], [8], [128], [256]],"
    " warp = [[16], [512]], block = []}>\n"
)
"""#a after a row-major reshape of 32x64."""

OTHERS = {
    1: [
        ttg.SliceEncoding(0, ttg.BlockedEncoding((1, 1), (8, 4), (2, 2), (1, 0))),
        ttg.BlockedEncoding((2,), (32,), (4,), (0,)),
        ttg.BlockedEncoding((1,), (32,), (4,), (0,)),
    ],
    2: [
        ttg.BlockedEncoding((1, 4), (2, 16), (4, 1), (1, 0)),
        ttg.BlockedEncoding((4, 4), (2, 16), (2, 2), (1, 0)),
        ttg.BlockedEncoding((1, 2), (16, 2), (1, 4), (0, 1)),
    ],
    3: [
        ttg.BlockedEncoding((1, 1, 2), (8, 4, 1), (2, 2, 1), (2, 1, 0)),
        ttg.BlockedEncoding((2, 2, 1), (4, 4, 2), (2, 2, 1), (2, 1, 0)),
    ],
}
"""Layouts by rank, over 4 warps of 32 lanes as those of the module."""

FREE = {"gather": {0}, "histogram": {2}}
"""Tensors that may have any layout: operands first, then results."""


def module_of(name: str) -> Any:
    text = FLAT + GOOD.replace("OP", OPERATIONS[name])
    return parse_module(text, "input.mlir", context=new_context())


def wrong(module: Any) -> str | None:
    """What is wrong with a module, None if nothing is."""
    try:
        verify(module)
    except VerifyFailure as error:
        return error.reason
    return None


@pytest.mark.parametrize("name", OPERATIONS)
def test_layouts_that_fit_are_accepted(name):
    assert wrong(module_of(name)) is None


def with_layout(module: Any, number: int, other: Any) -> bool:
    """Gives tensor `number` (operands first, then results) of the last op of the function another layout, an operand by
    a conversion. False where there is no such tensor."""
    op = next(op for op in module.walk() if isinstance(op, tile.ReturnOp)).prev_op
    values = [value for value in (*op.operands, *op.results) if is_tensor(value.type)]
    if number >= len(values):
        return False
    value = values[number]
    type_ = with_encoding(value.type, attribute_of(other[len(shape_of(value.type))]))
    if value in op.results:
        set_type(value, type_)
        return True
    made = ConvertLayoutOp.create(operands=(value,), result_types=(type_,))
    op.parent.insert_op_before(made, op)
    op.operands[list(op.operands).index(value)] = made.result
    return True


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_layout_that_does_not_fit_is_found(name):
    """Each tensor of an op in turn gets another layout."""
    seed = int(os.environ["TRITONX_SEED"])
    rng = random.Random(seed)
    number = 0
    while with_layout(module := module_of(name), number, {rank: rng.choice(those) for rank, those in OTHERS.items()}):
        number += 1
        if (name, number) == ("cat", 3):
            continue  # the order of the result's elements is not promised: see below
        free = number - 1 in FREE.get(name, ())
        assert (wrong(module) is None) == free, f"seed {seed}, tensor {number}\n{module}"
    assert number


def test_registers_that_change_their_order_are_as_many_and_copies_stay_copies():
    for layout, good in (
        (ttg.BlockedEncoding((1, 8), (4, 8), (4, 1), (1, 0)), True),
        (ttg.BlockedEncoding((4, 4), (2, 16), (2, 2), (1, 0)), False),  # two warps hold the same columns
        (ttg.BlockedEncoding((1, 1), (1, 32), (1, 4), (1, 0)), False),
    ):
        module = module_of("cat")
        assert with_layout(module, 2, {2: layout})
        assert (wrong(module) is None) == good, layout


def test_every_tensor_has_a_layout_over_the_threads_that_there_are():
    text = FLAT + GOOD.replace("OP", OPERATIONS["elementwise"])
    for found, instead, reason in (
        ('"ttg.num-warps" = 4', '"ttg.num-warps" = 8', "4 warps, but there are 8"),
        ('"ttg.threads-per-warp" = 32', '"ttg.threads-per-warp" = 64', "32 lanes, but there are 64"),
        ('"ttg.num-ctas" = 1', '"ttg.num-ctas" = 2', "1 blocks, but there are 2"),
        ("%n: tensor<32xi32, #x>", "%n: tensor<32xi32>", "every tensor needs a layout"),
    ):
        assert found in text
        module = parse_module(text.replace(found, instead), "input.mlir", context=new_context())
        assert reason in (wrong(module) or "")
