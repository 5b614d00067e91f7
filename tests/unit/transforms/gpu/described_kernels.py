"""Kernels that load blocks of tensor descriptors in loops which become pipelines: by the copy engine where there is
one. Sums are exact, and what is behind the last block of an iteration that there is not would show."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.kernels import Draw, rows
from tritonx.tools.tensor_descriptor import TensorDescriptor


def rounds(random: Random, stages: int) -> int:
    return random.choice((0, 1, 2, stages - 1, stages, stages + 1, 3 * stages))


def whole(random: Random, *shape: int) -> Any:
    """Small numbers, and no array without elements."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    return rng.integers(-3, 4, [max(1, extent) for extent in shape]).astype(np.float16)


def described(array: Any, *block: int) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(array, [*block])


def empty(*shape: int) -> Any:
    return np.full(shape, np.nan, np.float32)


@tritonx.jit
def product_kernel(
    a, b, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    A_TURNED: tl.constexpr, B_TURNED: tl.constexpr, POINTERS: tl.constexpr, SUMMED: tl.constexpr,
):  # fmt: skip
    """One operand may come through pointers, and A be used by the threads as well."""
    total = tl.zeros((M, N), tl.float32)
    extra = tl.zeros((M,), tl.float32)
    for step in range(steps):
        if A_TURNED:
            x = a.load([step * K, 0]).T
        else:
            x = a.load([0, step * K])
        if POINTERS:
            y = tl.load(b + step * K * N + rows(K, N))
        elif B_TURNED:
            y = b.load([0, step * K]).T
        else:
            y = b.load([step * K, 0])
        total = tl.dot(x, y, total)
        if SUMMED:
            extra += tl.sum(x.to(tl.float32), axis=1)
    tl.store(o + rows(M, N), total + extra[:, None])


def described_product(random: Random, stages: int) -> Draw:
    warps, steps = random.choice((1, 4, 4, 8, 8)), rounds(random, stages)
    m, n, k = 16 * warps, random.choice((16, 32, 64)), random.choice((16, 32))
    turned = random.random() < 0.4, random.random() < 0.4
    pointers = random.random() < 0.3
    inner = max(1, steps) * k - random.choice((0, 8))  # the last block is cut
    dtype = random.choice((np.float16, np.float32))  # f32 is read as tf32, exactly
    a = (whole(random, inner, m) if turned[0] else whole(random, m, inner)).astype(dtype)
    if pointers:
        b: Any = whole(random, max(1, steps) * k, n).astype(dtype)
    elif turned[1]:
        b = described(whole(random, n, inner).astype(dtype), n, k)
    else:
        b = described(whole(random, inner, n).astype(dtype), k, n)
    constants = {
        "M": m, "N": n, "K": k, "A_TURNED": turned[0], "B_TURNED": turned[1], "POINTERS": pointers,
        "SUMMED": random.random() < 0.3,
    }  # fmt: skip
    args = (described(a, *((k, m) if turned[0] else (m, k))), b, empty(m, n), steps)
    return Draw(product_kernel, args, constants, warps)


@tritonx.jit
def nested_kernel(a, b, o, steps, TILES: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A program does several tiles: its slots and barriers are used again and again."""
    for tile in range(TILES):
        total = tl.zeros((M, N), tl.float32)
        for step in range(steps):
            total = tl.dot(a.load([tile * M, step * K]), b.load([step * K, 0]), total)
        tl.store(o + tile * M * N + rows(M, N), total)


def described_nested(random: Random, stages: int) -> Draw:
    warps, steps, tiles = random.choice((4, 8)), rounds(random, stages), random.choice((2, 3))
    m, n, k = 16 * warps, random.choice((16, 32)), 32
    a = described(whole(random, tiles * m, max(1, steps) * k), m, k)
    b = described(whole(random, max(1, steps) * k, n), k, n)
    constants = {"TILES": tiles, "M": m, "N": n, "K": k}
    return Draw(nested_kernel, (a, b, empty(tiles, m, n), steps), constants, warps)


@tritonx.jit
def chosen_kernel(a, b, c, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVERY: tl.constexpr):
    """One block of some rounds comes from another tensor; some rounds do more."""
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x = a.load([0, step * K])
        if step % EVERY == 0:
            y = b.load([step * K, 0])
        else:
            y = c.load([step * K, 0])
        total = tl.dot(x, y, total)
        if step % EVERY == 1:
            total += c.load([0, 0]).to(tl.float32).sum(axis=0)[None, :]
    tl.store(o + rows(M, N), total)


def described_chosen(random: Random, stages: int) -> Draw:
    steps = rounds(random, stages)
    m, n, k = 64, random.choice((16, 32)), random.choice((16, 32))
    inner = max(1, steps) * k
    a = described(whole(random, m, inner), m, k)
    b, c = (described(whole(random, inner, n), k, n) for _ in range(2))
    constants = {"M": m, "N": n, "K": k, "EVERY": random.choice((2, 3))}
    return Draw(chosen_kernel, (a, b, c, empty(m, n), steps), constants, 4)


@tritonx.jit
def chain_kernel(q, k, v, o, steps, M: tl.constexpr, N: tl.constexpr, HEAD: tl.constexpr, MIXED: tl.constexpr):
    """Two products a round, as attention has them: blocks that are waited for at two places."""
    x = q.load([0, 0])
    total = tl.zeros((M, HEAD), tl.float32)
    for step in range(steps):
        y = k.load([step * N, 0])
        between = tl.dot(x, y.T)
        if MIXED:
            z = tl.load(v + step * N * HEAD + rows(N, HEAD))
        else:
            z = v.load([step * N, 0])
        total = tl.dot((between % 4).to(tl.float16), z, total * 0.5)
    tl.store(o + rows(M, HEAD), total)


def described_chain(random: Random, stages: int) -> Draw:
    warps, steps = random.choice((4, 8)), min(6, rounds(random, stages))
    m, n, head, mixed = 16 * warps, random.choice((32, 64)), random.choice((32, 64)), random.random() < 0.3
    q, k, v = whole(random, m, head), whole(random, max(1, steps) * n, head), whole(random, max(1, steps) * n, head)
    args = (described(q, m, head), described(k, n, head), v if mixed else described(v, n, head), empty(m, head), steps)
    return Draw(chain_kernel, args, {"M": m, "N": n, "HEAD": head, "MIXED": mixed}, warps)


@tritonx.jit
def made_kernel(a, b, o, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, B_TURNED: tl.constexpr):
    """The kernel makes its descriptors, two of them of the same tensor."""
    x_blocks = tl.make_tensor_descriptor(a, [M, inner], [inner, 1], [M, K])
    if B_TURNED:
        y_blocks = tl.make_tensor_descriptor(b, [N, inner], [inner, 1], [N, K])
    else:
        y_blocks = tl.make_tensor_descriptor(b, [inner, N], [N, 1], [K, N])
    total = tl.zeros((M, N), tl.float32)
    for step in range(tl.cdiv(inner, K)):
        if B_TURNED:
            y = y_blocks.load([0, step * K]).T
        else:
            y = y_blocks.load([step * K, 0])
        total = tl.dot(x_blocks.load([0, step * K]), y, total)
    result = tl.make_tensor_descriptor(o, [M, N], [N, 1], [M, N])
    result.store([0, 0], total)
    result.atomic_add([0, 0], total)


def described_made(random: Random, stages: int) -> Draw:
    warps, turned = random.choice((4, 8)), random.random() < 0.4
    m, n, k = 16 * warps, random.choice((16, 32)), 32
    inner = max(0, rounds(random, stages) * k - random.choice((0, 8, 16)))
    a, b = whole(random, m, inner), whole(random, *((n, inner) if turned else (inner, n)))
    constants = {"M": m, "N": n, "K": k, "B_TURNED": turned}
    return Draw(made_kernel, (a, b, empty(m, n), inner), constants, warps)


@tritonx.jit
def grouped_kernel(a, b, o, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUPS: tl.constexpr):
    """Products of matrices of different sizes: each has descriptors of its own, in the same memory."""
    for group in range(GROUPS):
        left = inner // (group + 1) // 8 * 8
        x_blocks = tl.make_tensor_descriptor(a + group * M * inner, [M, left], [inner, 1], [M, K])
        y_blocks = tl.make_tensor_descriptor(b + group * inner * N, [left, N], [N, 1], [K, N])
        result = tl.make_tensor_descriptor(o + group * M * N, [M, N], [N, 1], [M, N])
        total = tl.zeros((M, N), tl.float32)
        for step in range(tl.cdiv(left, K)):
            total = tl.dot(x_blocks.load([0, step * K]), y_blocks.load([step * K, 0]), total)
        result.store([0, 0], total)


def described_grouped(random: Random, stages: int) -> Draw:
    warps, groups, k = random.choice((4, 8)), random.choice((2, 3)), random.choice((16, 32))
    m, n, inner = 16 * warps, random.choice((16, 32)), rounds(random, stages) * k
    a, b = whole(random, groups * m, inner), whole(random, groups * inner, n)
    constants = {"M": m, "N": n, "K": k, "GROUPS": groups}
    return Draw(grouped_kernel, (a, b, empty(groups, m, n), inner), constants, warps)


@tritonx.jit
def sums_kernel(a, b, o, steps, M: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr, ALSO: tl.constexpr):
    """A loop without products, which says its stages itself."""
    total = tl.zeros((M,), tl.float32)
    for step in tl.range(steps, num_stages=STAGES):
        x = a.load([0, step * K]).to(tl.float32)
        if ALSO:
            x *= b.load([step * K]).to(tl.float32)[None, :]
        total += tl.sum(x, axis=1)
    tl.store(o + tl.arange(0, M), total)


def described_sums(random: Random, stages: int) -> Draw:
    steps, m, k = rounds(random, stages), random.choice((8, 32, 64)), random.choice((16, 32, 64))
    inner = max(1, steps) * k - random.choice((0, 8))  # the last block is cut
    a, b = described(whole(random, m, inner), m, k), described(whole(random, inner), k)
    constants = {"M": m, "K": k, "STAGES": stages, "ALSO": random.random() < 0.5}
    return Draw(sums_kernel, (a, b, empty(m), steps), constants, random.choice((1, 4, 8)))


DESCRIBED: dict[str, Callable[[Random, int], Draw]] = {
    "described product": described_product,
    "described nested": described_nested,
    "described chosen": described_chosen,
    "described chain": described_chain,
    "described made": described_made,
    "described grouped": described_grouped,
    "described sums": described_sums,
}
"""By name: a kernel, for so many stages. The last argument is its trip count, the one before is written."""
