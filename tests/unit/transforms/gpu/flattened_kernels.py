"""Kernels that go through several tiles, with a loop inside for each, and ask for one loop (`flatten`). Sums are
exact."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from random import Random

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.described_kernels import described, empty, rounds, whole
from tests.unit.transforms.gpu.kernels import Draw, rows


@tritonx.jit
def tiles_kernel(
    a, b, o, counts, tiles, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BIASED: tl.constexpr,
    COUNTED: tl.constexpr, SKIP: tl.constexpr,
):  # fmt: skip
    """Through pointers that begin anew for each tile. A sum may begin with what is loaded (BIASED), and what has been
    seen so far may go from tile to tile (COUNTED)."""
    seen = 0
    for tile in tl.range(0, tiles, SKIP, flatten=True):
        a_ptrs = a + tile * M * K * steps + rows(M, K)
        if BIASED:
            total = tl.load(o + tile * M * N + rows(M, N))
        else:
            total = tl.zeros((M, N), tl.float32)
        for step in range(steps):
            x = tl.load(a_ptrs)
            y = tl.load(b + step * K * N + rows(K, N))
            total = tl.dot(x, y, total)
            a_ptrs += M * K
        if COUNTED:
            seen += tl.sum(total.to(tl.int32)) + tile
            tl.store(counts + tile, seen)
        tl.store(o + tile * M * N + rows(M, N), total)
    tl.store(counts + tiles, seen)


def flattened(random: Random, stages: int) -> Draw:
    warps, steps, tiles = random.choice((4, 8)), min(6, rounds(random, stages)), random.choice((0, 1, 2, 3))
    m, n, k = 16 * warps, random.choice((16, 32)), 16
    constants = {
        "M": m, "N": n, "K": k, "BIASED": random.random() < 0.3, "COUNTED": random.random() < 0.4,
        "SKIP": random.choice((1, 2)),
    }  # fmt: skip
    a, b = whole(random, max(1, tiles * steps), m, k), whole(random, max(1, steps) * k, n)
    o = whole(random, max(1, tiles), m, n).astype("float32")
    counts = whole(random, tiles + 1).astype("int32")
    return Draw(tiles_kernel, (a, b, o, counts, tiles, steps), constants, warps)


@tritonx.jit
def described_tiles_kernel(
    a, b, o, tiles, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr
):
    """Blocks of descriptors, in a persistent kernel as the tutorials have it."""
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        row, column = tile // 2 * M, tile % 2 * N
        total = tl.zeros((M, N), tl.float32)
        for step in range(steps):
            x = a.load([row, step * K])
            if TURNED:
                y = b.load([column, step * K]).T
            else:
                y = b.load([step * K, column])
            total = tl.dot(x, y, total)
        o.store([row, column], total)


def described_flattened(random: Random, stages: int) -> Draw:
    warps, steps, tiles = random.choice((4, 8)), min(6, rounds(random, stages)), random.choice((0, 1, 2, 4))
    m, n, k, turned = 16 * warps, random.choice((16, 32)), random.choice((16, 32)), random.random() < 0.4
    a = described(whole(random, 2 * m, max(1, steps) * k), m, k)
    b = whole(random, 2 * n, max(1, steps) * k) if turned else whole(random, max(1, steps) * k, 2 * n)
    blocks = described(b, *((n, k) if turned else (k, n)))
    constants = {"M": m, "N": n, "K": k, "TURNED": turned}
    args = (a, blocks, described(empty(2 * m, 2 * n), m, n), tiles, steps)
    return Draw(described_tiles_kernel, args, constants, warps)


FLATTENED: dict[str, Callable[[Random, int], Draw]] = {
    "flattened": flattened,
    "described flattened": described_flattened,
}
"""By name: a kernel, for so many stages."""
