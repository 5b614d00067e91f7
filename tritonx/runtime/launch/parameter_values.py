"""Arguments of a launch as a driver's parameter block takes them: struct letters by type, addresses, bfloat16 bits.

Nothing here imports a compiler: it is part of launching a kernel from the cache."""

from __future__ import annotations

import struct
from operator import methodcaller
from typing import Any

_LETTERS = {
    "i1": "?", "u1": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "fp16": "e", "bf16": "H", "fp32": "f", "fp64": "d", "nvTmaDesc": "Q",
}  # fmt: skip


def letter(type_: str) -> str:
    """The struct letter of a parameter type; ``TypeError`` for one that cannot be passed.

    >>> letter("*fp32"), letter("i32"), letter("fp16")
    ('Q', 'i', 'e')
    """
    if type_.startswith("*"):
        return "Q"
    try:
        return _LETTERS[type_]
    except KeyError:
        raise TypeError(f"a kernel parameter of type {type_} cannot be passed") from None


def packed(type_: str, value: Any) -> bytes:
    r"""A scalar argument in as many bytes as its type has; an i1 takes one.

    >>> packed("i32", 258), packed("i1", True)
    (b'\x02\x01\x00\x00', b'\x01')
    """
    return struct.pack(f"={letter(type_)}", bfloat16_bits(value) if type_ == "bf16" else value)


def cell(type_: str) -> str:
    """The struct letters of a parameter that takes 8 bytes whatever its type."""
    found = letter(type_)
    padding = 8 - struct.calcsize("=" + found)
    return f"{found}{padding}x" if padding else found


data_ptr = methodcaller("data_ptr")
"""The address of a tensor, of torch or its like."""


def address_of(argument: Any) -> int:
    """The device address that a pointer argument stands for. Raises TypeError for one that stands for none.

    >>> x = np.zeros(4)
    >>> address_of(1 << 20), address_of(None)
    (1048576, 0)
    """
    if type(argument) is int:
        return argument
    if argument is None:
        return 0
    if (method := getattr(argument, "data_ptr", None)) is not None:
        return int(method())
    if (interface := getattr(argument, "__cuda_array_interface__", None)) is not None:  # CuPy's ROCm build has it too
        return int(interface["data"][0])
    return int(argument)


def bfloat16_bits(value: float) -> int:
    """The bits of ``value`` rounded to float32 and then to bfloat16, to nearest even both times; a NaN stays one."""
    word: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if word & 0x7FFFFFFF > 0x7F800000:
        return word >> 16 | 0x40
    return word + 0x7FFF + (word >> 16 & 1) >> 16
