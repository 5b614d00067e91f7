"""Regions inside of kernels change nothing, and are not recorded."""

from __future__ import annotations

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
import tritonx.profiler as proton
import tritonx.profiler.language as pl
from tritonx.interpreter import interpreted
from tritonx.profiler.errors import BadProfile
from tritonx.profiler.mode import MMA, Default
from tritonx.runtime.errors import NotOffered, TritonError


@tritonx.jit
def kernel(x, B: tl.constexpr):
    pl.enter_scope("whole")
    i = tl.arange(0, B)
    with pl.scope("load"):
        v = tl.load(x + i)
    for _ in range(3):
        with pl.scope("step"):
            v += 1
    tl.store(x + i, v)
    pl.exit_scope("whole")


def without(x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(3):
        v += 1
    tl.store(x + i, v)


without.__name__ = without.__qualname__ = "kernel"


def test_a_kernel_is_what_it_is_without_regions() -> None:
    x = np.zeros(8, np.float32)
    kernel[(1,)](x, B=8)
    interpreted(kernel)[(1,)](x, B=8)
    assert x.tolist() == [6.0] * 8


def test_the_code_is_the_same() -> None:
    x = np.zeros(8, np.float32)
    ours, plain = (k.warmup(x, B=8, grid=(1,)).asm["ttir"] for k in (kernel, tritonx.jit(without)))
    ops = [[line.partition(" loc(")[0] for line in t.splitlines() if not line.startswith("#")] for t in (ours, plain)]
    assert ops[0] == ops[1]


def test_a_name_is_a_string() -> None:
    @tritonx.jit
    def named(x, B: tl.constexpr):
        pl.enter_scope(B)

    with pytest.raises(TritonError, match="the name of a region is a string"):
        named.warmup(np.zeros(8), B=8, grid=(1,))


def test_recording_is_refused() -> None:
    for given in ({"backend": "instrumentation"}, {"mode": Default()}, {"mode": MMA()}):
        with pytest.raises(BadProfile, match="regions inside of kernels are not recorded"):
            proton.start("profile", **given)
    for name in ("allocate_event", "start_event", "end_event", "enable_semantic"):
        with pytest.raises(NotOffered, match="not recorded"):
            getattr(pl, name)
