"""Products of 8-bit matrices whose second operand lies in rows, by the copy engine: `wgmma` reads such operands with K
contiguous alone, so that threads turn what the engine has brought, behind the loop's copies."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.gpu.where import draws
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device

SEED = int(os.environ["TRITONX_SEED"])


@pytest.fixture(autouse=True)
def _on_a_chip_that_copies_blocks() -> None:
    if str(driver.get_active().get_current_target()) != "cuda:90":
        pytest.skip("no copy engine here takes descriptors")


@tritonx.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr
):  # fmt: skip
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * K + ks[None, :]
    b_ptrs = b_ptr + ks[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=SUM)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=ks[None, :] < K - k * BK, other=0)
        b = tl.load(b_ptrs, mask=ks[:, None] < K - k * BK, other=0)
        total = tl.dot(a, b, total, out_dtype=SUM)
        a_ptrs += BK
        b_ptrs += BK * N
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=inside)


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("draw", range(draws(3)))
def test_products(dtype: Any, draw: int) -> None:
    random, rng = Random(f"{SEED} {draw} {dtype.__name__}"), np.random.default_rng(SEED + draw)
    bm, bn, bk = 64, random.choice((64, 128)), random.choice((64, 128))
    stages, rounds = random.choice((2, 3, 4)), random.randrange(1, 7)
    m, n, k = bm, 2 * bn, rounds * bk - random.choice((0, 16, 32))
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n)))
    is_integer = dtype is np.int8
    out = to_device(np.full((m, n), 77, np.int32 if is_integer else np.float32))
    constants = {"BM": bm, "BN": bn, "BK": bk, "SUM": tl.int32 if is_integer else tl.float32}
    made = product[(1, 2)](to_device(a), to_device(b), out, m, n, k, **constants, num_warps=4, num_stages=stages)
    where = f"seed {SEED}, {constants}, {stages} stages, K {k}"
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(out.numpy(), expected.astype(out.numpy().dtype), err_msg=where)
    text = str(made.asm["ttgir"])
    assert "async_tma_copy_global_to_local" in text and "wgmma" in made.asm["ptx"], where
    loop = text[text.index("scf.for") :].split("scf.yield")[0]
    assert "init_barrier" not in loop, f"a copy is waited for where it is issued: {where}"
