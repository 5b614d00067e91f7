"""How much of a floating-point value's precision can be seen in what a kernel stores.

A value that is only multiplied, divided, added, compared for the larger one and moved about until it is rounded to 16
bits or less loses far more in that rounding than in its last two bits; an emitter may choose a shorter way to compute
it. A difference can cancel, and a comparison can turn over, so that these, like every op not named here, need all of
the value.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tritonx.dialects import arith, gpu_layout, tile
from tritonx.dialects.control_flow import becomes
from tritonx.ir.types import bit_width, element_type, type_of

NARROW = 16
"""Bits of the widest type that hides the last bits of an f32."""

_NARROWING = (arith.TruncFOp, tile.FpToFpOp)

_KEEPS_RELATIVE_ERROR = (
    arith.AddfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp, arith.MaxnumfOp, arith.MinimumfOp, arith.MinnumfOp,
)  # fmt: skip

_MOVES = (
    gpu_layout.ConvertLayoutOp, tile.BroadcastOp, tile.ExpandDimsOp, tile.ReshapeOp, tile.SplatOp, tile.TransOp,
    tile.UnsplatOp,
)  # fmt: skip


def only_narrowed(value: SSAValue) -> bool:
    """Whether every way of `value` ends in a type of at most `NARROW` bits; see the module's docstring."""
    seen: set[SSAValue] = set()
    waiting: list[SSAValue] = [value]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            following = _followed(use.operation, use.index)
            if following is None:
                return False
            waiting.extend(following)
    return True


def _followed(op: Operation, index: int) -> tuple[SSAValue, ...] | None:
    """The values in which an operand lives on with its relative error; None where its last bits may matter."""
    if isinstance(op, _NARROWING) and bit_width(element_type(type_of(op.results[0]))) <= NARROW:
        return ()
    if isinstance(op, _KEEPS_RELATIVE_ERROR) or isinstance(op, _MOVES):
        return tuple(op.results)
    if isinstance(op, arith.SelectOp):
        return None if index == 0 else tuple(op.results)
    if isinstance(op, tile.ReduceOp):
        return (op.results[index],) if _combines_evenly(op) else None
    return tuple(becomes(op, index)) or None


def _combines_evenly(op: tile.ReduceOp) -> bool:
    """Whether each operand of a reduction is combined with itself only, by ops that keep the relative error."""
    if len(op.combineOp.blocks) != 1:
        return False
    block = op.combineOp.block
    end = block.last_op
    columns = len(op.operands)
    assert end is not None
    for column, returned in enumerate(end.operands):
        made = returned.owner
        if not isinstance(made, _KEEPS_RELATIVE_ERROR):
            return False
        if set(made.operands) != {block.args[column], block.args[column + columns]}:
            return False
    return True
