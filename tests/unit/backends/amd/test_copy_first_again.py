"""Copies past the registers of products whose pointers are read from memory: iterations that there are not copy the
first tile again, by one pointer in scalar registers."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false, reportAttributeAccessIssue=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# The kernels are the language's, not Python's.

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def products(
    addresses,
    out,
    k,
    ak,
    bk,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    STAGES: tl.constexpr,
    GROUPS: tl.constexpr,
):
    i, j, r = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    for group in range(GROUPS):
        a = tl.load(addresses + 2 * group).to(tl.pointer_type(tl.float16))
        b = tl.load(addresses + 2 * group + 1).to(tl.pointer_type(tl.float16))
        x, y = a + i * ak + r[None, :], b + r[:, None] * bk + j
        total = tl.zeros((M, N), tl.float32)
        for _ in tl.range(0, tl.cdiv(k, K), num_stages=STAGES):
            tl.multiple_of(x, [16, 16])
            tl.multiple_of(y, [16, 16])
            total = tl.dot(tl.load(x), tl.load(y), total)
            x += K
            y += K * bk
        tl.store(out + group * M * N + i * N + j, total)


SIZES = {"M": 64, "N": 64, "K": 32}


@pytest.mark.parametrize("emulator", ["gfx950", "gfx942"], indirect=True)
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5])
def test_is_right(emulator: Any, steps: int) -> None:
    rng = np.random.default_rng([SEED, steps])
    stages = int(rng.integers(2, 5))
    depth = SIZES["K"] * steps
    pairs = [(rng.integers(-3, 4, (64, max(depth, 32))), rng.integers(-3, 4, (max(depth, 32), 64))) for _ in range(2)]
    arrays = [np.ascontiguousarray(x, np.float16) for pair in pairs for x in pair]
    addresses = np.array([x.ctypes.data for x in arrays], np.int64)
    out = np.full((2, 64, 64), np.nan, np.float32)
    constants = {**SIZES, "STAGES": stages, "GROUPS": 2}
    strides = [arrays[0].shape[1], arrays[1].shape[1]]
    emulator(products, 1, addresses, out, depth, *strides, kwargs=constants, num_warps=4)
    wanted = np.stack([(a[:, :depth] @ b[:depth]).astype(np.float32) for a, b in pairs])
    np.testing.assert_array_equal(out, wanted, err_msg=f"seed {SEED}, {emulator.arch}, {steps} steps, {stages} stages")


def test_the_loop_selects_no_addresses_of_lanes(compiled: Any) -> None:
    arguments = [np.zeros(4, np.int64), np.zeros((2, 64, 64), np.float32), 160, 160, 64]
    made = compiled("gfx950", products, arguments, {**SIZES, "STAGES": 3, "GROUPS": 1}, num_warps=4, until="amdgcn")
    loop = re.compile(r"^(\.LBB0_\d+):(?:(?!^\.LBB0)[\s\S])*?s_cbranch_\w+ \1$", re.MULTILINE)
    bodies = [found[0] for found in loop.finditer(made.stages["amdgcn"]) if "v_mfma" in found[0]]
    assert bodies and all("global_load_lds" in body for body in bodies)
    assert all("v_cndmask" not in body for body in bodies)
    assert "tritonx.unread" not in str(made.stages["ttgir"])
