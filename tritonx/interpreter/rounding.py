"""Rounding between the floating-point formats, exactly.

A conversion that drops digits is defined here once: find the spacing of the target format at the value, divide, round
the quotient to an integer (to nearest even, or towards zero), multiply back. Every format narrower than f64 goes
through f64, which holds all of their values, so there is one rounding and never two.

Overflow follows what the devices do: the IEEE formats (f16, bf16, f32) overflow to infinity under round-to-nearest
and stop at their largest finite value under round-towards-zero; the 8-bit formats always saturate to their largest
finite value, infinities included (PTX ISA, `cvt.satfinite`). NaN stays NaN.
"""

# Operands are arrays of any dtype: to pyright, what NumPy makes of them is partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike


class Rounding(IntEnum):
    """The numbers are those of `tt.fp_to_fp`'s rounding attribute."""

    TOWARDS_ZERO = 0
    NEAREST_EVEN = 1


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: significand digits (the implicit one counted), exponent of the least normal
    number."""

    dtype: np.dtype
    precision: int
    min_exponent: int
    largest: float
    saturates: bool
    signed_zero: bool = True
    """The FNUZ formats have no -0."""


def _format(dtype: DTypeLike, *, saturates: bool = False, signed_zero: bool = True) -> Format:
    info = ml_dtypes.finfo(dtype)
    return Format(
        dtype=np.dtype(dtype),
        precision=int(info.nmant) + 1,
        min_exponent=int(info.minexp),
        largest=float(info.max),
        saturates=saturates,
        signed_zero=signed_zero,
    )


FORMATS: dict[np.dtype, Format] = {
    f.dtype: f
    for f in (
        _format(np.float32),
        _format(np.float16),
        _format(ml_dtypes.bfloat16),
        _format(ml_dtypes.float8_e4m3fn, saturates=True),
        _format(ml_dtypes.float8_e5m2, saturates=True),
        _format(ml_dtypes.float8_e4m3fnuz, saturates=True, signed_zero=False),
        _format(ml_dtypes.float8_e5m2fnuz, saturates=True, signed_zero=False),
        _format(ml_dtypes.float8_e4m3b11fnuz, saturates=True, signed_zero=False),
    )
}

# Conversions that NumPy and ml_dtypes do with one correct rounding to nearest and the overflow described above.
_DIRECT: frozenset[tuple[np.dtype, np.dtype]] = frozenset(
    (np.dtype(source), np.dtype(target))
    for source, target in (
        (np.float64, np.float32),
        (np.float64, np.float16),
        (np.float32, np.float16),
        (np.float32, ml_dtypes.bfloat16),
    )
)


def round_to(values: np.ndarray, target: np.dtype, rounding: Rounding = Rounding.NEAREST_EVEN) -> np.ndarray:
    """`values` (any float dtype) in the format `target`, rounded once."""
    source = values.dtype
    if source == target:
        return values
    if target == np.float64:
        return values.astype(target)
    if rounding is Rounding.NEAREST_EVEN and (source, target) in _DIRECT:
        return values.astype(target)
    wanted = FORMATS[target]
    given = FORMATS.get(source)
    if given is not None and _contains(wanted, given):
        return values.astype(target)
    wide = np.asarray(values, dtype=np.float64)
    spacing = np.maximum(np.frexp(wide)[1] - wanted.precision, wanted.min_exponent - wanted.precision + 1)
    quotient = np.ldexp(wide, -spacing)
    quotient = np.trunc(quotient) if rounding is Rounding.TOWARDS_ZERO else np.rint(quotient)
    rounded = np.ldexp(quotient, spacing)
    rounded = _overflow(rounded, wide, wanted, rounding)
    if not wanted.signed_zero:
        rounded = rounded + 0.0
    return rounded.astype(np.float32).astype(target)


def _contains(outer: Format, inner: Format) -> bool:
    """Whether every value of `inner` (infinities aside) is a value of `outer`; f32 then holds both."""
    return (
        outer.precision >= inner.precision
        and outer.min_exponent - outer.precision <= inner.min_exponent - inner.precision
        and outer.largest >= inner.largest
        and not outer.saturates
    )


def _overflow(rounded: np.ndarray, exact: np.ndarray, wanted: Format, rounding: Rounding) -> np.ndarray:
    too_large = np.abs(rounded) > wanted.largest
    if not wanted.saturates:
        if rounding is Rounding.NEAREST_EVEN:
            return np.where(too_large, np.copysign(np.inf, exact), rounded)
        too_large = too_large & np.isfinite(exact)
    # A NaN compares false and stays.
    return np.where(too_large, np.copysign(wanted.largest, exact), rounded)


def truncate_to_tf32(values: np.ndarray) -> np.ndarray:
    """f32 without its low 13 significand bits: what a tensor core reads of an f32 operand under `inputPrecision =
    tf32`.

    A NaN keeps its quiet bit, an infinity has no low bits: both survive.
    """
    return (np.ascontiguousarray(values).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def round_to_tf32(values: np.ndarray) -> np.ndarray:
    """f32 with its low 13 significand bits rounded off, to nearest, to even of two. Infinities and NaNs stay."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    kept = (bits + (((bits >> 13) & 1) + np.uint32(0xFFF))) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), kept.view(np.float32), values)


def float_to_integer(values: np.ndarray, target: np.dtype, *, signed: bool) -> np.ndarray:
    """Truncate towards zero into the range of a signed or unsigned integer of `target`'s width; saturate; NaN gives 0.

    The result is stored signless, in `target` (a signed dtype, or bool for one bit).
    """
    bits = 1 if target == np.bool_ else target.itemsize * 8
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    wide = np.trunc(np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    # `high` itself may not be a double: compare against the power of two above it.
    above, below = wide >= float(high + 1), wide < float(low)
    inside = np.where(above | below, 0.0, wide)
    if bits == 64 and not signed:
        integer = inside.astype(np.uint64).view(np.int64)
    else:
        integer = inside.astype(np.int64)
    integer = np.where(above, np.int64(high if high < 1 << 63 else -1), np.where(below, np.int64(low), integer))
    return (integer != 0) if target == np.bool_ else integer.astype(target)


def integer_to_float(values: np.ndarray, target: np.dtype) -> np.ndarray:
    """An integer array (already of the right signedness) in a float format, rounded to nearest even once."""
    if target in (np.dtype(np.float64), np.dtype(np.float32)) or values.dtype == np.bool_ or values.dtype.itemsize <= 4:
        # NumPy rounds an integer once into f32 and f64, and 32 bits fit f64 exactly.
        return (
            values.astype(target)
            if target.kind == "f" and target.itemsize >= 4
            else round_to(values.astype(np.float64), target)
        )
    return round_to(_round_to_odd(values), target)


def _round_to_odd(values: np.ndarray) -> np.ndarray:
    """64-bit integers as f64 that a later rounding to fewer digits cannot tell from the exact ones.

    Rounding to odd: where the conversion is inexact, the f64 below in magnitude with its last bit set. A second
    rounding to a format at least two digits shorter then gives the correctly rounded result (Boldo and Melquiond,
    2008).
    """
    magnitude = np.where(values < 0, ~values.astype(np.uint64) + np.uint64(1), values.astype(np.uint64))
    excess = np.maximum(_bit_length(magnitude) - 53, 0).astype(np.uint64)
    kept = magnitude >> excess
    kept |= (kept << excess) != magnitude
    result = np.ldexp(kept.astype(np.float64), excess.astype(np.int64))
    return np.where(values < 0, -result, result)


def _bit_length(magnitude: np.ndarray) -> np.ndarray:
    high, low = (magnitude >> np.uint64(32)).astype(np.float64), (magnitude & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(low)[1]).astype(np.int64)
