"""The conformance suite on the interpreter (IR and Python lines), the CPU and every GPU backend that has a device here.

The cases of a device run in a process of their own, which may die without ending the tests. ``TRITONX_SEED`` fixes the
random inputs; ``TRITONX_CONFORMANCE=full`` runs every combination.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tritonx_testing.conformance import cases, isolated, names

SEED = int(os.environ["TRITONX_SEED"])
CASES = [case.name for case in cases()]
_results: dict[str, dict[str, isolated.Result]] = {}


def results(device: str, session: Any) -> dict[str, isolated.Result]:
    """Every selected case's result on ``device``; run at the first use."""
    if device not in _results:
        wanted = [
            item.callspec.params["case"]
            for item in session.items
            if item.name.startswith("test_conformance[") and item.callspec.params["device"] == device
        ]
        _results[device] = {result.name: result for result in isolated.run(device, wanted, SEED)}
    return _results[device]


@pytest.mark.parametrize("device", names())
@pytest.mark.parametrize("case", CASES)
def test_conformance(case: str, device: str, request: pytest.FixtureRequest) -> None:
    result = results(device, request.session)[case]
    if result.kind == "skipped":
        pytest.skip(result.message)
    if not result.good:
        pytest.fail(f"{result.kind} (seed {SEED}): {result.message}", pytrace=False)
