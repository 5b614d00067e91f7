"""Tiles that are selected by the condition of an if become results of the if.

A persistent product whose loops are one goes on with an empty accumulator where it stored a full one: a select of the
whole tile in every iteration, in front of an if that stores in some. As a result of the if the tile stays in its
registers in the other iterations. That is not only 64 selects saved: a select reads the accumulator while asynchronous
products are still adding to it, and ptxas then makes all of them wait for each other (C7514)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.types import is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.transforms.gpu.iter_args import with_result


@dataclass(frozen=True)
class BranchSelects(ModulePass):
    """Makes selects of tiles results of the next `scf.if` with the same condition.

    That is an `arith.select` by one i1, in the block of the if, that nothing uses in between. In the if's regions the
    side that is taken there stands for it."""

    name = "branch-selects"
    contract = Contract(("ttg",), on=("arith.select",), placed=True)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_in(op):
            if isinstance(inner, arith.SelectOp) and is_tensor(type_of(inner.results[0])):
                branch = _branch_of(inner)
                if branch is not None:
                    _move_into(inner, branch)


def _branch_of(select: arith.SelectOp) -> scf.IfOp | None:
    """The if behind a select with its condition, in front of everything that uses the select."""
    block = select.parent
    assert block is not None
    condition = select.operands[0]
    users = {block.find_ancestor_op_in_block(use.operation) for use in select.results[0].uses}
    following = select.next_op
    while following is not None:
        if isinstance(following, scf.IfOp) and following.operands[0] is condition:
            return following
        if following in users:
            return None
        following = following.next_op
    return None


def _move_into(select: arith.SelectOp, branch: scf.IfOp) -> None:
    """Make the select a result of the if; in the regions the side that is taken there stands for it."""
    _, taken, otherwise = select.operands
    for region, side in zip(branch.regions, (taken, otherwise), strict=True):
        select.results[0].replace_uses_with_if(side, lambda use, region=region: region.is_ancestor(use.operation))
    replace(select, with_result(branch, taken, otherwise).results[-1:])
