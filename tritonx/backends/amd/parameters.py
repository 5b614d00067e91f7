"""A kernel's parameter block: every parameter at its natural alignment, as the AMDGPU ABI lays kernel arguments out."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from tritonx.runtime.parameter_values import address_of, bfloat16_bits, letter


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
