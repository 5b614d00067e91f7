"""A sample of the conformance suite, the sweep and the table of ops at a level that is not the default, drawn with
``TRITONX_SEED``; the other tests run at the default."""

from __future__ import annotations

import os
from random import Random

import pytest

from tritonx import level
from tritonx_testing.conformance import cases, isolated
from tritonx_testing.differential import compare_group, groups
from tritonx_testing.differential.devices import launcher
from tritonx_testing.sweep.__main__ import START, sample

SEED = int(os.environ["TRITONX_SEED"])
OTHERS = [name for name in level.LEVELS if name != level.DEFAULT]
DRAWN = Random(SEED).choice(OTHERS)

pytestmark = pytest.mark.level(DRAWN)


def test_a_sample_of_the_conformance_suite() -> None:
    assert level.active().name == DRAWN
    drawn = Random(SEED).sample([case.name for case in cases()], 40)
    bad = [r for r in isolated.run("cpu", drawn, SEED) if not r.good]
    assert not bad, f"TRITONX_SEED={SEED}, level {DRAWN}\n" + "\n".join(f"{r.kind} {r.name}: {r.message}" for r in bad)


def test_a_sample_of_the_sweep() -> None:
    bad = [r for r in isolated.run("", sample(["cpu", "cuda:90", "hip:gfx942"], 40, SEED), 0, START) if r.failed]
    assert not bad, f"TRITONX_SEED={SEED}, level {DRAWN}\n" + "\n".join(f"{r.kind} {r.name}: {r.message}" for r in bad)


def test_a_sample_of_the_table_of_ops() -> None:
    for group in Random(SEED).sample(groups(), 6):
        for device in ("python", "cpu"):
            failures = compare_group(group, device, launcher(device), SEED)
            assert not failures, f"TRITONX_SEED={SEED}, level {DRAWN}\n" + "\n".join(map(str, failures))


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_level_lacks_is_in_no_case(name: str) -> None:
    """The suite of a level has what that level takes: histograms of 64-bit numbers up to 3.8."""
    with level.at(name):
        counted = {case.name.split("-")[3] for case in cases() if case.name.startswith("sorting/histogram-of-any-")}
    assert ("int64" in counted) == (name < "3.9")
