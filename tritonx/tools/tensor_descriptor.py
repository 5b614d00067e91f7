"""A tensor descriptor made on the host, as a kernel's argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonx.runtime.dtype_names import ITEM_BYTES, type_name

MAX_RANK = 5
STRIDE_ALIGNMENT = 16
"""Bytes to which the base and all strides but the last must be aligned (Triton's rule, from the hardware's)."""


def _strides_of(tensor: Any) -> list[int]:
    """In elements, for arrays that give them in elements (torch) or in bytes (NumPy)."""
    stride = getattr(tensor, "stride", None)
    if stride is not None:
        return [int(s) for s in stride()]
    strides = getattr(tensor, "strides", None)
    if strides is None:
        steps: list[int] = []
        step = 1
        for extent in reversed(tensor.shape):
            steps.append(step)
            step *= extent
        return steps[::-1]
    return [int(s) // tensor.dtype.itemsize for s in strides]


@dataclass
class TensorDescriptor:
    """``block_shape`` elements of ``base`` are moved at once; ``shape`` and ``strides`` (elements) describe the whole.

    ``padding`` is what lies outside: ``zero`` or ``nan``. Raises ValueError for a layout that descriptors cannot have.
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= MAX_RANK:
            raise ValueError(f"rank must be between 1 and {MAX_RANK}, got {rank}")
        if len(self.strides) != rank or len(self.block_shape) != rank:
            raise ValueError(f"shape, strides and block_shape must all have {rank} entries")
        if self.padding not in ("zero", "nan"):
            raise ValueError(f"padding must be 'zero' or 'nan', got {self.padding!r}")
        element = type_name(self.base.dtype)
        if self.padding == "nan" and not element.startswith(("fp", "bf")):
            raise ValueError(f"only floats can be padded with NaN, got {element}")
        item = ITEM_BYTES[element]
        address = self.base.data_ptr() if hasattr(self.base, "data_ptr") else self._address()
        if address % STRIDE_ALIGNMENT:
            raise ValueError(f"base must be {STRIDE_ALIGNMENT}-byte aligned")
        if self.strides[-1] != 1:
            raise ValueError(f"the last dimension must be contiguous, its stride is {self.strides[-1]}")
        for axis, stride in enumerate(self.strides[:-1]):
            if stride * item % STRIDE_ALIGNMENT:
                raise ValueError(
                    f"strides must be multiples of {STRIDE_ALIGNMENT} bytes: axis {axis} has {stride * item}"
                )

    def _address(self) -> int:
        from tritonx.runtime.specialize import specializer

        return specializer()(self.base)[1]

    @staticmethod
    def from_tensor(tensor: Any, block_shape: list[int], padding: str = "zero") -> TensorDescriptor:
        """Of a whole tensor."""
        return TensorDescriptor(tensor, [int(s) for s in tensor.shape], _strides_of(tensor), list(block_shape), padding)
