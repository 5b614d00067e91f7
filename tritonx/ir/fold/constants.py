"""Constants as Python values: how a folder reads them and how a result becomes an attribute again.

A constant, scalar or splat of a tile, is one Python number:

* integers are normalised to the signed range of their type, so that ``i1`` true is ``-1`` and ``i8`` 255 is ``-1``;
  ``unsigned`` gives the other reading. ``index`` counts as 64 bits.
* floats are Python floats that the type can hold exactly.

A dense constant whose elements differ has no such value and is never folded.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

from tritonx.dialects.arith import ConstantOp
from tritonx.ir.splat import SplatAttr, number, splat

Scalar = int | float


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """An IEEE binary format with infinities: ``precision`` significant bits, the hidden one included."""

    precision: int
    min_exponent: int
    """Exponent of the smallest normal number, 2**min_exponent."""

    max_finite: float


FORMATS: dict[type[Attribute], FloatFormat] = {
    Float16Type: FloatFormat(11, -14, 65504.0),
    BFloat16Type: FloatFormat(8, -126, math.ldexp(255.0, 120)),
    Float32Type: FloatFormat(24, -126, math.ldexp(float(2**24 - 1), 104)),
    Float64Type: FloatFormat(53, -1022, math.ldexp(float(2**53 - 1), 971)),
}
"""The formats that folding computes in. Constants of any other float type are read but not computed with."""

_STRUCT_FORMATS: dict[type[Attribute], str] = {Float16Type: "<e", Float32Type: "<f", Float64Type: "<d"}


def element_of(type: Attribute) -> Attribute:
    """The element type of a tile, and any other type itself."""
    return cast("TensorType[Attribute]", type).element_type if isinstance(type, TensorType) else type


def width_of(type: Attribute) -> int | None:
    """Bits of an integer (or tile of integers); ``None`` for anything else."""
    element = element_of(type)
    if isinstance(element, IntegerType):
        return cast("IntegerType[int]", element).width.data
    return 64 if isinstance(element, IndexType) else None


def format_of(type: Attribute) -> FloatFormat | None:
    """The float format of a scalar or tile type that folding can compute in."""
    return FORMATS.get(element_of(type).__class__)


def signed(value: int, width: int) -> int:
    """``value`` modulo 2**width, in the signed range."""
    half = 1 << (width - 1)
    return ((value + half) & ((1 << width) - 1)) - half


def unsigned(value: int, width: int) -> int:
    """``value`` modulo 2**width, in the unsigned range."""
    return value & ((1 << width) - 1)


def round_to(value: Scalar, format: FloatFormat) -> float:
    """``value`` rounded to nearest even in ``format``, exactly: one rounding also from a wide integer."""
    if isinstance(value, int):
        excess = abs(value).bit_length() - format.precision
        if excess > 0:
            quotient, rest = divmod(value, 1 << excess)
            half = 1 << (excess - 1)
            if rest > half or (rest == half and quotient & 1):
                quotient += 1
            value = quotient << excess
        if abs(value) > format.max_finite:
            return math.copysign(math.inf, value)
        return float(value)
    if format.precision == 53 or value == 0.0 or not math.isfinite(value):
        return value
    if abs(value) >= 2 * format.max_finite:
        return math.copysign(math.inf, value)
    _, exponent = math.frexp(value)
    quantum = max(exponent, format.min_exponent + 1) - format.precision
    rounded = math.ldexp(round(math.ldexp(value, -quantum)), quantum)
    if abs(rounded) > format.max_finite:
        return math.copysign(math.inf, value)
    return math.copysign(rounded, value)


def is_exact(value: Scalar, type: Attribute) -> bool:
    """Whether a float type (or a tile's), of whatever format, can hold ``value`` exactly, its sign included."""
    held = number(value, element_of(type)).value.data
    return repr(float(held)) == repr(float(value))


def float_bits(value: float, type: Attribute) -> int | None:
    """The bit pattern of ``value`` in ``type``, unsigned; ``None`` where the type is none of ``FORMATS``."""
    if isinstance(type, BFloat16Type):
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    code = _STRUCT_FORMATS.get(type.__class__)
    return None if code is None else int.from_bytes(struct.pack(code, value), "little")


def bits_to_float(bits: int, type: Attribute) -> float | None:
    """The value of an unsigned bit pattern; ``None`` for a NaN (its payload would be lost) or an unknown format."""
    if isinstance(type, BFloat16Type):
        value: float = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    else:
        code = _STRUCT_FORMATS.get(type.__class__)
        if code is None:
            return None
        value = struct.unpack(code, bits.to_bytes(struct.calcsize(code), "little"))[0]
    return None if math.isnan(value) else value


def constant_of(value: SSAValue) -> Scalar | None:
    """The number that ``value`` is known to be (in every element, for a tile), or ``None``."""
    owner = value.owner
    return scalar_of(owner.value) if isinstance(owner, ConstantOp) else None


def integer_of(value: SSAValue) -> int | None:
    """The integer that ``value`` is known to be, or ``None``."""
    found = constant_of(value)
    return found if isinstance(found, int) else None


def scalar_of(attribute: Attribute) -> Scalar | None:
    """The number in an attribute of ``arith.constant``; ``None`` where elements differ or are no numbers."""
    if isinstance(attribute, IntegerAttr):
        number = cast("IntegerAttr[IntegerType | IndexType]", attribute)
        width = width_of(number.type)
        return None if width is None else signed(number.value.data, width)
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, SplatAttr):
        return scalar_of(attribute.element)
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return _splat_value(cast("DenseIntOrFPElementsAttr[IntegerType | IndexType | AnyFloat]", attribute))
    return None


def _splat_value(attribute: DenseIntOrFPElementsAttr[IntegerType | IndexType | AnyFloat]) -> Scalar | None:
    data = attribute.data.data
    size: int = attribute.get_element_type().compile_time_size
    if not data or data[:size] * (len(data) // size) != data:
        return None
    element = element_of(attribute.type)
    value = next(iter(attribute.get_element_type().iter_unpack(data[:size])))
    width = width_of(element)
    if isinstance(value, int):
        return None if width is None else signed(value, width)
    return value


def attribute_for(value: Scalar | bool, type: Attribute) -> Attribute:
    """The value attribute of an ``arith.constant`` of ``type``; a tile gets a splat. ``TypeError`` for other types."""
    element = element_of(type)
    width = width_of(element)
    format = format_of(element)
    if width is not None:
        exact: Scalar = signed(int(value), width)
    elif format is not None:
        exact = round_to(int(value) if isinstance(value, bool) else value, format)
    else:
        exact = float(value)
    if isinstance(type, TensorType):
        return splat(exact, cast("TensorType[Attribute]", type))
    # NaN equals nothing and -0.0 equals 0.0: neither may be looked up by value.
    return number(exact, element) if exact == 0 or exact != exact else _number(exact, element)


@lru_cache(maxsize=4096)
def _number(value: Scalar, type: Attribute) -> Attribute:
    return number(value, type)
