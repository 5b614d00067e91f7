"""Arithmetic, bitwise and logical operators.

Division truncates toward zero, remainder takes the dividend's sign, integers wrap. In a debug compile with
``sanitize_overflow``, + - * of integers narrower than 64 bits check their range at run time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import reduce
from typing import Any

from xdsl.ir import Operation

from tritonx import level
from tritonx.dialects import arith
from tritonx.dialects.tile import AddPtrOp, PreciseDivFOp
from tritonx.frontend.semantics.base import IncompatibleTypeErrorImpl
from tritonx.frontend.semantics.padding import PaddingSemantics
from tritonx.frontend.semantics.promotion import computation_type, promote_integers
from tritonx.language.types.dtypes import dtype, float32, int1, int64
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor


class ArithmeticSemantics(PaddingSemantics):
    # Operand checks.

    def binary_operands(
        self,
        lhs: object,
        rhs: object,
        *,
        lhs_pointer: bool = False,
        rhs_pointer: bool = False,
        promote: bool = True,
        division: bool = False,
        chosen: bool = False,
    ) -> tuple[tensor, tensor]:
        """Two operands (tensors or Python numbers) in their common type, unless ``promote`` is off, and common shape.
        ``chosen``: they are chosen between and not computed with.

        Raises ``IncompatibleTypeErrorImpl`` for pointers where they are not allowed, ``TypeError`` for types without
        a common one, ``ValueError`` for a constant that the other operand's type cannot hold, or shapes that do not
        broadcast.
        """
        lhs, rhs = unwrap(lhs), unwrap(rhs)
        if (
            type(lhs) is tensor
            and type(rhs) is tensor
            and lhs.type == rhs.type
            and not division
            and not lhs.dtype.is_ptr()
        ):
            if promote and not chosen:
                _check_arithmetic(lhs.dtype)
            return lhs, rhs
        left_number, right_number = isinstance(lhs, int | float), isinstance(rhs, int | float)
        left: tensor = self.to_tensor(lhs)
        right: tensor = self.to_tensor(rhs)
        left_type, right_type = left.dtype, right.dtype
        _check_pointer(left_type, right_type, lhs_pointer)
        _check_pointer(right_type, left_type, rhs_pointer)
        if promote and not left_type.is_ptr() and not right_type.is_ptr():
            common = computation_type(left_type, left_number, right_type, right_number, division)
            if not chosen:
                _check_arithmetic(common)
            for number, is_number in ((lhs, left_number), (rhs, right_number)):
                if is_number:
                    _check_constant(number, common)
            left = self.scalar_constant(lhs, common) if left_number else self.cast(left, common)
            right = self.scalar_constant(rhs, common) if right_number else self.cast(right, common)
        return self.broadcast(left, right)

    def ternary_operands(self, x: object, y: object, z: object) -> tuple[tensor, tensor, tensor]:
        """Three operands in their common type and shape. With `Level.weak_scalars` the tensors' type is found first,
        and the numbers, however many, count as one beside it."""
        x, y, z = given = [self.weak(value) for value in (x, y, z)]
        if not all(isinstance(value, tensor) for value in given):
            common = self._type_beside_numbers(given)
            x, y, z = [self._as_operand(value, common) for value in given]
        x, y = self.binary_operands(x, y)
        z, x = self.binary_operands(z, x)
        z, y = self.binary_operands(z, y)
        return x, y, z

    def _as_operand(self, value: object, common: dtype) -> tensor:
        if isinstance(value, tensor):
            return self.cast(value, common)
        _check_constant(value, common)
        return self.scalar_constant(value, common)

    def _type_beside_numbers(self, operands: Sequence[object]) -> dtype:
        tensors = [value.dtype for value in operands if isinstance(value, tensor)]
        numbers = [self.to_tensor(value).dtype for value in operands if not isinstance(value, tensor)]
        common = [reduce(_common_type, types) for types in (tensors, numbers) if types]
        return common[0] if len(common) == 1 else computation_type(common[0], False, common[1], True, False)

    def _by_type(self, lhs: tensor, rhs: tensor, floating: type[Operation], integer: type[Operation]) -> tensor:
        scalar = lhs.dtype
        if scalar.is_floating():
            return self.emit(floating, (lhs, rhs), lhs.type)
        if scalar.is_int():
            return self.emit(integer, (lhs, rhs), lhs.type)
        raise TypeError(f"unexpected type {scalar}")

    # + - *

    def add(self, lhs: object, rhs: object, sanitize_overflow: bool = True) -> tensor:
        """``lhs + rhs``; pointer plus integer advances by elements."""
        lhs, rhs = self.binary_operands(lhs, rhs, lhs_pointer=True, rhs_pointer=True)
        if lhs.dtype.is_ptr() and rhs.dtype.is_ptr():
            raise TypeError("cannot add pointers together")
        if rhs.dtype.is_ptr():
            lhs, rhs = rhs, lhs
        if lhs.dtype.is_ptr():
            return self._advance_pointer(lhs, rhs)
        if sanitize_overflow and lhs.dtype.is_int():
            self._check_overflow(lhs, rhs, "add")
        return self._by_type(lhs, rhs, arith.AddfOp, arith.AddiOp)

    def _advance_pointer(self, pointer: tensor, offset: tensor) -> tensor:
        """``tt.addptr`` reads its offset as signed, so unsigned offsets under 64 bits are extended first."""
        if offset.dtype.is_int_unsigned() and offset.dtype.int_bitwidth < 64:
            offset = self.cast(offset, int64)
        return self.emit(AddPtrOp, (pointer, offset), pointer.type)

    def sub(self, lhs: object, rhs: object, sanitize_overflow: bool = True) -> tensor:
        """``lhs - rhs``; pointer minus integer goes back by elements."""
        lhs, rhs = self.binary_operands(lhs, rhs, lhs_pointer=True)
        if lhs.dtype.is_ptr():
            return self._advance_pointer(lhs, self.minus(rhs))
        if sanitize_overflow and lhs.dtype.is_int():
            self._check_overflow(lhs, rhs, "sub")
        return self._by_type(lhs, rhs, arith.SubfOp, arith.SubiOp)

    def mul(self, lhs: object, rhs: object, sanitize_overflow: bool = True) -> tensor:
        lhs, rhs = self.binary_operands(lhs, rhs)
        if sanitize_overflow and lhs.dtype.is_int():
            self._check_overflow(lhs, rhs, "mul")
        return self._by_type(lhs, rhs, arith.MulfOp, arith.MuliOp)

    def _check_overflow(self, lhs: tensor, rhs: tensor, name: str) -> None:
        """Assert at run time that the result of an int ``add``, ``sub`` or ``mul`` under 64 bits is representable."""
        type_ = lhs.dtype
        if not (self.options.debug and self.options.sanitize_overflow) or type_.int_bitwidth >= 64:
            return
        wide = getattr(self, name)(self.cast(lhs, int64), self.cast(rhs, int64), False)
        low = self.scalar_constant(type_.get_int_min_value(), int64)
        high = self.scalar_constant(type_.get_int_max_value(), int64)
        fits = self.and_(self.less_equal(wide, high), self.greater_equal(wide, low))
        self.device_assert(fits, f"int{type_.int_bitwidth} overflow detected for operation {name}", None)

    # / // %

    def truediv(self, lhs: object, rhs: object) -> tensor:
        """``lhs / rhs`` in floating point: fp32 for two integers and for half-width floats (`Level` has the others)."""
        lhs, rhs = self.binary_operands(lhs, rhs, division=True)
        left, right = lhs.dtype, rhs.dtype
        if left.is_floating() and right.is_int():
            rhs = self.cast(rhs, left)
        elif left.is_int() and right.is_floating():
            lhs = self.cast(lhs, right)
        elif left.is_int() and right.is_int():
            lhs, rhs = self.cast(lhs, float32), self.cast(rhs, float32)
        elif left.is_floating() and right.is_floating():
            if left.fp_mantissa_width > right.fp_mantissa_width:
                rhs = self.cast(rhs, left)
            else:
                lhs = self.cast(lhs, right)
        else:
            raise TypeError(f"unexpected type {left}")
        return self.emit(arith.DivfOp, (lhs, rhs), lhs.type)

    def floordiv(self, lhs: object, rhs: object) -> tensor:
        """``lhs // rhs`` of integers, truncated toward zero."""
        lhs, rhs = self.binary_operands(lhs, rhs, division=True)
        if not (lhs.dtype.is_int() and rhs.dtype.is_int()):
            raise TypeError(f"unexpected type {lhs.dtype}")
        common = promote_integers(lhs.dtype, rhs.dtype)
        lhs, rhs = self.cast(lhs, common), self.cast(rhs, common)
        return self.emit(arith.DivSIOp if common.is_int_signed() else arith.DivUIOp, (lhs, rhs), lhs.type)

    def mod(self, lhs: object, rhs: object) -> tensor:
        """``lhs % rhs`` with the sign of ``lhs``."""
        lhs, rhs = self.binary_operands(lhs, rhs, division=True)
        integer = arith.RemSIOp if lhs.dtype.is_int_signed() else arith.RemUIOp
        return self._by_type(lhs, rhs, arith.RemFOp, integer)

    def fdiv(self, lhs: object, rhs: object, ieee_rounding: bool, approx: bool) -> tensor:
        """Division of floats. ``approx`` allows an approximate one of fp32, and changes nothing: it is no promise.
        ``ieee_rounding`` changes nothing below `Level.narrow_division_in_f32`, as in Triton: ``div_rn`` is the
        correctly rounded quotient.
        """
        if ieee_rounding and approx:
            raise ValueError("approx and ieee_rounding cannot both be True")
        if level.active().narrow_division_in_f32:
            quotient = self._promoted_quotient(lhs, rhs, ieee_rounding)
        else:
            quotient = self._quotient_of_one_type(lhs, rhs)
        if approx and not quotient.dtype.is_fp32():
            raise ValueError(f"approx division is of float32, not of {quotient.dtype}")
        return quotient

    def _promoted_quotient(self, lhs: object, rhs: object, ieee_rounding: bool) -> tensor:
        lhs, rhs = self.binary_operands(lhs, rhs, division=True)
        if not lhs.dtype.is_floating():
            raise TypeError("fdiv requires floating-point operands after type promotion")
        precise = ieee_rounding and lhs.dtype.is_fp32()
        return self.emit(PreciseDivFOp if precise else arith.DivfOp, (lhs, rhs), lhs.type)

    def _quotient_of_one_type(self, lhs: object, rhs: object) -> tensor:
        lhs, rhs = self.to_tensor(lhs), self.to_tensor(rhs)
        if not (lhs.dtype.is_floating() and rhs.dtype.is_floating()):
            raise TypeError("both operands of fdiv must have floating scalar type")
        lhs, rhs = self.binary_operands(lhs, rhs, promote=False, division=True)
        if lhs.dtype != rhs.dtype:
            raise TypeError(f"both operands of fdiv must have one type, got {lhs.dtype} and {rhs.dtype}")
        _check_arithmetic(lhs.dtype)
        return self.emit(arith.DivfOp, (lhs, rhs), lhs.type)

    # Bits.

    def _bitwise(self, op: type[Operation], lhs: object, rhs: object) -> tensor:
        lhs, rhs = self.binary_operands(lhs, rhs)
        left, right = lhs.dtype, rhs.dtype
        if not (left.is_int() and right.is_int()):
            error = IncompatibleTypeErrorImpl(left, right)
            error.add_note(_BITWISE_HINT)
            raise error
        common = promote_integers(left, right)
        lhs, rhs = self.cast(lhs, common), self.cast(rhs, common)
        return self.emit(op, (lhs, rhs), lhs.type)

    def and_(self, lhs: object, rhs: object) -> tensor:
        return self._bitwise(arith.AndIOp, lhs, rhs)

    def or_(self, lhs: object, rhs: object) -> tensor:
        return self._bitwise(arith.OrIOp, lhs, rhs)

    def xor_(self, lhs: object, rhs: object) -> tensor:
        return self._bitwise(arith.XOrIOp, lhs, rhs)

    def shl(self, lhs: object, rhs: object) -> tensor:
        _check_shift(lhs, rhs)
        return self._bitwise(arith.ShLIOp, lhs, rhs)

    def shr(self, lhs: object, rhs: object) -> tensor:
        """``lhs >> rhs``: arithmetic for a signed, logical for an unsigned ``lhs``, whatever the type of the result.

        Where ``lhs`` is a Python number, which has no type, ``rhs`` decides.
        """
        _check_shift(lhs, rhs)
        lhs, rhs = unwrap(lhs), unwrap(rhs)
        decides: tensor = lhs if isinstance(lhs, tensor) else self.to_tensor(rhs)
        return self._bitwise(arith.ShRSIOp if decides.dtype.is_int_signed() else arith.ShRUIOp, lhs, rhs)

    # Signs and truth.

    def plus(self, value: tensor) -> tensor:
        return value

    def weak(self, value: object) -> object:
        """A Python number as an operand that widens no tensor, where the level has such; else as a tensor."""
        return unwrap(value) if level.active().weak_scalars else self.to_tensor(value)

    def minus(self, value: tensor) -> tensor:
        """``-value``: of a float with the sign flipped, or ``0 - value`` (`Level.negates_by_sign`)."""
        type_ = value.dtype
        if type_.is_ptr():
            raise ValueError(f"wrong type argument to unary minus ({type_!r})")
        if type_.is_floating() and level.active().negates_by_sign:
            _check_arithmetic(type_)
            return self.emit(arith.NegfOp, (value,), value.type)
        return self.sub(self.constant(0, type_), value)

    def invert(self, value: tensor) -> tensor:
        """``~value`` of integers."""
        type_ = value.dtype
        if type_.is_ptr() or type_.is_floating():
            raise ValueError(f"wrong type argument to unary invert ({type_!r})")
        ones = self.constant(1 if type_.is_bool() else -1, type_)
        return self.xor_(value, ones)

    def not_(self, value: object) -> tensor:
        """Logical not of 1-bit values."""
        return self.invert(self._as_bool(self.to_tensor(value)))

    def logical_and(self, lhs: object, rhs: object) -> tensor:
        """Elementwise ``and`` of 1-bit values; both sides are evaluated."""
        return self.and_(self._as_bool(self.to_tensor(lhs)), self._as_bool(self.to_tensor(rhs)))

    def logical_or(self, lhs: object, rhs: object) -> tensor:
        """Elementwise ``or`` of 1-bit values; both sides are evaluated."""
        return self.or_(self._as_bool(self.to_tensor(lhs)), self._as_bool(self.to_tensor(rhs)))

    def _as_bool(self, value: tensor) -> tensor:
        return value if value.dtype.is_bool() else self.bitcast(value, int1)

    # Of other families, whose mixins define them.

    def less_equal(self, lhs: object, rhs: object) -> tensor:
        raise NotImplementedError

    def greater_equal(self, lhs: object, rhs: object) -> tensor:
        raise NotImplementedError

    def device_assert(self, cond: object, message: object, mask: object) -> None:
        raise NotImplementedError


_BITWISE_HINT = (
    "&, | and ^ combine integers and conditions: compare first, in parentheses, as in (x > 0) & (y > 0), convert with "
    ".to(tl.int32), or take the bits with .to(tl.int32, bitcast=True)"
)


def _common_type(a: dtype, b: dtype) -> dtype:
    """Of two tensors, or of two numbers."""
    return computation_type(a, False, b, False, False)


def _check_arithmetic(type_: dtype) -> None:
    if type_.is_fp8e4b15():
        raise TypeError(f"there is no arithmetic on {type_}, a type for storage; convert it with `.to(tl.float16)`")


def _check_pointer(type_: dtype, other: dtype, allowed: bool) -> None:
    """A pointer operand must be allowed, and goes with integers and pointers of its own type only."""
    if type_.is_ptr() and (not allowed or (other.is_ptr() and type_ != other) or other.is_floating()):
        raise IncompatibleTypeErrorImpl(type_, other)


def _check_constant(number: Any, common: dtype) -> None:
    """A Python number must be a value of the integer type it is taken to."""
    if not common.is_int():
        return
    if number < 0 and common.is_int_unsigned():
        raise ValueError(
            "Cannot perform a binary operation between an unsigned tensor and a negative scalar. "
            "Perform a explicit cast on one of them."
        )
    if not common.get_int_min_value() <= number <= common.get_int_max_value():
        raise ValueError(f"Scalar {number} is out of range for type {common}")


def _check_shift(value: object, amount: object) -> None:
    """Warn of a shift by a constant that leaves nothing: what it gives is undefined."""
    amount = unwrap(amount)
    if isinstance(value, tensor) and isinstance(amount, int) and amount >= value.dtype.primitive_bitwidth:
        warnings.warn(
            f"Value {amount} exceeds the maximum bitwidth ({value.dtype.primitive_bitwidth}) for type '{value.dtype}'. "
            "This may result in undefined behavior.",
            stacklevel=4,
        )
