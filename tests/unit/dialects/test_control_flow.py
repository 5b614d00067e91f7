"""Edges: every op that has regions or ends a block declares where control goes, and what value becomes what."""

from __future__ import annotations

import pytest
from xdsl.ir import Block, BlockArgument, Operation
from xdsl.traits import IsTerminator

from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import (
    ControlFlow,
    Function,
    PartitionHolder,
    becomes,
    carried_argument,
    carried_by,
    carried_result,
    comes_from,
    control_flow_of,
    edges_from,
    edges_within,
    ends_of,
    is_per_element,
    repeats,
)
from tritonx.ir.context import dialect_loaders
from tritonx.ir.text import parse_module

FOREIGN = ("builtin", "func", "test")
OPS = [op for name, load in dialect_loaders().items() if name not in FOREIGN for op in load().operations]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_who_has_regions_or_ends_a_block_declares_where_control_goes(op):
    definition = op.get_irdl_definition()
    takes_part = bool(definition.regions or definition.successors) or op.has_trait(IsTerminator)
    assert isinstance(getattr(op, "CONTROL_FLOW", None), ControlFlow) == takes_part


@pytest.fixture(scope="module")
def flowing(written_ops: list[Operation]) -> list[Operation]:
    return [op for op in written_ops if control_flow_of(op) is not None]


def test_what_is_passed_on_has_the_type_of_what_it_becomes(flowing):
    seen: set[str] = set()
    for op in flowing:
        for edge in edges_from(op):
            assert edge.source is op
            for value, argument in edge.pairs():
                assert value.type == argument.type, op
                owner = argument.block if isinstance(argument, BlockArgument) else argument.owner
                assert owner is edge.target, op
                seen.add(op.name)
    assert seen >= {
        "scf.for", "scf.while", "scf.condition", "scf.yield", "cf.br", "cf.cond_br", "ttg.warp_specialize",
        "ttg.warp_yield", "ttg.mask.return",
    }  # fmt: skip


def test_each_operand_of_an_end_goes_somewhere(flowing):
    """All but conditions, what a function returns and what is returned for elements."""
    for op in flowing:
        parent = op.parent_op()
        if op.regions or parent is None or isinstance(control_flow_of(parent), Function) or is_per_element(parent):
            continue
        first = 1 if op.name in ("scf.condition", "cf.cond_br") else 0
        for number in range(len(op.operands)):
            assert bool(becomes(op, number)) == (number >= first), f"operand {number} of {op}"


def test_each_result_and_argument_comes_from_somewhere(flowing):
    """Of ops with regions: all but a function's arguments, counters, elements and results of reductions."""
    for op in flowing:
        if is_per_element(op):
            continue
        for result in op.results:
            assert comes_from(result), op
        for region in op.regions:
            for block in region.blocks:
                own = isinstance(op, tile.FuncOp) and block is region.blocks.first
                for argument in block.args:
                    counter = isinstance(op, scf.ForOp) and argument.index == 0
                    assert bool(comes_from(argument)) != (own or counter), f"{argument} of {op}"


def test_becoming_and_coming_from_are_each_other_turned_round(flowing):
    for op in flowing:
        for number, operand in enumerate(op.operands):
            for value in becomes(op, number):
                assert operand in comes_from(value), op


def test_edges_lead_into_the_op_or_out_of_it(flowing):
    for op in flowing:
        if not op.regions or isinstance(op, tile.FuncOp) or isinstance(control_flow_of(op), PartitionHolder):
            continue
        for edge in edges_within(op):
            target = edge.target
            assert target is op or (isinstance(target, Block) and op.is_ancestor(target)), op
        assert any(edge.target is op for edge in edges_within(op)), op


LOOPS = """
  tt.func public @f(%n: i32, %a: f32, %b: i32, %c: i1) {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %0 to %n step %1 iter_args(%x = %a, %y = %b) -> (f32, i32) : i32 {
      %z = arith.addi %y, %i : i32
      scf.yield %x, %z : f32, i32
    }
    %w:2 = scf.while (%x = %a, %y = %b) : (f32, i32) -> (i32, f32) {
      scf.condition(%c) %y, %x : i32, f32
    } do {
    ^bb0(%p: i32, %q: f32):
      scf.yield %q, %p : f32, i32
    }
    %e = scf.execute_region -> i32 {
      cf.cond_br %c, ^one(%b : i32), ^two(%b, %a : i32, f32)
    ^one(%u: i32):
      scf.yield %u : i32
    ^two(%v: i32, %t: f32):
      cf.br ^one(%v : i32)
    }
    tt.return
  }
"""


def test_the_pairs_of_loops_and_branches():
    module = parse_module(LOOPS)
    function = module.body.block.first_op
    assert isinstance(function, tile.FuncOp)
    n, a, b, c = function.body.block.args
    loop, other, region = (op for op in function.body.block.ops if op.regions)
    assert isinstance(loop, scf.ForOp) and isinstance(other, scf.WhileOp)
    body, (x, y) = loop.body.block, loop.body.block.args[1:]
    z = body.first_op.results[0]  # pyright: ignore[reportOptionalMemberAccess]
    assert comes_from(x) == [a, x] and comes_from(y) == [b, z] and comes_from(loop.results[1]) == [b, z]
    assert comes_from(body.args[0]) == [] == comes_from(n)
    assert becomes(loop, 0) == [] and becomes(loop, 4) == [y, loop.results[1]]
    assert [(each.argument, each.result) for each in carried_by(loop)] == [(x, loop.results[0]), (y, loop.results[1])]
    assert carried_argument(y) == carried_by(loop)[1] == carried_result(loop.results[1])
    assert carried_argument(body.args[0]) is None is carried_argument(c)
    assert carried_result(other.results[0]) is None
    assert [each.initial.value for each in carried_by(loop)] == [a, b]
    carried_by(loop)[1].yielded.set(y)
    assert [each.yielded.value for each in carried_by(loop)] == [x, y]
    before, (p, q) = other.before_region.block, other.after_region.block.args
    assert comes_from(before.args[1]) == [b, p] and comes_from(q) == [before.args[0]]
    assert comes_from(other.results[0]) == [before.args[1]]
    one, two = list(region.regions[0].blocks)[1:]
    assert comes_from(one.args[0]) == [b, two.args[0]] and comes_from(two.args[1]) == [a]
    assert comes_from(region.results[0]) == [one.args[0]]
    assert repeats(loop) and repeats(other) and not repeats(region)
    assert len(ends_of(region)) == 3
