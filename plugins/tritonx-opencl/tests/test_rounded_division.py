"""Quotients rounded up and down, which no kernel's source makes but the passes of others do, as the GPU emitters write
them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
from tritonx.runtime import driver

pytestmark = pytest.mark.usefixtures("device")
SEED = int(os.environ["TRITONX_SEED"])

TEXT = """
module {{
  tt.func public @divide(%a: !tt.ptr<i{width}>, %b: !tt.ptr<i{width}>, %c: !tt.ptr<i{width}>) {{
    %i = tt.make_range {{start = 0 : i32, end = 256 : i32}} : tensor<256xi32>
    %a0 = tt.splat %a : !tt.ptr<i{width}> -> tensor<256x!tt.ptr<i{width}>>
    %b0 = tt.splat %b : !tt.ptr<i{width}> -> tensor<256x!tt.ptr<i{width}>>
    %c0 = tt.splat %c : !tt.ptr<i{width}> -> tensor<256x!tt.ptr<i{width}>>
    %a1 = tt.addptr %a0, %i : tensor<256x!tt.ptr<i{width}>>, tensor<256xi32>
    %b1 = tt.addptr %b0, %i : tensor<256x!tt.ptr<i{width}>>, tensor<256xi32>
    %c1 = tt.addptr %c0, %i : tensor<256x!tt.ptr<i{width}>>, tensor<256xi32>
    %x = tt.load %a1 : tensor<256x!tt.ptr<i{width}>>
    %y = tt.load %b1 : tensor<256x!tt.ptr<i{width}>>
    %z = arith.{op} %x, %y : tensor<256xi{width}>
    tt.store %c1, %z : tensor<256x!tt.ptr<i{width}>>
    tt.return
  }}
}}
"""


@pytest.fixture(autouse=True)
def opencl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", "items")
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active("opencl")
    yield
    driver.reset_active()


def exact(op: str, x: int, y: int) -> int:
    if y == 0:
        return 0
    return x // y if op == "floordivsi" else -(-x // y)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("op", ["floordivsi", "ceildivsi", "ceildivui"])
def test_rounded_division(tmp_path: Path, op: str, width: int) -> None:
    rng = np.random.default_rng(SEED)
    dtype = np.dtype(f"{'u' if op.endswith('ui') else ''}int{width}")
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max, limits.max // 2, 7]
    if dtype.kind == "i":
        edges += [-1, -2, -7]
    pairs = [(x, y) for x in edges for y in edges if (x, y) != (limits.min, -1)][:200]
    pairs += [(int(x), int(y)) for x, y in rng.integers(limits.min, limits.max, (256 - len(pairs), 2), dtype=dtype)]
    x, y = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    path = tmp_path / "divide.ttir"
    path.write_text(TEXT.format(op=op, width=width))
    got = np.full(256, 77, dtype)
    tritonx.compile(str(path))[(1, 1, 1)](x, y, got)
    expected = [exact(op, int(a), int(b)) for a, b in pairs]
    wrong = [(p, int(g), e) for p, g, e in zip(pairs, got, expected, strict=True) if int(g) != e]
    assert not wrong, f"{wrong[:5]} (seed {SEED})"
