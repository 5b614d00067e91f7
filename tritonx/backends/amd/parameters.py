"""A kernel's parameter block: every parameter at its natural alignment, as the AMDGPU ABI lays kernel arguments out."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import cast

from tritonx.runtime.parameter_values import address_of, bfloat16_bits, letter


def layout_of(types: Sequence[str]) -> struct.Struct:
    """The block of parameters of these types, with the padding that goes before each."""
    cells: list[str] = []
    offset = 0
    for type_ in types:
        size = struct.calcsize("<" + letter(type_))
        padding = -offset % size
        cells.append(f"{padding}x{letter(type_)}")
        offset += padding + size
    return struct.Struct("<" + "".join(cells))


def values_of(types: Sequence[str], arguments: Sequence[object]) -> list[object]:
    """What the layout of ``types`` packs for ``arguments``: addresses of pointers, bits of bfloat16."""
    return [
        address_of(argument)
        if type_[0] == "*"
        else bfloat16_bits(cast(float, argument))
        if type_ == "bf16"
        else argument
        for type_, argument in zip(types, arguments, strict=True)
    ]
