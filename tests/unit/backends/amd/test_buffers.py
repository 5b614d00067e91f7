"""Buffers of offsets of any sign and of 64 bits: what a masked lane's offset is, and which allocations have all
others."""

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
from tritonx.backends.amd import BACKEND
from tritonx.runtime.compiling.sources import ASTSource

SEED = int(os.environ["TRITONX_SEED"])
GLOBAL = re.compile(r"\sglobal_(load|store)")


@tritonx.jit
def strided(x_ptr, y_ptr, n, stride, N: tl.constexpr):
    columns = tl.arange(0, N)
    rows = tl.arange(0, 32)[:, None]
    x = tl.load(x_ptr + rows * stride + columns[None, :], mask=columns[None, :] < n)
    tl.store(y_ptr + rows * stride + columns[None, :], x, mask=columns[None, :] < n)


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx1201"])
def test_masked_lanes_are_16_bytes_below_the_end_of_offsets(target: str) -> None:
    """No part of a masked access has an offset past 2^32, where one in 32 bits would be inside the buffer again, and
    words have offsets of words."""
    small = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "stride": "i32", "N": "constexpr"}
    attrs = {(0,): small, (1,): small, (2,): small[:1], (3,): small[:1]}
    made = tritonx.compile(ASTSource(strided, signature, {"N": 64}, attrs), target=target)
    text = made.asm["llir"]
    sizes = re.findall(r"make\.buffer\.rsrc\.p8\.p1\(ptr addrspace\(1\) [^,]*, i16 0, i64 (-?\d+)", text)
    outside = {int(found) for found in re.findall(r"select i1 [^,]*, i32 [^,]*, i32 (-\d+)$", text, re.MULTILINE)}
    assert {int(size) for size in sizes} == {2**32 - 16} and outside == {-16}
    assert "buffer.load.v4i32" in text and "buffer.store.v4i32" in text


def test_allocations_that_have_an_offset_of_masked_lanes_are_not_marked() -> None:
    assert BACKEND.pointer_specialization(2**31 - 16) == ("S",)
    assert BACKEND.pointer_specialization(2**31 - 15) == ()


@tritonx.jit
def far_rows(x, y, rows, stride, FAR: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Offsets of 64 bits; rows that are masked are FAR and farther away."""
    row = tl.arange(0, M)[:, None].to(tl.int64)
    at = tl.where(row < rows, row * stride, row * FAR) + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.load(x + at, mask=row < rows, other=5) + 1, mask=row < rows)


@pytest.mark.parametrize("emulator", ["gfx942", "gfx950", "gfx1100", "gfx1201"], indirect=True)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32])
@pytest.mark.parametrize("sign", [1, -1])
def test_offsets_of_64_bits(emulator: Any, dtype: Any, sign: int) -> None:
    """A masked lane accesses nothing, wherever the lower half of its offset is."""
    rng = np.random.default_rng([SEED, sign + 1])
    m, n = 16, int(rng.choice((16, 64)))
    rows, far = int(rng.integers(1, m)), int(rng.choice((2**32, 2**33 + 4, 2**31, -(2**40))))
    x = rng.integers(-60, 60, (rows, n)).astype(dtype)
    y = np.full((rows + 2, n), 99, dtype)
    first = slice(0, 1) if sign > 0 else slice(rows - 1, rows)
    sizes = {"FAR": far, "M": m, "N": n}
    code = emulator(far_rows, 1, x[first], y[1:-1][first], rows, sign * n, kwargs=sizes, num_warps=1)
    np.testing.assert_array_equal(y[1:-1], x + np.ones((), dtype), err_msg=f"seed {SEED}, {sizes}, {rows}")
    assert (y[[0, -1]] == 99).all()
    assert "buffer_load" in code and "buffer_store" in code and not GLOBAL.search(code)


@tritonx.jit
def by_descriptors(x, y, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [stride, 1], [M, N])
    target = tl.make_tensor_descriptor(y, [rows, columns], [stride, 1], [M, N])
    for start in range(0, columns + N, N):
        target.store([tl.program_id(0) * M, start], source.load([tl.program_id(0) * M, start]) * 3)


@pytest.mark.parametrize("emulator", ["gfx942", "gfx950", "gfx1201"], indirect=True)
def test_blocks_of_descriptors_are_in_buffers(emulator: Any) -> None:
    """Rows and columns behind the end are neither read nor written."""
    rng = np.random.default_rng([SEED, 9])
    rows, columns, m, n = int(rng.integers(5, 30)), int(rng.integers(1, 70)), 8, 32
    x = rng.integers(-60, 60, (rows + 1, 80)).astype(np.float16)
    y = np.full_like(x, 99)
    sizes = {"M": m, "N": n}
    code = emulator(by_descriptors, -(-rows // m) + 1, x, y, rows, columns, 80, kwargs=sizes, num_warps=1)
    expected = np.full_like(x, 99)
    expected[:rows, :columns] = x[:rows, :columns] * 3
    np.testing.assert_array_equal(y, expected, err_msg=f"seed {SEED}, {rows} rows, {columns} columns")
    assert "buffer_load" in code and "buffer_store" in code and not GLOBAL.search(code)
