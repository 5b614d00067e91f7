"""Comparisons (always int1), ``where``, minimum, maximum and clamp."""

from __future__ import annotations

import warnings
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i64

from tritonx import level
from tritonx.dialects import arith
from tritonx.dialects.tile import ClampFOp, PropagateNan
from tritonx.frontend.semantics.arithmetic import ArithmeticSemantics
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.language.types.dtypes import float32, int1
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

# The numbers of the predicates in arith.cmpf (ordered ones; `!=` is unordered) and arith.cmpi, signed and unsigned.
_PREDICATES: dict[str, tuple[int, int, int]] = {
    "<": (4, 2, 6),
    "<=": (5, 3, 7),
    ">": (2, 4, 8),
    ">=": (3, 5, 9),
    "==": (1, 0, 0),
    "!=": (13, 1, 1),
}
_PREDICATE_ATTRIBUTES = [IntegerAttr(n, i64) for n in range(16)]


class ComparisonSemantics(ArithmeticSemantics):
    def _compare(self, symbol: str, lhs: object, rhs: object) -> tensor:
        # Below `Level.weak_scalars` a Python number is compared as the 0-d tensor it would be, and always in range.
        lhs, rhs = self.binary_operands(self.weak(lhs), self.weak(rhs))
        floating, signed, unsigned = _PREDICATES[symbol]
        scalar = lhs.dtype
        if scalar.is_floating():
            op, predicate = arith.CmpfOp, floating
        elif scalar.is_int():
            op, predicate = arith.CmpiOp, signed if scalar.is_int_signed() else unsigned
        else:
            raise TypeError(f"unexpected type {scalar}")
        properties = {"predicate": _PREDICATE_ATTRIBUTES[predicate]}
        return self.emit(op, (lhs, rhs), lhs.type.with_element_ty(int1), properties)

    def less_than(self, lhs: object, rhs: object) -> tensor:
        return self._compare("<", lhs, rhs)

    def less_equal(self, lhs: object, rhs: object) -> tensor:
        return self._compare("<=", lhs, rhs)

    def greater_than(self, lhs: object, rhs: object) -> tensor:
        return self._compare(">", lhs, rhs)

    def greater_equal(self, lhs: object, rhs: object) -> tensor:
        return self._compare(">=", lhs, rhs)

    def equal(self, lhs: object, rhs: object) -> tensor:
        return self._compare("==", lhs, rhs)

    def not_equal(self, lhs: object, rhs: object) -> tensor:
        return self._compare("!=", lhs, rhs)

    def where(self, condition: Any, x: Any, y: Any) -> tensor:
        """Elementwise ``x if condition else y``; all three broadcast, the values promote, pointers of one type are
        allowed.
        """
        condition = self.to_tensor(condition)
        if condition.dtype != int1:
            warnings.warn(
                "tl.where with a non-boolean condition is deprecated and will error out in a future triton release. "
                f"Got {condition.dtype}",
                stacklevel=3,
            )
            condition = self.cast(condition, int1)
        x, y = self.binary_operands(x, y, lhs_pointer=True, rhs_pointer=True, chosen=True)
        if condition.type.is_block():
            condition, x = self.broadcast(condition, x)
            x, y = self.broadcast(x, y)
        else:
            condition, _ = self.broadcast(condition, x)
        return self.emit(arith.SelectOp, (condition, x, y), x.type)

    # Minimum and maximum.

    def _half_to_single(self, value: object) -> object:
        value = self.weak(value)
        if isinstance(value, tensor) and value.dtype.is_bf16() and not level.active().bf16_stays:
            return self.cast(value, float32)
        return value

    def _extremum(self, x: object, y: object, propagate_nan: object, ops: tuple[type, type, type, type]) -> tensor:
        x, y = self.binary_operands(self._half_to_single(x), self._half_to_single(y))
        number, propagating, signed, unsigned = ops
        if x.dtype.is_floating():
            op = propagating if nan_rule(propagate_nan) is PropagateNan.ALL else number
        elif x.dtype.is_int():
            op = signed if x.dtype.is_int_signed() else unsigned
        else:
            raise TypeError(f"Unexpected dtype {x.dtype}")
        return self.emit(op, (x, y), x.type)

    def minimum(self, x: object, y: object, propagate_nan: object = None) -> tensor:
        """Elementwise minimum; a number wins over a NaN unless NaNs propagate. `Level.bf16_stays` says in what bf16
        computes."""
        return self._extremum(x, y, propagate_nan, (arith.MinnumfOp, arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp))

    def maximum(self, x: object, y: object, propagate_nan: object = None) -> tensor:
        """Elementwise maximum; see ``minimum``."""
        return self._extremum(x, y, propagate_nan, (arith.MaxnumfOp, arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp))

    def clamp(self, x: object, low: object, high: object, propagate_nan: object = None) -> tensor:
        """``min(max(x, low), high)`` of floats, and of integers with `Level.clamps_integers`."""
        x, low, high = self.ternary_operands(*map(self._half_to_single, (x, low, high)))
        if x.dtype.is_int() and level.active().clamps_integers:
            return self.minimum(self.maximum(x, low), high)
        if not x.dtype.is_floating():
            raise TypeError(f"Unexpected dtype {x.dtype}. Only floating point clamp is supported")
        properties = {"propagateNan": enum_attribute(nan_rule(propagate_nan))}
        return self.emit(ClampFOp, (x, low, high), x.type, properties)


def nan_rule(option: Any) -> PropagateNan:
    """The ``PropagateNan`` case of a ``propagate_nan`` argument (of ``tl.PropagateNan``; None is NONE)."""
    option = unwrap(option)
    if option is None:
        return PropagateNan.NONE
    try:
        return PropagateNan(option.value)
    except (AttributeError, ValueError):
        raise TypeError(f"propagate_nan must be a tl.PropagateNan, got {option!r}") from None
