"""The conformance suite on the instruction emulator, as it is and arranged, and random kernels on blocks: a share of
the cases on each architecture, another with every seed (``TRITONX_SEED`` fixes it). ``TRITONX_EMULATED_SHARE=1`` runs
all of them, in about three quarters of an hour an architecture, ``TRITONX_RANDOM_KERNELS=200`` so many random kernels,
``TRITONX_CONFORMANCE=full`` the long list of cases (14,000, and seven times as many arranged ones)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tritonx_testing.conformance import cases
from tritonx_testing.conformance.arranged_run import NotArranged, fitted, rewritten
from tritonx_testing.conformance.arrangement import Placed, arranged_names, parted
from tritonx_testing.conformance.case import Output
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.device import host_arguments, unsupported
from tritonx_testing.conformance.isolated import is_refusal, is_too_long
from tritonx_testing.conformance.random_blocks import random_case
from tritonx_testing.conformance.suite import random_names

SHARE = int(os.environ.get("TRITONX_EMULATED_SHARE", "24"))
"""One case of this many runs."""

SEED = int(os.environ["TRITONX_SEED"])
CASES = list(cases())
RANDOM = random_names(int(os.environ.get("TRITONX_RANDOM_KERNELS", "4")), SEED)
ARRANGED = arranged_names(CASES, SEED, Cover.from_environment())


@contextmanager
def refusals(case: Any) -> Iterator[None]:
    """Skips where the emulator, or the backend for an optional case, says that it lacks something."""
    try:
        yield
    except RuntimeError as error:
        if "[emu] Failed to compile" not in str(error):
            raise
        pytest.skip(f"the emulator lacks an instruction: {error}"[:200])
    except Exception as error:
        if not (case.optional and is_refusal(error)) and not is_too_long(error):
            raise
        pytest.skip(f"refused: {error}"[:200])


@pytest.mark.parametrize("case", CASES[SEED % SHARE :: SHARE], ids=lambda case: case.name)
def test_case(emulator: Any, case: Any) -> None:
    is_right(emulator, case)


@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_random_kernel(emulator: Any, number: int) -> None:
    """Others on each architecture."""
    case = random_case(f"{RANDOM[number]}.{emulator.arch}")
    try:
        is_right(emulator, case)
    except Exception as error:
        raise AssertionError(f"{case.name}: {error}\n{getattr(case.kernel, 'src', '')}") from error


def is_right(emulator: Any, case: Any) -> None:
    """Runs a case, and compares what it leaves."""
    from tritonx.backends.amd import BACKEND

    if reason := unsupported(case, BACKEND, BACKEND.parse_target(emulator.arch)):
        pytest.skip(reason)
    trial = case.trial(SEED)
    args = host_arguments(trial)
    with refusals(case):
        emulator(case.kernel, trial.grid, *args, kwargs=dict(trial.constants), **case.options)
    for array, given in zip(args, trial.args, strict=True):
        if isinstance(given, Output):
            given.check(array)


@pytest.mark.parametrize("name", ARRANGED[SEED % SHARE :: SHARE])
def test_arranged(emulator: Any, name: str) -> None:
    from tritonx.backends.amd import BACKEND

    own, arrangement = parted(name)
    case = next(case for case in CASES if case.name == own)
    target = BACKEND.parse_target(emulator.arch)
    if reason := unsupported(case, BACKEND, target):
        pytest.skip(reason)
    assert arrangement is not None
    try:
        arranged = fitted(case, arrangement, SEED)
    except NotArranged as reason:
        pytest.skip(str(reason))
    options = BACKEND.parse_options(target, arrangement.options(case))
    with refusals(case):
        emulator.run_bound(rewritten(arranged, options, target), options, arranged.grid)
    arranged.check([argument.memory for argument in arranged.args if isinstance(argument, Placed)])
