"""The conformance suite compiled for every target of every GPU backend; no device is needed.

Half of the cases, another half with every seed (``TRITONX_SEED`` fixes it), go to one target each, so that every target
gets its share of each family; ``TRITONX_CONFORMANCE=full`` compiles every case for every target. A target compiles in a
process of its own, which may die without ending the tests.
"""

from __future__ import annotations

import os

import pytest

from tritonx.backends.registry import available
from tritonx_testing.conformance import cases, isolated
from tritonx_testing.conformance.device import HOST

TARGETS = [
    str(target)
    for backend in available().values()
    if HOST not in backend.dlpack_device_types
    for target in backend.known_targets()
]
SEED = int(os.environ["TRITONX_SEED"])


def share(number: int) -> list[str]:
    names = [case.name for case in cases()]
    if os.environ.get("TRITONX_CONFORMANCE") == "full":
        return names
    return names[(number + SEED) % (2 * len(TARGETS)) :: 2 * len(TARGETS)]


@pytest.mark.parametrize("number", range(len(TARGETS)), ids=TARGETS)
def test_compiles(number: int) -> None:
    failures = [r for r in isolated.run(TARGETS[number], share(number), SEED) if not r.good]
    shown = "\n".join(f"{r.kind} {r.name}: {r.message[:1000]}" for r in failures)
    assert not failures, f"{len(failures)} cases do not compile for {TARGETS[number]} (seed {SEED})\n{shown}"
