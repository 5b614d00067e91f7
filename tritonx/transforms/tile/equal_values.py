"""Whether two values are equal by what computes them, given others that are."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, OpResult, SSAValue

from tritonx.ir.effects import has_effects, may_read

DEPTH = 8
"""How many ops there may be between two values and what is known to be equal."""


def are_equal(a: SSAValue, b: SSAValue, known: Mapping[SSAValue, SSAValue], depth: int = DEPTH) -> bool:
    """Whether both are the same function of the same values. ``known`` maps a value to one that it is equal to. Ops
    that read memory or have regions are equal to none but themselves."""
    if a is b or known.get(b) is a or known.get(a) is b:
        return True
    if not isinstance(a, OpResult) or not isinstance(b, OpResult) or a.index != b.index or not depth:
        return False
    return _compute_the_same(a.op, b.op) and all(
        are_equal(x, y, known, depth - 1) for x, y in zip(a.op.operands, b.op.operands, strict=True)
    )


def _compute_the_same(a: Operation, b: Operation) -> bool:
    """Whether the ops are equal but for their operands."""
    return (
        a.__class__ is b.__class__
        and not a.regions
        and not (has_effects(a) or may_read(a))
        and len(a.operands) == len(b.operands)
        and [r.type for r in a.results] == [r.type for r in b.results]
        and a.properties == b.properties
        and a.attributes == b.attributes
    )
