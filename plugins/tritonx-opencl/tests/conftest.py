"""The tests that execute anything need the OpenCL implementation; those of the translation do not.

As in `tests`, what is drawn afresh is drawn from one seed a run."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the translation is tested where the plug-in is not installed, too

os.environ.setdefault("TRITONX_SEED", str(secrets.randbelow(2**31)))


@pytest.fixture(scope="session")
def device() -> None:
    """Skips where there is no OpenCL device to run on, and says what is missing."""
    from tritonx.runtime.errors import NoDevice
    from tritonx_opencl import BACKEND

    try:
        BACKEND.driver()
    except NoDevice as problem:
        pytest.skip(f"WHAT THE GPU EMITTERS WRITE IS NOT EXECUTED: {problem}")
