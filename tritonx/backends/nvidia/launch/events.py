"""CUDA's events, for timing launches."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager

_INVALID_CONTEXT, _NOT_READY = 201, 600

Check = Callable[[int, str], None]


class _Handles(dict[int, ctypes.c_void_p]):
    """Streams as the driver's functions take them."""

    def __missing__(self, stream: int) -> ctypes.c_void_p:
        return self.setdefault(stream, ctypes.c_void_p(stream))


class CudaEvents:
    """``on`` makes a context of a device current where none is."""

    def __init__(self, cuda: ctypes.CDLL, check: Check, on: Callable[[int], AbstractContextManager[None]]) -> None:
        self._cuda = cuda
        self._check = check
        self._on = on
        self._record: Callable[..., int] = cuda.cuEventRecord
        self._is_capturing: Callable[..., int] = cuda.cuStreamIsCapturing
        self._elapsed = ctypes.c_float()
        self._to_elapsed = ctypes.byref(self._elapsed)
        self._time: Callable[..., int] = cuda.cuEventElapsedTime_v2
        self._streams = _Handles()
        self._cells: list[tuple[ctypes.c_int, object]] = []
        """Memory for what the driver says, lent to one call at a time."""

    def is_recording(self, stream: int) -> bool:
        """Whether launches on the stream become part of a graph, or cannot be timed because others' do."""
        try:
            cell = self._cells.pop()
        except IndexError:
            status = ctypes.c_int()
            cell = status, ctypes.byref(status)
        failed = self._is_capturing(self._streams[stream], cell[1])
        found = failed != 0 or cell[0].value != 0
        self._cells.append(cell)
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
        code = self._record(event, self._streams[stream])
        if code == _INVALID_CONTEXT:  # a thread that has launched nothing yet
            with self._on(device):
                code = self._record(event, self._streams[stream])
        if code:
            self._check(code, "cuEventRecord")

    def wait(self, event: object) -> None:
        self._check(self._cuda.cuEventSynchronize(event), "cuEventSynchronize")

    def milliseconds(self, start: object, stop: object) -> float | None:
        if code := self._time(self._to_elapsed, start, stop):
            if code == _NOT_READY:
                return None
            self._check(code, "cuEventElapsedTime")
        return self._elapsed.value
