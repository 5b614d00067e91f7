"""Loops of microscaled products, with inputs on which sums are exact."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from random import Random

import ml_dtypes
import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.described_kernels import rounds
from tests.unit.transforms.gpu.kernels import Draw, rows

STEP = 128
"""Elements of K a round: more instructions of the unit of gfx950 than one in tiles of 32 by 32."""


@tritonx.jit
def scaled_kernel(
    a, sa, b, sb, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PAIRS: tl.constexpr,
    SCALES: tl.constexpr,
):  # fmt: skip
    """A is of e4m3, B of e5m2, or PAIRS of 4 bits, in rows; B has SCALES as well."""
    PACK: tl.constexpr = 2 if PAIRS else 1
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x = tl.load(a + m[:, None] * (steps * K) + (step * K + k)[None, :])
        y = tl.load(b + (step * (K // PACK) + tl.arange(0, K // PACK))[:, None] * N + n[None, :])
        s = tl.load(sa + m[:, None] * (steps * (K // 32)) + (step * (K // 32) + g)[None, :])
        t = tl.load(sb + n[:, None] * (steps * (K // 32)) + (step * (K // 32) + g)[None, :]) if SCALES else None
        total = tl.dot_scaled(x, s, "e4m3", y, t, "e2m1" if PAIRS else "e5m2", total)
    tl.store(o + rows(M, N), total)


def scaled(random: Random, stages: int) -> Draw:
    m, n, count = random.choice((32, 64)), random.choice((16, 32)), rounds(random, stages)
    rng = np.random.default_rng(random.randrange(1 << 30))
    depth, pairs = max(count, 1) * STEP, random.random() < 0.5
    a = rng.integers(-2, 3, (m, depth)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.integers(-2, 3, (depth, n)).astype(ml_dtypes.float8_e5m2)
    if pairs:
        b = rng.integers(0, 256, (depth // 2, n)).astype(np.uint8)
    sa, sb = (rng.integers(125, 130, (extent, depth // 32)).astype(np.uint8) for extent in (m, n))
    constants = {"M": m, "N": n, "K": STEP, "PAIRS": pairs, "SCALES": random.random() < 0.7}
    out = np.full((m, n), np.nan, np.float32)
    return Draw(scaled_kernel, (a, sa, b, sb, out, count), constants, random.choice((4, 8)))
