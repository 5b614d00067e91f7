"""What a reduction's combine region is, where it is one op."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tritonx.dialects import arith, tile
from tritonx.ir.edit import only_block

IDEMPOTENT: frozenset[type[Operation]] = frozenset(
    (
        arith.AndIOp, arith.OrIOp, arith.MaxSIOp, arith.MaxUIOp, arith.MinSIOp, arith.MinUIOp,
        arith.MaximumfOp, arith.MaxnumfOp, arith.MinimumfOp, arith.MinnumfOp,
    )
)  # fmt: skip
"""Ops of which a value combined with itself is the value: they may meet copies."""


@dataclass(frozen=True)
class Component:
    """What a combine region does to operands that it combines with no others: ``operands`` are their numbers, and
    ``ops`` those of the region that their results need."""

    operands: tuple[int, ...]
    arguments: tuple[SSAValue, ...]
    """Of the region: those of the left values, then those of the right."""
    ops: tuple[Operation, ...]
    results: tuple[SSAValue, ...]

    @property
    def combiner(self) -> type[Operation] | None:
        """The class of the one op that is applied to the two arguments of one operand."""
        if len(self.ops) != 1 or len(self.operands) != 1:
            return None
        (op,) = self.ops
        alone = set(op.operands) == set(self.arguments) and tuple(op.results) == self.results
        return op.__class__ if alone else None


def whole(op: tile.ReduceOp | tile.ScanOp) -> Component:
    """The region as one component."""
    *ops, end = op.combineOp.block.ops
    return Component(tuple(range(len(op.srcs))), tuple(op.combineOp.block.args), tuple(ops), tuple(end.operands))


def components(op: tile.ReduceOp | tile.ScanOp) -> list[Component]:
    """The components of the region, in the order of their first operands. One with ops that no result needs is one."""
    block, count = op.combineOp.block, len(op.srcs)
    *ops, end = block.ops
    needed = [_needed(value, block) for value in end.operands]
    groups: list[tuple[set[int], set[Operation]]] = []
    for number, (together, arguments) in enumerate(needed):
        members = {number} | {a % count for a in arguments}
        for group in [g for g in groups if g[0] & members]:
            groups.remove(group)
            members |= group[0]
            together |= group[1]
        groups.append((members, together))
    if len(set[Operation]().union(*(together for _, together in groups))) < len(ops):
        return [whole(op)]
    found: list[Component] = []
    for members, together in sorted(groups, key=lambda g: min(g[0])):
        operands = tuple(sorted(members))
        arguments = [block.args[n + side] for side in (0, count) for n in operands]
        inside = tuple(each for each in ops if each in together)
        found.append(Component(operands, tuple(arguments), inside, tuple(end.operands[n] for n in operands)))
    return found


def _needed(value: SSAValue, block: Block) -> tuple[set[Operation], set[int]]:
    """The ops of ``block`` that a value needs, and the numbers of the block's arguments."""
    ops: set[Operation] = set()
    arguments: set[int] = set()
    work = [value]
    while work:
        current = work.pop()
        owner = current.owner
        if isinstance(current, BlockArgument):
            if owner is block:
                arguments.add(current.index)
            continue
        assert isinstance(owner, Operation)
        if owner.parent is block and owner not in ops:
            ops.add(owner)
            work += [operand for inner in owner.walk() for operand in inner.operands]
    return ops, arguments


def combiner(op: tile.ReduceOp | tile.ScanOp) -> type[Operation] | None:
    """The class of the one op that the region applies to its two arguments."""
    if only_block(op.combineOp) is None or len(op.srcs) != 1:
        return None
    return components(op)[0].combiner
