"""HIP's events, for timing launches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import SupportsFloat, cast

from tritonx.runtime.errors import TritonError


class HipEvents:
    """``call`` is that of the driver's module; ``on`` makes a device current."""

    def __init__(self, call: Callable[..., object], on: Callable[[int], AbstractContextManager[None]]) -> None:
        self._call = call
        self._on = on

    def create(self, device: int) -> object:
        with self._on(device):
            return self._call("hipEventCreate")

    def destroy(self, event: object) -> None:
        self._call("hipEventDestroy", event)

    def record(self, event: object, stream: int, device: int) -> None:
        with self._on(device):
            self._call("hipEventRecord", event, stream or None)

    def wait(self, event: object) -> None:
        self._call("hipEventSynchronize", event)

    def milliseconds(self, start: object, stop: object) -> float | None:
        try:
            return float(cast(SupportsFloat, self._call("hipEventElapsedTime", start, stop)))
        except TritonError:
            if self._is_over(start) and self._is_over(stop):
                raise
            return None

    def _is_over(self, event: object) -> bool:
        try:
            self._call("hipEventQuery", event)
        except TritonError:  # hipErrorNotReady
            return False
        return True
