"""Products that are given to warp groups (`warp_group_dots`): the conformance suite's, and drawn ones of large tiles in
loops, of every type, in every order in memory."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np
import pytest

from tests.gpu.where import draws
from tests.unit.backends.nvidia.products import drawn, product
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx_testing.conformance.case import Case
from tritonx_testing.conformance.device import BackendDevice, check
from tritonx_testing.conformance.suite import cases

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = draws(40)


@pytest.fixture(autouse=True)
def has_warp_groups() -> None:
    active = get_active()
    if str(active.get_current_target()) != "cuda:90":
        pytest.skip("warp groups multiply on compute capability 9.0 only")


def products() -> list[Case]:
    return [case for case in cases() if case.name.startswith(("dot/", "dot_cuts/", "wide/dot"))]


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("case", products(), ids=lambda case: case.name)
def test_the_conformance_suites_products(case: Case, warps: int) -> None:
    device = BackendDevice(get_active().backend)
    reason = device.unsupported(case)
    if reason is not None or (case.max_warps or warps) < warps:
        pytest.skip(reason or "fewer warps")
    options = {**case.options, "num_warps": warps, "warp_group_dots": True}
    check(dataclasses.replace(case, options=options), device, SEED)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_drawn_products(draw: int) -> None:
    one = drawn(SEED + draw, most=128 * 256)
    out = to_device(np.full(one.expected.shape, 77, one.expected.dtype))
    arguments: list[Any] = [to_device(one.a), to_device(one.b), out, *one.scalars]
    kernel: Any = product
    made = kernel[one.grid](*arguments, **one.constants, num_warps=one.num_warps, warp_group_dots=True)
    assert "wgmma.mma_async" in made.asm["ptx"], one.what
    np.testing.assert_array_equal(out.numpy(), one.expected, err_msg=one.what)
