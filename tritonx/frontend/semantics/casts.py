"""Conversions between types: values (``cast``), bits (``bitcast``), and fp8e4b15, whose bits live in i8."""

from __future__ import annotations

from typing import Any

from tritonx.dialects import arith
from tritonx.dialects.tile import BitcastOp, FpToFpOp, IntToPtrOp, PtrToIntOp, RoundingMode
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.comparison import ComparisonSemantics
from tritonx.frontend.semantics.types import ir_type
from tritonx.language.types.dtypes import dtype, float16, float32, int1, int16, int64, uint8
from tritonx.language.types.type_names import element_type
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

_TOO_WIDE = "Block pointers and descriptors only support {} bit values here, {}"
_ROUNDING = {"rtne": RoundingMode.RTNE, "rtz": RoundingMode.RTZ}


class CastSemantics(ComparisonSemantics):
    def check_supported(self, type_: dtype) -> None:
        """``ValueError`` for an fp8 type that the target has no conversions for."""
        supported = self.options.supported_fp8_dtypes
        if type_.is_fp8() and type_.name not in supported:
            raise ValueError(
                f"type {type_} not supported in this architecture. The supported fp8 dtypes are {supported}"
            )

    def integer_scalar(self, value: object, type_: dtype) -> tensor:
        """An extent, a stride (int64) or an offset (int32) as a scalar of ``type_``. ``ValueError`` for what is no
        integer, and for one of more bits: it would address something else.
        """
        number = unwrap(value)
        if isinstance(number, int) and not type_.get_int_min_value() <= number <= type_.get_int_max_value():
            said = f"got a value {number} which is out of the range"
            raise ValueError(_TOO_WIDE.format(type_.int_bitwidth, said))
        scalar = self.to_tensor(value)
        if scalar.type.is_block() or not scalar.dtype.is_int():
            raise ValueError(f"Expected an integer scalar, got {scalar}")
        if scalar.dtype.int_bitwidth > type_.int_bitwidth:
            said = "add a `.to(tl.int32)` or use regular indexing for 64 bit support"
            raise ValueError(_TOO_WIDE.format(type_.int_bitwidth, said))
        return self.cast(scalar, type_)

    def cast(self, value: tensor, type_: dtype, rounding: str | None = None) -> tensor:
        """``value`` converted to the element type ``type_``.

        ``rounding``: ``"rtne"`` (the default) or ``"rtz"``, for conversions to a narrower float only. float to int
        truncates and saturates nowhere; float and int to int1 compare with zero.
        """
        source, target = value.dtype, type_.scalar
        if source == target:
            return value
        mode = _rounding_mode(source, target, rounding)
        if source.is_fp8e4b15() or target.is_fp8e4b15():
            self.check_supported(source)
            self.check_supported(target)
            return self._cast_e4b15(value, target)
        self.check_supported(source)
        self.check_supported(target)
        if source.is_floating() and target.is_floating():
            return self._cast_float(value, target, mode)
        if source.is_int() and target.is_int():
            return self._cast_integer(value, target)
        if source.is_standard_floating() and target.is_int():
            if source.primitive_bitwidth == 16:
                return self.cast(self._retype(arith.ExtFOp, value, float32), target)
            if target.is_bool():
                return self.not_equal(value, self.constant(0, source))
            return self._retype(arith.FPToSIOp if target.is_int_signed() else arith.FPToUIOp, value, target)
        if source.is_int() and target.is_standard_floating():
            return self._retype(arith.SIToFPOp if source.is_int_signed() else arith.UIToFPOp, value, target)
        if source.is_ptr() and target.is_int() and target.int_bitwidth in (1, 64):
            address = self._retype(PtrToIntOp, value, int64 if target.is_bool() else target)
            return self.not_equal(address, self.constant(0, int64)) if target.is_bool() else address
        if source.is_int() and target.is_ptr():
            return self._retype(IntToPtrOp, value, target)
        if source.is_ptr() and target.is_ptr():
            return self._reinterpret(value, target)
        raise AssertionError(f"cannot cast {value} to {value.type.with_element_ty(target)}")

    def _cast_float(self, value: tensor, target: dtype, mode: RoundingMode | None) -> tensor:
        source = value.dtype
        if source.is_fp8() or target.is_fp8() or (mode is not None and mode is not RoundingMode.RTNE):
            properties = {} if mode is None else {"rounding": enum_attribute(mode)}
            return self._retype(FpToFpOp, value, target, properties)
        if source.primitive_bitwidth == 16 and not target.is_fp32():
            return self.cast(self._retype(arith.ExtFOp, value, float32), target)
        wider = target.primitive_bitwidth > source.primitive_bitwidth
        return self._retype(arith.ExtFOp if wider else arith.TruncFOp, value, target)

    def _cast_integer(self, value: tensor, target: dtype) -> tensor:
        source = value.dtype
        if target.is_bool():
            return self.not_equal(value, self.constant(0, source))
        if source.int_bitwidth == target.int_bitwidth:
            return tensor(value.handle, value.type.with_element_ty(target))
        if source.int_bitwidth > target.int_bitwidth:
            return self._retype(arith.TruncIOp, value, target)
        return self._retype(arith.ExtSIOp if source.is_int_signed() else arith.ExtUIOp, value, target)

    def bitcast(self, value: tensor, type_: dtype) -> tensor:
        """The bits of ``value`` as another type of the same width."""
        source, target = value.dtype, type_.scalar
        if source == target:
            return value
        if source.is_ptr() or target.is_ptr():
            return self.cast(value, target)
        if source.primitive_bitwidth != target.primitive_bitwidth:
            raise ValueError(
                f"Cannot bitcast data-type of size {source.primitive_bitwidth} "
                f"to data-type of size {target.primitive_bitwidth}"
            )
        return self._reinterpret(value, target)

    def cast_or_bitcast(self, value: Any, type_: Any, rounding: Any, bitcast: Any) -> tensor:
        """``tl.cast``: all arguments as the user wrote them."""
        value, type_ = self.to_tensor(value), element_type(type_)
        if unwrap(bitcast):
            return self.bitcast(value, type_)
        return self.cast(value, type_, unwrap(rounding))

    # Helpers.

    def _retype(self, op: Any, value: tensor, target: dtype, properties: Any = None) -> tensor:
        return self.emit(op, (value,), value.type.with_element_ty(target), properties)

    def _reinterpret(self, value: tensor, target: dtype) -> tensor:
        if ir_type(value.dtype) == ir_type(target):
            return tensor(value.handle, value.type.with_element_ty(target))
        return self._retype(BitcastOp, value, target)

    def _cast_e4b15(self, value: tensor, target: dtype) -> tensor:
        """fp8e4b15 has the exponent bias of fp16, so its seven low bits are those of an fp16, seven places lower.

        To it as Triton rounds: to fp16 toward zero, then to the nearest, halves away from zero; NaN and what is beyond
        1.75 become 1.75, although there is a code for 1.875.
        """
        source = value.dtype
        if source.is_fp8e4b15():
            bits = self.cast(tensor(value.handle, value.type.with_element_ty(uint8)), int16)
            low = self.shl(self.and_(bits, 0x7F), 7)
            sign = self.shl(self.and_(bits, 0x80), 8)
            return self.cast(self.bitcast(self.or_(low, sign), float16), target)
        if not source.is_fp16():
            wide = value if source.is_fp64() else self.cast(value, float32)
            value = self.cast(wide, float16, "rtz")
        bits = self.bitcast(value, int16)
        magnitude = self.minimum(self.and_(bits, 0x7FFF), 0x3F00)
        rounded = self.shr(self.add(magnitude, 0x40, False), 7)
        sign = self.and_(self.shr(bits, 8), 0x80)
        byte = self.cast(self.or_(rounded, sign), uint8)
        return tensor(byte.handle, value.type.with_element_ty(target))

    def sign_bit(self, value: tensor) -> tensor:
        """int1: whether the sign bit of a float is set (also of -0.0)."""
        bits = value.dtype.primitive_bitwidth
        integer = self.bitcast(value, dtype(f"uint{bits}"))
        return self.cast(self.shr(integer, bits - 1), int1)


def _rounding_mode(source: dtype, target: dtype, rounding: str | None) -> RoundingMode | None:
    narrowing = source.is_floating() and target.is_floating() and target.primitive_bitwidth < source.primitive_bitwidth
    if rounding is not None:
        if rounding not in _ROUNDING:
            raise ValueError(f"Invalid rounding mode: {rounding}. Supported rounding modes are 'rtne' and 'rtz'.")
        if not narrowing:
            raise ValueError(
                "fp_downcast_rounding should be set only for truncating fp conversions. "
                f"Source scalar type is {source} and destination type is {target}"
            )
    return _ROUNDING[rounding or "rtne"] if narrowing else None
