"""Arrays of the host, and copies of those that live on a device, as memory that an interpreted kernel may touch.

Host arrays are used where they are. Of a device array the whole storage is copied to the host before the run and back
after it, so that views of one storage stay views of one memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from tritonx.interpreter import fresh_memory
from tritonx.interpreter.errors import InvalidLaunch
from tritonx.interpreter.memory import Memory
from tritonx.runtime.launch.tensor_wrapper import TensorWrapper


class UninitialisedArray:
    """A new array whose elements hold nothing: the interpreter refuses to read one that no kernel has written.

    A kernel takes it like any array. `numpy()` is the array itself.

    >>> from tritonx.interpreter import UninitialisedArray, interpreted
    >>> try:
    ...     interpreted(double)[(1,)](UninitialisedArray(4), BLOCK=4)
    ... except tritonx.InterpreterError as error:
    ...     print("never written" in str(error) or "uninitialised" in str(error))
    True
    """

    def __init__(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float32) -> None:
        self._array = np.zeros(shape, dtype)
        self.written = np.zeros(self._array.nbytes, dtype=np.bool_)
        self.dtype = self._array.dtype
        self.shape = self._array.shape

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._array.__array_interface__

    def numpy(self) -> np.ndarray:
        return self._array


class HostMemory:
    """The memory of one launch, and what has to be written back to devices after it."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = Memory() if memory is None else memory
        self._storages: dict[int, Any] = {}
        self._back: list[Callable[[], object]] = []

    def address(self, array: Any, name: str) -> int:
        """Register `array`; the address of its element 0 as the kernel sees it. `InvalidLaunch` for what is no
        array."""
        if isinstance(array, TensorWrapper):
            return self.address(array.base, name)
        if isinstance(array, np.ndarray):
            own_array = cast(np.ndarray, array)
            return self.memory.register(own_array, name, written=fresh_memory.written(own_array))
        if isinstance(array, UninitialisedArray):
            own = array.numpy()
            base = own.__array_interface__["data"][0]
            self.memory.register_range(base, own.nbytes, name, keeper=own, written=array.written)
            return base
        if hasattr(array, "untyped_storage"):
            return self._tensor(array, name)
        if getattr(array, "__tritonx_array__", False):
            return self._copied(array, array.numpy(), name, array.copy_from)
        if hasattr(array, "__array_interface__"):
            return self.memory.register(np.asarray(array), name)
        if hasattr(array, "__dlpack__"):
            return self._exchanged(array, name)
        raise InvalidLaunch(f"the interpreter cannot reach the memory of {name}, a {type(array).__name__}")

    def write_back(self) -> None:
        """Copy device arrays back to where they live."""
        for copy in self._back:
            copy()

    def _tensor(self, tensor: Any, name: str) -> int:
        """A torch tensor: the range is its whole storage, from which `data_ptr` may start anywhere."""
        storage = tensor.untyped_storage()
        if tensor.device.type == "cpu":
            host = storage
        else:
            host = self._storages.get(storage.data_ptr())
            if host is None:
                host = self._storages[storage.data_ptr()] = storage.cpu()
                self._back.append(lambda: storage.copy_(host))
        self.memory.register_range(host.data_ptr(), storage.nbytes(), name, keeper=(tensor, host))
        return host.data_ptr() + (tensor.data_ptr() - storage.data_ptr())

    def _exchanged(self, array: Any, name: str) -> int:
        try:
            host = np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InvalidLaunch(f"the interpreter cannot reach the memory of {name}: {error}") from error
        return self.memory.register(host, name)

    def _copied(self, array: object, host: np.ndarray, name: str, back: Callable[[np.ndarray], object]) -> int:
        self._back.append(lambda: back(host))
        return self.memory.register(host, name)
