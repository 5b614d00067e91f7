"""Folding: replace ops by what is known of their results."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from tritonx.dialects import tile
from tritonx.dialects.arith import ConstantOp
from tritonx.dialects.control_flow import is_per_element
from tritonx.ir.contract import Contract
from tritonx.ir.edit import replace
from tritonx.ir.fold import RULES, Constant, Replacement, attribute_for


@dataclass(frozen=True)
class Fold(ModulePass):
    """Folds constants and identities, by the rules of ``tritonx.ir.fold``, in one walk.

    Constants are kept once for each function, in its entry block (those in the region of a reduction, scan or
    ``map_elementwise`` once for that region). Ops that lose their last use stay behind for ``dce``.
    """

    name = "fold"
    contract = Contract(("tt", "ttg"), creates=("arith", "tt.splat", "ub"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for region in op.regions:
            fold_region(region, None)


def fold_region(region: Region, home: Constants | None) -> None:
    """Fold every op in ``region``; constants go to ``home``, or to this region's entry block without one."""
    first = region.blocks.first
    if first is None:
        return
    if home is None:
        home = Constants(first)
    for block in region.blocks:
        op = block.first_op
        while op is not None:
            following = op.next_op
            _visit(op, home)
            op = following


class Constants:
    """The constants of one function: each value once, at the top of the entry block, in order of appearance."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.last: Operation | None = None
        self.known: dict[tuple[Attribute, Attribute], SSAValue] = {}

    def get(self, value: int | float, type: Attribute, origin: Operation) -> SSAValue:
        """The constant ``value`` of ``type``; a new one has the location of ``origin``."""
        attribute = attribute_for(value, type)
        known = self.known.get((attribute, type))
        if known is not None:
            return known
        op = ConstantOp.create(result_types=(type,), properties={"value": attribute}, location=origin.location)
        return self._add(op, (attribute, type))

    def keep(self, op: ConstantOp) -> None:
        """Move an existing constant to its place, or replace it by the equal one that is there."""
        result = op.results[0]
        key = (op.properties["value"], result.type)
        known = self.known.get(key)
        if known is not None:
            replace(op, (known,))
        elif op.parent is self.block and op.prev_op is self.last:
            self.known[key] = result
            self.last = op
        else:
            op.detach()
            self._add(op, key)

    def _add(self, op: Operation, key: tuple[Attribute, Attribute]) -> SSAValue:
        if self.last is not None:
            self.block.insert_op_after(op, self.last)
        elif self.block.first_op is not None:
            self.block.insert_op_before(op, self.block.first_op)
        else:
            self.block.add_op(op)
        self.last = op
        self.known[key] = op.results[0]
        return op.results[0]


def _visit(op: Operation, home: Constants) -> None:
    if isinstance(op, ConstantOp):
        if not op.attributes:
            home.keep(op)
        return
    if op.regions:
        own = is_per_element(op) or op.has_trait(IsolatedFromAbove)
        for region in op.regions:
            fold_region(region, None if own else home)
        return
    if isinstance(op, tile.SplitOp):
        joined = op.src.owner
        if isinstance(joined, tile.JoinOp) and all(
            a.type == b.type for a, b in zip(joined.operands, op.results, strict=True)
        ):
            replace(op, joined.operands)
        return
    _fold(op, home)


def _fold(op: Operation, home: Constants) -> None:
    current = op
    while (rule := RULES.get(current.__class__)) is not None:
        result_type = current.results[0].type
        folded = rule(current.operands, result_type, current.properties)
        if folded is None:
            return
        if isinstance(folded, Replacement):
            new = folded.op.create(
                operands=folded.operands,
                result_types=(result_type,),
                properties=dict(folded.properties or {}),
                attributes=current.attributes,
                location=current.location,
            )
            block = current.parent
            assert block is not None, "ops are visited where they stand"
            block.insert_op_before(new, current)
            replace(current, new.results)
            current = new
            continue
        value = home.get(folded.value, result_type, current) if isinstance(folded, Constant) else folded
        replace(current, (value,))
        return
