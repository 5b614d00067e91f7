"""Programs that stay: each computes several tiles of a product, one after the other, in a loop around the product's."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
SIGNATURE = {**dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16"), **dict.fromkeys(("M", "N", "K"), "i32")}


@tritonx.jit
def staying(a_ptr, b_ptr, c_ptr, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    """C = A B, of whole tiles: each program takes every `num_programs`th."""
    beside = N // COLUMNS
    for tile in range(tl.program_id(0), M // ROWS * beside, tl.num_programs(0)):
        rows = tile // beside * ROWS + tl.arange(0, ROWS)
        columns = tile % beside * COLUMNS + tl.arange(0, COLUMNS)
        inner = tl.arange(0, STEP)
        a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
        b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for _ in range(K // STEP):
            tl.multiple_of(a_ptrs, [16, 16])
            tl.multiple_of(b_ptrs, [16, 16])
            total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
            a_ptrs += STEP
            b_ptrs += STEP * N
        tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16))


TILE = {"ROWS": 64, "COLUMNS": 256, "STEP": 64}


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
def test_a_nest_of_loops_keeps_no_pointers(compiler: Any) -> None:
    """A thread copies 16 rows of B in each of three rounds in front of the product's loop: 96 registers of pointers
    that are the same for all tiles but for the columns, where LLVM computes them once, and 448 bytes of spills."""
    made = compiler(staying, "90", SIGNATURE, TILE, num_warps=4, num_stages=4, pipeline=True)
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0


def test_tiles_one_after_the_other() -> None:
    random = np.random.default_rng(SEED)
    m, n, k = 128, 512, 64 * int(random.integers(1, 6))
    a, b = (random.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float16)
    device = PtxDevice("90", SEED)
    options = {"num_warps": 4, "num_stages": 4, "pipeline": True}
    device.launch(staying, (a, b, c, m, n, k), TILE, (3, 1), options)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32), err_msg=f"seed {SEED}, {k}")
