"""Kernels with loops of every kind that a schedule meets."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportIndexIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.kernels import Draw, rows


@tritonx.jit
def matmul_kernel(
    a, b, o, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TURNED: tl.constexpr, STAGES: tl.constexpr
):
    r = tl.arange(0, BK)
    pa = a + tl.arange(0, BM)[:, None] * k + r[None, :]
    pb = b + (r[:, None] + tl.arange(0, BN)[None, :] * k if TURNED else r[:, None] * BN + tl.arange(0, BN)[None, :])
    total = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, k, BK, num_stages=STAGES):
        x = tl.load(pa, mask=r[None, :] < k - at, other=0.0)
        y = tl.load(pb, mask=r[:, None] < k - at, other=0.0)
        total = tl.dot(x, y, total)
        pa += BK
        pb += BK if TURNED else BK * BN
    tl.store(o + rows(BM, BN), total)


def matmul(random: Random) -> Draw:
    m, n, k = random.choice((32, 64, 128)), random.choice((32, 64, 128)), random.choice((32, 64))
    long = k * random.randint(1, 4)
    a, b = np.ones((m, long), np.float16), np.ones((long, n), np.float16)
    constants = {
        "BM": m,
        "BN": n,
        "BK": k,
        "TURNED": random.random() < 0.5,
        "STAGES": random.choice((None, 1, 2, 4, 6)),
    }
    return Draw(matmul_kernel, (a, b, np.zeros((m, n), np.float32), long), constants, random.choice((4, 8)))


@tritonx.jit
def attention_kernel(q, k, v, o, n, BLOCK: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, STAGES: tl.constexpr):
    i, d = tl.arange(0, BLOCK), tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, D), tl.float32)
    for at in tl.range(0, n, BLOCK, num_stages=STAGES):
        key = tl.load(k + d[:, None] + (at + i)[None, :] * D)
        scores = tl.dot(query, key) * 0.18
        if CAUSAL:
            scores = tl.where(i[:, None] >= at + i[None, :], scores, float("-inf"))
        larger = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(most - larger)
        weight = weight * shrink + tl.sum(p, 1)
        value = tl.load(v + (at + i)[:, None] * D + d[None, :])
        total = tl.dot(p.to(tl.float16), value, total * shrink[:, None])
        most = larger
    tl.store(o + i[:, None] * D + d[None, :], total / weight[:, None])


def attention(random: Random) -> Draw:
    block, d = random.choice((32, 64)), random.choice((32, 64, 128))
    n = block * random.randint(1, 3)
    q, k, v = (np.ones((s, d), np.float16) for s in (block, n, n))
    constants = {"BLOCK": block, "D": d, "CAUSAL": random.random() < 0.5, "STAGES": random.choice((None, 2, 3, 5))}
    return Draw(attention_kernel, (q, k, v, np.zeros((block, d), np.float32), n), constants, random.choice((4, 8)))


@tritonx.jit
def paged_kernel(table, scale, x, y, o, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    other = tl.load(y + rows(BLOCK, BLOCK))
    for at in tl.range(0, n, num_stages=STAGES):
        page = tl.load(table + at)
        by = tl.load(scale + page * BLOCK + i)
        tile = tl.load(x + page * BLOCK * BLOCK + rows(BLOCK, BLOCK))
        total += tl.dot(tile, other) * by[:, None]
    tl.store(o + rows(BLOCK, BLOCK), total)


def paged(random: Random) -> Draw:
    n, block = random.randint(1, 4), random.choice((32, 64))
    table, scale = np.zeros(n, np.int32), np.ones((n, block), np.float32)
    x, y = np.ones((n, block, block), np.float16), np.ones((block, block), np.float16)
    constants = {"BLOCK": block, "STAGES": random.choice((None, 2, 3, 4, 6))}
    return Draw(paged_kernel, (table, scale, x, y, np.zeros((block, block), np.float32), n), constants, 4)


@tritonx.jit
def stored_kernel(x, y, z, o, n, BLOCK: tl.constexpr, HOW: tl.constexpr, STAGES: tl.constexpr):
    """A product a round, whose result is added to memory, written beside the inputs or over them, or followed."""
    weights = tl.load(y + rows(BLOCK, BLOCK))
    p = x + rows(BLOCK, BLOCK)
    shift = tl.zeros((), tl.int32)
    for at in tl.range(0, n, num_stages=STAGES):
        tile = tl.load(p + shift)
        found = tl.dot(tile, weights)
        if HOW == "add":
            tl.atomic_add(z + rows(BLOCK, BLOCK), found)
        elif HOW == "apart":
            tl.store(o + at * BLOCK * BLOCK + rows(BLOCK, BLOCK), found)
        elif HOW == "over":
            tl.store(p + shift, found.to(tl.float16))
        elif HOW == "some":
            if at > 1:
                tl.store(o + rows(BLOCK, BLOCK), found)
        elif HOW == "follow":
            shift = tl.max(tl.max(found, 0), 0).to(tl.int32)
        else:
            tl.device_print("at", at)
            tl.store(o + rows(BLOCK, BLOCK), found)
        p += BLOCK * BLOCK
    if HOW == "follow":
        tl.store(z, shift.to(tl.float32))


def stored(random: Random) -> Draw:
    n, block = random.randint(1, 4), 32
    x, y = np.ones((n, block, block), np.float16), np.ones((block, block), np.float16)
    z, o = np.zeros((block, block), np.float32), np.zeros((n, block, block), np.float32)
    how = random.choice(("add", "apart", "over", "some", "follow", "print"))
    return Draw(stored_kernel, (x, y, z, o, n), {"BLOCK": block, "HOW": how, "STAGES": random.choice((None, 2, 4))}, 4)


@tritonx.jit
def delayed_kernel(x, o, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """What is loaded is used one and two rounds later."""
    before = tl.zeros((BLOCK, BLOCK), tl.float16)
    long_before = before
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for at in tl.range(0, n, num_stages=STAGES):
        tile = tl.load(x + at * BLOCK * BLOCK + rows(BLOCK, BLOCK))
        total = tl.dot(tile, long_before, tl.dot(before, tile, total))
        long_before = before
        before = tile
    tl.store(o + rows(BLOCK, BLOCK), total)


def delayed(random: Random) -> Draw:
    n, block = random.randint(1, 5), 32
    x = np.ones((n, block, block), np.float16)
    constants = {"BLOCK": block, "STAGES": random.choice((None, 2, 3, 4))}
    return Draw(delayed_kernel, (x, np.zeros((block, block), np.float32), n), constants, 4)


@tritonx.jit
def sums_kernel(x, o, n, M: tl.constexpr, N: tl.constexpr, STAGES: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for at in tl.range(0, n, num_stages=STAGES):
        total += tl.load(x + at * M * N + rows(M, N))
    tl.store(o + rows(M, N), total)


def sums(random: Random) -> Draw:
    n, m, k = random.randint(1, 5), random.choice((8, 32)), random.choice((32, 64))
    x = np.ones((n, m, k), np.float32)
    constants = {"M": m, "N": k, "STAGES": random.choice((None, 1, 2, 3, 5))}
    return Draw(sums_kernel, (x, np.zeros((m, k), np.float32), n), constants, random.choice((2, 4)))


@tritonx.jit
def turned_kernel(a, b, o, p, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BOTH: tl.constexpr):
    """What is loaded is multiplied transposed, and as it is too."""
    x = tl.load(a + rows(M, K))
    total = tl.zeros((M, N), tl.float32)
    other = tl.zeros((M, K), tl.float32)
    for step in range(steps):
        y = tl.load(b + step * K * N + rows(N, K))
        between = tl.dot(x, y.T)
        total += between
        if BOTH:
            other = tl.dot((between % 4).to(tl.float16), y, other)
    tl.store(o + rows(M, N), total)
    tl.store(p + rows(M, K), other)


def turned(random: Random) -> Draw:
    warps = random.choice((4, 8))
    m, n, k = 16 * warps, random.choice((32, 64)), random.choice((32, 64))
    steps = random.choice((0, 1, 2, 3, 6))
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (6, n, k)))
    o, p = (np.full(shape, np.nan, np.float32) for shape in ((m, n), (m, k)))
    constants = {"M": m, "N": n, "K": k, "BOTH": random.random() < 0.6}
    return Draw(turned_kernel, (a, b, o, p, steps), constants, warps)


LOOPS: dict[str, Callable[[Random], Draw]] = {
    draw.__name__: draw for draw in (matmul, attention, paged, stored, delayed, sums, turned)
}
