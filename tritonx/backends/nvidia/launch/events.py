"""CUDA's events, for timing launches."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

_INVALID_CONTEXT = 201

Check = Callable[[int, str], None]


class CudaEvents:
    """``on`` makes a context of a device current where none is."""

    def __init__(self, cuda: Any, check: Check, on: Callable[[int], AbstractContextManager[None]]) -> None:
        self._cuda = cuda
        self._check = check
        self._on = on

    def create(self, device: int) -> object:
        event = ctypes.c_void_p()
        with self._on(device):
            self._check(self._cuda.cuEventCreate(ctypes.byref(event), 0), "cuEventCreate")
        return event

    def destroy(self, event: object) -> None:
        """Whatever it says: at the end of a process the driver may be gone."""
        self._cuda.cuEventDestroy_v2(event)

    def record(self, event: object, stream: int, device: int) -> None:
        code = self._cuda.cuEventRecord(event, ctypes.c_void_p(stream))
        if code == _INVALID_CONTEXT:  # a thread that has launched nothing yet
            with self._on(device):
                code = self._cuda.cuEventRecord(event, ctypes.c_void_p(stream))
        self._check(code, "cuEventRecord")

    def is_over(self, event: object) -> bool:
        return self._cuda.cuEventQuery(event) == 0

    def wait(self, event: object) -> None:
        self._check(self._cuda.cuEventSynchronize(event), "cuEventSynchronize")

    def milliseconds(self, start: object, stop: object) -> float:
        elapsed = ctypes.c_float()
        self._check(self._cuda.cuEventElapsedTime_v2(ctypes.byref(elapsed), start, stop), "cuEventElapsedTime")
        return elapsed.value
