"""Reading code objects, and running them on tinygrad's instruction emulator (a checkout outside this repository)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tritonx_testing.emulators.amd.emulator import Emulator, checkout, compile_for, started

CHIPS = os.environ.get("TRITONX_EMULATED", "gfx1100,gfx1201,gfx90a,gfx942,gfx950").split(",")
"""On which tests run that name none."""


@pytest.fixture(params=CHIPS)
def emulator(request: pytest.FixtureRequest) -> Emulator:
    if checkout() is None:
        pytest.skip("TINYGRAD names no checkout of tinygrad, whose emulator would run the kernel")
    return started(request.param)


@pytest.fixture
def compiled() -> Any:
    """``compile_for`` for tests that look at the code alone."""
    return compile_for
