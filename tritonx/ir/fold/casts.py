"""Folding of conversions: of constants, of conversions that change nothing, and of chains of two."""

from __future__ import annotations

import math as m

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

from tritonx.dialects import arith, tile
from tritonx.dialects.tile.enums import RoundingMode
from tritonx.ir.fold.constants import (
    bits_to_float,
    constant_of,
    element_of,
    float_bits,
    format_of,
    is_exact,
    round_to,
    signed,
    unsigned,
    width_of,
)
from tritonx.ir.fold.result import Constant, Folded, Operands, Properties, Replacement, Rule


def _extend_signed(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    value = constant_of(source)
    if value is not None:
        return Constant(value)
    owner = source.owner
    if isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        # Sign extension of a zero-extended value extends by zeros: its top bit is clear.
        return Replacement(type(owner), (owner.operands[0],))
    return None


def _extend_unsigned(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    value, width = constant_of(source), width_of(source.type)
    if value is not None and width is not None:
        return Constant(unsigned(int(value), width))
    owner = source.owner
    if isinstance(owner, arith.ExtUIOp):
        return Replacement(arith.ExtUIOp, (owner.operands[0],))
    return None


def _truncate(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    value, width = constant_of(source), width_of(result_type)
    if width is None:
        return None
    if value is not None:
        return Constant(signed(int(value), width))
    owner = source.owner
    if isinstance(owner, arith.TruncIOp):
        return Replacement(arith.TruncIOp, (owner.operands[0],))
    if isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        inner = owner.operands[0]
        if inner.type == result_type:
            return inner
        inner_width = width_of(inner.type)
        if inner_width is not None and inner_width < width:
            return Replacement(type(owner), (inner,))
        return Replacement(arith.TruncIOp, (inner,))
    return None


def _index_cast(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    if source.type == result_type:
        return source
    value, width = constant_of(source), width_of(result_type)
    if value is not None and width is not None:
        return Constant(signed(int(value), width))
    owner = source.owner
    # i32 → index → i32 keeps every bit; the other way round a wide index would lose some.
    if isinstance(owner, arith.IndexCastOp) and owner.operands[0].type == result_type:
        inner_width, outer_width = width_of(result_type), width_of(source.type)
        if inner_width is not None and outer_width is not None and inner_width <= outer_width:
            return owner.operands[0]
    return None


def _round_constant(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    """``extf``, ``truncf``: to nearest even, which is the default of both."""
    source = operands[0]
    value, format = constant_of(source), format_of(result_type)
    if value is None or format is None or m.isnan(value):
        return None
    return Constant(round_to(float(value), format))


def _extend_float(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    owner = operands[0].owner
    if isinstance(owner, arith.ExtFOp):
        return Replacement(arith.ExtFOp, (owner.operands[0],))
    return _round_constant(operands, result_type, properties)


def _truncate_float(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    owner = operands[0].owner
    if isinstance(owner, arith.ExtFOp) and owner.operands[0].type == result_type:
        return owner.operands[0]
    return _round_constant(operands, result_type, properties)


def _convert_float(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    """``tt.fp_to_fp``: to the same type, or a constant whose rounding is exact or to nearest even."""
    source = operands[0]
    if source.type == result_type:
        return source
    value, format = constant_of(source), format_of(result_type)
    if value is None or m.isnan(value):
        return None
    if format is None:  # of 8 bits, which infinities do not become
        return Constant(value) if m.isfinite(value) and is_exact(value, result_type) else None
    rounded = round_to(float(value), format)
    rounding = properties.get("rounding")
    to_nearest = not isinstance(rounding, IntegerAttr) or rounding.value.data == RoundingMode.RTNE
    return Constant(rounded) if to_nearest or rounded == value else None


def _from_signed(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    value, format = constant_of(operands[0]), format_of(result_type)
    return None if value is None or format is None else Constant(round_to(int(value), format))


def _from_unsigned(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    source = operands[0]
    value, format, width = constant_of(source), format_of(result_type), width_of(source.type)
    if value is None or format is None or width is None:
        return None
    return Constant(round_to(unsigned(int(value), width), format))


def _to_integer(is_signed: bool) -> Rule:
    """Out of range, infinity and NaN are poison, so those are left to the device."""

    def rule(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
        value, width = constant_of(operands[0]), width_of(result_type)
        if value is None or width is None or not m.isfinite(value):
            return None
        number = m.trunc(value)
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
        return Constant(number) if low <= number < high else None

    return rule


def _reinterpret(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    """``arith.bitcast`` and ``tt.bitcast``."""
    source = operands[0]
    if source.type == result_type:
        return source
    owner = source.owner
    if isinstance(owner, arith.BitcastOp | tile.BitcastOp):
        inner = owner.operands[0]
        return inner if inner.type == result_type else None
    value = constant_of(source)
    if value is None:
        return None
    from_element, to_element = element_of(source.type), element_of(result_type)
    width = width_of(from_element)
    bits = float_bits(float(value), from_element) if width is None else unsigned(int(value), width)
    if bits is None or m.isnan(value):
        return None
    to_width = width_of(to_element)
    if to_width is not None:
        return Constant(signed(bits, to_width))
    number = bits_to_float(bits, to_element)
    return None if number is None else Constant(number)


def _int_to_pointer(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    owner = operands[0].owner
    if isinstance(owner, tile.PtrToIntOp) and owner.operands[0].type == result_type:
        return owner.operands[0]
    return None


def _pointer_to_int(operands: Operands, result_type: Attribute, properties: Properties) -> Folded:
    owner = operands[0].owner
    if isinstance(owner, tile.IntToPtrOp) and owner.operands[0].type == result_type and width_of(result_type) == 64:
        return owner.operands[0]
    return None


CAST_RULES: dict[type[Operation], Rule] = {
    arith.ExtSIOp: _extend_signed,
    arith.ExtUIOp: _extend_unsigned,
    arith.TruncIOp: _truncate,
    arith.IndexCastOp: _index_cast,
    arith.ExtFOp: _extend_float,
    arith.TruncFOp: _truncate_float,
    arith.SIToFPOp: _from_signed,
    arith.UIToFPOp: _from_unsigned,
    arith.FPToSIOp: _to_integer(True),
    arith.FPToUIOp: _to_integer(False),
    arith.BitcastOp: _reinterpret,
    tile.BitcastOp: _reinterpret,
    tile.FpToFpOp: _convert_float,
    tile.IntToPtrOp: _int_to_pointer,
    tile.PtrToIntOp: _pointer_to_int,
}
