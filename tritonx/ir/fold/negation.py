"""Folding of negations, which are written as an exclusive or with all bits set: of a comparison into the opposite one.

The opposite of an ordered comparison of floats is unordered, since both must give different answers on NaN as well:
``not (a < b)`` is ``a >= b or one is NaN``.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute

from tritonx.dialects import arith
from tritonx.dialects.arith.checks import CmpfPredicate, CmpiPredicate
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.fold.result import Folded, Operands, Properties, Replacement, Rule
from tritonx.ir.types import i64

_INTEGER_PAIRS = (
    (CmpiPredicate.EQ, CmpiPredicate.NE),
    (CmpiPredicate.SLT, CmpiPredicate.SGE),
    (CmpiPredicate.SLE, CmpiPredicate.SGT),
    (CmpiPredicate.ULT, CmpiPredicate.UGE),
    (CmpiPredicate.ULE, CmpiPredicate.UGT),
)
_FLOAT_PAIRS = (
    (CmpfPredicate.FALSE, CmpfPredicate.TRUE),
    (CmpfPredicate.OEQ, CmpfPredicate.UNE),
    (CmpfPredicate.OGT, CmpfPredicate.ULE),
    (CmpfPredicate.OGE, CmpfPredicate.ULT),
    (CmpfPredicate.OLT, CmpfPredicate.UGE),
    (CmpfPredicate.OLE, CmpfPredicate.UGT),
    (CmpfPredicate.ONE, CmpfPredicate.UEQ),
    (CmpfPredicate.ORD, CmpfPredicate.UNO),
)
OPPOSITE: dict[type[arith.CmpiOp | arith.CmpfOp], dict[int, int]] = {
    arith.CmpiOp: {int(a): int(b) for pair in _INTEGER_PAIRS for a, b in (pair, pair[::-1])},
    arith.CmpfOp: {int(a): int(b) for pair in _FLOAT_PAIRS for a, b in (pair, pair[::-1])},
}
"""By the class of a comparison: predicate → the predicate that holds where that one does not."""


def exclusive_or(otherwise: Rule) -> Rule:
    """The rule for ``arith.xori``: a negation of a comparison or of a negation, else what ``otherwise`` says."""

    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        folded = otherwise(operands, result_type, properties)
        if folded is not None:
            return folded
        for value, mask in (tuple(operands), tuple(operands)[::-1]):
            number, owner = constant_of(mask), value.owner
            if number is None:
                continue
            if isinstance(owner, arith.XOrIOp):
                return next((owner.operands[1 - i] for i in (0, 1) if constant_of(owner.operands[i]) == number), None)
            if number == -1 and isinstance(owner, arith.CmpiOp | arith.CmpfOp):
                predicate = OPPOSITE[type(owner)][owner.predicate.value.data]
                changed = {**owner.properties, "predicate": IntegerAttr(predicate, i64)}
                return Replacement(type(owner), tuple(owner.operands), changed)
        return None

    return rule
