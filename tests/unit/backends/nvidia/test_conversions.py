"""Conversions from every dtype to every other, towards zero as well, executed as PTX on numbers that show a second
rounding."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.unit.backends.nvidia.ptx.device import PtxDevice
from tritonx.testing.differential import compare_group, groups
from tritonx.testing.differential.table import Group

SEED = int(os.environ["TRITONX_SEED"])
CAPABILITIES = ("75", "80", "89", "90")
"""Where there are more instructions for conversions than before."""


def conversions() -> list[Group]:
    found = [
        group.only([operation for operation in group.operations if operation.name.startswith("x.to(")])
        for group in groups()
        if len(group.operands) == 1
    ]
    return [group for group in found if group.operations]


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_one_rounding(capability: str) -> None:
    device = PtxDevice(capability, SEED)
    options = device.backend.parse_options(device.target, {"enable_fp_fusion": False})

    def launch(kernel: Any, arrays: list[Any]) -> list[Any]:
        device.launch(kernel, arrays, {}, (1,), options)
        return arrays

    chosen = [group for group in conversions() if not group.needs - set(options.supported_fp8_dtypes)]
    assert {"int32", "uint64", "fp32", "fp64", "fp8e5"} <= {group.name for group in chosen}
    failures = [failure for group in chosen for failure in compare_group(group, "cuda", launch, SEED)]
    assert not failures, f"seed {SEED}\n" + "\n".join(map(str, failures))
