"""The conformance suite on arrays that lie otherwise in memory.

A share of the cases, each in a drawn arrangement, in the interpreter, on every device that is here, and compiled for
every target. Another share with every seed (``TRITONX_SEED`` fixes it); ``python -m tritonx.testing.conformance
--arranged`` runs them all.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.registry import available
from tritonx.testing.conformance import cases, isolated, names
from tritonx.testing.conformance.arranged_run import check_arranged
from tritonx.testing.conformance.arrangement import (
    ARRANGEMENTS,
    Arrangement,
    Placed,
    arrange,
    arranged_names,
    place,
)
from tritonx.testing.conformance.case import Case, Mismatch, Output, Trial
from tritonx.testing.conformance.cover import Cover
from tritonx.testing.conformance.device import HOST, find

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
NAMES = arranged_names(cases(), SEED, Cover.from_environment())
TARGETS = [
    str(target)
    for backend in available().values()
    if HOST not in backend.dlpack_device_types
    for target in backend.known_targets()
]
DEVICES = [name for name in names() if name != "python"]
SHARE = {"interpreter": 16}
"""One case of so many, of 12 elsewhere."""


def share(number: int, parts: int) -> list[str]:
    return NAMES if FULL else NAMES[(number + SEED) % parts :: parts]


def failures(device: str, chosen: list[str]) -> str:
    wrong = [r for r in isolated.run(device, chosen, SEED) if not r.good]
    return "\n".join(f"{r.kind} {r.name} on {device} (seed {SEED}): {r.message[:1000]}" for r in wrong)


@pytest.mark.parametrize("device", DEVICES)
def test_arranged(device: str) -> None:
    assert not (wrong := failures(device, share(0, SHARE.get(device, 12)))), wrong


@pytest.mark.parametrize("number", range(len(TARGETS)), ids=TARGETS)
def test_compiles_arranged(number: int) -> None:
    assert not (wrong := failures(TARGETS[number], share(number, 16 * len(TARGETS)))), wrong


@tritonx.jit
def halves(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)


@tritonx.jit
def overruns(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5)


def case_of(kernel: Any) -> Case:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.standard_normal(100).astype(np.float32)
        return Trial((x, Output.of(x * np.float32(0.5)), 100), {"N": 256})

    return Case("test/halves", kernel, make)


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=str)
def test_a_kernel_in_every_arrangement(arrangement: Arrangement, device: str) -> None:
    check_arranged(case_of(halves), find(device), SEED, arrangement)


def test_a_store_behind_the_output_is_seen() -> None:
    """In the gap between two programs' parts; it would be out of bounds without the gap."""
    with pytest.raises(Mismatch, match="past the end"):
        check_arranged(case_of(overruns), find("interpreter"), SEED, Arrangement(programs=2, gap=300))


@pytest.mark.parametrize("arrangement", [Arrangement(stride=2), Arrangement(stride=-3, programs=2, gap=1)], ids=str)
def test_what_lies_between_must_stay(arrangement: Arrangement) -> None:
    arranged = arrange(case_of(halves), arrangement, SEED)
    assert arranged is not None
    memories = [a.memory.copy() for a in arranged.args if isinstance(a, Placed)]
    for memory, placed, given in zip(memories, arranged.args, arranged.trials[0].args, strict=False):
        if isinstance(given, Output):
            for number, trial in enumerate(arranged.trials):
                memory[placed.places[number][:100]] = trial.args[1].parts[0].expected
    arranged.check(memories)
    memories[1][arranged.args[1].places[0][3] + 1] = 1.0
    with pytest.raises(Mismatch, match="wrote between"):
        arranged.check(memories)
    memories[0][arranged.args[0].places[0][3]] += 1
    with pytest.raises(Mismatch, match="only reads"):
        arranged.check(memories)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=str)
def test_the_parts_do_not_overlap(arrangement: Arrangement) -> None:
    parts = [np.full(9, number, np.int16) for number in range(arrangement.programs)]
    placed = place(parts, arrangement)
    assert all((placed.part(number) == number).all() for number in range(arrangement.programs))
    step = placed.view.strides[0] // 2
    first = placed.view.__array_interface__["data"][0] - placed.memory.__array_interface__["data"][0]
    assert first == 2 * placed.places[0][0]
    assert (step < 0) == (arrangement.stride < 0)
    assert set(np.diff(placed.places[0])) == {arrangement.stride}
