"""Where a launch goes on devices that PyTorch runs on too."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.runtime.devices.pytorch import PyTorchDriver, runs_of_graph
from tritonx.runtime.devices.torch_interface import PyTorch, TorchTensor, pytorch


class Unused:
    """A driver of which only the devices are asked."""

    _recording = PyTorchDriver._recording
    thread_device = staticmethod(lambda: 3)
    current_device: Any = PyTorchDriver.current_device
    current_stream: Any = PyTorchDriver.current_stream
    _stream: Any = PyTorchDriver._stream
    _ask_stream: Any = None


@pytest.mark.parametrize(("in_use", "device", "stream"), [(None, 3, 0), (False, 3, 0), (True, 1, 71)])
def test_device_and_stream_are_pytorchs_where_it_is_in_use(
    monkeypatch: pytest.MonkeyPatch, in_use: bool | None, device: int, stream: int
) -> None:
    gpus = SimpleNamespace(is_initialized=lambda: in_use, current_device=lambda: 1)
    torch = SimpleNamespace(cuda=gpus, _C=SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 70 + index))
    monkeypatch.setitem(sys.modules, "torch", None if in_use is None else torch)
    assert Unused().current_device() == device
    assert Unused().current_stream(1) == stream


def test_pytorch_is_asked_until_it_is_in_use_and_again_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child cannot use the device; PyTorch says there that it is not in use, and asking it for a stream fails."""
    asked, children, in_use = list[str](), list[Any](), [False]
    gpus = SimpleNamespace(is_initialized=lambda: asked.append("in use") or in_use[0])
    raw = SimpleNamespace(_cuda_getCurrentRawStream=lambda index: asked.append("stream") or 70 + index)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=gpus, _C=raw))
    monkeypatch.setattr("os.register_at_fork", lambda after_in_child: children.append(after_in_child))
    driver = Unused()
    assert [driver.current_stream(0) for _ in range(2)] == [0, 0] and asked == ["in use"] * 2
    in_use[0] = True
    asked.clear()
    assert [driver.current_stream(1) for _ in range(3)] == [71, 71, 71] and asked == ["in use"] + ["stream"] * 3
    in_use[0] = False
    (after_fork,) = children
    after_fork()
    assert driver.current_stream(1) == 0
    del driver
    after_fork()


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


def members(protocol: type) -> set[str]:
    """The names that a protocol declares, without what Python adds to a class."""
    declared = {name for name in vars(protocol) if not name.startswith("_")}
    return declared | ({"_scaled_mm"} & vars(protocol).keys())


def test_pytorch_has_what_the_protocols_declare() -> None:
    torch: Any = pytest.importorskip("torch")
    assert pytorch() is torch
    assert {"mm", "float16", "_scaled_mm"} <= members(PyTorch) and {"T", "copy_"} <= members(TorchTensor)
    assert {name for name in members(PyTorch) if not hasattr(torch, name)} == set()
    assert {name for name in members(TorchTensor) if not hasattr(torch.Tensor, name)} == set()
