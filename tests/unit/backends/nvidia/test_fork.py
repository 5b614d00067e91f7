"""A driver that was started before a fork, without a GPU: a library that answers as libcuda does in the child."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.backends.nvidia import driver
from tritonx.backends.nvidia.launch import presence
from tritonx.backends.registry import get_backend
from tritonx.runtime.driver import ActiveDriver
from tritonx.runtime.errors import NoDevice, StartedBeforeFork


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """libcuda; ``codes`` is what its functions answer."""
    codes = SimpleNamespace(init=3, count=3)

    def count(out: Any) -> int:
        out._obj.value = 0 if codes.count else 1
        return codes.count

    library = SimpleNamespace(
        cuInit=lambda flags: codes.init, cuDeviceGetCount=count, cuGetErrorName=lambda code, text: None
    )
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr("tritonx.runtime.devices.drivers._drivers", {})
    driver.library.cache_clear()
    presence._gpu_visible.cache_clear()
    yield codes
    driver.library.cache_clear()
    presence._gpu_visible.cache_clear()


def test_a_child_sees_the_device_and_cannot_use_it(started: SimpleNamespace) -> None:
    """PyTorch's compile workers ask for the backend that is active, and then only compile."""
    assert ActiveDriver(get_backend("cuda")).is_active()
    with pytest.raises(StartedBeforeFork, match=r"before this process was forked.*'spawn'"):
        driver.library()


def test_so_does_a_child_that_inherits_the_started_library(started: SimpleNamespace) -> None:
    started.init = started.count = 0
    driver.library()
    started.count = 3
    assert ActiveDriver(get_backend("cuda")).is_active()


def test_other_failures_say_that_there_is_no_device(started: SimpleNamespace) -> None:
    started.init = 100
    assert not ActiveDriver(get_backend("cuda")).is_active()
    with pytest.raises(NoDevice, match=r"could not be started.*100"):
        driver.library()
