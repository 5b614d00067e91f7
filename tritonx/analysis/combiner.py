"""What a reduction's combine region is, where it is one op."""

from __future__ import annotations

from xdsl.ir import Operation

from tritonx.dialects import arith, tile
from tritonx.ir.edit import only_block

IDEMPOTENT: frozenset[type[Operation]] = frozenset(
    (
        arith.AndIOp, arith.OrIOp, arith.MaxSIOp, arith.MaxUIOp, arith.MinSIOp, arith.MinUIOp,
        arith.MaximumfOp, arith.MaxnumfOp, arith.MinimumfOp, arith.MinnumfOp,
    )
)  # fmt: skip
"""Ops of which a value combined with itself is the value: they may meet copies."""


def combiner(op: tile.ReduceOp | tile.ScanOp) -> type[Operation] | None:
    """The class of the one op that the region applies to its two arguments."""
    block = only_block(op.combineOp)
    if block is None:
        return None
    ops = list(block.ops)
    if len(ops) != 2 or set(ops[0].operands) != set(block.args) or tuple(ops[1].operands) != tuple(ops[0].results):
        return None
    return ops[0].__class__
