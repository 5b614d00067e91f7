"""A tensor descriptor made on the host, as a kernel's argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tritonx.language.types.block_shapes import TRITON_MAX_TENSOR_NUMEL
from tritonx.language.types.block_shapes import validate_block_shape as validate_block_shape
from tritonx.runtime.devices.dtype_names import is_floating, item_bytes, type_name
from tritonx.runtime.errors import TritonError
from tritonx.runtime.launch.parameter_values import data_ptr

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


_STAND_INS = "FakeTensor", "FunctionalTensor"
"""PyTorch's stand-ins for tensors, while it compiles: they have no memory."""


class _Addresses(dict[type, Callable[[Any], int]]):
    """Class of a base → what reads its address, 0 for one without memory."""

    def __missing__(self, kind: type) -> Callable[[Any], int]:
        found = self[kind] = self._of(kind)
        return found

    def _of(self, kind: type) -> Callable[[Any], int]:
        if kind.__name__ in _STAND_INS:
            return lambda base: 0
        return data_ptr if hasattr(kind, "data_ptr") else _address


def _address(base: Any) -> int:
    """Of one whose class does not tell."""
    if hasattr(base, "data_ptr"):
        return base.data_ptr()
    from tritonx.runtime.launch.specialize import specializer

    return specializer()(base)[1]


_ADDRESSES = _Addresses()


def strides_of(tensor: Any) -> Sequence[int]:
    """In elements, for arrays that give them in elements (torch) or in bytes (NumPy).

    >>> strides_of(np.zeros((8, 4), np.float32))
    [4, 1]
    """
    stride = getattr(tensor, "stride", None)
    if stride is not None:
        return stride()
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

    ``padding`` is what lies outside: ``zero`` or ``nan``. With ``round_f32_to_tf32``, for float32 alone, what is read
    is rounded to the nearest tf32 number, to even of two; infinities and NaNs stay, and so does what is written.
    Raises ImpossibleDescriptor, and what `validate_block_shape` raises.

    >>> from tritonx.tools.tensor_descriptor import TensorDescriptor
    >>> TensorDescriptor.from_tensor(np.zeros((8, 16), np.float32), [4, 8]).strides
    [16, 1]
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        if not self._is_plain():
            self._check()

    def _is_plain(self) -> bool:
        """Whether it is what most descriptors are, and none that `_check` refuses: launches make descriptors, and this
        is all that one without a mistake costs."""
        base, shape, strides, block = self.base, self.shape, self.strides, self.block_shape
        if not 0 < len(shape) == len(strides) == len(block) <= MAX_RANK or strides[-1] != 1 or self.padding != "zero":
            return False
        if self.round_f32_to_tf32:
            return False
        elements = 1
        for extent in block:
            if type(extent) is not int or extent <= 0 or extent & (extent - 1):
                return False
            elements *= extent
        item = item_bytes(base.dtype)
        for stride in strides[:-1]:
            if stride * item % ALIGNMENT:
                return False
        for extent in shape:
            if extent <= 0:
                return False
        return elements <= TRITON_MAX_TENSOR_NUMEL and _ADDRESSES[type(base)](base) % ALIGNMENT == 0

    def _check(self) -> None:
        rank = len(self.shape)
        if not len(self.strides) == len(self.block_shape) == rank:
            # The text shows the tensor, and waits for its device: it is made for a mistake only.
            raise ImpossibleDescriptor(f"rank mismatch: {self}")
        _require(rank > 0, "rank must not be zero")
        _require(rank <= MAX_RANK, f"rank cannot be more than {MAX_RANK}")
        _require(_ADDRESSES[type(self.base)](self.base) % ALIGNMENT == 0, "base must be 16-byte aligned")
        validate_block_shape(self.block_shape)
        for stride in self.strides[:-1]:
            _require(stride * item_bytes(self.base.dtype) % ALIGNMENT == 0, "strides must be 16-byte aligned")
        for extent in self.shape:
            _require(extent > 0, "shape must be positive")
        _require(self.strides[-1] == 1, "Last dimension must be contiguous")
        _require(self.padding in ("zero", "nan"), "Illegal value for padding")
        floating = self.padding != "nan" or is_floating(type_name(self.base.dtype))
        _require(floating, "Padding option `nan` is only supported for floating point tensors")
        rounds = not self.round_f32_to_tf32 or type_name(self.base.dtype) == "fp32"
        _require(rounds, "round_f32_to_tf32 is only supported for float32 tensors")

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: Sequence[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """Of a whole tensor."""
        strides = strides_of(tensor)
        return TensorDescriptor(tensor, tensor.shape, strides, list(block_shape), padding, round_f32_to_tf32)
