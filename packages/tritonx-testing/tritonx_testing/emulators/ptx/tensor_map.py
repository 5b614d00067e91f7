"""Tensor maps (PTX ISA 9.0, sections 5.5.8 and 9.7.9.29; CUDA driver API, cuTensorMapEncodeTiled). What their 128 bytes
are is known to the GPU alone; here they are fields one after the other."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

NBYTES = 128
_FORM = struct.Struct("<Q4I5I5I5I4Q12x")
"""Address, rank less one, type, swizzle, fill; extents, boxes and element strides from the innermost dim on; strides of
the dims behind it in bytes."""
assert _FORM.size == NBYTES

TYPES = (
    np.uint8, np.uint16, np.uint32, np.int32, np.uint64, np.int64, np.float16, np.float32, np.float32, np.float64,
    ml_dtypes.bfloat16, np.float32,
)  # fmt: skip
"""By their numbers in tensormap.replace."""
_BY_THE_DRIVER = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11)
"""CUtensorMapDataType → the number above."""
TF32 = 11
"""The number of f32 that is rounded to tf32 as it is read."""
SWIZZLES = (0, 32, 64, 128)
"""Widths in bytes, by their numbers."""

_ORDER = ("global_address", "rank", "elemtype", "swizzle_mode", "fill_mode", "global_dim", "box_dim", "element_stride",
          "global_stride")  # fmt: skip


@dataclass
class TensorMap:
    """The fields by PTX's names."""

    global_address: int
    rank: int
    elemtype: int
    swizzle_mode: int
    fill_mode: int
    global_dim: list[int]
    box_dim: list[int]
    element_stride: list[int]
    global_stride: list[int]

    @staticmethod
    def of(content: bytes) -> TensorMap:
        address, rank, type_, swizzle, fill, *rest = _FORM.unpack(content)
        return TensorMap(address, rank, type_, swizzle, fill, rest[:5], rest[5:10], rest[10:15], rest[15:])

    def content(self) -> bytes:
        lists = (*self.global_dim, *self.box_dim, *self.element_stride)
        head = self.global_address, self.rank, self.elemtype, self.swizzle_mode, self.fill_mode
        return _FORM.pack(*head, *(x % (1 << 32) for x in lists), *self.global_stride)

    @property
    def dims(self) -> int:
        return self.rank + 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(TYPES[self.elemtype])

    @property
    def box(self) -> list[int]:
        return self.box_dim[: self.dims]

    @property
    def extents(self) -> list[int]:
        """A field of 32 bits that is 0 stands for 2^32."""
        return [x or 1 << 32 for x in self.global_dim[: self.dims]]

    @property
    def strides(self) -> list[int]:
        """In bytes, of every dim."""
        return [self.dtype.itemsize, *self.global_stride[: self.dims - 1]]

    def fault(self) -> str | None:
        """Which rule of cuTensorMapEncodeTiled it breaks."""
        size, inner = self.dtype.itemsize, self.box[0] * self.dtype.itemsize
        if not self.global_address or self.global_address % 16:
            return f"an address of {self.global_address:#x}"
        if any(s % 16 or not 0 <= s < 1 << 40 for s in self.strides[1:]):
            return f"strides of {self.strides[1:]} bytes"
        if any(not 1 <= b <= 256 for b in self.box):
            return f"a box of {self.box}"
        if any(x != 1 for x in self.element_stride[: self.dims]):
            return f"steps of {self.element_stride} elements"
        if inner % 16 or (self.swizzle_mode and inner > SWIZZLES[self.swizzle_mode]):
            return f"rows of {inner} bytes with a swizzle of {SWIZZLES[self.swizzle_mode]}"
        if self.fill_mode and self.dtype.kind in "iu":
            return f"NaN among integers of {size} bytes"
        return None


def replaced(content: bytes, field: str, ordinal: int, value: int) -> bytes:
    """A map's bytes with another value of a field."""
    made = TensorMap.of(content)
    if field == "interleave_layout":
        assert value == 0
    elif isinstance(before := getattr(made, field), list):
        before[ordinal] = value
    else:
        setattr(made, field, value)
    return made.content()


INVALID = 1
"""CUDA_ERROR_INVALID_VALUE."""


def encode(
    where: Any, type_: Any, rank: Any, address: Any, extents: Any, strides: Any, box: Any, steps: Any, interleave: Any,
    swizzle: Any, promotion: Any, fill: Any,
) -> int:  # fmt: skip
    """cuTensorMapEncodeTiled."""
    n = rank.value
    lists = [[*values][:count] + [0] * (5 - count) for values, count in ((extents, n), (box, n), (steps, n))]
    outer = [*strides][: n - 1] + [0] * (5 - n)
    if interleave.value or not 1 <= n <= 5 or any(not 1 <= x <= 1 << 32 for x in lists[0][:n]):
        return INVALID
    made = TensorMap(address.value or 0, n - 1, _BY_THE_DRIVER[type_.value], swizzle.value, fill.value, *lists, outer)
    if made.fault() is not None:
        return INVALID
    ctypes.memmove(where.value, made.content(), NBYTES)
    return 0
