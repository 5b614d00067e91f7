"""Folding: what an op amounts to, given what is known of its operands.

A rule sees the operands, result type and properties of an op *before or after* it exists, so that the builder (which
then never creates the op) and the fold pass share one table; what Triton's front end leaves to its passes is only in
the pass's, so that the front ends' results can be compared op by op. A rule answers with an existing value, a constant,
or one simpler op; it creates nothing. Every rule holds for tiles, elementwise, and for every operand value, NaN and
-0.0 included.

What an op computes is said twice, here of Python's numbers and in `interpreter/meanings` of NumPy's arrays. Time is not
the reason: with the interpreter's functions for integers 30 kernels took 1.93 to 2.51 processor seconds to LLVM's text,
and 1.97 to 2.14 as they are (cuda:90, five runs by turns, 285 results). But a rule is asked before there is an op,
which a meaning is of, and `ir` imports neither NumPy nor what executes it. `tests/unit/ir/test_one_meaning.py` holds
that both agree, for every op and type.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from tritonx.dialects import arith
from tritonx.ir.fold.casts import CAST_RULES
from tritonx.ir.fold.constants import attribute_for, constant_of
from tritonx.ir.fold.floating import FLOAT_RULES
from tritonx.ir.fold.integer import INTEGER_RULES
from tritonx.ir.fold.negation import exclusive_or
from tritonx.ir.fold.result import Constant, Folded, Operands, Properties, Replacement, Rule
from tritonx.ir.fold.shape import SHAPE_RULES

AT_CREATION: dict[type[Operation], Rule] = {**INTEGER_RULES, **FLOAT_RULES, **CAST_RULES, **SHAPE_RULES}
"""The builder's rules."""

RULES: dict[type[Operation], Rule] = {**AT_CREATION, arith.XOrIOp: exclusive_or(AT_CREATION[arith.XOrIOp])}
"""All rules."""


def fold(op: type[Operation], operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    """What an op of this class computes, if that is simpler than the op; ``None`` where it has to stay."""
    rule = RULES.get(op)
    return None if rule is None else rule(operands, result_type, properties)


def fold_at_creation(op: type[Operation], operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    """``fold`` by the builder's rules."""
    rule = AT_CREATION.get(op)
    return None if rule is None else rule(operands, result_type, properties)


__all__ = ["RULES", "Constant", "Folded", "Replacement", "attribute_for", "constant_of", "fold", "fold_at_creation"]
