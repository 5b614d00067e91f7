"""Where a launch goes on devices that PyTorch runs on too."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.runtime.pytorch import PyTorchDriver


class Unused:
    """A driver of which only the devices are asked."""

    thread_device = staticmethod(lambda: 3)
    current_device: Any = PyTorchDriver.current_device
    current_stream: Any = PyTorchDriver.current_stream


@pytest.mark.parametrize(("in_use", "device", "stream"), [(None, 3, 0), (False, 3, 0), (True, 1, 71)])
def test_device_and_stream_are_pytorchs_where_it_is_in_use(
    monkeypatch: pytest.MonkeyPatch, in_use: bool | None, device: int, stream: int
) -> None:
    gpus = SimpleNamespace(is_initialized=lambda: in_use, current_device=lambda: 1)
    torch = SimpleNamespace(cuda=gpus, _C=SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 70 + index))
    monkeypatch.setitem(sys.modules, "torch", None if in_use is None else torch)
    assert Unused().current_device() == device
    assert Unused().current_stream(1) == stream
