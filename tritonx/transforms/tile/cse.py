"""Common subexpression elimination."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Commutative, IsolatedFromAbove

from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.effects import is_terminator, may_read, may_write
from tritonx.ir.types import is_undetermined, type_of

Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class CommonSubexpressionElimination(ModulePass):
    """Replaces an op by an equal one that dominates it, in all regions of the module.

    Two ops are equal when class, operands (in any order where the op commutes), properties, attributes and result types
    are, and regions, if any, do the same. An op that reads memory is only merged with one after which nothing can have
    written, a tile whose layout is still to be determined (`gluon`) with none.
    """

    name = "cse"
    contract = Contract(("tt", "ttg"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for region in op.regions:
            _Walk().region(region, isolated=True)


_COMMUTES: dict[type[Operation], bool] = {}
"""A fact of the class, looked up once."""


def _commutes(cls: type[Operation]) -> bool:
    known = _COMMUTES.get(cls)
    if known is None:
        known = _COMMUTES[cls] = cls.has_trait(Commutative)
    return known


def _key(op: Operation) -> Key:
    operands: tuple[SSAValue, ...] = tuple(op.operands)
    if len(operands) == 2 and _commutes(op.__class__) and id(operands[0]) > id(operands[1]):
        operands = (operands[1], operands[0])
    properties = frozenset(op.properties.items()) if op.properties else None
    attributes = frozenset(op.attributes.items()) if op.attributes else None
    return (op.__class__, operands, properties, attributes, *(result.type for result in op.results))


@dataclass
class _Walk:
    """The state of a walk: the ops known here, by key, and how much memory may have changed.

    ``memory`` is the number of the last moment at which something may have been written. Every such moment gets a new
    number, so that reads under equal numbers see the same memory, on whatever paths.
    """

    known: dict[Key, Operation] = field(default_factory=dict[Key, Operation])
    moments: count[int] = field(default_factory=lambda: count(1))
    memory: int = 0

    def region(self, region: Region, isolated: bool) -> None:
        outer = self.known
        first = region.blocks.first
        if first is None:
            return
        known = {} if isolated else dict(outer)
        ends: dict[Block, dict[Key, Operation]] = {}
        predecessors = _predecessors(region) if first.next_block is not None else {}
        entry_known = known
        for block in region.blocks:
            if block is first:
                self.known = entry_known
            else:
                # What the only predecessor knows at its end holds here too; otherwise what the entry knew.
                before = predecessors.get(block, [])
                source = ends.get(before[0]) if len(set(before)) == 1 else None
                self.known = dict(source if source is not None else ends[first])
                self.memory = next(self.moments)
            self.block(block)
            ends[block] = self.known
        self.known = outer

    def block(self, block: Block) -> None:
        op = block.first_op
        while op is not None:
            following = op.next_op
            self.visit(op)
            op = following

    def visit(self, op: Operation) -> None:
        writes = may_write(op)
        if op.regions:
            self.nested(op, writes)
        if writes:
            self.memory = next(self.moments)
            return
        if not op.results or is_terminator(op) or is_undetermined(type_of(op.results[0])):
            return
        key = _key(op)
        if may_read(op):
            key = (self.memory, *key)
        same = self.known.get(key)
        if same is None:
            self.known[key] = op
        elif not op.regions or _same_regions(op, same):
            replace(op, same.results)

    def nested(self, op: Operation, writes: bool) -> None:
        before = self.memory
        for region in op.regions:
            # A region that may run again after it has written does not see the memory that is there before the op.
            self.memory = next(self.moments) if writes else before
            self.region(region, isolated=op.has_trait(IsolatedFromAbove))
        self.memory = before


def _same_regions(a: Operation, b: Operation) -> bool:
    return all(x.is_structurally_equivalent(y) for x, y in zip(a.regions, b.regions, strict=True))


def _predecessors(region: Region) -> dict[Block, list[Block]]:
    found: dict[Block, list[Block]] = {}
    for block in region.blocks:
        last = block.last_op
        for successor in last.successors if last is not None else ():
            found.setdefault(successor, []).append(block)
    return found
