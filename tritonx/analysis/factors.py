"""What is known of the size of a factor, by how it is computed."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tritonx.dialects import arith, math


def is_at_most_one(value: SSAValue) -> bool:
    """Whether each element is from 0 to 1, or NaN: a power of ``x - max(x, …)``, by which sums are brought from the
    largest element so far to that of the next iteration."""
    power = value.owner
    if not isinstance(power, math.ExpOp | math.Exp2Op):
        return False
    exponent = power.operands[0].owner
    if not isinstance(exponent, arith.SubfOp):
        return False
    number, most = exponent.operands
    largest = most.owner
    return (
        isinstance(largest, Operation)
        and isinstance(largest, arith.MaximumfOp | arith.MaxnumfOp)
        and any(operand is number for operand in largest.operands)
    )
