"""What follows a product's loop: that its results are added to memory as wide as an instruction adds, and without
spilling."""

from __future__ import annotations

from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler.assemble import find_ptxas

SIGNATURE = {**dict.fromkeys(("a_ptr", "b_ptr"), "*fp16"), "c_ptr": "*fp32", **dict.fromkeys("MNK", "i32")}


@tritonx.jit
def share_of_product(a_ptr, b_ptr, c_ptr, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    """A program's share of the inner dimension, added to the other programs'."""
    rows, columns = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inner = tl.program_id(2) * STEP + tl.arange(0, STEP)
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for _ in range(0, K, STEP * tl.num_programs(2)):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += STEP * tl.num_programs(2)
        b_ptrs += STEP * tl.num_programs(2) * N
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.atomic_add(c_ptr + rows[:, None] * N + columns[None, :], total, mask=inside, sem="relaxed")


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize(("rows", "columns", "warps"), [(128, 256, 8), (128, 128, 4)])
def test_shares_of_a_product_are_added_without_spilling(compiler: Any, rows: int, columns: int, warps: int) -> None:
    """Added one by one, 128 numbers of a thread have 128 addresses, and 1192 and 476 bytes were spilled."""
    constants = {"ROWS": rows, "COLUMNS": columns, "STEP": 64}
    made = compiler(share_of_product, "90", SIGNATURE, constants, num_warps=warps, num_stages=3, pipeline=True)
    assert made.ptx.count("add.v4.f32") == rows * columns // (32 * warps) // 4
    assert made.metadata["spills"] == 0 and made.metadata["local"] == 0
    assert "C75" not in made.metadata["assembler_log"]


@tritonx.jit
def turned(x_ptr, y_ptr, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :])
    tl.store(y_ptr + columns[:, None] * stride + rows[None, :], tl.trans(x))


@pytest.mark.parametrize(
    ("capability", "columns", "barriers", "nbytes"),
    [("90", 128, 1, 128 << 10), ("90", 256, 3, 128 << 10), ("75", 128, 3, 64 << 10)],
)
def test_tiles_are_converted_at_once_where_there_is_room(
    compiler: Any, capability: str, columns: int, barriers: int, nbytes: int
) -> None:
    """In rounds, with shorter vectors, only what is larger than the memory of a block: 227 KiB, and 64 of 7.5."""
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "stride": "i32"}
    made = compiler(turned, capability, signature, {"ROWS": 256, "COLUMNS": columns}, num_warps=8)
    assert made.metadata["shared"] == nbytes
    assert made.ptx.count("bar.sync") == barriers
