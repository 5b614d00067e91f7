"""Hints to the instruction scheduler and to the arbiter between waves, and the barrier of some waves only."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.dialects.amd import CondBarrierOp, InstructionSchedHintOp, SchedBarrierOp, SetPrioOp
from tritonx.ir.dispatch import case


def set_priority(op: SetPrioOp, f: FunctionEmitter) -> None:
    _hint(f, "@llvm.amdgcn.s.setprio", "i16", op.priority.value.data)


def schedule_barrier(op: SchedBarrierOp, f: FunctionEmitter) -> None:
    _hint(f, "@llvm.amdgcn.sched.barrier", "i32", op.mask.value.data)


def _hint(f: FunctionEmitter, intrinsic: str, type_: str, value: int) -> None:
    f.line(f"call void {f.module.declare('void', intrinsic, [type_])}({type_} {value})")


def conditional_barrier(op: CondBarrierOp, f: FunctionEmitter) -> None:
    """The condition is equal in all lanes of a wave."""
    with f.where(f.scalar(op.pred)):
        f.machine.local_barrier(f)


def nothing(op: Operation, f: FunctionEmitter) -> None:
    """A request for an interleaving; LLVM's scheduler chooses its own."""


TABLE: dict[type[Operation], Emit] = {
    **case(SetPrioOp, set_priority),
    **case(SchedBarrierOp, schedule_barrier),
    **case(CondBarrierOp, conditional_barrier),
    InstructionSchedHintOp: nothing,
}
