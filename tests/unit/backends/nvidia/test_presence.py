"""Whether there is a GPU, told without starting CUDA."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tritonx.backends.nvidia.launch import presence
from tritonx.backends.registry import get_backend
from tritonx.runtime.driver import ActiveDriver

UUIDS = ["GPU-5f7b1c2d-0000-1111-2222-333344445555", "GPU-66aa1c2d-0000-1111-2222-333344445555"]


class Libraries:
    """libcuda, of which nothing may be called, and NVML with so many GPUs."""

    def __init__(self) -> None:
        self.cuda, self.nvml, self.uuids, self.started = True, True, UUIDS, 0

    def open(self, name: str) -> Any:
        if "cuda" in name and self.cuda:
            return SimpleNamespace()
        if "ml" not in name or not self.nvml:
            raise OSError(name)
        return SimpleNamespace(
            nvmlInit_v2=self.init,
            nvmlShutdown=self.shutdown,
            nvmlDeviceGetCount_v2=self.count,
            nvmlDeviceGetHandleByIndex_v2=self.handle,
            nvmlDeviceGetUUID=self.uuid,
        )

    def init(self) -> int:
        self.started += 1
        return 0

    def shutdown(self) -> int:
        self.started -= 1
        return 0

    def count(self, out: Any) -> int:
        out._obj.value = len(self.uuids)
        return 0

    def handle(self, index: int, out: Any) -> int:
        out._obj.value = index + 1
        return 0

    def uuid(self, device: Any, out: Any, size: int) -> int:
        out.value = self.uuids[device.value - 1].encode()
        return 0


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[Libraries]:
    made = Libraries()
    monkeypatch.setattr(ctypes, "CDLL", made.open)
    monkeypatch.setattr("tritonx.runtime.devices.drivers._drivers", {})
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    presence._gpu_visible.cache_clear()
    yield made
    assert made.started == 0
    presence._gpu_visible.cache_clear()


def is_active() -> bool:
    return ActiveDriver(get_backend("cuda")).is_active()


def test_gpus_are_counted_without_cuda(libraries: Libraries) -> None:
    assert is_active()
    libraries.uuids = []
    presence._gpu_visible.cache_clear()
    assert not is_active()


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("0", True), ("1,0", True), (" 1 , 7", True), ("2", False), ("2,0", False), ("", False), ("-1,0", False),
        ("none", False), ("GPU-66aa", True), (UUIDS[0], True), ("GPU-77,0", False), ("MIG-1", None),
    ],
)  # fmt: skip
def test_what_the_environment_hides_is_not_there(
    libraries: Libraries, monkeypatch: pytest.MonkeyPatch, visible: str, expected: bool | None
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert presence.gpu_visible() is expected


def test_without_a_driver_there_is_none(libraries: Libraries) -> None:
    libraries.cuda = libraries.nvml = False
    assert presence.gpu_visible() is False


def test_without_nvml_only_cuda_can_tell(libraries: Libraries) -> None:
    libraries.nvml = False
    assert presence.gpu_visible() is None
