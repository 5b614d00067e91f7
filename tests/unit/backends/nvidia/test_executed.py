"""What the backend writes, executed: the conformance suite's kernels as PTX, on the host (``ptx``), so that a wrong
instruction, operand, guard, address or width gives a wrong number or a fault.

A share of each family's cases on each compute capability, others with every seed; ``TRITONX_CONFORMANCE=full`` runs all
of them, about four minutes a capability."""

from __future__ import annotations

import os
from collections import defaultdict
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.products import drawn, product
from tests.unit.backends.nvidia.ptx import warp_group
from tests.unit.backends.nvidia.ptx.device import PtxDevice
from tritonx.testing.conformance import cases
from tritonx.testing.conformance.device import check
from tritonx.testing.conformance.isolated import is_refusal, is_too_long

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
SHARES = {"75": 40, "80": 14, "89": 40, "90": 10, "100": 24}
"""Compute capability → one case of how many of a family runs, and one at least."""


def chosen() -> list[tuple[str, Any]]:
    families: dict[str, list[Any]] = defaultdict(list)
    for case in cases():
        families[case.name.partition("/")[0]].append(case)
    random = Random(SEED)
    return [
        (arch, case)
        for arch, share in SHARES.items()
        for family in families.values()
        for case in (family if FULL else random.sample(family, -(-len(family) // share)))
    ]


@pytest.mark.parametrize(("arch", "case"), chosen(), ids=lambda x: getattr(x, "name", x))
def test_case(arch: str, case: Any) -> None:
    device = PtxDevice(arch, SEED)
    if reason := device.unsupported(case):
        pytest.skip(reason)
    try:
        check(case, device, SEED)
    except Exception as error:
        if not (case.optional and is_refusal(error)) and not is_too_long(error):
            raise
        pytest.skip(f"refused: {error}"[:200])


@pytest.mark.parametrize("draw", range(400 if FULL else 16))
def test_products_of_warp_groups(draw: int) -> None:
    one = drawn(SEED + draw, most=64 * 64)
    out = np.full(one.expected.shape, 77, one.expected.dtype)
    device = PtxDevice("90", SEED, warp_group.TABLE)
    options = device.backend.parse_options(device.target, {"num_warps": one.num_warps, "warp_group_dots": True})
    text = device.launch(product, (one.a, one.b, out, *one.scalars), one.constants, one.grid, options)
    assert "wgmma.mma_async" in text
    np.testing.assert_array_equal(out, one.expected, err_msg=one.what)
