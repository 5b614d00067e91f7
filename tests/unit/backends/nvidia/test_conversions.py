"""Conversions from every dtype to every other, towards zero as well, executed as PTX on numbers that show a second
rounding."""

from __future__ import annotations

import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx_testing.differential import compare_group, groups
from tritonx_testing.differential.table import Group
from tritonx_testing.emulators.ptx.device import PtxDevice

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
    options = {"enable_fp_fusion": False}

    def launch(kernel: Any, arrays: list[Any]) -> list[Any]:
        device.launch(kernel, arrays, {}, (1,), options)
        return arrays

    known = device.backend.parse_options(device.target, options).supported_fp8_dtypes
    chosen = [group for group in conversions() if not group.needs - set(known)]
    assert {"int32", "uint64", "fp32", "fp64", "fp8e5"} <= {group.name for group in chosen}
    failures = [failure for group in chosen for failure in compare_group(group, "cuda", launch, SEED)]
    assert not failures, f"seed {SEED}\n" + "\n".join(map(str, failures))


@tritonx.jit
def converted(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(o.dtype.element_ty))


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_byte_becomes_a_float(capability: str, dtype: str, warps: int) -> None:
    """One, four and eight of them a thread, in an order that is drawn."""
    device = PtxDevice(capability, SEED)
    options = {"num_warps": warps}
    x = np.random.default_rng(SEED).permutation(256).astype(np.uint8).view(dtype)
    for wanted in (np.float16, np.float32, ml_dtypes.bfloat16):
        out = np.full(256, 77, wanted)
        device.launch(converted, (x, out), {"N": 256}, 1, options)
        np.testing.assert_array_equal(out.astype(np.float64), x.astype(np.float64), err_msg=f"seed {SEED}")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_floats_become_integers_in_one_instruction(dtype: Any) -> None:
    """Truncated, saturating, and 0 for NaN, with nothing around the instruction that converts."""
    limits = np.iinfo(dtype)
    edges = [np.nan, np.inf, -np.inf, 0.0, -0.5, float(limits.min) - 1.5, float(limits.max) + 1.5, 1e30, -1e30]
    drawn = np.random.default_rng(SEED).normal(0, float(limits.max), 128 - len(edges))
    x = np.concatenate([edges, drawn]).astype(np.float32)
    whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30))
    out = np.full(128, 77, dtype)
    text = PtxDevice("90", SEED).launch(converted, (x, out), {"N": 128}, 1, {"num_warps": 1})
    np.testing.assert_array_equal(out, np.clip(whole, limits.min, limits.max).astype(dtype), err_msg=f"seed {SEED}")
    assert text.count("cvt.rzi.") == 4
    assert not any(word in text for word in ("setp.", "selp.", "min.", "max."))
