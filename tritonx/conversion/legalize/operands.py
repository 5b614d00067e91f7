"""Taking apart the operands of an instruction, as LLVM prints them."""

from __future__ import annotations

import re

from tritonx.conversion.data_layout import pointer_bits

VECTOR = re.compile(r"<(\d+) x ([^>]+)>")
"""A vector type; groups are its extent and its element type."""

_SPACE = re.compile(r"addrspace\((\d+)\)")
_OPEN, _CLOSE = "(<[{", ")>]}"


def take(text: str) -> tuple[str, str]:
    """The first of a comma-separated list, and the rest."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "," and depth == 0:
            return text[:at].strip(), text[at + 1 :].strip()
    return text.strip(), ""


def split(text: str) -> list[str]:
    """All of a comma-separated list."""
    out: list[str] = []
    while text:
        one, text = take(text)
        out.append(one)
    return out


def typed(operand: str) -> tuple[str, str]:
    """``<4 x float> %x`` or ``ptr addrspace(1) %p`` as type and value."""
    depth = 0
    for at, character in enumerate(operand):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == " " and depth == 0 and not operand.startswith("addrspace", at + 1):
            return operand[:at], operand[at + 1 :].strip()
    return operand, ""


def vector_of(type_: str) -> tuple[int, str] | None:
    """Extent and element type; None for anything but a vector."""
    match = VECTOR.fullmatch(type_)
    return None if match is None else (int(match[1]), match[2])


def element_of(type_: str) -> str:
    """The element type of a vector; any other type itself."""
    return VECTOR.sub(r"\2", type_)


def constant_elements(value: str, count: int, elem: str) -> list[str] | None:
    """The elements of a constant vector; None where ``value`` is a name."""
    if value in ("poison", "undef"):
        return [value] * count
    if value == "zeroinitializer":
        return [zero(elem)] * count
    if value.startswith("splat ("):
        return [typed(value[len("splat (") : -1])[1]] * count
    if value.startswith("<"):
        return [typed(one)[1] for one in split(value[1:-1])]
    return None


def zero(elem: str) -> str:
    """The literal for all bits zero."""
    if elem.startswith("ptr"):
        return "null"
    return {"bfloat": "0xR0000", "half": "0xH0000", "float": "0.0", "double": "0.0", "i1": "false"}.get(elem, "0")


def bytes_of(elem: str, layout: str) -> int:
    """Bytes of one element in memory; ``layout`` is the module's data layout, which says what pointers take."""
    if elem.startswith("ptr"):
        found = _SPACE.search(elem)
        return pointer_bits(layout, int(found[1]) if found else 0) // 8
    return {"i1": 1, "i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i64": 8, "double": 8}.get(elem, 4)
