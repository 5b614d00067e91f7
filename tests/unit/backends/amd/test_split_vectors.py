"""Vectors under a mask with one edge, of buffers and through pointers: whole ones, and elements behind a branch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl

Compile = Callable[..., Any]


@tritonx.jit
def doubled(x_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z_ptr + i, tl.load(x_ptr + i, mask=i < n, other=1.0) * 2, mask=i < n)


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("buffers", [True, False])
def test_vectors_are_whole(compiled: Compile, target: str, buffers: bool) -> None:
    """All words of a thread are loaded and stored in vectors, and one by one behind a branch only."""
    x = np.zeros(1024, np.float32)
    made = compiled(target, doubled, [x, x.copy(), 1001], {"BLOCK": 512}, num_warps=2, buffer_ops=buffers)
    text = made.stages["amdgcn"]
    vectors = 512 // (2 * (64 if target.startswith("gfx9") else 32)) // 4
    kind = "buffer" if buffers else "global"
    for op in ("load", "store"):
        wide = [found.start() for found in re.finditer(rf"{kind}_{op}_(dwordx4|b128)\b", text)]
        single = [found.start() for found in re.finditer(rf"{kind}_{op}_(dword|b32)\b", text)]
        assert len(wide) >= vectors and 0 < len(single) <= 4 * vectors
        assert "s_cbranch_execz" in text[wide[vectors - 1] : single[0]]
