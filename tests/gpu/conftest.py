"""Tests that run on a GPU: skipped where no installed GPU backend finds a device.

``TRITONX_EMULATED=90`` has them run on the emulator of PTX, as one of that compute capability."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.gpu.where import EMULATED
from tritonx.backends.registry import available
from tritonx.runtime import driver
from tritonx.testing.conformance.device import HOST


def gpu_backend() -> str | None:
    """The first GPU backend whose driver starts; None, with the reasons in ``REASONS``, where there is none."""
    if EMULATED is not None:
        from tests.unit.backends.nvidia.ptx.backend import emulated

        driver.set_active(emulated(EMULATED))
        return "cuda"
    for name, backend in available().items():
        if HOST in backend.dlpack_device_types:
            continue
        try:
            backend.driver()
        except Exception as problem:
            REASONS.append(f"{name}: {problem}")
            continue
        return name
    return None


REASONS: list[str] = []
BACKEND = gpu_backend()
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if HERE in Path(item.fspath).parents:
            item.add_marker(pytest.mark.gpu)
            if BACKEND is None:
                item.add_marker(pytest.mark.skip(reason=f"no GPU: {'; '.join(REASONS)}"))
            elif EMULATED is not None and item.get_closest_marker("real_gpu"):
                item.add_marker(pytest.mark.skip(reason="asks more of the driver than the emulator has"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Any:
    """What the emulator lacks is skipped where it is asked for."""
    try:
        return (yield)
    except RuntimeError as problem:
        if EMULATED is not None and getattr(problem, "code", 0) == NOT_SUPPORTED:
            pytest.skip(str(problem))
        raise


NOT_SUPPORTED = 801
"""CUDA_ERROR_NOT_SUPPORTED."""


@pytest.fixture(autouse=True)
def on_the_gpu() -> Any:
    """The GPU's backend is the active one."""
    if EMULATED is not None:  # it is for good
        yield
        return
    driver.set_active(BACKEND)
    yield
    driver.reset_active()
