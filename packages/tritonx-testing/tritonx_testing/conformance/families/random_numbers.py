"""The Philox generator: its words bit for bit, uniform numbers exactly, normal ones closely."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Array, Case, MakeTrial, Output, Part, Tolerance, Trial
from tritonx_testing.conformance.cover import Cover

_ROUND = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)


def philox(seed: int, offset: Array, rounds: int = 10) -> tuple[Array, ...]:
    """Four words of Philox-4x32 (Salmon and others, 2011) for each counter (offset, 0, 0, 0)."""
    c = [offset.astype(np.uint64), *(np.zeros(offset.shape, np.uint64) for _ in range(3))]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(rounds):
        a, b = c[0] * _ROUND[0], c[2] * _ROUND[1]
        c = [
            (b >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
            b & _LOW,
            (a >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
            a & _LOW,
        ]
        key = [(k + step) & 0xFFFFFFFF for k, step in zip(key, _KEY, strict=True)]
    return tuple(word.astype(np.uint32) for word in c)


def uniform(words: Array) -> Array:
    """Triton's map of 32-bit words to [0, 1) in fp32."""
    signed = words.view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


@tritonx.jit
def words_kernel(out_ptr, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)


@tritonx.jit
def numbers_kernel(uniform_ptr, normal_ptr, seed, start, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(uniform_ptr + i, tl.rand(seed, start + i))
    tl.store(normal_ptr + i, tl.randn(seed, start + i))


@tritonx.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    keep = tl.rand(seed, i) > p
    x = tl.load(x_ptr + i, mask=mask)
    tl.store(out_ptr + i, tl.where(keep, x * 2, 0.0), mask=mask)


def _words(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        seed = int(rng.integers(2, 2**31))
        parts = tuple(Part(f"word {k}", w) for k, w in enumerate(philox(seed, np.arange(count))))
        return Trial((Output(np.uint32, parts), seed), {"N": count})

    return make


def _numbers(count: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        seed, start = int(rng.integers(2, 2**31)), int(rng.integers(2, 2**20))
        words = philox(seed, start + np.arange(count))
        u, v = (uniform(w) for w in words[:2])
        radius = np.sqrt(-2.0 * np.log(np.maximum(1.0e-7, u.astype(np.float64))))
        normal = radius * np.cos(6.283185307179586 * v.astype(np.float64))
        bound = Tolerance(absolute=1e-5)
        return Trial((Output.of(u), Output.of(normal, bound, dtype=np.float32), seed, start), {"N": count})

    return make


def _dropout(n: int, block: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        seed = int(rng.integers(2, 2**31))
        x = rng.standard_normal(n).astype(np.float32)
        kept = np.where(uniform(philox(seed, np.arange(n))[0]) > np.float32(0.25), x * 2, np.float32(0))
        return Trial((x, Output.of(kept), n, 0.25, seed), {"BLOCK": block}, (-(-n // block),))

    return make


def cases(cover: Cover) -> Iterator[Case]:
    for count, w in cover.choose([(128, 4), (1024, 8)], [(1, 1), (128, 4), (1024, 8), (2048, 1)]):
        yield Case(f"random_numbers/words-{count}-w{w}", words_kernel, _words(count), {"num_warps": w})
        yield Case(f"random_numbers/numbers-{count}-w{w}", numbers_kernel, _numbers(count), {"num_warps": w})
    yield Case("random_numbers/dropout-1000", dropout_kernel, _dropout(1000, 256))
