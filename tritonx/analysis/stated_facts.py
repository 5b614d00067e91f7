"""Whether what is known about a value rests on what the program's author states of it (`tl.multiple_of`,
`tl.max_contiguous`, `tl.max_constancy`).

Such a statement may be wrong and go unnoticed with Triton: `multiple_of(pointers, (1, 16))` is not so in rows of 7,186
halves, but a mask `offsets < 7186` is known to be equal in runs of two only, and so no access is wider than they are
aligned. What makes accesses wider than masks are known to be equal therefore asks for what is found, not stated."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tritonx.analysis.axis_rules import HINTS
from tritonx.dialects import tile


def is_stated(values: Iterable[SSAValue]) -> bool:
    """Whether an op that one of the values comes from has a statement on it."""
    left, seen = list(values), set[SSAValue]()
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Block):
            if isinstance(value, BlockArgument) and _is_stated_argument(owner, value.index):
                return True
            left += _passed(owner.parent_op(), owner)
            continue
        if not HINTS.keys().isdisjoint(owner.attributes):
            return True
        left += owner.operands
        for region in owner.regions:
            for block in region.blocks:
                left += _passed_on(block)
    return False


def _is_stated_argument(block: Block, index: int) -> bool:
    """Of a function that others call: what they pass may be stated there."""
    function = block.parent_op()
    if not isinstance(function, tile.FuncOp) or block is not function.body.blocks[0]:
        return False
    if function.sym_visibility is None or function.sym_visibility.data != "public":
        return True
    return function.arg_attrs is not None and tile.STATED in function.arg_attrs.data[index].data


def _passed(parent: Operation | None, block: Block) -> list[SSAValue]:
    """What the arguments of a block may be: what goes into the op that has it, or on from its other blocks."""
    region = block.parent
    if parent is None or region is None:
        return []
    inner = [value for other in region.blocks for value in _passed_on(other)]
    return inner if isinstance(parent, tile.FuncOp) else [*parent.operands, *inner]


def _passed_on(block: Block) -> tuple[SSAValue, ...]:
    return tuple(block.last_op.operands) if block.last_op is not None else ()
