"""A tensor descriptor made on the host, as a kernel's argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonx.language.block_shapes import validate_block_shape as validate_block_shape
from tritonx.runtime.dtype_names import ITEM_BYTES, is_floating, type_name
from tritonx.runtime.errors import TritonError

MAX_RANK = 5
ALIGNMENT = 16
"""Bytes to which the base and all strides but the last must be aligned (Triton's rule, from the hardware's)."""


class ImpossibleDescriptor(TritonError, ValueError, AssertionError):
    """What no descriptor can be. Triton asserts it, in these words.

    >>> from tritonx.tools.tensor_descriptor import TensorDescriptor
    >>> TensorDescriptor.from_tensor(np.zeros((8, 3), np.float32), [4, 4])
    Traceback (most recent call last):
        ...
    tritonx.tools.tensor_descriptor.ImpossibleDescriptor: strides must be 16-byte aligned
    """


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise ImpossibleDescriptor(text)


def _has_no_memory(base: object) -> bool:
    """PyTorch's stand-ins for tensors, while it compiles."""
    return type(base).__name__ in ("FakeTensor", "FunctionalTensor")


def strides_of(tensor: Any) -> list[int]:
    """In elements, for arrays that give them in elements (torch) or in bytes (NumPy).

    >>> strides_of(np.zeros((8, 4), np.float32))
    [4, 1]
    """
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

    ``padding`` is what lies outside: ``zero`` or ``nan``. Raises ImpossibleDescriptor, and what
    `validate_block_shape` raises.

    >>> from tritonx.tools.tensor_descriptor import TensorDescriptor
    >>> TensorDescriptor.from_tensor(np.zeros((8, 16), np.float32), [4, 8]).strides
    [16, 1]
    """

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"

    def __post_init__(self) -> None:
        rank = len(self.shape)
        _require(len(self.strides) == rank and len(self.block_shape) == rank, f"rank mismatch: {self}")
        _require(rank > 0, "rank must not be zero")
        _require(rank <= MAX_RANK, f"rank cannot be more than {MAX_RANK}")
        _require(_has_no_memory(self.base) or self._address() % ALIGNMENT == 0, "base must be 16-byte aligned")
        validate_block_shape(self.block_shape)
        item = ITEM_BYTES[type_name(self.base.dtype)]
        for stride in self.strides[:-1]:
            _require(stride * item % ALIGNMENT == 0, "strides must be 16-byte aligned")
        for extent in self.shape:
            _require(extent > 0, "shape must be positive")
        _require(self.strides[-1] == 1, "Last dimension must be contiguous")
        _require(self.padding in ("zero", "nan"), "Illegal value for padding")
        floating = self.padding != "nan" or is_floating(type_name(self.base.dtype))
        _require(floating, "Padding option `nan` is only supported for floating point tensors")

    def _address(self) -> int:
        if hasattr(self.base, "data_ptr"):
            return self.base.data_ptr()
        from tritonx.runtime.specialize import specializer

        return specializer()(self.base)[1]

    @staticmethod
    def from_tensor(tensor: Any, block_shape: list[int], padding: str = "zero") -> TensorDescriptor:
        """Of a whole tensor."""
        return TensorDescriptor(tensor, [int(s) for s in tensor.shape], strides_of(tensor), list(block_shape), padding)
