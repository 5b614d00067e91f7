"""Products that are given to warp groups (`warp_group_dots`): the conformance suite's, and drawn ones of large tiles in
loops, of every type, in every order in memory."""

from __future__ import annotations

import dataclasses
import os
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device
from tritonx.runtime.driver import get_active
from tritonx.testing.conformance.case import Case
from tritonx.testing.conformance.device import BackendDevice, check
from tritonx.testing.conformance.suite import cases
from tritonx.testing.conformance.values import DTYPES

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "40"))


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


@tritonx.jit
def product(
    a_ptr, b_ptr, out_ptr, inner, a_row, a_k, b_k, b_column, columns,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=SUMS)
    for start in range(0, inner, K):
        a = tl.load(a_ptr + m[:, None] * a_row + (start + k)[None, :] * a_k)
        b = tl.load(b_ptr + (start + k)[:, None] * b_k + n[None, :] * b_column)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + m[:, None] * columns + n[None, :], total)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_drawn_products(draw: int) -> None:
    """Small whole numbers, so that every sum is exact."""
    rng = Random(SEED * 1000 + draw)
    dtype = rng.choice(["fp16", "bf16", "fp32", "int8", "fp8e4nv", "fp8e5"])
    m, n = rng.choice([64, 128, 256]), rng.choice([8, 16, 32, 64, 128, 256])
    k = rng.choice([16, 32, 64, 128] if dtype in ("fp16", "bf16", "fp32") else [32, 64, 128])
    while m * n > 128 * 256 or (m + n) * k * DTYPES[dtype].itemsize > 160 * 1024:
        m, n, k = max(64, m // 2), max(8, n // 2), max(32, k // 2)
    warps, flips = rng.choice([4, 8, 16]), (rng.random() < 0.5, rng.random() < 0.5)
    tiles, inner = (rng.choice([1, 2]), rng.choice([1, 3])), k * rng.choice([1, 2, 5])
    values = np.random.default_rng(SEED + draw)
    a = values.integers(-3, 4, (m * tiles[0], inner)).astype(DTYPES[dtype])
    b = values.integers(-3, 4, (inner, n * tiles[1])).astype(DTYPES[dtype])
    sums = np.int32 if dtype == "int8" else np.float32
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(sums)
    stored = [np.ascontiguousarray(x.T) if flip else x for x, flip in zip((a, b), flips, strict=True)]
    a_steps = (1, m * tiles[0]) if flips[0] else (inner, 1)
    b_steps = (1, inner) if flips[1] else (n * tiles[1], 1)
    out = to_device(np.full(expected.shape, 77, sums))
    arguments: list[Any] = [*(to_device(x) for x in stored), out, inner, *a_steps, *b_steps, n * tiles[1]]
    constants = {"M": m, "N": n, "K": k, "SUMS": tl.int32 if dtype == "int8" else tl.float32}
    kernel = product[tiles](*arguments, **constants, num_warps=warps, warp_group_dots=True)
    what = f"{dtype} {m}x{n}x{k}, {warps} warps, flips {flips}, {tiles} tiles, inner {inner} (seed {SEED}, draw {draw})"
    assert "wgmma.mma" in kernel.asm["ptx"] or n * 64 < 8 * warps // 4 * m, f"not for warp groups: {what}"
    np.testing.assert_array_equal(out.numpy(), expected, err_msg=what)
