"""Tests that run on a GPU, or on the emulator of PTX where there is none (`where`)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gpu.where import EMULATED, GPU, REASONS
from tritonx.runtime import driver

HERE = Path(__file__).parent
NOT_SUPPORTED = 801
"""CUDA_ERROR_NOT_SUPPORTED: what the emulator lacks."""


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if HERE in Path(item.fspath).parents:
            item.add_marker(pytest.mark.gpu)
            if GPU is None and EMULATED is None:
                item.add_marker(pytest.mark.skip(reason=f"no GPU: {'; '.join(REASONS)}"))
            elif EMULATED is not None and item.get_closest_marker("real_gpu"):
                item.add_marker(pytest.mark.skip(reason="needs more of a GPU than the emulator has"))


def active() -> AbstractContextManager[Any]:
    """The backend is the active one: the GPU's or the emulator's."""
    if EMULATED is not None:
        from tritonx_testing.emulators.ptx import backend

        return backend.active(backend.emulated(EMULATED))
    return on_the_gpu()


@contextmanager
def on_the_gpu() -> Generator[None]:
    if GPU is not None:
        driver.set_active(GPU)
    try:
        yield
    finally:
        driver.reset_active()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """For a test with its fixtures, those of its module too. Pytest asks for every test, wherever it lies."""
    if HERE not in Path(item.fspath).parents:
        return (yield)
    with active():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Any:
    try:
        return (yield)
    except RuntimeError as problem:
        if EMULATED is not None and getattr(problem, "code", 0) == NOT_SUPPORTED:
            pytest.skip(str(problem))
        raise
