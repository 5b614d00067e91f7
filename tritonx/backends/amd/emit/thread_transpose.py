"""``amdg.in_thread_transpose``: a thread's registers in another order, so that its stores to shared memory are wide."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter
from tritonx.conversion.gpu_to_llvm.types import bits
from tritonx.dialects.amd import InThreadTransposeOp
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.layouts import NoMove, RegisterMove, plan_conversion


def in_thread_transpose(op: InThreadTransposeOp, f: FunctionEmitter) -> None:
    value = f.get(op.src)
    match plan_conversion(f.layout(op.src.type), f.layout(op.result.type), bits(value.elem)):
        case NoMove():
            f.result(op, value)
        case RegisterMove(sources):
            f.result(op, f.permute(value, list(sources)))
        case _:
            raise PassError(op, "the layouts move data between threads", "use ttg.convert_layout")


TABLE: dict[type[Operation], Emit] = {**case(InThreadTransposeOp, in_thread_transpose)}
