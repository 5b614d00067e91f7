"""Memory that stands for tensors without elements, of which there is no tensor map.

Whatever a kernel reads of such a tensor lies outside, and is padding; what it writes goes nowhere. A map of one element
in memory of its own does the same: the element holds the padding, or it is not read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager

PIECE = 16
"""Bytes of each: the copy engine writes so many."""

_READ = {"zero": 0, "nan": 1}
_WRITTEN = 2
_CONTENT = bytes(PIECE) + b"\xff" * PIECE + bytes(PIECE)
"""All bits set is a NaN of any float."""


class EmptyTensors:
    """Of one device; the memory is taken when it is asked for, and kept. ``check(code, call)`` raises an error with the
    ``code``; in ``on_device()`` a context of the device is current."""

    def __init__(
        self,
        cuda: ctypes.CDLL,
        check: Callable[[int, str], None],
        on_device: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.cuda = cuda
        self.check = check
        self.on_device = on_device
        self._memory: int | None = None

    def read(self, padding: str) -> int:
        """The address of a tensor that is only read, and is all padding (``zero`` or ``nan``)."""
        return self._start() + PIECE * _READ[padding]

    def written(self) -> int:
        """The address of a tensor that is only written to."""
        return self._start() + PIECE * _WRITTEN

    def _start(self) -> int:
        if self._memory is None:
            self._memory = self._made()
        return self._memory

    def _made(self) -> int:
        address = ctypes.c_uint64()
        with self.on_device():
            self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(len(_CONTENT))), "cuMemAlloc")
            code = self.cuda.cuMemcpyHtoD_v2(address, ctypes.c_char_p(_CONTENT), ctypes.c_size_t(len(_CONTENT)))
            self.check(code, "cuMemcpyHtoD")
        return address.value
