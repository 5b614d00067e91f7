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


@tritonx.jit
def epilogues_kernel(
    a, b, o, residual, bias, places, tiles, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    CHAINS: tl.constexpr, SHOWN: tl.constexpr, STORED: tl.constexpr, EVERY: tl.constexpr, PLACED: tl.constexpr,
    MADE: tl.constexpr, ADDED: tl.constexpr, SKIPPED: tl.constexpr,
):  # fmt: skip
    """Tiles of one sum or two, one of which may be of the other's product (CHAINS), or be looked at in every round
    (SHOWN). Where a tile lies may be loaded (PLACED). Its epilogue loads through pointers or descriptors (ADDED),
    stores by threads, by the copy engine or by both (STORED), and in some tiles only (EVERY)."""
    if MADE:
        target = tl.make_tensor_descriptor(o, [4 * M, N], [N, 1], [M, N])
        x_blocks = tl.make_tensor_descriptor(a, [4 * M, 4 * K], [4 * K, 1], [M, K])
        y_blocks = tl.make_tensor_descriptor(b, [4 * K, N], [N, 1], [K, N])
    shown = tl.zeros((M,), tl.float32)
    for tile in tl.range(0, tiles, flatten=True):
        place = tile
        if PLACED:
            place = tl.load(places + tile)
        row = place * M
        one, two = tl.zeros((M, N), tl.float32), tl.zeros((M, N), tl.float32)
        if SKIPPED:
            two = tl.load(residual + row * N + rows(M, N))
        for step in range(steps):
            if MADE:
                x, y = x_blocks.load([row, step * K]), y_blocks.load([step * K, 0])
            else:
                x = tl.load(a + (row + tl.arange(0, M))[:, None] * (4 * K) + (step * K + tl.arange(0, K))[None, :])
                y = tl.load(b + step * K * N + rows(K, N))
            if SHOWN == "before":
                shown += tl.sum(one, 1)
            if CHAINS == "one":
                one = tl.dot(x, y, one)
            elif CHAINS == "two":
                one = tl.dot(x, y, one)
                two = tl.dot(x, y, two)
            else:
                between = tl.dot(x, y)
                one += between
                two = tl.dot((between % 4).to(tl.float16), tl.load(b + rows(N, N)), two)
            if SHOWN == "behind":
                shown += tl.sum(one, 1)
        total = one + two
        if ADDED == "bias":
            total += tl.load(bias + tl.arange(0, N))[None, :]
        elif ADDED == "residual":
            total += tl.load(residual + row * N + rows(M, N))
        if tile % EVERY == 0:
            if STORED != "threads" and MADE:
                target.store([row, 0], total)
            else:
                tl.store(o + row * N + rows(M, N), total)
        if STORED == "both" and MADE:
            target.atomic_add([row, 0], one)
    tl.store(bias + N + tl.arange(0, M), shown)


def flattened_epilogues(random: Random, stages: int) -> Draw:
    warps, steps, tiles = random.choice((4, 4, 8)), random.choice((0, 1, 2, 3, 4)), random.choice((0, 1, 2, 3, 4))
    m, n, k = 16 * warps, random.choice((16, 32)), random.choice((16, 32))
    constants = {
        "M": m, "N": n, "K": k, "CHAINS": random.choice(("one", "two", "between")),
        "SHOWN": random.choice(("", "", "", "before", "behind")),
        "STORED": random.choice(("threads", "engine", "both")), "EVERY": random.choice((1, 1, 2)),
        "PLACED": random.random() < 0.3, "MADE": random.random() < 0.5,
        "ADDED": random.choice(("", "bias", "residual")), "SKIPPED": random.random() < 0.2,
    }  # fmt: skip
    a, b = whole(random, 4 * m, 4 * k), whole(random, 4 * k, n)
    o, residual = (whole(random, 4 * m, n).astype("float32") for _ in range(2))
    places = whole(random, max(1, tiles)).astype("int32")
    places[:] = random.sample(range(4), len(places))
    args = (a, b, o, residual, whole(random, n + m).astype("float32"), places, tiles, steps)
    return Draw(epilogues_kernel, args, constants, warps)


@tritonx.jit
def uneven_kernel(
    a, b, o, counts, tiles, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BEGINS: tl.constexpr,
    LEAST: tl.constexpr, STATED: tl.constexpr, COUNTED: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Tiles have as many rounds as their number says, over blocks from theirs on (BEGINS) or all up to one, through
    pointers or of descriptors (DESCRIBED). Some tiles have none (LEAST), or the program states that each has one. What
    has been seen so far may go from tile to tile (COUNTED)."""
    seen = 0
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        low = tile if BEGINS else 0
        high = low + tile % steps + LEAST
        if STATED:
            tl.assume(low < high)
        total = tl.zeros((M, N), tl.float32)
        for step in range(low, high):
            if DESCRIBED:
                x, y = a.load([(tile + step) * M, 0]), b.load([step * K, 0])
            else:
                x = tl.load(a + (tile + step) * M * K + rows(M, K))
                y = tl.load(b + step * K * N + rows(K, N))
            total = tl.dot(x, y, total)
        if COUNTED:
            seen += tl.sum(total.to(tl.int32)) + tile
            tl.store(counts + tile, seen)
        if DESCRIBED:
            o.store([tile * M, 0], total)
        else:
            tl.store(o + tile * M * N + rows(M, N), total)


def uneven(random: Random, stages: int, *, blocks: bool = False) -> Draw:
    warps, steps, tiles = random.choice((4, 8)), random.choice((2, 3, stages + 1)), random.choice((0, 2, 3, 5))
    m, n, k, least = 16 * warps, random.choice((16, 32)), 16, random.choice((0, 1, 1, 2))
    constants = {
        "M": m, "N": n, "K": k, "BEGINS": random.random() < 0.5, "LEAST": least,
        "STATED": least > 0 and random.random() < 0.5, "COUNTED": random.random() < 0.3, "DESCRIBED": blocks,
    }  # fmt: skip
    most = tiles + steps + least
    a, b, o = whole(random, (tiles + most) * m, k), whole(random, most * k, n), empty(max(1, tiles) * m, n)
    counts = whole(random, max(1, tiles)).astype("int32")
    arrays = (described(a, m, k), described(b, k, n), described(o, m, n)) if blocks else (a, b, o)
    return Draw(uneven_kernel, (*arrays, counts, tiles, steps), constants, warps)


def described_uneven(random: Random, stages: int) -> Draw:
    return uneven(random, stages, blocks=True)


FLATTENED: dict[str, Callable[[Random, int], Draw]] = {
    "flattened": flattened,
    "described flattened": described_flattened,
    "flattened epilogues": flattened_epilogues,
    "uneven": uneven,
    "described uneven": described_uneven,
}
"""By name: a kernel, for so many stages."""
