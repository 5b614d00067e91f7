"""Dominators are what their definition says, on drawn graphs of blocks, and take work in proportion to the blocks."""

from __future__ import annotations

import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Block, Region

from tritonx.dialects import cf, tile
from tritonx.dialects.arith import ConstantOp
from tritonx.ir.dominance import dominators, successors_of


def graph(edges: list[list[int]]) -> list[Block]:
    """Blocks that branch to up to two others each."""
    blocks = [Block() for _ in edges]
    Region(blocks)
    for block, targets in zip(blocks, edges, strict=True):
        if not targets:
            block.add_op(tile.ReturnOp.create())
        elif len(targets) == 1:
            block.add_op(cf.BranchOp.create(successors=[blocks[targets[0]]]))
        else:
            condition = ConstantOp.create(result_types=[i1], properties={"value": IntegerAttr(1, i1)})
            block.add_op(condition)
            to = [blocks[target] for target in targets]
            block.add_op(cf.ConditionalBranchOp.create(operands=condition.results, successors=to))
    return blocks


def reached(entry: Block, without: Block | None) -> set[Block]:
    seen, work = set[Block](), [entry]
    while work:
        block = work.pop()
        if block not in seen and block is not without:
            seen.add(block)
            work += successors_of(block)
    return seen


EDGES = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(min(1, n - 1), n - 1), max_size=2), min_size=n, max_size=n)
)


@given(EDGES)
def test_as_defined(edges: list[list[int]]) -> None:
    blocks = graph(edges)
    entry = blocks[0]
    found = dominators(entry)
    alive = reached(entry, None)
    assert set(found) == alive
    strictly = {b: {d for d in alive if d is not b and b not in reached(entry, d)} for b in alive}
    order = list(found)
    for block, dominator in found.items():
        if dominator is None:
            assert block is entry
            continue
        assert strictly[block] == {dominator} | strictly[dominator]
        assert order.index(dominator) < order.index(block)


def steps(count: int) -> int:
    """Lines executed for a chain of blocks that all may branch to one exit."""
    blocks = graph([[i + 1, count - 1] if i < count - 2 else [i + 1] if i < count - 1 else [] for i in range(count)])
    lines = 0

    def traced(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        dominators(blocks[0])
    finally:
        sys.settrace(before)
    return lines


def test_linear() -> None:
    assert steps(2000) < 4.5 * steps(500)
