"""Kernels on which each pass of `transforms/gpu` has something to do, with inputs on which sums are exact."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl


@dataclass(frozen=True)
class Draw:
    """A kernel with arguments: arrays (all compared afterwards), constants, and the number of warps."""

    kernel: Any
    args: tuple[Any, ...]
    constants: dict[str, Any]
    num_warps: int


@tritonx.jit
def rows(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@tritonx.jit
def product_kernel(a, b, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x = tl.load(a + step * M * K + rows(M, K))
        y = tl.load(b + step * K * N + rows(K, N))
        total = tl.dot(x, y, total, input_precision=PRECISION)
    tl.store(o + rows(M, N), total)


def product(random: Random) -> Draw:
    m, n, k = (random.choice((16, 32, 64)) for _ in range(3))
    return _product(random, m, n, k, "float16", "ieee")


def split_product(random: Random) -> Draw:
    return _product(
        random, m=random.choice((16, 32)), n=32, k=random.choice((64, 128)), dtype="float32", precision="ieee"
    )


def exotic_product(random: Random) -> Draw:
    return _product(random, 32, random.choice((16, 32)), 32, "float32", random.choice(("tf32x3", "bf16x3")))


def _product(random: Random, m: int, n: int, k: int, dtype: str, precision: str) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    steps = random.choice((0, 2, 3))
    a = rng.integers(-4, 5, (max(steps, 1), m, k)).astype(dtype)
    b = rng.integers(-4, 5, (max(steps, 1), k, n)).astype(dtype)
    constants = {"M": m, "N": n, "K": k, "PRECISION": precision}
    return Draw(product_kernel, (a, b, np.full((m, n), np.nan, np.float32), steps), constants, random.choice((2, 4, 8)))


@tritonx.jit
def moving_kernel(a, b, o, p, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product by pointers that move, and the tile of A that they are at in the end."""
    a_tile, b_tile = a + rows(M, K), b + rows(K, N)
    total = tl.zeros((M, N), tl.float32)
    for _ in range(steps):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += M * K
        b_tile += K * N
    tl.store(o + rows(M, N), total)
    tl.store(p + rows(M, K), tl.load(a_tile))


def moving(random: Random) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n, k = random.choice((32, 64)), random.choice((16, 32)), random.choice((16, 32))
    steps = random.choice((0, 2, 3, 5))
    a, b = (rng.integers(-4, 5, (steps + 1, *shape)).astype(np.float16) for shape in ((m, k), (k, n)))
    out = np.full((m, n), np.nan, np.float32), np.full((m, k), np.nan, np.float16)
    return Draw(moving_kernel, (a, b, *out, steps), {"M": m, "N": n, "K": k}, random.choice((2, 4, 8)))


@tritonx.jit
def nested_kernel(x, o, tiles, steps, stride, M: tl.constexpr, N: tl.constexpr):
    """Sums over steps of tiles beside each other."""
    for tile in range(tiles):
        columns = tile * N + tl.arange(0, N)
        x_tile = x + tl.arange(0, M)[:, None] * stride + columns[None, :]
        total = tl.zeros((M, N), tl.float32)
        for step in range(steps):
            total += tl.load(x_tile + step * M * stride)
        tl.store(o + tl.arange(0, M)[:, None] * stride + columns[None, :], total)


def nested(random: Random) -> Draw:
    """A thread has more rows than columns."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n, tiles, steps = random.choice((64, 128)), 16, random.choice((0, 2, 3)), random.choice((0, 2, 4))
    x = rng.integers(-4, 5, (max(steps, 1), m, 3 * n)).astype(np.float32)
    out = np.full((m, 3 * n), np.nan, np.float32)
    return Draw(nested_kernel, (x, out, tiles, steps, 3 * n), {"M": m, "N": n}, 1)


@tritonx.jit
def column_sum_kernel(x, o, M: tl.constexpr, N: tl.constexpr, STEPS: tl.constexpr):
    total = tl.zeros((N,), tl.float32)
    for step in range(STEPS):
        total += tl.sum(tl.load(x + step * M * N + rows(M, N)), axis=0)
    tl.store(o + tl.arange(0, N), total)


def column_sum(random: Random) -> Draw:
    return _column_sum(random, random.choice((16, 32, 64)), random.choice((32, 64)), random.choice((2, 4, 8)))


def small_column_sum(random: Random) -> Draw:
    """A thread has few bytes under way."""
    return _column_sum(random, random.choice((16, 32)), 32, random.choice((4, 8)))


def _column_sum(random: Random, m: int, n: int, warps: int) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    steps = random.choice((4, 7, 8))
    x = rng.integers(-9, 9, (steps, m, n)).astype(np.float32)
    constants = {"M": m, "N": n, "STEPS": steps}
    return Draw(column_sum_kernel, (x, np.full(n, np.nan, np.float32)), constants, warps)


@tritonx.jit
def several_kernel(x, y, o, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    total, most = tl.sum(a), tl.max(b)
    tl.store(o + at, a * total + tl.sum(b * a) + tl.argmax(b, 0), mask=a < most)


def several(random: Random) -> Draw:
    """Reductions of which the second and third do not need the first, and one of two operands."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    n = random.choice((256, 512, 1024))
    x, y = (rng.integers(-9, 9, n).astype(np.float32) for _ in range(2))
    return Draw(several_kernel, (x, y, np.full(n, np.nan, np.float32)), {"N": n}, random.choice((2, 4, 8)))


@tritonx.jit
def transposes_kernel(x, y, o, p, M: tl.constexpr, N: tl.constexpr):
    i = rows(M, N)
    mask = tl.trans(tl.load(y + i) > 0)
    value = tl.trans(tl.load(x + i))
    tl.store(o + rows(N, M), value, mask=mask)
    tl.store(p + i, tl.trans(value + 1))


def transposes(random: Random) -> Draw:
    """The predicate is moved, which is less than what it is computed of."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n = 64, 128
    x, y = (rng.integers(-99, 99, (m, n)).astype(dtype) for dtype in (np.float16, np.int64))
    out = (np.full((n, m), np.nan, np.float16), np.full((m, n), np.nan, np.float16))
    return Draw(transposes_kernel, (x, y, *out), {"M": m, "N": n}, random.choice((2, 4, 8)))


@tritonx.jit
def transposed_kernel(x, o, M: tl.constexpr, N: tl.constexpr):
    tl.store(o + rows(N, M), tl.trans(tl.load(x + rows(M, N))))


def transposed(random: Random) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n, warps = random.choice((64, 128)), random.choice((64, 128)), random.choice((2, 4, 8))
    x = rng.integers(-99, 99, (m, n)).astype(np.float16)
    return Draw(transposed_kernel, (x, np.full((n, m), np.nan, np.float16)), {"M": m, "N": n}, warps)


@tritonx.jit
def narrow_kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    wide = tl.load(x + i).to(tl.float32)
    shifted = wide - tl.max(wide, axis=0)
    tl.store(o + i, shifted * tl.sum(shifted, axis=0))


def narrow(random: Random) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    warps = random.choice((1, 2, 4))
    n = 32 * 64 * warps * random.choice((1, 2))
    x = rng.integers(-4, 5, n).astype(np.float16)
    return Draw(narrow_kernel, (x, np.full(n, np.nan, np.float32)), {"N": n}, warps)


@tritonx.jit
def float8_kernel(x, y, o, M: tl.constexpr, N: tl.constexpr):
    i = rows(M, N)
    a = tl.load(x + i).to(tl.float8e5)
    b = tl.load(y + i).to(tl.float8e5)
    tl.store(o + tl.arange(0, N), tl.max(a + b * a, axis=0).to(tl.float32))


def float8(random: Random) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n = random.choice((16, 64)), random.choice((16, 32))
    x, y = (rng.integers(-4, 5, (m, n)).astype(np.float32) for _ in range(2))
    return Draw(float8_kernel, (x, y, np.full(n, np.nan, np.float32)), {"M": m, "N": n}, random.choice((2, 4)))


@tritonx.jit
def flat_kernel(x, o, n, N: tl.constexpr, EACH: tl.constexpr):
    """Sums of `EACH` rows in one loop: the tile that is stored is begun anew."""
    i = tl.arange(0, N)
    empty = tl.load(x + i)
    total = empty
    for row in range(n):
        total += tl.load(x + (row + 1) * N + i)
        done = row % EACH == EACH - 1
        kept = total
        if done:
            kept = empty
        if done:
            tl.store(o + row // EACH * N + i, total)
        total = kept


def flat(random: Random) -> Draw:
    rng = np.random.default_rng(random.randrange(1 << 30))
    n, each, count = random.choice((64, 256, 512)), random.randrange(2, 5), random.randrange(1, 4)
    x = rng.integers(-9, 10, (1 + each * count, n)).astype(np.float32)
    out = np.full((count, n), np.nan, np.float32)
    return Draw(flat_kernel, (x, out, each * count), {"N": n, "EACH": each}, random.choice((1, 2, 4)))


ACTS_ON: dict[str, Callable[[Random], Draw]] = {
    "decompose-dots": exotic_product,
    "split-dots": split_product,
    "accumulate-in-threads": column_sum,
    "unroll-loads": small_column_sum,
    "stage-dot-operands": product,
    "rematerialise tiles": narrow,
    "rematerialise sums": nested,
    "rematerialise offsets": nested,
    "widen-float8": float8,
    "branch-selects": flat,
    "carry-scalars": moving,
    "reduce-together": several,
    "share-barriers": transposes,
    "convert-by-matrices": transposed,
    "make-room": transposes,
    "fuse-operand-loads": product,
    "allocate-shared-memory": transposes,
    "insert-barriers": transposes,
}
"""By pass, and what it does where there are several things, a kernel that it changes."""
