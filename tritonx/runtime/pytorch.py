"""Drivers of devices that PyTorch runs on too: where it is in use, its current device and stream are those of a launch.

PyTorch calls its module for GPUs ``cuda`` whoever made them."""

from __future__ import annotations

import sys
from abc import abstractmethod

from tritonx.backends.api import Driver


def built_for(platform: str) -> bool | None:
    """Whether the PyTorch in this process was built for ``platform``, a name in ``torch.version``; None without one."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return None if version is None else getattr(version, platform, None) is not None


class PyTorchDriver(Driver):
    """Methods to inherit rather than functions to call: a launch asks for the stream."""

    def current_device(self) -> int:
        """PyTorch's current device if PyTorch is in use, else this thread's."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return int(torch.cuda.current_device())
        return self.thread_device()

    @abstractmethod
    def thread_device(self) -> int:
        """The device that is current in this thread, as the vendor's library has it."""

    def current_stream(self, device: int) -> int:
        """PyTorch's current stream if PyTorch is in use, else the default stream."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return int(torch._C._cuda_getCurrentRawStream(device))
        return 0
