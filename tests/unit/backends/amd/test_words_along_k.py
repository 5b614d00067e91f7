"""Products whose operands threads put together: neighbours along K in registers, in the four layouts of the operands,
whose rows are aligned or not."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false -- kernels are the language's, not Python's

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
def product(a, b, c, k, am, ak, bk, bn, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, r = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x, y = a + i * am + r[None, :] * ak, b + r[:, None] * bk + j * bn
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        total = tl.dot(tl.load(x), tl.load(y), total)
        x += K * ak
        y += K * bk
    tl.store(c + i * N + j, total)


def operand(rng: np.random.Generator, rows: int, columns: int, turned: bool, odd: int, element: Any) -> np.ndarray:
    """Of this shape, with columns one after another in memory if it is `turned`, and `odd` elements behind each."""
    shape = (columns, rows) if turned else (rows, columns)
    whole = rng.integers(-3, 4, (shape[0], shape[1] + odd)).astype(element)
    return whole[:, : shape[1]].T if turned else whole[:, : shape[1]]


@pytest.mark.parametrize("emulator", ["gfx942", "gfx950", "gfx1201"], indirect=True)
@pytest.mark.parametrize("turned", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("element", [np.float16, np.float32])
def test_is_right(emulator: Any, turned: str, element: Any) -> None:
    rng = np.random.default_rng([SEED, *turned.encode(), np.dtype(element).itemsize])
    m, n, k = 32, int(rng.choice((32, 64))), int(rng.choice((32, 64)))
    odd, steps, warps = int(rng.choice((0, 1, 2))), int(rng.integers(1, 4)), int(rng.choice((1, 2, 4)))
    a = operand(rng, m, k * steps, turned[0] == "t", odd, element)
    b = operand(rng, k * steps, n, turned[1] == "t", odd, element)
    c = np.full((m, n), np.nan, np.float32)
    strides = [s // a.itemsize for s in (*a.strides, *b.strides)]
    sizes = {"M": m, "N": n, "K": k}
    flat = [x.T if x.strides[0] < x.strides[1] else x for x in (a, b)]
    emulator(product, 1, *flat, c, k * steps, *strides, kwargs=sizes, num_warps=warps, num_stages=2)
    where = f"seed {SEED}, {emulator.arch}, {sizes}, {odd} more, {steps} steps, {warps} warps"
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64), err_msg=where)


@pytest.mark.parametrize("turned", ["nn", "tt"])
def test_operands_are_loaded_in_the_order_of_the_unit(compiled: Any, turned: str) -> None:
    """What lies along K in memory is stored and loaded as it is, since the other operand's words are as long: with
    shorter ones 32 moves put it in their order."""
    rng = np.random.default_rng([SEED, 1])
    a, b = (operand(rng, 128, 128, t == "t", 0, np.float16) for t in turned)
    strides = [s // 2 for s in (*a.strides, *b.strides)]
    flat = [x.T if x.strides[0] < x.strides[1] else x for x in (a, b)]
    arguments = [*flat, np.zeros((128, 128), np.float32), 128, *strides]
    made = compiled("gfx942", product, arguments, {"M": 128, "N": 128, "K": 64}, num_warps=4, until="amdgcn")
    body = re.search(r"^(\.LBB0_\d+):.*?s_cbranch_\w+ \1", made.stages["amdgcn"], re.MULTILINE | re.DOTALL)
    assert body is not None
    counts = {op: len(re.findall(rf"\t{op}", body[0])) for op in ("v_mfma", "v_perm_b32", "v_mov_b32")}
    assert counts["v_mfma"] == 32 and counts["v_perm_b32"] == 16 and counts["v_mov_b32"] <= 8, counts
