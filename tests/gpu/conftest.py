"""Tests that run on a GPU: skipped where no installed GPU backend finds a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tritonx.backends.registry import available
from tritonx.runtime import driver
from tritonx.testing.conformance.device import HOST


def gpu_backend() -> str | None:
    """The first GPU backend whose driver starts; None, with the reasons in ``REASONS``, where there is none."""
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


@pytest.fixture(autouse=True)
def on_the_gpu() -> Any:
    """The GPU's backend is the active one."""
    driver.set_active(BACKEND)
    yield
    driver.reset_active()
