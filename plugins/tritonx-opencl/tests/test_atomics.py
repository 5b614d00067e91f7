"""Atomics of every operation and width, executed with threads that contend for the same words, against NumPy.

A share is drawn; ``TRITONX_ATOMICS=all`` takes the whole table. On the made-up machine, which has
atomics of 64 bits alone and no sums of floats, what is narrower and those sums go through `swap_loops`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import driver
from tritonx_opencl import TARGETS

sys.path.insert(0, str(Path(__file__).parent))

from made_up_backend import BACKEND as MADE_UP

pytestmark = pytest.mark.usefixtures("device")
SEED = int(os.environ["TRITONX_SEED"])
PROGRAMS, N, PLACES = 6, 64, 7

INTEGERS = ("int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TABLE = [
    *(("add", dtype) for dtype in (*INTEGERS, *FLOATS)),
    *((op, dtype) for op in ("max", "min") for dtype in (*INTEGERS, "float32", "float64")),
    *((op, dtype) for op in ("and", "or", "xor") for dtype in INTEGERS),
    *(("xchg", dtype) for dtype in (*INTEGERS, "float32", "float64")),
]
"""What Triton's front end takes."""
SWAPPED = ("int16", "uint16", "float16", "bfloat16", *INTEGERS, "float32", "float64")

_FINAL: dict[str, Any] = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@tritonx.jit
def rmw(x, out, old, PLACES: tl.constexpr, N: tl.constexpr, OP: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + tl.program_id(0) * N + i)
    place = out + i % PLACES
    mask = i % 5 != 3
    if OP == "add":
        before = tl.atomic_add(place, value, mask=mask)
    elif OP == "max":
        before = tl.atomic_max(place, value, mask=mask)
    elif OP == "min":
        before = tl.atomic_min(place, value, mask=mask)
    elif OP == "and":
        before = tl.atomic_and(place, value, mask=mask)
    elif OP == "or":
        before = tl.atomic_or(place, value, mask=mask)
    elif OP == "xor":
        before = tl.atomic_xor(place, value, mask=mask)
    else:
        before = tl.atomic_xchg(place, value, mask=mask)
    tl.store(old + tl.program_id(0) * N + i, before, mask=mask)


@tritonx.jit
def counted(out, PLACES: tl.constexpr, N: tl.constexpr):
    """Every thread adds one at its own position by compare-and-swap, as often as it takes."""
    place = out + tl.arange(0, N) % PLACES
    seen = tl.load(place)
    todo = tl.full((N,), 1, tl.int32)
    while tl.max(todo, axis=0) > 0:
        found = tl.atomic_cas(place, seen, tl.where(todo > 0, seen + 1, seen).to(seen.dtype))
        todo = tl.where(found == seen, 0, todo)
        seen = found


def of(dtype: str) -> Any:
    return np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)


def share(table: list[Any], count: int) -> list[Any]:
    if os.environ.get("TRITONX_ATOMICS") == "all":
        return table
    rng = np.random.default_rng([SEED, len(table)])
    return [table[i] for i in sorted(rng.choice(len(table), count, replace=False))]


@pytest.fixture
def active(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    if request.param in TARGETS:
        monkeypatch.setenv("TRITONX_OPENCL_TARGET", request.param)
    driver.set_active("opencl" if request.param in TARGETS else MADE_UP)
    yield
    driver.reset_active()


def drawn(dtype: Any, op: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Small numbers where they are added or ordered, so that floats are exact; any bits where they are not."""
    if op in ("and", "or", "xor"):
        return rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    low = 0 if op == "add" or dtype.kind == "u" else -9
    return rng.integers(low, 3 if op == "add" else 9, shape).astype(dtype)


def check(op: str, dtype: str, launch: Any) -> None:
    """Runs ``launch(x, out, old)`` and looks at what is there afterwards, at what came back, and behind the end."""
    rng, type_ = np.random.default_rng(SEED), of(dtype)
    ones = op == "add" and bool(rng.integers(2))
    x = np.ones((PROGRAMS, N), type_) if ones else drawn(type_, op, (PROGRAMS, N), rng)
    # One element in, one short of a word: the last one's word reaches behind the array that the kernel is given.
    memory = drawn(type_, op, (PLACES + 3,), rng)
    before, old = memory.copy(), np.zeros((PROGRAMS, N), type_)
    launch(x, memory[1 : PLACES + 1], old)
    lanes, places = np.arange(N) % 5 != 3, np.arange(N) % PLACES
    for place in range(PLACES):
        mine = lanes & (places == place)
        given, came, after = x[:, mine].ravel(), old[:, mine].ravel(), memory[place + 1]
        where = f"{op} {dtype} at {place}, seed {SEED}"
        if op == "xchg":
            assert sorted([*came, after]) == sorted([before[place + 1], *given]), where
            continue
        every = np.concatenate([before[place + 1 : place + 2], given])
        exact = every.astype(np.float64) if type_.kind in "fV" else every
        assert _FINAL[op].reduce(exact).astype(type_) == after, where
        if ones:
            assert sorted(came.astype(np.float64) - float(before[place + 1])) == list(range(len(came))), where
    rest = [0, *range(PLACES + 1, PLACES + 3)]
    assert (memory[rest] == before[rest]).all(), f"{op} {dtype} wrote beside its elements, seed {SEED}"


@pytest.mark.parametrize("active", TARGETS, indirect=True)
@pytest.mark.usefixtures("active")
def test_of_the_language() -> None:
    for op, dtype in share(TABLE, 6):
        check(op, dtype, lambda *a, op=op: rmw[(PROGRAMS,)](*a, PLACES=PLACES, N=N, OP=op, num_warps=2))


@pytest.mark.parametrize("active", ["made-up"], indirect=True)
@pytest.mark.usefixtures("active")
def test_sums_of_floats_by_compare_and_swap() -> None:
    for dtype in FLOATS:
        check("add", dtype, lambda *a: rmw[(PROGRAMS,)](*a, PLACES=PLACES, N=N, OP="add", num_warps=2))


@pytest.mark.parametrize("active", ["made-up"], indirect=True)
@pytest.mark.usefixtures("active")
def test_parts_of_a_word_by_compare_and_swap() -> None:
    for op, dtype in share([(op, dtype) for op, dtype in TABLE if of(dtype).itemsize == 4], 6):
        check(op, dtype, lambda *a, op=op: rmw[(PROGRAMS,)](*a, PLACES=PLACES, N=N, OP=op, num_warps=2))


@pytest.mark.parametrize("active", [*TARGETS, "made-up"], indirect=True)
@pytest.mark.usefixtures("active")
def test_compare_and_swap() -> None:
    for dtype in share([*SWAPPED], 3):
        memory = np.full(PLACES + 3, 5, of(dtype))
        counted[(PROGRAMS,)](memory[1 : PLACES + 1], PLACES=PLACES, N=N, num_warps=2)
        expected = 5 + PROGRAMS * np.bincount(np.arange(N) % PLACES, minlength=PLACES)
        assert (memory[1 : PLACES + 1].astype(np.int64) == expected).all(), f"{dtype}, seed {SEED}"
        assert (memory[[0, -2, -1]].astype(np.int64) == 5).all(), f"{dtype} wrote beside its elements, seed {SEED}"
