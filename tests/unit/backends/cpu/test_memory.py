"""Loads, stores, atomics: every shape of address, masks, aliasing, element types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int16, np.int32, np.int64]
)
@pytest.mark.parametrize("n", [1, 63, 256, 1000])
def test_add(compare: Any, rng: np.random.Generator, dtype: Any, n: int) -> None:
    x, y = ((rng.standard_normal(n) * 40).astype(dtype) for _ in range(2))
    compare(add, (-(-n // 256),), x, y, np.zeros(n, dtype), n, BLOCK=256)


@tritonx.jit
def strided(x, out, stride, OFFSET: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + OFFSET + i * stride))


@pytest.mark.parametrize("stride", [1, 2, 0, -1, 3])
def test_strides(compare: Any, rng: np.random.Generator, stride: int) -> None:
    compare(
        strided, (1,), rng.standard_normal(400, dtype=np.float32), np.zeros(64, np.float32), stride, OFFSET=100, N=64
    )


@tritonx.jit
def reverse_in_place(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(x + N - 1 - i, v)


def test_reversal_in_place_loads_everything_first(compare: Any) -> None:
    out = compare(reverse_in_place, (1,), np.arange(128, dtype=np.float32), N=128)
    assert np.array_equal(out[0], np.arange(127, -1, -1))


@tritonx.jit
def transpose_in_place(x, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(x + j * N + i, tl.load(x + i * N + j))


def test_transposition_in_place(compare: Any) -> None:
    out = compare(transpose_in_place, (1,), np.arange(256, dtype=np.float32), N=16)
    assert np.array_equal(out[0].reshape(16, 16), np.arange(256).reshape(16, 16).T)


@tritonx.jit
def shift_by_one(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i + 1, tl.load(x + i))


def test_overlapping_shift(compare: Any) -> None:
    compare(shift_by_one, (1,), np.arange(65, dtype=np.float32), N=64)


@tritonx.jit
def along(x, y, at, to, s, t, S: tl.constexpr, T: tl.constexpr, N: tl.constexpr):
    """Steps are constants where S and T are, else arguments."""
    i = tl.arange(0, N)
    tl.store(y + to + i * (t if T is None else T), tl.load(x + at + i * (s if S is None else S)))


@pytest.mark.parametrize("known", ["both", "where it reads", "where it writes"])
@pytest.mark.parametrize(("s", "t"), [(1, -1), (-1, 1), (1, 2), (2, 1), (3, -2), (1, 0)])
def test_two_arguments_that_are_one_array(s: int, t: int, known: str) -> None:
    """All is read before anything is written, whatever the steps are."""
    n = 128
    x = np.arange(6 * n, dtype=np.int32)
    at, to = (0 if step >= 0 else (n - 1) * -step for step in (s, t))
    read, write = at + np.arange(n) * s, to + np.arange(n) * t
    expected = x.copy()
    expected[write] = expected[read]
    steps = {"S": None if known == "where it writes" else s, "T": None if known == "where it reads" else t}
    along[(1,)](x, x, at, to, s, t, **steps, N=n)
    if t:
        assert np.array_equal(x, expected)
    else:
        assert x[0] in read and np.array_equal(x[1:], np.arange(1, 6 * n))


@tritonx.jit
def two_stores(x, a, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(x + i, v * 2)
    w = tl.load(x + N - 1 - i)
    tl.store(a + i, v + w)
    tl.store(a + N - 1 - i, w)


def test_order_of_stores_and_loads(compare: Any, rng: np.random.Generator) -> None:
    compare(two_stores, (1,), rng.standard_normal(64, dtype=np.float32), np.zeros(64, np.float32), N=64)


@tritonx.jit
def gather_rows(table, index, out, n_rows, N: tl.constexpr, D: tl.constexpr):
    i, d = tl.arange(0, N), tl.arange(0, D)
    row = tl.load(index + i)
    ok = (row >= 0) & (row < n_rows)
    tl.store(
        out + i[:, None] * D + d[None, :], tl.load(table + row[:, None] * D + d[None, :], mask=ok[:, None], other=-1.0)
    )


def test_gather_with_garbage_indices(compare: Any, rng: np.random.Generator) -> None:
    index = rng.integers(-(2**31), 2**31 - 1, 32).astype(np.int32)
    index[::2] = rng.integers(0, 10, 16)
    compare(
        gather_rows,
        (1,),
        rng.standard_normal((10, 16), dtype=np.float32),
        index,
        np.zeros((32, 16), np.float32),
        10,
        N=32,
        D=16,
    )


@tritonx.jit
def scatter(x, index, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.load(index + i), tl.load(x + i), mask=i % 3 != 0)


def test_scatter(compare: Any, rng: np.random.Generator) -> None:
    index = rng.permutation(128).astype(np.int64)
    compare(scatter, (1,), rng.standard_normal(128, dtype=np.float32), index, np.zeros(128, np.float32), N=128)


@tritonx.jit
def masks(x, flags, out, N: tl.constexpr):
    i = tl.arange(0, N)
    keep = tl.load(flags + i)
    tl.store(out + i, tl.load(x + i, mask=keep, other=7.0))
    tl.store(flags + i, ~keep)


def test_bool_arrays(compare: Any, rng: np.random.Generator) -> None:
    compare(
        masks,
        (1,),
        rng.standard_normal(64, dtype=np.float32),
        rng.integers(0, 2, 64).astype(bool),
        np.zeros(64, np.float32),
        N=64,
    )


@tritonx.jit
def scalars(x, out, n):
    total = 0.0
    for i in range(n):
        if tl.load(x + i) > 0:
            total += tl.load(x + i)
    tl.store(out, total)


def test_scalar_accesses(compare: Any, rng: np.random.Generator) -> None:
    compare(scalars, (1,), rng.standard_normal(33, dtype=np.float32), np.zeros(1, np.float32), 33)


@tritonx.jit
def atomics(counts, values, x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    old = tl.atomic_add(counts + v % 8, v, mask=v > 3)
    tl.store(out + i, tl.where(v > 3, old, -1))
    tl.atomic_max(counts + 8 + v % 8, v)
    tl.atomic_min(counts + 16 + v % 8, -v)
    tl.atomic_or(counts + 24 + v % 8, v)
    tl.atomic_and(counts + 32 + v % 8, v)
    tl.atomic_xor(counts + 40 + v % 8, v)
    tl.atomic_xchg(counts + 48 + v % 8, v)
    tl.atomic_add(values + v % 8, v.to(tl.float32))
    tl.atomic_max(values + 8 + v % 8, v.to(tl.float32) - 10)
    tl.atomic_cas(counts + 56 + v % 8, i % 4, i)
    tl.atomic_add(counts + 64, 1)


def test_atomics(compare: Any, rng: np.random.Generator) -> None:
    x = rng.integers(0, 40, 64).astype(np.int32)
    compare(atomics, (1,), np.zeros(65, np.int32), np.zeros(16, np.float32), x, np.zeros(64, np.int32), N=64)


@tritonx.jit
def atomic_narrow(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(out + i % 4, tl.load(x + i))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_atomic_add_of_other_floats(compare: Any, rng: np.random.Generator, dtype: Any) -> None:
    compare(atomic_narrow, (1,), rng.standard_normal(32).astype(dtype), np.zeros(4, dtype), N=32)


@tritonx.jit
def count_all(out, BLOCK: tl.constexpr):
    tl.atomic_add(out + tl.arange(0, BLOCK), 1)


def test_atomics_of_many_threads() -> None:
    out = np.zeros(64, np.int32)
    count_all[(5000,)](out, BLOCK=64, num_threads=4)
    assert np.all(out == 5000)


@tritonx.jit
def block_pointers(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, N, BN):
        total += tl.load(p, boundary_check=(0, 1), padding_option="zero")
        p = tl.advance(p, (0, BN))
    q = tl.make_block_ptr(out, (BM, BN), (BN, 1), (0, 0), (BM, BN), (1, 0))
    tl.store(q, total)


def test_block_pointers(compare: Any, rng: np.random.Generator) -> None:
    compare(
        block_pointers,
        (1,),
        rng.standard_normal((13, 50), dtype=np.float32),
        np.zeros((16, 16), np.float32),
        13,
        50,
        BM=16,
        BN=16,
    )


@tritonx.jit
def descriptors(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    o = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    o.store([i, j], d.load([i, j]) * 2 + d.load([i - 3, j + 2]))


def test_descriptors(compare: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal((20, 24), dtype=np.float32)
    compare(descriptors, (3, 2), x, np.zeros((20, 24), np.float32), 20, 24, BM=8, BN=16)


@tritonx.jit
def pointers_to_pointers(table, out, N: tl.constexpr):
    i = tl.arange(0, N)
    p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0) * N + i, tl.load(p + i))


def test_pointers_in_memory(rng: np.random.Generator) -> None:
    rows = [rng.standard_normal(32, dtype=np.float32) for _ in range(3)]
    table = np.array([r.ctypes.data for r in rows], np.int64)
    out = np.zeros((3, 32), np.float32)
    pointers_to_pointers[(3,)](table, out, N=32)
    assert np.array_equal(out, np.stack(rows))


@tritonx.jit
def reductions_of_blocks(d, p, x, N: tl.constexpr):
    o = tl.make_tensor_descriptor(p, [6 * N], [1], [N])
    v = tl.load(x + tl.arange(0, N))
    for each in tl.static_range(2):
        into = d if each == 0 else o
        into.atomic_min([0], v)
        into.atomic_max([N], v)
        into.atomic_and([2 * N], v)
        into.atomic_or([3 * N], v)
        into.atomic_xor([4 * N], v)
    if p.dtype.element_ty != tl.int64:
        d.atomic_add([5 * N], v)
        o.atomic_add([5 * N], v)


@tritonx.jit
def ordered_blocks(p, x, N: tl.constexpr, BLOCK: tl.constexpr):
    """Blocks of all numbers, the second half the same again, with one of ``x`` for each program."""
    value = tl.broadcast_to(tl.load(x + tl.program_id(0)), [BLOCK])
    o = tl.make_tensor_descriptor(p + tl.program_id(0) * 2 * N, [2 * N], [1], [BLOCK])
    for start in range(0, N, BLOCK):
        o.atomic_max([start], value)
        o.atomic_min([N + start], value)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_ordered(dtype: Any) -> None:
    """Every number with infinities, zeros, the least ones and NaNs: a number wins over a NaN, -0.0 is less than 0.0,
    and what stays does bit by bit."""
    limits = ml_dtypes.finfo(dtype)
    given = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, float(limits.max), float(limits.smallest_subnormal)]
    x = np.array(given).astype(dtype)
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    found = np.tile(every, (len(x), 2))
    ordered_blocks[(len(x),)](found, x, N=1 << 16, BLOCK=1 << 10)
    with np.errstate(all="ignore"):
        old, value = every.astype(np.float64), x.astype(np.float64)[:, None]
    signs = np.signbit(old).astype(int) - np.signbit(value)
    both_zero = (old == 0) & (value == 0)
    for part, beyond in ((0, value > old), (1, value < old)):
        zeros = both_zero & (signs == (1 if part == 0 else -1))
        replaced = (beyond | zeros | np.isnan(old)) & ~np.isnan(value)
        expected = np.where(replaced, x.view(np.uint16)[:, None], every.view(np.uint16))
        got = found.view(np.uint16).reshape(len(x), 2, 1 << 16)[:, part]
        np.testing.assert_array_equal(got, expected, err_msg=("max", "min")[part])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_blocks_are_combined_by_the_sign_of_their_type(dtype: Any, rng: np.random.Generator) -> None:
    """Through descriptors of the launch and of the kernel."""
    n, limits = 16, np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
    old = rng.integers(limits.min, limits.max, 6 * n, dtype, endpoint=True)
    parts = old.reshape(6, n)
    total = parts[5] if dtype is np.int64 else parts[5] + x
    expected = [np.minimum(parts[0], x), np.maximum(parts[1], x), parts[2] & x, parts[3] | x, parts[4] ^ x, total]
    mine, launched = old.copy(), old.copy()
    reductions_of_blocks[(1,)](TensorDescriptor(launched, [6 * n], [1], [n]), mine, x, N=n)
    for found in (mine, launched):
        np.testing.assert_array_equal(found.reshape(6, n), np.stack(expected))
