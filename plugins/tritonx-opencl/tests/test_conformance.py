"""What the GPU emitters write, executed: the whole conformance suite without sub-groups, and a share of it with
them and on arrays that lie otherwise, another one with each seed.

``TRITONX_SEED`` fixes the share and the random inputs; ``TRITONX_CONFORMANCE=full`` runs every case everywhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tritonx_opencl import TARGETS
from tritonx_testing.conformance import Cover, cases, isolated
from tritonx_testing.conformance.arrangement import arranged_names
from tritonx_testing.conformance.known import known_defects

DEFECTS = known_defects(Path(__file__).parents[1] / "known_defects.txt")
"""What Intel's implementation gets wrong by itself, with sub-groups."""
SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
PARTS = {"items": 1, "spirv": 20}
"""One case of so many is run. A case takes 0.1 s of the processor without sub-groups; with them 0.4 on average and 43
at most, most of it in the driver's optimiser, without which it has none."""
TOO_SLOW = ("dot", "wide")
"""What families with programs of thousands of instructions begin with, which sub-groups run in the full suite only."""
ARRANGED = 150
"""One case of so many is run on arrays that lie otherwise in memory."""
FAMILIES = sorted({case.name.partition("/")[0] for case in cases()})


def share(target: str, families: Sequence[str]) -> list[str]:
    names = [case.name for case in cases() if case.name.partition("/")[0] in families]
    parts = 1 if FULL else PARTS[target]
    return names[SEED % parts :: parts]


def check(target: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", target)
    chosen = [name for name in names if name not in DEFECTS or target != "spirv"]
    failures = [result for result in isolated.run("opencl", chosen, SEED) if result.failed]
    shown = "\n".join(f"{r.kind} {r.name}: {r.message[:1000]}" for r in failures)
    command = "python -m tritonx_testing.conformance opencl"
    again = f"TRITONX_OPENCL_TARGET={target} {command} --seed {SEED} -k NAME (--arranged for NAME@NUMBER)"
    assert not failures, f"{len(failures)} of {len(names)} cases on opencl:{target}; {again}\n{shown}"


@pytest.mark.parametrize("family", FAMILIES)
def test_warps_of_one_lane(family: str, device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    check("items", share("items", [family]), monkeypatch)


def test_sub_groups(device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    families = FAMILIES if FULL else [f for f in FAMILIES if not f.startswith(TOO_SLOW)]
    check("spirv", share("spirv", families), monkeypatch)


def test_arranged(device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = 1 if FULL else ARRANGED
    check("items", arranged_names(list(cases()), SEED, Cover.from_environment())[SEED % parts :: parts], monkeypatch)


def test_defects_are_cases() -> None:
    assert set(DEFECTS) <= {case.name for case in cases()} and {"items", "spirv"} == set(TARGETS)
