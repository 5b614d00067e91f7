"""Floating-point numbers as MLIR writes them, digit for digit.

MLIR first tries six significant digits in scientific notation (`1.000000e+00`). Where they do not determine the value
it takes as many as the type needs, in plain notation if that is short (`0.333333343`), and where that has no decimal
point, or for infinities and NaN, the bit pattern (`0x7F800000`). The digits come from LLVM's `APFloat::toString`,
which cuts surplus digits off before it rounds the rest.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import AnyFloat, Float16Type, Float32Type, Float64Type

_PRECISION_BITS: dict[type, int] = {Float64Type: 53, Float32Type: 24, Float16Type: 11}
_BFLOAT_BITS = 8
_SCIENTIFIC_DIGITS = 6
_MAX_PADDING = 3


def float_text(value: float, type_: AnyFloat) -> str:
    """The text of `value`, rounded to `type_`, without its type."""
    try:
        value = float(next(type_.iter_unpack(type_.pack((value,)))))
    except OverflowError:
        value = math.copysign(math.inf, value)
    if math.isfinite(value):
        sign = "-" if math.copysign(1.0, value) < 0 else ""
        for text in (_scientific(abs(value)), _shortest(abs(value), _natural_digits(type_))):
            if "." in text and type_.pack((float(text),)) == type_.pack((abs(value),)):
                return sign + text
    return f"0x{type_.pack((value,))[::-1].hex().upper()}"


def _natural_digits(type_: AnyFloat) -> int:
    """How many decimal digits are enough for the type, by LLVM's estimate (59/196 is log10 of 2 from below)."""
    return 2 + _PRECISION_BITS.get(type(type_), _BFLOAT_BITS) * 59 // 196


def _digits(value: float, count: int) -> tuple[str, int]:
    """Decimal digits of a positive number and the power of ten of the last one; at most `count` digits."""
    numerator, denominator = value.as_integer_ratio()
    exponent = 0
    if denominator > 1:
        halvings = denominator.bit_length() - 1
        numerator *= 5**halvings
        exponent = -halvings
    surplus = numerator.bit_length() - (count * 196 + 58) // 59
    if surplus > 0:
        cut = surplus * 59 // 196
        numerator //= 10**cut
        exponent += cut
    digits = str(numerator)
    if len(digits) > count:
        dropped = len(digits) - count
        rounded = int(digits[:count]) + (digits[count] >= "5")
        digits, exponent = str(rounded), exponent + dropped
    stripped = digits.rstrip("0") or "0"
    return stripped, exponent + len(digits) - len(stripped)


def _scientific(value: float) -> str:
    """One digit, six digits, exponent of at least two."""
    if value == 0:
        return "0.000000e+00"
    digits, exponent = _digits(value, _SCIENTIFIC_DIGITS)
    exponent += len(digits) - 1
    return f"{digits[0]}.{digits[1:]:0<6}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _shortest(value: float, count: int) -> str:
    """At most `count` digits, in plain notation if no more than three zeros have to be added for it."""
    digits, exponent = _digits(value, count)
    leading = exponent + len(digits) - 1
    if exponent >= 0:
        plain = exponent <= _MAX_PADDING and len(digits) + exponent <= count
    else:
        plain = leading >= 0 or -leading <= _MAX_PADDING
    if not plain:
        return f"{digits[0]}.{digits[1:] or '0'}E{leading:+d}"
    if exponent >= 0:
        return digits + "0" * exponent
    if leading >= 0:
        return f"{digits[: leading + 1]}.{digits[leading + 1 :]}"
    return "0." + "0" * (-leading - 1) + digits
