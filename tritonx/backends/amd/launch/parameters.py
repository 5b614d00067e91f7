"""A kernel's parameter block: every parameter at its natural alignment, as the AMDGPU ABI lays kernel arguments out."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import cast

from tritonx.runtime.launch.parameter_values import address_of, bfloat16_bits, letter


def offsets_of(types: Sequence[str]) -> tuple[int, ...]:
    """Where in the block the parameters of these types lie."""
    found: list[int] = []
    end = 0
    for type_ in types:
        size = _size(type_)
        found.append(end + -end % size)
        end = found[-1] + size
    return tuple(found)


def layout_of(types: Sequence[str]) -> struct.Struct:
    """The block of parameters of these types, with the padding that goes before each."""
    cells: list[str] = []
    end = 0
    for type_, offset in zip(types, offsets_of(types), strict=True):
        cells.append(f"{offset - end}x{letter(type_)}")
        end = offset + _size(type_)
    return struct.Struct("<" + "".join(cells))


def _size(type_: str) -> int:
    return struct.calcsize("<" + letter(type_))


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
