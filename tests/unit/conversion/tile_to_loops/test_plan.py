"""The fusion plan: which loops are shared and which tiles lie in memory, for kernels whose best plan is known."""

from __future__ import annotations

import re
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.conversion.tile_to_loops.groups import Compute, Effect, Group, Materialise, Plan, Reduction
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.conversion.tile_to_loops.isa import AVX2, AVX512
from tritonx.conversion.tile_to_loops.lower import lower_module
from tritonx.conversion.tile_to_loops.plan import Planner
from tritonx.dialects import scf, tile
from tritonx.ir.text import parse_module


def plan_of(module: ModuleOp) -> Plan:
    function = next(op for op in module.ops if isinstance(op, tile.FuncOp))
    return Planner(function.regions[0].block, IndexAnalysis(), set()).plan()


def groups_of(plan: Plan) -> list[list[str]]:
    names: dict[Any, Any] = {
        Materialise: lambda a: f"write {a.value.owner.name}",
        Compute: lambda a: f"evaluate {a.value.owner.name}",
        Effect: lambda a: a.op.name,
        Reduction: lambda a: a.op.name,
    }
    return [[names[type(a)](a) for a in item.anchors] for item in plan.items if isinstance(item, Group)]


_SOFTMAX = """
tt.func public @softmax(%out: !tt.ptr<f32>, %x: !tt.ptr<f32>, %stride: i32, %n: i32) {
  %other = arith.constant dense<0xFF800000> : tensor<1024xf32>
  %row = tt.get_program_id x : i32
  %c = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %c, %ns : tensor<1024xi32>
  %o = arith.muli %row, %stride : i32
  %xr = tt.addptr %x, %o : !tt.ptr<f32>, i32
  %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %c : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %xp, %mask, %other : tensor<1024x!tt.ptr<f32>>
  %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %r = arith.maxnumf %a, %b : f32
    tt.reduce.return %r : f32
  }) : (tensor<1024xf32>) -> f32
  %ms = tt.splat %m : f32 -> tensor<1024xf32>
  %d = arith.subf %v, %ms : tensor<1024xf32>
  %e = math.exp %d : tensor<1024xf32>
  %or = tt.addptr %out, %o : !tt.ptr<f32>, i32
  %os = tt.splat %or : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %op = tt.addptr %os, %c : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    tt.reduce.return %r : f32
  }) : (tensor<1024xf32>) -> f32
  %ss = tt.splat %s : f32 -> tensor<1024xf32>
  %q = arith.divf %e, %ss : tensor<1024xf32>
  tt.store %op, %q, %mask : tensor<1024x!tt.ptr<f32>>
  tt.return
}
"""


def test_softmax_is_three_loops_and_one_tile() -> None:
    """A row of whole vectors is loaded again rather than written: it is in the cache."""
    plan = plan_of(parse_module(_SOFTMAX))
    assert groups_of(plan) == [["tt.reduce"], ["write math.exp", "tt.reduce"], ["tt.store"]]


def _sum_and_difference(load: str, between: str = "", pointer: str = "%xi") -> ModuleOp:
    """A tile that is needed by two loops."""
    return elementwise(f"""
  %a = tt.load {pointer} {load}: tensor<64x!tt.ptr<f32>>
  {between}
  %s = "tt.reduce"(%a) <{{axis = 0 : i32}}> ({{
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tt.reduce.return %t : f32
  }}) : (tensor<64xf32>) -> f32
  %ss = tt.splat %s : f32 -> tensor<64xf32>
  %d = arith.subf %a, %ss : tensor<64xf32>
  tt.store %yi, %d : tensor<64x!tt.ptr<f32>>""")


def test_what_is_loaded_again() -> None:
    assert groups_of(plan_of(_sum_and_difference(""))) == [["tt.reduce"], ["tt.store"]]
    for module in (_sum_and_difference("{isVolatile = true} "), _sum_and_difference("", pointer="%xj")):
        first, second = groups_of(plan_of(module))
        assert sorted(first) == ["tt.reduce", "write tt.load"] and second == ["tt.store"]


def test_what_a_store_may_change_is_not_loaded_again() -> None:
    between = "%f = arith.constant dense<1.0> : tensor<64xf32>\n  tt.store %yi, %f : tensor<64x!tt.ptr<f32>>"
    groups = groups_of(plan_of(_sum_and_difference("", between)))
    assert "write tt.load" in groups[0], groups


def elementwise(body: str) -> ModuleOp:
    return parse_module(f"""
tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {{
  %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %j = arith.subi %last, %i : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xi = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %xj = tt.addptr %xs, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %yi = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %yj = tt.addptr %ys, %j : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  {body}
  tt.return
}}""")


def test_a_chain_of_elementwise_ops_is_one_loop_without_tiles() -> None:
    module = elementwise("""
  %a = tt.load %xi : tensor<64x!tt.ptr<f32>>
  %b = math.exp %a : tensor<64xf32>
  %c = arith.mulf %b, %a : tensor<64xf32>
  tt.store %yi, %c : tensor<64x!tt.ptr<f32>>
  tt.store %xi, %b : tensor<64x!tt.ptr<f32>>""")
    assert groups_of(plan_of(module)) == [["evaluate tt.load", "tt.store", "tt.store"]]


def test_a_reversal_in_place_reads_everything_before_it_writes() -> None:
    module = elementwise("""
  %a = tt.load %xi : tensor<64x!tt.ptr<f32>>
  tt.store %xj, %a : tensor<64x!tt.ptr<f32>>""")
    assert groups_of(plan_of(module)) == [["write tt.load"], ["tt.store"]]


def test_a_reversal_between_arguments_may_be_in_place_too() -> None:
    module = elementwise("""
  %a = tt.load %xi : tensor<64x!tt.ptr<f32>>
  tt.store %yj, %a : tensor<64x!tt.ptr<f32>>""")
    assert groups_of(plan_of(module)) == [["write tt.load"], ["tt.store"]]


def test_a_load_stays_before_a_later_store() -> None:
    module = elementwise("""
  %a = tt.load %xi : tensor<64x!tt.ptr<f32>>
  %b = tt.load %yi : tensor<64x!tt.ptr<f32>>
  tt.store %xj, %b : tensor<64x!tt.ptr<f32>>
  tt.store %yi, %a : tensor<64x!tt.ptr<f32>>""")
    groups = groups_of(plan_of(module))
    assert groups.index(["tt.store"]) > 0 and "write tt.load" in groups[0]


_LOOP = """
tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %half = arith.constant dense<5.000000e-01> : tensor<32x32xf32>
  %m = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %me = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %w = arith.constant dense<32> : tensor<32x1xi32>
  %r = arith.muli %me, %w : tensor<32x1xi32>
  %rb = tt.broadcast %r : tensor<32x1xi32> -> tensor<32x32xi32>
  %k = tt.expand_dims %m {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %kb = tt.broadcast %k : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %kb : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %res = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>)  : i32 {
    %a = tt.load %p : tensor<32x32x!tt.ptr<f32>>
    %scaled = arith.mulf %acc, %half : tensor<32x32xf32>
    %d = tt.dot %a, %a, %scaled, inputPrecision = ieee : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  tt.store %p, %res : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
"""


def test_an_accumulator_lives_in_one_buffer() -> None:
    """The operand and the accumulator: two tiles of 4 kB, no copy of either."""
    for isa in (AVX2, AVX512):
        lowered = lower_module(parse_module(_LOOP), isa, data_layout="", fuse=True)
        assert "ptr noalias align 64 %b1," in lowered.text and "%b2" not in lowered.text
    assert any(isinstance(op, scf.ForOp) for op in parse_module(_LOOP).walk())


def test_what_needs_a_sum_shares_one_loop_behind_it() -> None:
    module = elementwise("""
  %a = tt.load %xi : tensor<64x!tt.ptr<f32>>
  %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tt.reduce.return %r : f32
  }) : (tensor<64xf32>) -> f32
  %t = tt.splat %s : f32 -> tensor<64xf32>
  %b = arith.mulf %t, %t : tensor<64xf32>
  %c = arith.addf %t, %t : tensor<64xf32>
  tt.store %yi, %b : tensor<64x!tt.ptr<f32>>
  tt.store %xi, %c : tensor<64x!tt.ptr<f32>>""")
    assert groups_of(plan_of(module)) == [["tt.reduce"], ["tt.store", "tt.store"]]


_LOOPS = """
tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %back = arith.subi %last, %r : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %q = tt.addptr %xs, %back : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %init = tt.load %p : tensor<64x!tt.ptr<f32>>
  %other = tt.load %q : tensor<64x!tt.ptr<f32>>
  %first:2 = scf.for %i = %c0 to %n step %c1 iter_args(%one = %init, %a = %other)
        -> (tensor<64xf32>, tensor<64xf32>)  : i32 {{
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %a, %v : tensor<64xf32>
    %u = arith.mulf %one, %v : tensor<64xf32>
    scf.yield %u, %w : tensor<64xf32>, tensor<64xf32>
  }}
  %second = scf.for %j = %c0 to %n step %c1 iter_args(%b = %first#{carried}) -> (tensor<64xf32>)  : i32 {{
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    %w = arith.mulf %b, %v : tensor<64xf32>
    scf.yield %w : tensor<64xf32>
  }}
  tt.store %p, %second : tensor<64x!tt.ptr<f32>>
  {after}
  tt.return
}}
"""


def buffers(text: str) -> int:
    return len(set(re.findall(r"ptr noalias align 64 (%b[0-9]+)", text)))


def loops(text: str) -> int:
    """How often the program goes over a tile."""
    program = text.partition("@tx.program")[2].partition("\n}")[0]
    return program.count(" = phi i64 ")


@pytest.mark.parametrize("carried", [0, 1])
@pytest.mark.parametrize(
    ("after", "copies"),
    [
        ("", 0),
        ("tt.store %q, %first#{carried} : tensor<64x!tt.ptr<f32>>", 1),
        ("tt.store %q, %first#{other} : tensor<64x!tt.ptr<f32>>", 0),
        ("tt.store %q, %init : tensor<64x!tt.ptr<f32>>", 1),
    ],
)
def test_a_loop_goes_on_in_the_buffer_of_the_loop_before(carried: int, after: str, copies: int) -> None:
    """Two tiles are carried, in the memory where their first values were written; the second loop carries one of them
    on. Only what is read once more later is copied."""
    text = _LOOPS.format(carried=carried, after=after.format(carried=carried, other=1 - carried))
    lowered = lower_module(parse_module(text), AVX2, data_layout="", fuse=True).text
    assert buffers(lowered) == (3 if "%init" in after else 2)
    assert loops(lowered) == 3 + (2 if after else 1) + copies
