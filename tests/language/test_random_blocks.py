"""Random kernels on blocks of any extents: NumPy, which runs their text, and every device agree, bit for bit.

Others with every seed; `TRITONX_RANDOM_KERNELS=500` draws that many for each device, and
`python -m tritonx_testing.conformance cpu --random 500` runs them without the tests.
"""

from __future__ import annotations

import os

import pytest

from tritonx_testing.conformance import isolated, names
from tritonx_testing.conformance.suite import random_names

SEED = int(os.environ["TRITONX_SEED"])
ASKED = os.environ.get("TRITONX_RANDOM_KERNELS")
SHARES = {
    **dict.fromkeys(names(), 12),
    "python": 6,
    "ttg:cuda:75": 3,
    "ttg:cuda:90": 3,
    "ttg:hip:gfx942": 3,
    "ttg:hip:gfx1100": 3,
}
"""How many each device runs: others each."""


@pytest.mark.parametrize("device", SHARES)
def test_devices_agree_with_numpy(device: str) -> None:
    count = int(ASKED) if ASKED else SHARES[device]
    seed = SEED * len(SHARES) + list(SHARES).index(device)
    failed = [result for result in isolated.run(device, random_names(count, seed), SEED) if result.kind != "passed"]
    shown = "\n".join(f"{r.kind} {r.name}: {r.message}" for r in failed)
    again = f"python -m tritonx_testing.conformance {device} --random {count} --seed {seed}"
    assert not failed, f"TRITONX_SEED={SEED}, or {again}\n{shown}"


MISTAKEN = """
from tritonx.dialects import arith
from tritonx.interpreter.meanings import MEANINGS
MEANINGS[arith.SubfOp] = MEANINGS[arith.MulfOp] = MEANINGS[arith.AddfOp]
MEANINGS[arith.MinSIOp] = MEANINGS[arith.MaxSIOp]
"""


def test_a_wrong_meaning_is_noticed() -> None:
    """In the interpreter: differences and products of floats are sums, minima of integers maxima."""
    results = list(isolated.run("interpreter", random_names(32, SEED), SEED, start=MISTAKEN + isolated.START))
    assert sum(each.kind in ("wrong", "error") for each in results) >= 2, [each.kind for each in results]
