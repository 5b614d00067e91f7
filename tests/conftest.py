"""What holds for all tests.

How long an example takes on a busy machine says nothing about the code, so hypothesis has no deadline. And there is one
seed a run: what is drawn afresh is drawn from ``TRITONX_SEED``, which a failure names, so
that all workers collect the same tests. What a pass leaves is verified, also in the processes that tests start.
"""

from __future__ import annotations

import os
import secrets

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("tritonx", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tritonx")

os.environ.setdefault("TRITONX_SEED", str(secrets.randbelow(2**31)))
os.environ.setdefault("TRITONX_VERIFY", "1")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """How to draw again what failed."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        terminalreporter.write_line(f"TRITONX_SEED={os.environ['TRITONX_SEED']} draws the same")
