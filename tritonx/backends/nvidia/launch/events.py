"""CUDA's events, for timing launches."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager

_INVALID_CONTEXT = 201

Check = Callable[[int, str], None]


class CudaEvents:
    """``on`` makes a context of a device current where none is."""

    def __init__(self, cuda: ctypes.CDLL, check: Check, on: Callable[[int], AbstractContextManager[None]]) -> None:
        self._cuda = cuda
        self._check = check
        self._on = on
        self._record: Callable[..., int] = cuda.cuEventRecord
        self._is_capturing: Callable[..., int] = cuda.cuStreamIsCapturing
        self._streams: dict[int, ctypes.c_void_p] = {}

    def is_recording(self, stream: int) -> bool:
        """Whether launches on the stream become part of a graph, or cannot be timed because others' do."""
        status = ctypes.c_int()
        return self._is_capturing(self._handle(stream), ctypes.byref(status)) != 0 or status.value != 0

    def _handle(self, stream: int) -> ctypes.c_void_p:
        found = self._streams.get(stream)
        if found is None:
            found = self._streams[stream] = ctypes.c_void_p(stream)
        return found

    def create(self, device: int) -> object:
        event = ctypes.c_void_p()
        with self._on(device):
            self._check(self._cuda.cuEventCreate(ctypes.byref(event), 0), "cuEventCreate")
        return event

    def destroy(self, event: object) -> None:
        """Whatever it says: at the end of a process the driver may be gone."""
        self._cuda.cuEventDestroy_v2(event)

    def record(self, event: object, stream: int, device: int) -> None:
        code = self._record(event, self._handle(stream))
        if code == _INVALID_CONTEXT:  # a thread that has launched nothing yet
            with self._on(device):
                code = self._record(event, self._handle(stream))
        if code:
            self._check(code, "cuEventRecord")

    def is_over(self, event: object) -> bool:
        return self._cuda.cuEventQuery(event) == 0

    def wait(self, event: object) -> None:
        self._check(self._cuda.cuEventSynchronize(event), "cuEventSynchronize")

    def milliseconds(self, start: object, stop: object) -> float:
        elapsed = ctypes.c_float()
        self._check(self._cuda.cuEventElapsedTime_v2(ctypes.byref(elapsed), start, stop), "cuEventElapsedTime")
        return elapsed.value
