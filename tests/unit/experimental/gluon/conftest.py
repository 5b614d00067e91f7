"""Numbers that are new on each day, and the emulator of AMD's instructions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tritonx_testing.emulators.amd.emulator import Emulator, checkout, started


@pytest.fixture
def rng() -> np.random.Generator:
    """Of the test run's seed."""
    return np.random.default_rng(random.randrange(1 << 30))


@pytest.fixture
def emulator(request: pytest.FixtureRequest) -> Emulator:
    """Of the processor that the test names."""
    if checkout() is None:
        pytest.skip("TINYGRAD names no checkout of tinygrad, whose emulator would run the kernel")
    return started(request.param)
