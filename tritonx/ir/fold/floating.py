"""Folding of floating-point arithmetic, bit for bit what IEEE arithmetic in the op's own type gives.

Computing in binary64 and rounding once more is exact for ``+ - * / sqrt`` on formats of at most 24 significant bits,
because 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995). A fold that would make a NaN is
declined: its payload is the hardware's business. Identities hold for every operand, so ``x + 0.0`` (wrong for -0.0) and
``x * 0.0`` are not among them, while ``x + -0.0``, ``x - 0.0``, ``x * 1.0`` and ``x / 1.0`` are; but of 8-bit floats,
whose arithmetic saturates, nothing is folded. Transcendentals are never folded: their last bit differs from device to
device.
"""

from __future__ import annotations

import math as m
from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

from tritonx.dialects import arith, math
from tritonx.dialects.tile import ApproxDivFOp, PreciseDivFOp, PreciseSqrtOp
from tritonx.ir.fold.constants import constant_of, format_of, round_to
from tritonx.ir.fold.result import Constant, Folded, Operands, Properties, Rule
from tritonx.ir.types import FLOAT8_TYPES, element_type


def _rounded(value: float, type: Attribute) -> Folded:
    format = format_of(type)
    return None if format is None or m.isnan(value) else Constant(round_to(value, format))


def _is(value: int | float | None, number: float) -> bool:
    """Whether ``value`` is ``number``, with the sign of zero told apart."""
    return value is not None and value == number and m.copysign(1.0, value) == m.copysign(1.0, number)


def _binary(
    compute: Callable[[float, float], float | None],
    *,
    unit: float | None = None,
    left_unit: float | None = None,
    same: bool = False,
) -> Rule:
    """A rule for ``op(lhs, rhs)``. ``unit``: rhs for which the result is lhs; ``same``: ``op(x, x)`` is x."""

    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        if element_type(result_type) in FLOAT8_TYPES:
            return None
        lhs, rhs = operands
        a, b = constant_of(lhs), constant_of(rhs)
        if a is not None and b is not None:
            value = compute(float(a), float(b))
            return None if value is None else _rounded(value, result_type)
        if unit is not None and _is(b, unit):
            return lhs
        if left_unit is not None and _is(a, left_unit):
            return rhs
        return lhs if same and lhs is rhs else None

    return rule


def _unary(compute: Callable[[float], float | None]) -> Rule:
    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        a = constant_of(operands[0])
        value = None if a is None else compute(float(a))
        return None if value is None else _rounded(value, result_type)

    return rule


def _divide(a: float, b: float) -> float | None:
    if b == 0.0:
        return None if a == 0.0 or m.isnan(a) else m.copysign(m.inf, a) * m.copysign(1.0, b)
    return a / b


def _remainder(a: float, b: float) -> float | None:
    return None if b == 0.0 or m.isinf(a) else m.fmod(a, b)


def _square_root(a: float) -> float | None:
    return None if a < 0.0 or m.isnan(a) else m.sqrt(a)


def _maximum(a: float, b: float) -> float | None:
    if m.isnan(a) or m.isnan(b):
        return None
    if a == b:
        return a if m.copysign(1.0, a) > 0 else b
    return max(a, b)


def _minimum(a: float, b: float) -> float | None:
    if m.isnan(a) or m.isnan(b):
        return None
    if a == b:
        return a if m.copysign(1.0, a) < 0 else b
    return min(a, b)


def _integral(function: Callable[[float], int]) -> Callable[[float], float | None]:
    """Floor and ceiling keep infinities, and the sign of a zero result is the operand's."""

    def compute(a: float) -> float | None:
        return a if m.isinf(a) else None if m.isnan(a) else m.copysign(float(function(a)), a)

    return compute


def _negate(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    owner = operands[0].owner
    if isinstance(owner, arith.NegfOp):
        return owner.operands[0]
    value = constant_of(operands[0])
    return None if value is None or m.isnan(value) else Constant(-float(value))


_PREDICATES: tuple[tuple[Callable[[float, float], bool], bool], ...] = (
    (lambda a, b: False, False),
    (lambda a, b: a == b, False),
    (lambda a, b: a > b, False),
    (lambda a, b: a >= b, False),
    (lambda a, b: a < b, False),
    (lambda a, b: a <= b, False),
    (lambda a, b: a < b or a > b, False),
    (lambda a, b: a == a and b == b, False),
    (lambda a, b: a == b, True),
    (lambda a, b: a > b, True),
    (lambda a, b: a >= b, True),
    (lambda a, b: a < b, True),
    (lambda a, b: a <= b, True),
    (lambda a, b: a != b, True),
    (lambda a, b: False, True),
    (lambda a, b: True, True),
)
"""By the number of an ``arith.cmpf`` predicate: the comparison of ordered operands, and its value when one is a NaN."""


def _compare(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    predicate = properties["predicate"]
    if not isinstance(predicate, IntegerAttr):
        return None
    number: int = predicate.value.data
    if number in (0, 15):
        return Constant(-1 if number else 0)
    a, b = constant_of(operands[0]), constant_of(operands[1])
    if a is None or b is None:
        return None
    holds, if_unordered = _PREDICATES[number]
    unordered = m.isnan(a) or m.isnan(b)
    return Constant(-1 if (if_unordered if unordered else holds(float(a), float(b))) else 0)


FLOAT_RULES: dict[type[Operation], Rule] = {
    arith.AddfOp: _binary(lambda a, b: a + b, unit=-0.0, left_unit=-0.0),
    arith.SubfOp: _binary(lambda a, b: a - b, unit=0.0),
    arith.MulfOp: _binary(lambda a, b: a * b, unit=1.0, left_unit=1.0),
    arith.DivfOp: _binary(_divide, unit=1.0),
    arith.RemFOp: _binary(_remainder),
    arith.MaximumfOp: _binary(_maximum, same=True),
    arith.MinimumfOp: _binary(_minimum, same=True),
    arith.MaxnumfOp: _binary(_maximum, same=True),
    arith.MinnumfOp: _binary(_minimum, same=True),
    arith.NegfOp: _negate,
    arith.CmpfOp: _compare,
    math.AbsFOp: _unary(abs),
    math.FloorOp: _unary(_integral(m.floor)),
    math.CeilOp: _unary(_integral(m.ceil)),
    math.SqrtOp: _unary(_square_root),
    PreciseSqrtOp: _unary(_square_root),
    PreciseDivFOp: _binary(_divide, unit=1.0),
    ApproxDivFOp: _binary(_divide, unit=1.0),
}
