"""The conformance suite on the instruction emulator: a share of the cases on each architecture, another with every seed
(``TRITONX_SEED`` fixes it); ``TRITONX_CONFORMANCE=full`` runs all of them, in about half an hour an architecture."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tritonx.testing.conformance import cases
from tritonx.testing.conformance.case import Output
from tritonx.testing.conformance.device import host_arguments, unsupported
from tritonx.testing.conformance.isolated import is_refusal

SHARE = 24
"""One case of this many runs."""

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
CASES = list(cases())


@pytest.mark.parametrize("case", CASES if FULL else CASES[SEED % SHARE :: SHARE], ids=lambda case: case.name)
def test_case(emulator: Any, case: Any) -> None:
    from tritonx.backends.amd import BACKEND

    if reason := unsupported(case, BACKEND, BACKEND.parse_target(emulator.arch)):
        pytest.skip(reason)
    trial = case.trial(SEED)
    args = host_arguments(trial)
    try:
        emulator(case.kernel, trial.grid, *args, kwargs=dict(trial.constants), **case.options)
    except RuntimeError as error:
        if "[emu] Failed to compile" not in str(error):
            raise
        pytest.skip(f"the emulator lacks an instruction: {error}"[:200])
    except Exception as error:
        if not (case.optional and is_refusal(error)):
            raise
        pytest.skip(f"refused: {error}"[:200])
    for array, given in zip(args, trial.args, strict=True):
        if isinstance(given, Output):
            given.check(array)
