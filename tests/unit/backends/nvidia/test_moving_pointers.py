"""Tiles of pointers that move, of which each row begins who knows where: a loop carries the pointers they are made of,
not one for each row, and reads what it should."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportArgumentType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from random import Random

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def two_tiles(a, b, o, first, steps, M: tl.constexpr, K: tl.constexpr):
    """`first` is a number of which it is not known whether rows behind it wrap."""
    column = tl.arange(0, K)
    row = first + tl.arange(0, M)
    a_tile = a + row[:, None] * K + column[None, :]
    b_tile = b + row[:, None] * K + column[None, :]
    total = tl.zeros((M, M), tl.float32)
    for _ in range(steps):
        total = tl.dot(tl.load(a_tile), tl.trans(tl.load(b_tile)), total)
        a_tile += M * K
        b_tile += M * K
    i = tl.arange(0, M)
    tl.store(o + i[:, None] * M + i[None, :], total)


@pytest.mark.parametrize("arch", ["80", "90"])
def test_a_loop_carries_the_pointers_of_tiles(arch: str) -> None:
    random = Random(f"{SEED} moving {arch}")
    m, k, steps, first = 64, random.choice((64, 128)), random.choice((2, 3, 5)), random.randrange(2, 10)
    stages = random.choice((2, 3))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-3, 4, (first + m * steps, k)).astype(np.float16) for _ in range(2))
    out = np.full((m, m), np.nan, np.float32)
    device = PtxDevice(arch, SEED)
    options = {"num_warps": 4, "num_stages": stages, "pipeline": True, "describe_loads": False}
    text = device.launch(two_tiles, (a, b, out, first, steps), {"M": m, "K": k}, 1, options)
    where = f"seed {SEED}, {arch}, K = {k}, {steps} rounds from {first}, {stages} stages"
    parts = (x[first:].reshape(steps, m, k).astype(np.float64) for x in (a, b))
    np.testing.assert_array_equal(out, np.einsum("smk,snk->mn", *parts), err_msg=where)
    loop = innermost(text)
    moved = set(re.findall(r"add\.s64\s+(%rd\d+), \1, \d+;", loop))
    assert "cp.async.c" in loop and len(moved) <= 2, f"{sorted(moved)} are carried: {where}"


def innermost(ptx: str) -> str:
    """The text from the label of the smallest loop that copies to its branch back."""
    labels = {match[1]: match.start() for match in re.finditer(r"^(\$L\w+):", ptx, re.MULTILINE)}
    branches = re.finditer(r"\bbra(?:\.uni)?\s+(\$L\w+);", ptx)
    loops = [ptx[labels[b[1]] : b.end()] for b in branches if labels[b[1]] < b.start()]
    return min((loop for loop in loops if "cp.async.c" in loop), key=len)
