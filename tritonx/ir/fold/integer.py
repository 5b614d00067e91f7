"""Folding of integer arithmetic: exact, modulo 2**width, on scalars and on splats of tiles.

A quotient by zero, ``INT_MIN / -1`` and a shift by the width or more are what docs/guide.md says of integers.
``nsw``/``nuw`` flags are ignored: wrapping refines poison.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

from tritonx.dialects import arith, math
from tritonx.dialects.tile import MulhiUIOp
from tritonx.ir.fold.constants import constant_of, unsigned, width_of
from tritonx.ir.fold.result import Constant, Folded, Operands, Properties, Rule

Compute = Callable[[int, int, int], int]
"""(lhs, rhs, width) with both operands in the signed reading → the result in any reading, modulo 2**width."""


def _binary(
    compute: Compute,
    *,
    unit: int | None = None,
    left_unit: int | None = None,
    zero: int | None = None,
    left_zero: int | None = None,
    same: int | str | None = None,
) -> Rule:
    """A rule for ``op(lhs, rhs)``, numbers in the signed reading.

    ``unit``: rhs for which the result is lhs (``left_unit`` the mirror image). ``zero``: rhs for which the result is
    that number whatever lhs is (``left_zero`` likewise). ``same``: the result for equal operands, ``"lhs"`` for the
    operand.
    """

    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        lhs, rhs = operands
        width = width_of(result_type)
        if width is None:
            return None
        a, b = constant_of(lhs), constant_of(rhs)
        if b is not None:
            if a is not None:
                return Constant(compute(int(a), int(b), width))
            if b == unit:
                return lhs
            if b == zero:
                return Constant(int(b))
        elif a is not None:
            if a == left_unit:
                return rhs
            if a == left_zero:
                return Constant(int(a))
        if lhs is rhs and same is not None:
            return lhs if isinstance(same, str) else Constant(same)
        return None

    return rule


def _divide(a: int, b: int, width: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def _remainder(a: int, b: int, width: int) -> int:
    return a - _divide(a, b, width) * b


def _divide_unsigned(a: int, b: int, width: int) -> int:
    return unsigned(a, width) // unsigned(b, width) if b else 0


def _remainder_unsigned(a: int, b: int, width: int) -> int:
    return unsigned(a, width) % unsigned(b, width) if b else a


def _remainder_rule(compute: Compute) -> Rule:
    """``x % 1`` is 0 whatever x is, which is no unit and no absorbing element of the table's kind."""
    constants = _binary(compute, unit=0)

    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        if constant_of(operands[1]) == 1:
            return Constant(0)
        return constants(operands, result_type, properties)

    return rule


def _logical_shift_rule(compute: Compute) -> Rule:
    """A shift by the width or more leaves nothing of whatever it is."""
    constants = _binary(compute, unit=0)

    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        count, width = constant_of(operands[1]), width_of(result_type)
        if count is not None and width is not None and not 0 <= count < width:
            return Constant(0)
        return constants(operands, result_type, properties)

    return rule


def _shift_left(a: int, b: int, width: int) -> int:
    return a << b if 0 <= b < width else 0


def _shift_right_signed(a: int, b: int, width: int) -> int:
    return a >> (b if 0 <= b < width else width - 1)


def _shift_right_unsigned(a: int, b: int, width: int) -> int:
    return unsigned(a, width) >> b if 0 <= b < width else 0


def _max_unsigned(a: int, b: int, width: int) -> int:
    return max(unsigned(a, width), unsigned(b, width))


def _min_unsigned(a: int, b: int, width: int) -> int:
    return min(unsigned(a, width), unsigned(b, width))


def _mulhi_unsigned(a: int, b: int, width: int) -> int:
    return (unsigned(a, width) * unsigned(b, width)) >> width


def _abs(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    value = constant_of(operands[0])
    return None if value is None else Constant(abs(int(value)))


_PREDICATES: tuple[tuple[Callable[[int, int], bool], bool, bool], ...] = (
    (lambda a, b: a == b, False, True),
    (lambda a, b: a != b, False, False),
    (lambda a, b: a < b, False, False),
    (lambda a, b: a <= b, False, True),
    (lambda a, b: a > b, False, False),
    (lambda a, b: a >= b, False, True),
    (lambda a, b: a < b, True, False),
    (lambda a, b: a <= b, True, True),
    (lambda a, b: a > b, True, False),
    (lambda a, b: a >= b, True, True),
)
"""By the number of an ``arith.cmpi`` predicate: the comparison, whether it is unsigned, its value for equal operands.
"""


def _compare(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    lhs, rhs = operands
    width = width_of(lhs.type)
    predicate = properties["predicate"]
    if width is None or not isinstance(predicate, IntegerAttr):
        return None
    holds, is_unsigned, reflexive = _PREDICATES[predicate.value.data]
    if lhs is rhs:
        return Constant(-1 if reflexive else 0)
    a, b = constant_of(lhs), constant_of(rhs)
    low, high = (0, (1 << width) - 1) if is_unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    if a is not None:
        a = unsigned(int(a), width) if is_unsigned else int(a)
    if b is not None:
        b = unsigned(int(b), width) if is_unsigned else int(b)
    if a is not None and b is not None:
        return Constant(-1 if holds(a, b) else 0)
    if predicate.value.data < 2:
        return None
    # An ordering against the end of the range is decided where both ends of the unknown side agree.
    if b is not None and holds(low, b) == holds(high, b):
        return Constant(-1 if holds(low, b) else 0)
    if a is not None and holds(a, low) == holds(a, high):
        return Constant(-1 if holds(a, low) else 0)
    return None


INTEGER_RULES: dict[type[Operation], Rule] = {
    arith.AddiOp: _binary(lambda a, b, w: a + b, unit=0, left_unit=0),
    arith.SubiOp: _binary(lambda a, b, w: a - b, unit=0, same=0),
    arith.MuliOp: _binary(lambda a, b, w: a * b, unit=1, left_unit=1, zero=0, left_zero=0),
    arith.DivSIOp: _binary(_divide, unit=1, zero=0),
    arith.DivUIOp: _binary(_divide_unsigned, unit=1, zero=0),
    arith.RemSIOp: _remainder_rule(_remainder),
    arith.RemUIOp: _remainder_rule(_remainder_unsigned),
    arith.AndIOp: _binary(lambda a, b, w: a & b, unit=-1, left_unit=-1, zero=0, left_zero=0, same="lhs"),
    arith.OrIOp: _binary(lambda a, b, w: a | b, unit=0, left_unit=0, zero=-1, left_zero=-1, same="lhs"),
    arith.XOrIOp: _binary(lambda a, b, w: a ^ b, unit=0, left_unit=0, same=0),
    arith.ShLIOp: _logical_shift_rule(_shift_left),
    arith.ShRSIOp: _binary(_shift_right_signed, unit=0),
    arith.ShRUIOp: _logical_shift_rule(_shift_right_unsigned),
    arith.MaxSIOp: _binary(lambda a, b, w: max(a, b), same="lhs"),
    arith.MinSIOp: _binary(lambda a, b, w: min(a, b), same="lhs"),
    arith.MaxUIOp: _binary(_max_unsigned, unit=0, left_unit=0, zero=-1, left_zero=-1, same="lhs"),
    arith.MinUIOp: _binary(_min_unsigned, unit=-1, left_unit=-1, zero=0, left_zero=0, same="lhs"),
    arith.CmpiOp: _compare,
    math.AbsIOp: _abs,
    MulhiUIOp: _binary(_mulhi_unsigned, zero=0, left_zero=0),
}
