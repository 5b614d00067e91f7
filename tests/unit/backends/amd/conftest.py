"""Reading code objects, and running them on tinygrad's instruction emulator (a checkout outside this repository)."""

from __future__ import annotations

from typing import Any

import pytest

from tritonx_testing.emulators.amd.emulator import Emulator, checkout, compile_for, started


@pytest.fixture(params=["gfx1100", "gfx1201", "gfx950"])
def emulator(request: pytest.FixtureRequest) -> Emulator:
    if checkout() is None:
        pytest.skip("TINYGRAD names no checkout of tinygrad, whose emulator would run the kernel")
    return started(request.param)


@pytest.fixture
def compiled() -> Any:
    """``compile_for`` for tests that look at the code alone."""
    return compile_for
