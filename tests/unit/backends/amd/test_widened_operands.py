"""Products of operands that threads have computed, which the LDS of gfx950 transposes as it is read."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportIndexIssue=false, reportOperatorIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.backends.amd.test_pipelined_code import loop_of

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def weighted(a, b, s, c, K, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr, BITS: tl.constexpr):
    """A times numbers of 8 bits, or of two to a byte along K, each column of which has a scale."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, KB)
    scale = tl.load(s + n)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, KB):
        x = tl.load(a + m[:, None] * K + start + k[None, :])
        if BITS == 8:
            y = tl.load(b + (start + k)[:, None] * N + n[None, :]).to(a.dtype.element_ty)
        else:
            y = tl.load(b + (start // 2 + k // 2)[:, None] * N + n[None, :]).to(tl.int32)
            y = ((y >> (k % 2 * 4)[:, None]) & 15).to(a.dtype.element_ty) - 8
        total = tl.dot(x, y * scale[None, :], total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("draw", range(3))
def test_is_right(emulator: Any, draw: int, bits: int) -> None:
    random = Random(f"{SEED} {draw} {bits} {emulator.arch}")
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n, kb, warps = random.choice((32, 64)), random.choice((32, 64, 128)), random.choice((32, 64)), 1 << draw
    k = kb * random.randrange(1, 4)
    a = rng.integers(-3, 4, (m, k)).astype(np.float16)
    b = rng.integers(-8, 8, (k, n))
    s = rng.choice((0.5, 1, 2), n).astype(np.float16)
    given = b.astype(np.int8) if bits == 8 else ((b[::2] + 8) | (b[1::2] + 8) << 4).astype(np.uint8)
    c = np.full((m, n), -77, np.float32)
    constants = {"M": m, "N": n, "KB": kb, "BITS": bits}
    code = emulator(weighted, 1, a, given, s, c, k, kwargs=constants, num_warps=warps)
    exact = a.astype(np.float64) @ (b * s.astype(np.float64))
    np.testing.assert_array_equal(c, exact, err_msg=f"seed {SEED}, {emulator.arch}, {constants}, {k}, {warps}")
    assert emulator.arch == "gfx950" or "ds_read_b64_tr" not in code


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("n", [128, 256])
def test_is_read_transposed(compiled: Any, bits: int, n: int) -> None:
    """What lies in rows is stored by 16 bytes as it lies, and no thread brings neighbours along K together."""
    a, c, s = np.zeros((128, 256), np.float16), np.zeros((128, n), np.float32), np.zeros(n, np.float16)
    b = np.zeros((256 * bits // 8, n), np.int8 if bits == 8 else np.uint8)
    constants = {"M": 128, "N": n, "KB": 64, "BITS": bits}
    code = compiled("gfx950", weighted, [a, b, s, c, 256], constants, num_warps=8, until="amdgcn").stages["amdgcn"]
    loop = " ".join(loop_of(code))
    assert "ds_read_b64_tr_b16" in loop and "ds_write_b128" in loop
    assert "ds_read_u16" not in loop and "ds_write_b16" not in loop and "v_perm_b32" not in loop
