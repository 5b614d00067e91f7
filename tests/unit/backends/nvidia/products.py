"""Products for warp groups, drawn: every type, in every order in memory, in loops over K."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.values import DTYPES


@tritonx.jit
def product(
    a_ptr, b_ptr, out_ptr, inner, a_row, a_k, b_k, b_column, columns,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * M + tl.arange(0, M)
    n = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=SUMS)
    for start in range(0, inner, K):
        a = tl.load(a_ptr + m[:, None] * a_row + (start + k)[None, :] * a_k)
        b = tl.load(b_ptr + (start + k)[:, None] * b_k + n[None, :] * b_column)
        total = tl.dot(a, b, total, out_dtype=SUMS)
    tl.store(out_ptr + m[:, None] * columns + n[None, :], total)


@dataclass(frozen=True)
class Drawn:
    """Arrays and scalars of a launch of `product`; `what` says which one it is."""

    a: Any
    b: Any
    expected: Any
    scalars: tuple[int, ...]
    constants: dict[str, Any]
    grid: tuple[int, int]
    num_warps: int
    what: str


TYPES = ("fp16", "bf16", "fp32", "int8", "fp8e4nv", "fp8e5")


def drawn(seed: int, most: int) -> Drawn:
    """Small whole numbers, so that every sum is exact. `most` elements of a tile of the result at most."""
    random = Random(seed)
    dtype = random.choice(TYPES)
    nbytes = np.dtype(DTYPES[dtype]).itemsize
    m, n = random.choice([64, 128, 256]), random.choice([8, 16, 32, 64, 128, 256])
    k = random.choice([32, 64, 128]) // (1 if nbytes == 1 else 2)
    num_warps = random.choice([4, 8, 16])
    while m * n > most:
        m, n = max(64, m // 2), n // 2 if m == 64 else n
    groups = max(1, num_warps // 4 * 64 // m)  # next to each other, eight columns each at least
    n = max(n, 8 * groups)
    flips = random.random() < 0.5, random.random() < 0.5
    grid, inner = (random.choice([1, 2]), random.choice([1, 2])), k * random.choice([1, 2, 3])
    rows, columns = m * grid[0], n * grid[1]
    values = np.random.default_rng(seed)
    a = values.integers(-3, 4, (rows, inner)).astype(DTYPES[dtype])
    b = values.integers(-3, 4, (inner, columns)).astype(DTYPES[dtype])
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int32 if dtype == "int8" else np.float32)
    stored = [np.ascontiguousarray(x.T) if flip else x for x, flip in zip((a, b), flips, strict=True)]
    steps = (1, rows) if flips[0] else (inner, 1), (1, inner) if flips[1] else (columns, 1)
    return Drawn(
        *stored,
        expected,
        (inner, *steps[0], *steps[1], columns),
        {"M": m, "N": n, "K": k, "SUMS": tl.int32 if dtype == "int8" else tl.float32},
        grid,
        num_warps,
        f"{dtype} {m}x{n}x{k}, {num_warps} warps, flips {flips}, grid {grid}, inner {inner}, seed {seed}",
    )
