"""An array in a device's memory, and its memory. See ``arrays``."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tritonx.runtime.devices.drivers import driver_of, find_backend
from tritonx.runtime.errors import NoDevice
from tritonx.runtime.launch.arguments import Location

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from tritonx.backends.api import Driver


def _numpy_dtype(dtype: Any) -> np.dtype:
    import numpy as np

    try:
        return np.dtype(dtype)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, str(dtype).rsplit(".", 1)[-1]))


class DeviceArray:
    """A C-contiguous array of ``shape`` and NumPy ``dtype`` at ``address`` in a device's memory.

    Made by ``empty``, ``zeros`` and ``to_device``; frees its memory when it is collected.
    """

    __tritonx_array__ = True

    def __init__(self, backend: str, device: int, address: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.backend = backend
        self.device_index = device
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.place: Location = ("backend", backend, device)
        self._base: DeviceArray | None = None

    @property
    def _driver(self) -> Driver:
        return driver_of(find_backend(self.backend))

    @property
    def size(self) -> int:
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def strides_elements(self) -> tuple[int, ...]:
        """Strides in elements."""
        strides: list[int] = []
        step = 1
        for extent in reversed(self.shape):
            strides.append(step)
            step *= extent
        return tuple(reversed(strides))

    def stride(self, axis: int | None = None) -> tuple[int, ...] | int:
        """In elements, as torch's."""
        return self.strides_elements if axis is None else self.strides_elements[axis]

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return self.dtype.itemsize

    def numel(self) -> int:
        return self.size

    def numpy(self) -> NDArray[Any]:
        """A copy on the host; waits for the device."""
        import numpy as np

        own = self._driver
        own.synchronize(self.device_index)
        host = np.empty(self.shape, self.dtype)
        if self.nbytes:
            own.copy_to_host(_bytes_of(host), self.address, self.device_index)
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        host = self.numpy()
        return host if dtype is None else host.astype(dtype)

    def copy_from(self, source: ArrayLike) -> DeviceArray:
        """Overwrite with the values of ``source``, converted to this dtype and broadcast to this shape."""
        import numpy as np

        host = np.ascontiguousarray(np.broadcast_to(np.asarray(source, dtype=self.dtype), self.shape))
        if self.nbytes:
            self._driver.copy_to_device(self.address, _bytes_of(host), self.device_index)
        return self

    def zero_(self) -> DeviceArray:
        import numpy as np

        return self.copy_from(np.zeros((), self.dtype))

    def copy(self) -> DeviceArray:
        return allocate(self.shape, self.dtype, self.backend, self.device_index).copy_from(self.numpy())

    def reshape(self, *shape: int | Sequence[int]) -> DeviceArray:
        """The same memory in another shape; one extent may be -1."""
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        extents = [int(e) for e in given]  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues, reportUnknownVariableType]  # a shape as NumPy takes it: a number or any sequence
        if -1 in extents:
            known = 1
            for extent in extents:
                known *= extent if extent != -1 else 1
            extents[extents.index(-1)] = self.size // known if known else 0
        view = DeviceArray(self.backend, self.device_index, self.address, tuple(extents), self.dtype)
        if view.size != self.size:
            raise ValueError(f"cannot reshape {self.shape} into {tuple(extents)}")
        view._base = self
        return view

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype}, {self.backend}:{self.device_index})"


def _bytes_of(array: NDArray[Any]) -> memoryview:
    import numpy as np

    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, int) or not hasattr(shape, "__len__") else tuple(int(e) for e in shape)  # pyright: ignore  # a shape as NumPy takes it: a number or any sequence


def allocate(shape: int | Sequence[int], dtype: DTypeLike, backend: str, device: int | None = None) -> DeviceArray:
    """An uninitialised array on ``device`` (the current one) of ``backend``. Raises MemoryError."""
    own = driver_of(find_backend(backend))
    index = own.current_device() if device is None else device
    if not 0 <= index < max(1, own.device_count()):
        raise NoDevice(f"backend {backend!r} has {own.device_count()} devices, there is no device {index}")
    extents = _extents(shape)
    kind = _numpy_dtype(dtype)
    nbytes = kind.itemsize
    for extent in extents:
        if extent < 0:
            raise ValueError(f"negative extent in {extents}")
        nbytes *= extent
    address = own.allocate(max(nbytes, 1), index)
    array = DeviceArray(backend, index, address, extents, kind)
    weakref.finalize(array, own.free, address, index).atexit = False  # the process's end frees a device's memory
    return array
