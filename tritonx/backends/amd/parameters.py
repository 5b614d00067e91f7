"""A kernel's parameter block: every parameter at its natural alignment, as the AMDGPU ABI lays kernel arguments out."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

_LETTERS = {
    "i1": "?", "u1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "fp16": "e", "bf16": "H", "fp32": "f", "fp64": "d",
}  # fmt: skip


def letter(type_: str) -> str:
    """The struct letter of a parameter type; ``TypeError`` for one that cannot be passed."""
    if type_.startswith("*"):
        return "Q"
    try:
        return _LETTERS[type_]
    except KeyError:
        raise TypeError(f"a kernel parameter of type {type_} cannot be passed") from None


def layout_of(types: Sequence[str]) -> tuple[struct.Struct, ...]:
    """One ``Struct`` for each parameter, with the padding that goes before it."""
    out: list[struct.Struct] = []
    offset = 0
    for type_ in types:
        size = struct.calcsize("<" + letter(type_))
        padding = -offset % size
        out.append(struct.Struct(f"<{padding}x{letter(type_)}"))
        offset += padding + size
    return tuple(out)


def address_of(argument: Any) -> int:
    """The device address that a pointer argument stands for."""
    if argument is None:
        return 0
    if (method := getattr(argument, "data_ptr", None)) is not None:
        return int(method())
    if (interface := getattr(argument, "__cuda_array_interface__", None)) is not None:  # CuPy's ROCm build has it too
        return int(interface["data"][0])
    return int(argument)


def bfloat16_bits(value: float) -> int:
    """The bits of ``value`` rounded to bfloat16, to nearest even."""
    word: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if word & 0x7FFFFFFF > 0x7F800000:
        return word >> 16 | 0x40
    return word + 0x7FFF + (word >> 16 & 1) >> 16


def pack(types: Sequence[str], layout: Sequence[struct.Struct], arguments: Sequence[Any]) -> bytes:
    """The parameter block of ``arguments``."""
    parts: list[bytes] = []
    for type_, place, argument in zip(types, layout, arguments, strict=True):
        if type_.startswith("*"):
            value = address_of(argument)
        elif type_ == "bf16":
            value = bfloat16_bits(argument)
        else:
            value = argument
        parts.append(place.pack(value))
    return b"".join(parts)
