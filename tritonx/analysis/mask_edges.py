"""Masks with one edge: `offsets < n`, of which nothing is known about n.

Under such a mask all vectors of a row are whole or left out but one, in which the mask changes. So vectors may be as
wide as the addresses let them be, if that one is seen to apart, element by element.

What counts is that a run of neighbours has at most one change, and that its ends tell: it is whole where both hold, and
has a change where they differ. That is so of a run of consecutive numbers compared with equal ones, `<`, `<=`, `>` or
`>=`, where the run starts at a multiple of its length, so that its numbers do not wrap around; and of such a mask and
another that is equal within the run. Two edges (`lo <= offsets < hi`) may leave out both ends and not the middle, and
are not counted.
"""

from __future__ import annotations

from math import gcd

from xdsl.ir import SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_value import Ints, power_of_two_part
from tritonx.dialects import arith, gpu_layout, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.ir.types import shape_of, type_of

_ORDERED = frozenset(
    {
        CmpiPredicate.SLT, CmpiPredicate.SLE, CmpiPredicate.SGT, CmpiPredicate.SGE,
        CmpiPredicate.ULT, CmpiPredicate.ULE, CmpiPredicate.UGT, CmpiPredicate.UGE,
    }
)  # fmt: skip


def mask_edges(facts: AxisFacts, mask: SSAValue) -> Ints:
    """For each dim the length of the runs, a power of two, from multiples of it on, in which the mask changes at most
    once, as the module says; at least the mask's constancy."""
    equal = facts.of(mask).constancy
    op = mask.owner
    found = equal
    if isinstance(op, arith.CmpiOp):
        found = _compared(op, facts)
    elif isinstance(op, arith.AndIOp):
        left, right = mask_edges(facts, op.lhs), mask_edges(facts, op.rhs)
        same = facts.of(op.lhs).constancy, facts.of(op.rhs).constancy
        found = tuple(
            max(min(left[d], same[1][d]), min(right[d], same[0][d])) for d in range(len(equal))
        )  # fmt: skip
    elif isinstance(op, tile.ExpandDimsOp):
        inner, axis = mask_edges(facts, op.src), op.axis.value.data
        found = (*inner[:axis], 1, *inner[axis:])
    elif isinstance(op, tile.BroadcastOp):
        old, new = shape_of(type_of(op.src)), shape_of(type_of(mask))
        runs = zip(mask_edges(facts, op.src), old, new, strict=True)
        found = tuple(run if before == after else power_of_two_part(after) for run, before, after in runs)
    elif isinstance(op, gpu_layout.ConvertLayoutOp):
        found = mask_edges(facts, op.src)
    return tuple(map(max, found, equal)) if len(found) == len(equal) else equal


def _compared(op: arith.CmpiOp, facts: AxisFacts) -> Ints:
    a, b = facts.of(op.lhs), facts.of(op.rhs)
    if CmpiPredicate(op.predicate.value.data) not in _ORDERED:
        return (1,) * a.rank
    return tuple(
        max(
            gcd(run.contiguity[d], run.divisibility[d], equal.constancy[d])
            for run, equal in ((a, b), (b, a))
        )
        for d in range(a.rank)
    )  # fmt: skip
