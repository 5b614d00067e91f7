"""Arithmetic on packed elements of a single type, each rounded once."""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import numpy as np

from tritonx.dialects.nvidia import PackedArithKind, PackedArithOp
from tritonx.interpreter import arithmetic
from tritonx.interpreter.asynchronous.program import Program, Table
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.interpreter.execution import Function
from tritonx.interpreter.machine import position_of
from tritonx.ir.dispatch import case

_FUNCTIONS: dict[PackedArithKind, Function] = {
    PackedArithKind.ADD: np.add,
    PackedArithKind.SUB: np.subtract,
    PackedArithKind.MUL: np.multiply,
    PackedArithKind.FMA: arithmetic.fused_multiply_add,
    PackedArithKind.MIN: arithmetic.minimum_number,
    PackedArithKind.MAX: arithmetic.maximum_number,
}


def _packed(op: PackedArithOp, bind: Program) -> Function:
    if not op.is_uniform:
        reason = f"the machine has no meaning for '{op.name}' of several types or of 8-bit floats"
        raise UnsupportedInInterpreter(reason).at(position_of(op), None)
    return _FUNCTIONS[op.kind]


TABLE: Table = {**case(PackedArithOp, _packed)}
