"""A share of the conformance suite, brought to `ttg` for a GPU and executed there with every warp by itself: values, no
race, no read of what was never written. `TRITONX_EXECUTED=500` runs that many cases on each target;
`python -m tritonx_testing.conformance ttg:cuda:90` all of them."""

from __future__ import annotations

import os
from random import Random

import pytest

from tritonx_testing.conformance import cases, find
from tritonx_testing.conformance.case import Case
from tritonx_testing.conformance.isolated import outcome

SEED = int(os.environ["TRITONX_SEED"])
COUNT = int(os.environ.get("TRITONX_EXECUTED", "10"))
TARGETS = ("cuda:75", "cuda:90", "hip:gfx942", "hip:gfx1100")


def drawn(target: str) -> list[Case]:
    everything = cases()
    return Random(f"{SEED} {target}").sample(everything, min(COUNT, len(everything)))


@pytest.mark.parametrize(
    ("target", "case"), [pytest.param(t, case, id=f"{t}-{case.name}") for t in TARGETS for case in drawn(t)]
)
def test_executed(target: str, case: Case) -> None:
    kind, message = outcome(case, find(f"ttg:{target}"), SEED)
    if kind == "skipped":
        pytest.skip(message)
    assert kind == "passed", f"{kind}, seed {SEED}: {message}"
