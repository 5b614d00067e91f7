"""Metrics that lie in a device's memory, which `tritonx.profiler.metric` makes."""

from __future__ import annotations

from typing import Protocol, cast

from tritonx.profiler.errors import BadProfile
from tritonx.runtime import driver

INT64, DOUBLE, INT64_LIST, DOUBLE_LIST = 1, 2, 5, 6
"""Triton's numbers of the types that a metric can have."""
_ELEMENT = {INT64: "int64", DOUBLE: "float64", INT64_LIST: "int64", DOUBLE_LIST: "float64"}


class TensorMetric:
    """``size`` numbers of 64 bits at the address ``ptr`` of the active device; ``index`` is the number of their type.

    >>> from tritonx.profiler.tensor_metric import DOUBLE, TensorMetric
    >>> TensorMetric(4096, DOUBLE).size
    1
    """

    def __init__(self, ptr: int, index: int, size: int = 1) -> None:
        """Raises BadProfile."""
        if index not in _ELEMENT:
            raise BadProfile(f"a metric in memory has the type {', '.join(map(str, _ELEMENT))}, not {index}")
        if size < 1:
            raise BadProfile(f"a metric has one number or more, not {size}")
        self._ptr, self._index, self._size = ptr, index, size

    @property
    def ptr(self) -> int:
        return self._ptr

    @property
    def index(self) -> int:
        return self._index

    @property
    def size(self) -> int:
        return self._size

    def read(self) -> int | float | list[int | float]:
        """The numbers, when all before them on the device is done."""
        import numpy as np

        found = np.empty(self._size, _ELEMENT[self._index])
        running = driver.get_active().implementation
        device = running.current_device()
        running.synchronize(device)
        running.copy_to_host(found.data.cast("B"), self._ptr, device)
        return found.tolist() if self._index in (INT64_LIST, DOUBLE_LIST) else found[0].item()


class _Tensor(Protocol):
    """What is asked of an array of PyTorch's."""

    device: _Device

    def is_floating_point(self) -> bool: ...
    def double(self) -> _Tensor: ...
    def long(self) -> _Tensor: ...
    def contiguous(self) -> _Tensor: ...
    def data_ptr(self) -> int: ...
    def numel(self) -> int: ...


class _Device(Protocol):
    type: str


class _Kept(TensorMetric):
    """Of an array, whose memory it keeps."""

    def __init__(self, value: _Tensor, index: int) -> None:
        super().__init__(value.data_ptr(), index, value.numel())
        self._value = value


def is_remote(value: object) -> bool:
    """Whether it is an array in a device's memory."""
    return hasattr(value, "data_ptr") and cast(_Tensor, value).device.type != "cpu"


def of_array(value: object, *, floats: bool | None) -> TensorMetric:
    """An array as floats, as integers, or (None) as what it is of."""
    tensor = cast(_Tensor, value)
    is_float = tensor.is_floating_point() if floats is None else floats
    wide = (tensor.double() if is_float else tensor.long()).contiguous()
    one, several = (DOUBLE, DOUBLE_LIST) if is_float else (INT64, INT64_LIST)
    return _Kept(wide, several if wide.numel() > 1 else one)
