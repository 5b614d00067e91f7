"""Arrays in a device's memory, for using a device with NumPy alone.

x = tritonx.runtime.arrays.to_device(np.arange(10))     # the active backend's device
kernel[grid](x, ...)
x.numpy()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tritonx.runtime import driver
from tritonx.runtime.devices.device_array import DeviceArray as DeviceArray
from tritonx.runtime.devices.device_array import allocate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


def empty(
    shape: int | Sequence[int], dtype: DTypeLike = "float32", *, backend: str | None = None, device: int | None = None
) -> DeviceArray:
    """An uninitialised array on ``device`` (the current one) of ``backend`` (the active one). Raises MemoryError.

    >>> tritonx.runtime.arrays.empty((2, 3), "float16", backend="cpu").shape
    (2, 3)
    """
    return allocate(shape, dtype, backend or driver.get_active().backend.name, device)


def to_device(source: ArrayLike, *, backend: str | None = None, device: int | None = None) -> DeviceArray:
    """A copy of a host array on a device.

    >>> tritonx.runtime.arrays.to_device([1, 2], backend="cpu").numpy().tolist()
    [1, 2]
    """
    import numpy as np

    host = np.asarray(source)
    return empty(host.shape, host.dtype, backend=backend, device=device).copy_from(host)


def zeros(
    shape: int | Sequence[int], dtype: DTypeLike = "float32", *, backend: str | None = None, device: int | None = None
) -> DeviceArray:
    """An array of zeros; see ``empty``.

    >>> tritonx.runtime.arrays.zeros(3, "int32", backend="cpu").numpy().tolist()
    [0, 0, 0]
    """
    """An array of zeros; see ``empty``.

    >>> tritonx.runtime.arrays.zeros(3, "int32", backend="cpu").numpy().tolist()
    [0, 0, 0]
    """
    return empty(shape, dtype, backend=backend, device=device).zero_()


def empty_like(array: Any) -> DeviceArray:
    """Of the same shape, dtype and, for a DeviceArray, place.

    >>> tritonx.runtime.arrays.empty_like(tritonx.runtime.arrays.zeros(3, backend="cpu")).shape
    (3,)
    """
    if isinstance(array, DeviceArray):
        return empty(array.shape, array.dtype, backend=array.backend, device=array.device_index)
    return empty(array.shape, array.dtype)
