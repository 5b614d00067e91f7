"""Where a program is in the grid, and scalar constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tritonx.conversion.tile_to_loops.constants import literal, splat_constant
from tritonx.conversion.tile_to_loops.tables import StatementRule
from tritonx.dialects import arith, gpu, llvm, tile, ub
from tritonx.ir.dispatch import case_in

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.emitter import Emitter


def _program_id(e: Emitter, op: tile.GetProgramIdOp) -> None:
    e.values[op.result] = (f"%pid.{'xyz'[op.axis.value.data]}",)


def _num_programs(e: Emitter, op: tile.GetNumProgramsOp) -> None:
    e.values[op.result] = (f"%num.{'xyz'[op.axis.value.data]}",)


def _constant(e: Emitter, op: arith.ConstantOp) -> None:
    number = splat_constant(op)
    assert number is not None, "a scalar constant that is no number"
    e.values[op.results[0]] = (literal(number, op.results[0].type),)


def _poison(e: Emitter, op: Operation) -> None:
    e.values[op.results[0]] = (literal(0, op.results[0].type),)


def _assume(e: Emitter, op: llvm.AssumeOp) -> None:
    e.writer.call("void", "@llvm.assume", ("i1", e.scalar(op.operands[0])))


def _nothing(e: Emitter, op: Operation) -> None:
    """A barrier between the lanes of a program: its loops already run one after the other."""


STATEMENTS: dict[type[Operation], StatementRule] = {
    **case_in(tile.GetProgramIdOp, _program_id),
    **case_in(tile.GetNumProgramsOp, _num_programs),
    **case_in(arith.ConstantOp, _constant),
    ub.PoisonOp: _poison,
    **case_in(llvm.AssumeOp, _assume),
    gpu.BarrierOp: _nothing,
    tile.GridDependencyWaitOp: _nothing,
    tile.GridDependencyLaunchDependentsOp: _nothing,
}
