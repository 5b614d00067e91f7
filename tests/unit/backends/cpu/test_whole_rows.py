"""Loops whose masks are all true up to some element (`prefixes.py`), and stores past the caches (`streaming.py`)."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.conversion.tile_to_loops.streaming import TRAFFIC

CANARY = -7.0


@tritonx.jit
def one_sided(out, n, start, B: tl.constexpr, WIDE: tl.constexpr):
    i = tl.arange(0, B)
    if WIDE:
        tl.store(out + i, 1.0, mask=(start.to(tl.int64) + i) < n)
    else:
        tl.store(out + i, 1.0, mask=(start + i) < n)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("n", "start"),
    [
        *((5, 0), (64, 0), (1 << 20, 0), (0, 0), (-3, 0), (40, 17), (40, 50), (-2147483600, -2147483648), (20, -30)),
        *((2147483644, 2147483640), (2147483647, 2147483600), (2147483647, 2147483647), (-5, 2147483640)),
    ],
)
def test_a_mask_that_wraps_is_what_it_was(n: int, start: int, wide: bool) -> None:
    out = np.full(96, CANARY, np.float32)
    one_sided[(1,)](out, n, start, B=64, WIDE=wide)
    i = np.arange(64, dtype=np.int64) + start
    mask = (i if wide else i.astype(np.int32)) < n
    np.testing.assert_array_equal(out[:64], np.where(mask, 1.0, CANARY))
    np.testing.assert_array_equal(out[64:], CANARY)


@tritonx.jit
def two_sided(x, out, low, high, M, N, step, B: tl.constexpr, C: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, C)[None, :]
    at = i * C + j
    flag = low < high
    if KIND == 0:
        mask = (i < M) & (j < N)
    elif KIND == 1:
        mask = (j >= low) & (j <= high) & (M > i)
    elif KIND == 2:
        mask = i + low >= j
    elif KIND == 3:
        mask = (3 * j + 2 * i - low < high) & flag
    elif KIND == 4:
        mask = (N > j) & (i - M != 0)
    else:
        mask = (C - 1 - j < N) & ((j * step) < high)
    v = tl.load(x + at, mask=mask, other=-2.0)
    tl.store(out + at, v * 2, mask=mask)
    tl.store(out + B * C + i * 1 + tl.zeros((B, C), tl.int32), tl.sum(v, axis=1)[:, None], mask=j < 1)
    tl.store(out + B * C + B + j + tl.zeros((B, C), tl.int32), tl.max(v, axis=0)[None, :], mask=i < 1)


def _mask(
    kind: int, i: np.ndarray, j: np.ndarray, low: int, high: int, m: int, n: int, step: int, c: int
) -> np.ndarray:
    return {
        0: lambda: (i < m) & (j < n),
        1: lambda: (j >= low) & (j <= high) & (m > i),
        2: lambda: i + low >= j,
        3: lambda: (3 * j + 2 * i - low < high) & (low < high),
        4: lambda: (n > j) & (i - m != 0),
        5: lambda: (c - 1 - j < n) & (j * step < high) & (i >= 0),
    }[kind]()


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("shape", [(4, 256), (16, 32), (2, 512)])
def test_masks_of_two_dimensions(kind: int, shape: tuple[int, int], rng: np.random.Generator) -> None:
    b, c = shape
    i, j = np.arange(b)[:, None], np.arange(c)[None, :]
    for _ in range(6):
        low, high = (int(v) for v in rng.integers(-5, 2 * c, 2))
        m, n = int(rng.integers(-1, b + 2)), int(rng.integers(-1, c + 20))
        step = int(rng.integers(-2, 4))
        x = rng.integers(-50, 50, shape).astype(np.float32)
        out = np.full(b * c + b + c + 16, CANARY, np.float32)
        two_sided[(1,)](x, out, low, high, m, n, step, B=b, C=c, KIND=kind)
        mask = _mask(kind, i, j, low, high, m, n, step, c)
        v = np.where(mask, x, -2).astype(np.float32)
        np.testing.assert_array_equal(out[: b * c].reshape(shape), np.where(mask, 2 * x, CANARY))
        np.testing.assert_array_equal(out[b * c : b * c + b], v.sum(1))
        np.testing.assert_array_equal(out[b * c + b : b * c + b + c], v.max(0))
        np.testing.assert_array_equal(out[b * c + b + c :], CANARY)


@tritonx.jit
def carried(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for _ in range(0, n, B):
        v = tl.load(x + i, mask=i < n, other=1.0)
        total += v
        tl.store(out + i, v + 1, mask=i < n)
        i += B
    tl.store(out + n + tl.arange(0, B), total)


@pytest.mark.parametrize("n", [1, 127, 128, 129, 1000])
def test_offsets_that_a_loop_carries(n: int, rng: np.random.Generator) -> None:
    x = rng.integers(-9, 9, n).astype(np.float32)
    out = np.full(n + 144, CANARY, np.float32)
    carried[(1,)](x, out, n, B=128)
    padded = np.concatenate([x, np.ones(-n % 128, np.float32)]).reshape(-1, 128)
    np.testing.assert_array_equal(out[:n], x + 1)
    np.testing.assert_array_equal(out[n : n + 128], padded.sum(0))
    np.testing.assert_array_equal(out[n + 128 :], CANARY)


@tritonx.jit
def turned(out, M, N, S: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, S)[:, None]
    j = tl.arange(0, S)[None, :]
    mask = tl.broadcast_to(j < N, (S, S)) if KIND == 2 else (i < M) & (j < N)
    if KIND == 0:
        value = tl.trans(mask).to(tl.int32)
    else:
        value = tl.where(tl.trans(mask), 1, 2)
    tl.store(out + i * S + j, value, mask=mask)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize(("m", "n"), [(40, 20), (20, 40), (64, 50), (3, 64)])
def test_a_mask_that_is_a_value_elsewhere(m: int, n: int, kind: int) -> None:
    """Where the store's mask is true, its transpose need not be."""
    i, j = np.arange(64)[:, None], np.arange(64)[None, :]
    mask = (j < n) & (i >= 0) if kind == 2 else (i < m) & (j < n)
    out = np.full((64, 64), int(CANARY), np.int32)
    turned[(1,)](out, m, n, S=64, KIND=kind)
    value = mask.T.astype(np.int32) if kind == 0 else np.where(mask.T, 1, 2)
    np.testing.assert_array_equal(out, np.where(mask, value, int(CANARY)))


# ---- large launches


@tritonx.jit
def rows(x, out, more, stride, n, B: tl.constexpr, TWO: tl.constexpr, WHOLE: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    mask = None if WHOLE else c < n
    v = tl.load(x + row * stride + c, mask=mask)
    tl.store(out + row * stride + c, v + v, mask=mask)
    if TWO:
        tl.store(more + row * stride + c, (v * 3).to(more.dtype.element_ty), mask=mask)


def _at(count: int, dtype: type, offset: int, fill: np.ndarray | float) -> np.ndarray:
    """An array whose first element lies `offset` elements behind a cache line's begin, between canaries."""
    whole = np.full(count + 128, CANARY, dtype)
    first = (-whole.ctypes.data // whole.itemsize) % (64 // whole.itemsize) + offset + 16
    view = whole[first : first + count]
    view[:] = fill
    return view


def _check_rows(offsets: tuple[int, int, int], n: int, block: int, dtype: type, two: bool, inplace: bool) -> None:
    count = -(-TRAFFIC // (block * 4))  # programs that make a launch large
    whole = n == block
    source = np.random.default_rng(n).integers(-99, 99, count * n)
    x = _at(count * n, np.float32, offsets[0], source)
    out = x if inplace else _at(count * n, np.float32, offsets[1], 0)
    more = _at(count * n, dtype, offsets[2], 0)
    rows[(count,)](x, out, more, n, n, B=block, TWO=two, WHOLE=whole)
    np.testing.assert_array_equal(out, 2 * source)
    np.testing.assert_array_equal(more, (3 * source).astype(dtype) if two else 0)
    for view in (out, more):
        assert view.base is not None
        np.testing.assert_array_equal(view.base[-16:], CANARY)
        np.testing.assert_array_equal(view.base[:16], CANARY)


@pytest.mark.parametrize(("offset", "n"), [(0, 1000), (4, 1024), (3, 1003), (15, 513), (1, 40), (7, 8)])
def test_large_launches_write_what_small_ones_do(offset: int, n: int) -> None:
    block = max(16, tritonx.next_power_of_2(n))
    _check_rows((offset, offset, offset), n, block, np.float32, two=False, inplace=False)


def test_two_stores_whose_lines_differ() -> None:
    _check_rows((0, 4, 4), 1000, 1024, np.float32, two=True, inplace=False)
    _check_rows((0, 4, 9), 1000, 1024, np.float32, two=True, inplace=False)
    _check_rows((0, 4, 4), 1000, 1024, np.float16, two=True, inplace=False)


def test_a_large_launch_in_place() -> None:
    _check_rows((5, 5, 0), 999, 1024, np.float32, two=False, inplace=True)


def test_other_vectors_stream_the_same() -> None:
    """With vectors of AVX2, in a process of its own: what the host is, is asked once."""
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_whole_rows as t\n"
    code += "t.test_large_launches_write_what_small_ones_do(3, 1003); t.test_two_stores_whose_lines_differ()"
    env = {**os.environ, "TRITONX_CPU_ISA": "x86-64-v3"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


# ---- the code


@tritonx.jit
def doubled(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@tritonx.jit
def signalled(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
    tl.atomic_add(out, 1.0)


def _code(kernel: tritonx.JITFunction, *arguments: object, **options: int) -> str:
    return str(kernel.warmup(*arguments, **options, grid=(1,)).asm["llir"])


def test_the_loop_of_true_masks_has_none() -> None:
    text = _code(rows, *[np.zeros(8, np.float32)] * 3, 8, 8, B=1024, TWO=False, WHOLE=False)
    inside = text[text.index("\nwhole") : text.index("\nrest")]
    assert "store <" in inside and "masked" not in inside


def test_what_streams() -> None:
    x = np.zeros(8, np.float32)
    assert "!nontemporal" in _code(rows, x, x, x, 8, 8, B=1024, TWO=True, WHOLE=True)
    assert "@llvm.x86.sse.sfence()" in _code(rows, x, x, x, 8, 8, B=1024, TWO=True, WHOLE=True)
    for other in (_code(doubled, x, 8, B=1024), _code(signalled, x, x, 8, B=1024)):
        assert "!nontemporal" not in other and "sfence" not in other
