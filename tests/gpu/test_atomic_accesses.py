"""Atomic loads, stores and polls on the device: message passing between programs that run at the same time, where a
missing order shows, and times by the device's clock."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.arrays import to_device

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def passed_on(data, flags, wrong, ROUNDS: tl.constexpr, N: tl.constexpr, SCOPE: tl.constexpr):
    """Pairs of programs: the first of each writes a block and tells, the second reads it and answers. All warps write,
    one thread tells."""
    pair, i = tl.program_id(0) // 2, tl.arange(0, N)
    place, flag = data + pair * N + i, flags + pair * 32
    if tl.program_id(0) % 2 == 0:
        for turn in range(ROUNDS):
            tl.store(place, i * 3 + turn)
            tl.atomic_store(flag, 2 * turn + 1, scope=SCOPE)
            tl.atomic_poll(flag, 2 * turn + 2, scope=SCOPE)
    else:
        count = 0
        for turn in range(ROUNDS):
            tl.atomic_poll(flag, 2 * turn + 1, scope=SCOPE)
            count += tl.sum((tl.load(place) != i * 3 + turn).to(tl.int32), axis=0)
            tl.atomic_store(flag, 2 * turn + 2, scope=SCOPE)
        tl.store(wrong + pair, count)


@tritonx.jit
def each_for_itself(data, flags, wrong, ROUNDS: tl.constexpr, N: tl.constexpr):
    """A flag for each element; blocks of them are polled, and rows come in the order of their flags."""
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        for turn in range(ROUNDS):
            tl.store(data + turn * N + i, i + turn)
            tl.atomic_store(flags + i, turn + 1 + i * 0)
    else:
        count = 0
        for _ in range(ROUNDS):
            found = tl.atomic_load(flags + (N - 1 - i))
            row = tl.maximum(found - 1, 0)
            there = tl.load(data + row * N + (N - 1 - i))
            count += tl.sum(((found > 0) & (there != N - 1 - i + row)).to(tl.int32), axis=0)
        tl.store(wrong, count)


@tritonx.jit
def told(flag, seen, TIME: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(seen + i, tl.atomic_poll(flag + i, 1, timeout_ns=TIME).to(tl.int32))


def device_arrays(*arrays: Any) -> list[Any]:
    return [to_device(each) for each in arrays]


@pytest.mark.real_gpu
@pytest.mark.parametrize("num_warps", [1, 4, 16])
@pytest.mark.parametrize("scope", ["gpu", "sys"])
def test_pairs_of_programs(num_warps: int, scope: str) -> None:
    pairs, n, rounds = 16, 1024, 500
    data, flags, wrong = device_arrays(
        np.zeros(pairs * n, np.int32), np.zeros(pairs * 32, np.int32), np.full(pairs, -1, np.int32)
    )
    passed_on[(2 * pairs,)](data, flags, wrong, ROUNDS=rounds, N=n, SCOPE=scope, num_warps=num_warps)
    assert (wrong.numpy() == 0).all()
    assert (flags.numpy()[::32] == 2 * rounds).all()


def test_blocks_of_flags() -> None:
    n, rounds = 512, 400
    data, flags, wrong = device_arrays(np.zeros(n * rounds, np.int32), np.zeros(n, np.int32), np.full(1, -1, np.int32))
    each_for_itself[(2,)](data, flags, wrong, ROUNDS=rounds, N=n, num_warps=8)
    assert wrong.numpy()[0] == 0


def test_times() -> None:
    """All elements share the time; those whose flag is there are true."""
    start = np.random.default_rng(SEED).integers(0, 2, 256).astype(np.int32)
    flag, seen = device_arrays(start, np.full(256, -1, np.int32))
    told[(1,)](flag, seen, TIME=0, N=256)
    begin = time.perf_counter()
    told[(1,)](flag, seen, TIME=50_000_000, N=256, num_warps=2)
    found = seen.numpy()
    passed = time.perf_counter() - begin
    assert (found == start).all()
    assert 0.04 < passed < 5
