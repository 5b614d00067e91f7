"""Where a pointer comes from: one step back through arithmetic, changes of shape, selections, loops and branches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, cast

from xdsl.ir import Block, BlockArgument, SSAValue

from tritonx.dialects import arith, cf, scf, tile

FIRST = (
    tile.AddPtrOp, tile.SplatOp, tile.UnsplatOp, tile.ExpandDimsOp, tile.BroadcastOp, tile.ReshapeOp, tile.TransOp,
    tile.SplitOp, tile.GatherOp, tile.BitcastOp, tile.MakeTensorPtrOp, tile.AdvanceOp, tile.MakeTensorDescOp,
)  # fmt: skip
"""Ops whose result points where their first operand does."""

ALL = (tile.CatOp, tile.JoinOp)
"""Ops whose result points where any of their operands does."""


def sources(value: SSAValue) -> Iterable[SSAValue]:
    """Values that ``value`` may point into the same array as; none for an argument of a function, a call's result, a
    loaded pointer and one made of an integer."""
    if isinstance(value, BlockArgument):
        return _of_argument(value)
    op = cast(Any, value.owner)
    index = cast(Any, value).index
    if isinstance(op, FIRST):
        return (op.operands[0],)
    if isinstance(op, ALL):
        return op.operands
    if isinstance(op, arith.SelectOp):
        return op.operands[1:]
    if isinstance(op, scf.ForOp):
        return itertools.chain(op.operands[3 + index : 4 + index], _ends(op.body.blocks, index))
    if isinstance(op, scf.WhileOp):
        return _ends(op.before_region.blocks, 1 + index)
    if isinstance(op, scf.IfOp | scf.ExecuteRegionOp):
        return [end for region in op.regions for end in _ends(region.blocks, index)]
    return ()


def _ends(blocks: Iterable[Block], index: int) -> Iterator[SSAValue]:
    """What the blocks that leave their region hand on at this place."""
    for block in blocks:
        last = block.last_op
        if isinstance(last, scf.YieldOp | scf.ConditionOp):
            yield last.operands[index]


def _of_argument(argument: BlockArgument) -> Iterator[SSAValue]:
    """What a block's argument may be; nothing for one of a function's first block."""
    block, index = argument.block, argument.index
    parent = block.parent_op()
    if isinstance(parent, scf.ForOp):
        if index > 0:  # number 0 counts
            yield parent.operands[2 + index]
            yield from _ends(parent.body.blocks, index - 1)
    elif isinstance(parent, scf.WhileOp):
        if block.parent is parent.before_region:
            yield parent.operands[index]
            yield from _ends(parent.after_region.blocks, index)
        else:
            yield from _ends(parent.before_region.blocks, 1 + index)
    elif block.parent is not None:
        for other in block.parent.blocks:
            last = other.last_op
            if isinstance(last, cf.BranchOp) and last.successor is block:
                yield last.arguments[index]
            elif isinstance(last, cf.ConditionalBranchOp):
                if last.then_block is block:
                    yield last.then_arguments[index]
                if last.else_block is block:
                    yield last.else_arguments[index]
