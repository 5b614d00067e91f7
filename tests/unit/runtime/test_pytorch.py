"""Where a launch goes on devices that PyTorch runs on too."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.runtime.pytorch import PyTorchDriver, runs_of_graph


class Unused:
    """A driver of which only the devices are asked."""

    _recording = PyTorchDriver._recording
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


def test_launches_of_a_thread_are_recorded_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    driver, seen = Unused(), list[int]()
    with PyTorchDriver.recording(driver, 99):  # pyright: ignore[reportArgumentType]  # what it needs of a driver
        other = threading.Thread(target=lambda: seen.append(driver.current_stream(0)))
        other.start()
        other.join()
        seen.append(driver.current_stream(0))
    assert [*seen, driver.current_stream(0)] == [0, 99, 0]


def test_a_graph_has_runs_for_a_tenth_of_the_time() -> None:
    assert [runs_of_graph(one, 20) for one in (0.0, 0.01, 0.5, 2, 3)] == [20000, 200, 4, 1, 1]
