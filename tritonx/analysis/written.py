"""Through which of a kernel's arguments it may store: from every store, atomic and descriptor store back to the
arguments that its pointer comes from.

A pointer is followed through arithmetic, changes of shape, selections, loops, branches and calls. One that was loaded
from memory, or made of an integer, comes from no argument. So a store really can go through each argument that is
named; through others one can only where the kernel makes up the pointer."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tritonx.dialects import arith, cf, scf, tile

_WRITES: dict[type[Operation], str] = {
    tile.StoreOp: "ptr",
    tile.AtomicRMWOp: "ptr",
    tile.AtomicCASOp: "ptr",
    tile.DescriptorStoreOp: "desc",
    tile.DescriptorReduceOp: "desc",
    tile.DescriptorScatterOp: "desc",
}
"""Ops that write to memory → the operand that says where."""

_FIRST = (
    tile.AddPtrOp, tile.SplatOp, tile.UnsplatOp, tile.ExpandDimsOp, tile.BroadcastOp, tile.ReshapeOp, tile.TransOp,
    tile.SplitOp, tile.GatherOp, tile.BitcastOp, tile.MakeTensorPtrOp, tile.AdvanceOp, tile.MakeTensorDescOp,
)  # fmt: skip
"""Ops whose result points where their first operand does."""

_ALL = (tile.CatOp, tile.JoinOp)
"""Ops whose result points where any of their operands does."""


def written_arguments(module: ModuleOp, name: str) -> tuple[int, ...]:
    """The numbers of the arguments of the function ``name`` that it, or a function it calls, may store through."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tile.FuncOp)}
    return _Functions(functions).written(name)


class _Functions:
    def __init__(self, functions: dict[str, tile.FuncOp]) -> None:
        self._functions = functions
        self._known: dict[str, tuple[int, ...]] = {}

    def written(self, name: str) -> tuple[int, ...]:
        if name not in self._known:
            self._known[name] = ()  # what a recursive call adds, its caller finds as well
            function = self._functions.get(name)
            if function is not None and function.body.blocks:
                self._known[name] = self._find(function)
        return self._known[name]

    def _find(self, function: tile.FuncOp) -> tuple[int, ...]:
        entry = function.body.blocks[0]
        pending = [pointer for op in function.walk() for pointer in self._targets(op)]
        seen: set[SSAValue] = set()
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                pending.extend(self._sources(value))
        return tuple(argument.index for argument in entry.args if argument in seen)

    def _targets(self, op: Operation) -> Iterable[SSAValue]:
        """Pointers that the op itself writes through."""
        operand = _WRITES.get(type(op))
        if operand is not None:
            return (getattr(op, operand),)
        if isinstance(op, tile.CallOp):
            return [op.operands[i] for i in self.written(cast(Any, op.callee).root_reference.data)]
        return ()

    def _sources(self, value: SSAValue) -> Iterable[SSAValue]:
        """Values that ``value`` may point into the same array as."""
        if isinstance(value, BlockArgument):
            return _of_argument(value)
        op = cast(Any, value.owner)
        index = cast(Any, value).index
        if isinstance(op, _FIRST):
            return (op.operands[0],)
        if isinstance(op, _ALL):
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
