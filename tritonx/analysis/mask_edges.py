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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from xdsl.ir import SSAValue

from tritonx.analysis.axis_info import AxisFacts
from tritonx.analysis.axis_rules import RULES
from tritonx.analysis.axis_value import Ints
from tritonx.dialects import arith, gpu_layout, tile
from tritonx.dialects.arith import CmpiPredicate

_ORDERED = frozenset(CmpiPredicate) - {CmpiPredicate.EQ, CmpiPredicate.NE}
_SHAPES = tile.ExpandDimsOp | tile.BroadcastOp | gpu_layout.ConvertLayoutOp
"""What these do to runs of equal elements they do to runs with one edge."""


def mask_edges(facts: AxisFacts, mask: SSAValue) -> Ints:
    """For each dim the length of the runs, a power of two, from multiples of it on, in which the mask changes at most
    once, as the module says; at least the mask's constancy."""
    known: dict[SSAValue, Ints] = {}
    left = [mask]
    while left:
        value = left[-1]
        missing = [part for part in _parts(value) if part not in known]
        left += missing
        if not missing:
            known[left.pop()] = _edges(value, known, facts)
    return known[mask]


def _parts(mask: SSAValue) -> Sequence[SSAValue]:
    """The masks that a mask is made of."""
    return mask.owner.operands if isinstance(mask.owner, _SHAPES | arith.AndIOp) else ()


def _edges(mask: SSAValue, known: Mapping[SSAValue, Ints], facts: AxisFacts) -> Ints:
    """`known` are those of its parts."""
    equal = facts.of(mask).constancy
    op = mask.owner
    found = equal
    if isinstance(op, arith.CmpiOp):
        found = _compared(op, facts)
    elif isinstance(op, arith.AndIOp):
        left, right = known[op.lhs], known[op.rhs]
        same = facts.of(op.lhs).constancy, facts.of(op.rhs).constancy
        found = tuple(max(min(left[d], same[1][d]), min(right[d], same[0][d])) for d in range(len(equal)))
    elif isinstance(op, _SHAPES):
        info = replace(facts.of(op.operands[0]), constancy=known[op.operands[0]])
        found = RULES[type(op)](op, [info]).constancy
    return tuple(map(max, found, equal))


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
