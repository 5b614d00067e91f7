"""Every op on every dtype and edge value as the GPU emitters write it, executed: a share, another one with each seed.

``TRITONX_SEED`` fixes the share and the values; ``TRITONX_CONFORMANCE=full`` runs all on each target, as ``python -m
tritonx_testing.differential opencl`` does on the one that ``TRITONX_OPENCL_TARGET`` chooses."""

from __future__ import annotations

import os

import pytest

from tritonx_opencl import TARGETS
from tritonx_testing.differential import compare_group, groups
from tritonx_testing.differential.devices import launcher

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
PARTS = 4
"""One group of so many is run; all take 12 s of the processor on ``items``, and more in the driver's optimiser,
which ``spirv`` needs."""


@pytest.mark.parametrize("target", TARGETS if FULL else ["items"])
def test_agrees_with_the_interpreter(target: str, device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", target)
    chosen = groups() if FULL else groups()[SEED % PARTS :: PARTS]
    failures = [failure for group in chosen for failure in compare_group(group, "opencl", launcher("opencl"), SEED)]
    wrong = [str(failure) for failure in failures if not failure.refused]
    assert not wrong, f"seed {SEED} on opencl:{target}\n" + "\n".join(wrong)


def test_atomics_of_sixteen_bits(device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which no instruction does: no other case of their families is wrong or refused."""
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", "items")
    chosen = [group for group in groups() if group.name == "fp16, fp16"]
    failures = [failure for group in chosen for failure in compare_group(group, "opencl", launcher("opencl"), SEED)]
    assert chosen and not failures, f"seed {SEED}\n" + "\n".join(map(str, failures))
