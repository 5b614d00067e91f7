"""Whether what is known about a value rests on what the program's author states of it (`tl.multiple_of`,
`tl.max_contiguous`, `tl.max_constancy`).

Such a statement may be wrong and go unnoticed with Triton: `multiple_of(pointers, (1, 16))` is not so in rows of 7,186
halves, but a mask `offsets < 7186` is known to be equal in runs of two only, and so no access is wider than they are
aligned. What makes accesses wider than masks are known to be equal therefore asks for what is found, not stated."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tritonx.analysis.axis_rules import HINTS
from tritonx.dialects import tile
from tritonx.dialects.control_flow import comes_from, ends_of


def is_stated(values: Iterable[SSAValue]) -> bool:
    """Whether an op that one of the values comes from has a statement on it."""
    left, seen = list(values), set[SSAValue]()
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if _has_statement(value):
            return True
        op = value.block.parent_op() if isinstance(value, BlockArgument) else value.owner
        if isinstance(op, Operation):
            left += (*op.operands, *comes_from(value), *(given for end in ends_of(op) for given in end.operands))
    return False


def _has_statement(value: SSAValue) -> bool:
    if isinstance(value, OpResult):
        return not HINTS.keys().isdisjoint(value.op.attributes)
    assert isinstance(value, BlockArgument)
    function = value.block.parent_op()
    if not isinstance(function, tile.FuncOp) or value.block is not function.body.blocks[0]:
        return False
    if not function.is_kernel:
        return True  # others call it, and what they pass may be stated there
    return function.arg_attrs is not None and tile.STATED in function.arg_attrs.data[value.index].data
