"""Loop-invariant code motion."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.proton import RecordOp
from tritonx.dialects.tile.rules import mask_of
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.edit import is_defined_inside, move_before, replace
from tritonx.ir.effects import is_speculatable, may_write
from tritonx.ir.fold.constants import width_of
from tritonx.ir.types import i1, i64, is_tensor
from tritonx.transforms.tile.simplify_control_flow import trip_count

SLT, ULT = 2, 6


@dataclass(frozen=True)
class LoopInvariantCodeMotion(ModulePass):
    """Moves ops that compute the same in every iteration in front of the loop.

    Loops are ``scf.for`` and ``scf.while``, innermost first. An op that may trap or touches memory is not moved, as
    the loop may not run at all; except out of an ``scf.for``, where "the loop runs at least once" guards it if that is
    not known:

    * with ``hoist_loads``, a load in a loop that writes nothing gets it as (part of) its mask;
    * with ``hoist_divisions``, a division that nothing in the body writes in front of gets a harmless divisor
      otherwise. Analyses of indices do not look through that, and LLVM does the same unless the loop is pipelined.

    A product behind a `proton.record` stays: it is measured."""

    name = "licm"
    contract = Contract(("tt", "ttg"), on=("scf.for", "scf.while"), creates=("arith", "tt.splat"))

    hoist_loads: bool = True
    """Whether a load is moved in front of an ``scf.for`` that writes nothing."""
    hoist_divisions: bool = False
    """Whether a division that may trap is moved in front of an ``scf.for``."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for region in op.regions:
            for block in region.blocks:
                self.block(block)

    def block(self, block: Block) -> None:
        for op in list(block.ops):
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)
            if isinstance(op, scf.ForOp):
                self.loop(op, op.body.blocks.first)
            elif isinstance(op, scf.WhileOp):
                # The condition runs at least once, before the body.
                self.loop(op, op.before_region.blocks.first)
                self.loop(op, op.after_region.blocks.first)

    def loop(self, loop: Operation, body: Block | None) -> None:
        if body is None or loop.parent is None:
            return
        hoists_loads = self.hoist_loads and not may_write(loop)
        is_first = self.hoist_divisions  # whether every iteration that begins gets here
        is_measured = False
        op = body.first_op
        while op is not None:
            following = op.next_op
            is_measured = is_measured or isinstance(op, RecordOp)
            if _is_invariant(op, loop) and not (is_measured and isinstance(op, _PRODUCTS)):
                if is_speculatable(op):
                    move_before(op, loop)
                elif isinstance(loop, scf.ForOp) and hoists_loads and isinstance(op, tile.LoadOp):
                    _hoist_load(op, loop)
                elif isinstance(loop, scf.ForOp) and is_first and isinstance(op, _DIVISIONS):
                    _hoist_division(op, loop)
            is_first = is_first and not may_write(op) and not op.regions
            op = following


def _is_invariant(op: Operation, loop: Operation) -> bool:
    """Whether nothing that the op uses, in its regions too, is computed in the loop, outside the op itself."""
    for operand in op.operands:
        if is_defined_inside(operand, loop):
            return False
    for region in op.regions:
        for inner in region.walk():
            for operand in inner.operands:
                if is_defined_inside(operand, loop) and not is_defined_inside(operand, op):
                    return False
    return True


_PRODUCTS = (tile.DotOp, tile.DotScaledOp)
_DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)


def _hoist_division(op: Operation, loop: scf.ForOp) -> None:
    divisor = op.operands[1]
    move_before(op, loop)
    if not _surely_runs(loop):
        builder = Builder.before(op)
        harmless = harmless_divisor(divisor, builder)
        runs = _runs(loop, builder)
        op.operands[1] = builder.emit(arith.SelectOp, (runs, divisor, harmless), (divisor.type,))


def harmless_divisor(divisor: SSAValue, builder: Builder) -> SSAValue:
    """A power of two, which keeps what the axis analysis knows of the divisor's divisibility."""
    return builder.constant(1 << max(0, (width_of(divisor.type) or 1) - 2), divisor.type)


def _surely_runs(loop: scf.ForOp) -> bool:
    count = trip_count(loop)
    return count is not None and count > 0


def _runs(loop: scf.ForOp, builder: Builder) -> SSAValue:
    """Whether the loop runs at least once."""
    predicate = ULT if "unsignedCmp" in loop.properties else SLT
    return builder.emit(arith.CmpiOp, (loop.lb, loop.ub), (i1,), {"predicate": IntegerAttr(predicate, i64)})


def _hoist_load(load: tile.LoadOp, loop: scf.ForOp) -> None:
    if _surely_runs(loop):
        move_before(load, loop)
        return
    pointer = load.ptr.type
    if isinstance(pointer, tile.PointerType) and is_tensor(pointer.pointee):
        return  # a load through a block pointer takes no mask
    builder = Builder.before(loop)
    builder.location = load.location
    runs = _runs(loop, builder)
    type = mask_of(pointer)
    if is_tensor(pointer):
        runs = builder.emit(tile.SplatOp, (runs,), (type,))
    mask = runs if load.mask is None else builder.emit(arith.AndIOp, (load.mask, runs), (type,))
    operands = [load.ptr, mask] if load.other is None else [load.ptr, mask, load.other]
    properties = {name: value for name, value in load.properties.items() if name != SEGMENTS}
    new = builder.create(tile.LoadOp, operands, (load.result.type,), properties, load.attributes)
    replace(load, new.results)
