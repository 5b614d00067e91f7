"""Integers that are cut and widened again, to more and to less than they were, executed."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import driver
from tritonx_opencl import TARGETS

pytestmark = pytest.mark.usefixtures("device")
SEED = int(os.environ["TRITONX_SEED"])
WIDTHS = (8, 16, 32, 64)
CUTS = [(a, b, c) for a, b, c in itertools.product(WIDTHS, repeat=3) if b < a and b < c]


@tritonx.jit
def cut_and_widened(x, y, CUT: tl.constexpr, TWICE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    if TWICE:
        value = value.to(tl.uint32)
    tl.store(y + i, value.to(CUT).to(y.dtype.element_ty))


@pytest.fixture(params=TARGETS)
def opencl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", request.param)
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active("opencl")
    yield
    driver.reset_active()


@pytest.mark.parametrize("given", [64, 32, 16])
@pytest.mark.usefixtures("opencl")
def test_every_width(given: int) -> None:
    x = np.random.default_rng(SEED).integers(0, (1 << given) - 1, 64, np.uint64, endpoint=True).astype(f"u{given // 8}")
    for _, cut, made in (c for c in CUTS if c[0] == given):
        for twice in (False, True) if cut < 32 < given else (False,):
            y = np.full(64, 0x55, f"u{made // 8}")
            cut_and_widened[(1,)](x, y, CUT=getattr(tl, f"uint{cut}"), TWICE=twice, N=64, num_warps=1)
            expected = x.astype(f"u{cut // 8}").astype(y.dtype)
            assert (y == expected).all(), f"{given} to {cut} to {made}, seed {SEED}"
