"""The text of ``device_print``, the same wherever a kernel runs: C's formats, as Triton 3.6 gives them to ``vprintf``.

One line for each element: ``pid (0, 0, 0) idx ( 3, 12) x: 1.500000``. An index is as wide as the largest of its axis, a
scalar has none; several operands of one call are numbered. Integers are decimal, or hexadecimal as wide as their type
(a negative one of fewer than 32 bits is extended to 32 first); pointers are hexadecimal always. An fp8 is printed as
its byte. A float in hexadecimal is C's ``%a``, as of Triton 3.9; earlier ones print half of the bits of a double."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from tritonx.ir.types import FLOAT8_TYPES, bit_width, is_float, is_pointer

PROGRAM = "pid (%u, %u, %u)"


def line(prefix: str, shape: Sequence[int] = (), operand: str = "", conversion: str = "") -> str:
    """The format of one line; behind the program's three numbers and the indices comes the value, where there is a
    ``conversion`` for one.
    """
    text = prefix.replace("%", "%%")
    if not conversion:
        return f"{PROGRAM}{text}\n"
    widths = ", ".join(f"%{len(str(extent - 1)) if extent > 1 else 0}u" for extent in shape)
    return f"{PROGRAM} idx ({widths}){text}{operand}{conversion}\n"


def operand_name(number: int, count: int) -> str:
    """The text before the value of one of ``count`` operands."""
    return f"(operand {number}) " if count > 1 else ""


def is_float_text(element: Attribute) -> bool:
    """Whether an element is printed as a floating-point number."""
    return is_float(element) and element not in FLOAT8_TYPES


def is_signed_text(element: Attribute, *, signed: bool) -> bool:
    """Whether an integer element is extended as a signed one."""
    return signed and not is_float(element) and not is_pointer(element) and bit_width(element) > 1


def conversion(element: Attribute, *, hexadecimal: bool, signed: bool) -> str:
    """C's conversion of one element: a double, or an integer of 32 bits, or of 64 where it has them; a pointer."""
    if is_pointer(element):
        return "%p"
    if is_float_text(element):
        return "%a" if hexadecimal else "%f"
    bits = bit_width(element)
    length = "ll" if bits > 32 else ""
    if hexadecimal:
        return f"0x%0{bits // 4}{length}x"
    return f"%{length}{'i' if is_signed_text(element, signed=signed) else 'u'}"
