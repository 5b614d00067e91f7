"""Numbers that are new on each day."""

from __future__ import annotations

import random

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Of the test run's seed."""
    return np.random.default_rng(random.randrange(1 << 30))
