"""Results of matrix units that are stored by threads with twice as many neighbours, after lanes have swapped
registers."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def product(a, b, c, m, n, row, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x = tl.load(a + i * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j)
    z = tl.dot(x, y, out_dtype=ACC)
    tl.store(c + i * row + j, z.to(c.dtype.element_ty), mask=(i < m) & (j < n))


STORED = {np.float16: "dwordx4", ml_dtypes.bfloat16: "dwordx4", np.int8: "dwordx2"}


@pytest.mark.parametrize("emulator", ["gfx950"], indirect=True)
@pytest.mark.parametrize("element", STORED)
@pytest.mark.parametrize("side", [16, 32])
def test_twice_as_many_neighbours(emulator: Any, element: Any, side: int) -> None:
    """Of any extents, masked in rows and columns, rows farther apart than the tile is wide."""
    rng = np.random.default_rng([SEED, side, *str(element).encode()])
    warps = int(rng.choice((1, 2, 4)))
    m, n, k = (int(side * rng.choice((1, 2, 4))) for _ in range(3))
    rows, step = int(rng.integers(1, m + 1)), int(rng.choice((1, 16)))
    columns = step * int(rng.integers(1, n // step + 1))
    given = np.int8 if element is np.int8 else element
    k = max(k, 64)
    a, b = (rng.integers(-2, 3, shape).astype(given) for shape in ((m, k), (k, n)))
    c = np.full((m + 1, n + 16), 77).astype(element)
    sizes = {"M": m, "N": n, "K": k, "ACC": tl.int32 if given is np.int8 else tl.float32}
    options = {"num_warps": warps, "matrix_instr_nonkdim": side}
    code = emulator(product, 1, a, b, c, rows, columns, n + 16, kwargs=sizes, **options)
    exact = np.full((m + 1, n + 16), 77).astype(element)
    exact[:rows, :columns] = (a.astype(np.int64) @ b.astype(np.int64))[:rows, :columns].astype(element)
    where = f"seed {SEED}, {sizes}, {options}, {rows}, {columns}"
    np.testing.assert_array_equal(c.astype(np.float32), exact.astype(np.float32), err_msg=where)
    if step == 16 and m * n >= 2 * warps * side * side:  # a warp has tiles to swap registers of
        assert f"buffer_store_{STORED[element]}" in code, where


@pytest.mark.parametrize("element", [np.float16, np.float32])
@pytest.mark.parametrize(("chip", "swaps"), [("gfx942", False), ("gfx950", True)])
def test_stores(compiled: Any, chip: str, swaps: bool, element: Any) -> None:
    """Of f32 a thread has 16 bytes of neighbours as it is."""
    a, b, c = np.zeros((64, 64), np.float16), np.zeros((64, 128), np.float16), np.zeros((64, 128), element)
    sizes = {"M": 64, "N": 128, "K": 64, "ACC": tl.float32}
    code = compiled(chip, product, [a, b, c, 64, 128, 128], sizes, num_warps=4, until="amdgcn").stages["amdgcn"]
    widths = set(re.findall(r"buffer_store_(\w+)", code))
    narrow = element is np.float16
    assert widths == ({"dwordx4"} if swaps or not narrow else {"dwordx2"})
    assert ("v_permlane32_swap" in code) == (swaps and narrow)
