"""What a kernel that is executed without a launcher is given: its parameters' bytes, and the memory of its arrays."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def extent(array: Any) -> tuple[int, int, str]:
    low, high = np.lib.array_utils.byte_bounds(array)
    return low, high - low, "an array"


_FORMATS: Mapping[str, str] = {"f32": "f", "f64": "d", "f16": "e"}


def packed(types: Sequence[str], values: Sequence[Any]) -> list[bytes]:
    out: list[bytes] = []
    for type_, value in zip(types, values, strict=True):
        if type_ in _FORMATS:
            out.append(struct.pack("<" + _FORMATS[type_], value))
        elif type_ == "bf16":
            out.append(struct.pack("<f", value)[2:])
        else:
            nbytes = 8 if type_.startswith("!tt.ptr") else max(1, int(type_[1:]) // 8)
            out.append((int(value) % (1 << 8 * nbytes)).to_bytes(nbytes, "little"))
    return out
