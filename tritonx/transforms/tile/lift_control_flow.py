"""Branches to regions: what ``cf`` says with blocks, said with ``scf``.

A function with an early return has several blocks. Its control flow has no cycles (loops are ``scf`` from the start),
so it can be written with ``scf.if`` alone, by following the paths from the entry:

* a branch goes on with its destination's ops;
* a conditional branch becomes an ``scf.if`` whose two sides are followed as far as the block where they meet, the
  branch's nearest post-dominator; the if yields that block's arguments. Where they never meet both sides run to the
  return, and the if yields what is returned::

      cf.cond_br %c, ^a, ^b                 %r = scf.if %c -> (f32) {
    ^a:                                       scf.yield %x
      tt.return %x                    ⇒     } else {
    ^b:                                       ...
      ...                                     scf.yield %y
      tt.return %y                          }
                                            tt.return %r

A block that two paths share without meeting in it is copied to each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import cf, scf, tile
from tritonx.ir.contract import Contract
from tritonx.ir.define import append
from tritonx.ir.edit import ValueMap, clone, terminator_of
from tritonx.ir.failure import PassError

COPY_LIMIT = 10_000
"""Ops that may be made out of one function. Only shared blocks that do not post-dominate are copied at all."""


@dataclass(frozen=True)
class LiftControlFlow(ModulePass):
    """Turns functions of several blocks into functions of one, with ``scf.if`` for branches.

    A function whose blocks form a cycle keeps them.
    """

    name = "lift-control-flow"
    contract = Contract(("tt",), on=("cf",), creates=("scf", "arith", "ub"), after=("inline",))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tile.FuncOp):
                lift_function(function)


def lift_function(function: tile.FuncOp) -> bool:
    """Make ``function`` a single block; whether it is one now. ``PassError`` where that needs too many copies."""
    blocks = list(function.body.blocks)
    if len(blocks) < 2:
        return True
    meeting = _post_dominators(blocks)
    if meeting is None:
        return False
    _Lifter(function, meeting).run(blocks)
    return True


def _order(blocks: Sequence[Block]) -> list[Block] | None:
    """The blocks that the entry reaches, each after all its successors; ``None`` where there is a cycle."""
    order: list[Block] = []
    state: dict[Block, bool] = {}
    work: list[tuple[Block, int]] = [(blocks[0], 0)]
    state[blocks[0]] = False
    while work:
        block, index = work.pop()
        successors = terminator_of(block).successors
        if index < len(successors):
            work.append((block, index + 1))
            successor = successors[index]
            if successor not in state:
                state[successor] = False
                work.append((successor, 0))
            elif not state[successor]:
                return None
        else:
            state[block] = True
            order.append(block)
    return order


def _post_dominators(blocks: Sequence[Block]) -> Mapping[Block, Block | None] | None:
    """The nearest post-dominator of each block (``None``: the function's end); ``None`` where there is a cycle."""
    order = _order(blocks)
    if order is None:
        return None
    chains: dict[Block, tuple[Block, ...]] = {}
    for block in order:
        below = [chains[s] for s in terminator_of(block).successors]
        common: tuple[Block, ...] = below[0] if below else ()
        for other in below[1:]:
            common = tuple(b for b in common if b in other)
        chains[block] = (block, *common)
    return {block: (chain[1] if len(chain) > 1 else None) for block, chain in chains.items()}


class _Lifter:
    """Copies a function's blocks into nested regions, then puts the result in the place of the body."""

    def __init__(self, function: tile.FuncOp, meeting: Mapping[Block, Block | None]) -> None:
        self.function = function
        self.meeting = meeting
        self.copied = 0

    def run(self, blocks: list[Block]) -> None:
        entry = blocks[0]
        body = Block(arg_types=[argument.type for argument in entry.args])
        values: ValueMap = {}
        for old, new in zip(entry.args, body.args, strict=True):
            values[old] = new
            new.name_hint = old.name_hint
            new.location = old.location
        returned, end = self.follow(entry, None, body, values)
        append(body, tile.ReturnOp.create(operands=returned, location=end.location, attributes=end.attributes))
        region = self.function.body
        for block in blocks:
            for op in block.ops:
                op.drop_all_references()
        for block in blocks:
            region.erase_block(block, safe_erase=False)
        region.add_block(body)

    def follow(
        self, block: Block, stop: Block | None, into: Block, values: ValueMap
    ) -> tuple[tuple[SSAValue, ...], Operation]:
        """Write what happens from ``block`` until ``stop`` (or the return); what ``stop`` gets or is returned, and the
        last op.
        """
        while True:
            self.copy_ops(block, into, values)
            end = terminator_of(block)
            if isinstance(end, tile.ReturnOp):
                return tuple(values.get(v, v) for v in end.operands), end
            if isinstance(end, cf.BranchOp):
                target, passed = end.successor, [values.get(v, v) for v in end.arguments]
            elif isinstance(end, cf.ConditionalBranchOp):
                meeting = self.meeting[block]
                passed = list(self.branch(end, meeting, into, values))
                if meeting is None or meeting is stop:
                    return tuple(passed), end
                target = meeting
            else:
                raise PassError(end, f"cannot follow control flow through {end.name}")
            if target is stop:
                return tuple(passed), end
            for argument, value in zip(target.args, passed, strict=True):
                values[argument] = value
            block = target

    def branch(
        self, op: cf.ConditionalBranchOp, meeting: Block | None, into: Block, values: ValueMap
    ) -> Sequence[SSAValue]:
        """An ``scf.if`` for a conditional branch; its results are the arguments of ``meeting``, or what is returned."""
        sides: list[Region] = []
        arms = ((op.then_block, op.then_arguments), (op.else_block, op.else_arguments))
        for target, arguments in arms:
            arm = Block()
            passed: Sequence[SSAValue] = tuple(values.get(v, v) for v in arguments)
            last: Operation = op
            if target is not meeting:
                inner = dict(values)
                inner.update(zip(target.args, passed, strict=True))
                passed, last = self.follow(target, meeting, arm, inner)
            append(arm, scf.YieldOp.create(operands=passed, location=last.location))
            sides.append(Region(arm))
        types = [v.type for v in terminator_of(cast(Block, sides[0].blocks.first)).operands]
        made = scf.IfOp.create(
            operands=(values.get(op.cond, op.cond),), result_types=types, regions=sides, location=op.location
        )
        append(into, made)
        return made.results

    def copy_ops(self, block: Block, into: Block, values: ValueMap) -> None:
        end = block.last_op
        for op in block.ops:
            if op is not end:
                append(into, clone(op, values))
                self.copied += 1
        if self.copied > COPY_LIMIT:
            raise PassError(terminator_of(block), "the function's branches share too many blocks to be nested")
