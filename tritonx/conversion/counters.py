"""The counter of an `scf.for`, from one iteration to the next."""

from __future__ import annotations

from tritonx.conversion.llvm_writer import Writer
from tritonx.dialects import scf
from tritonx.ir.fold.constants import constant_of


def next_count(w: Writer, op: scf.ForOp, type_: str, count: str, step: str) -> str:
    """The count behind ``count``, which is below the upper bound.

    Of an unsigned loop it is the largest number of its type where the sum is above that: no number is below a bound
    there, and the loop ends. A step of 1 cannot pass the bound.
    """
    if op.unsigned is None or constant_of(op.step) == 1:
        return w.inst(f"add {type_} {count}, {step}")
    return w.call(type_, f"@llvm.uadd.sat.{type_}", (type_, count), (type_, step))
