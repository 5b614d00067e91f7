"""Reductions, scans, shapes, products, memory and atomics of the language against NumPy, line by line and as IR."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx.language as tl
from tritonx.interpreter.combine import library_combine
from tritonx.interpreter.host import HostMemory
from tritonx.runtime.jit import jit

RNG = np.random.default_rng(12)


@jit
def reductions(x, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    i = tl.arange(0, R)
    tl.store(o + i, tl.sum(v, AXIS))
    tl.store(o + R + i, tl.max(v, AXIS))
    tl.store(o + 2 * R + i, tl.min(v, AXIS))
    tl.store(o + 3 * R + i, tl.argmax(v, AXIS))
    tl.store(o + 4 * R + i, tl.argmin(v, AXIS))
    best, where = tl.max(v, AXIS, return_indices=True)
    tl.store(o + 5 * R + i, best)
    tl.store(o + 6 * R + i, where)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64, np.float16])
def test_reductions(run: Any, axis: int, dtype: type) -> None:
    m, n = 8, 16
    x = RNG.integers(-20, 20, (m, n)).astype(dtype)
    r = n if axis == 0 else m
    o = np.zeros(7 * r, dtype)
    run(reductions, (1,), x, o, M=m, N=n, AXIS=axis, R=r)
    wanted = [x.sum(axis), x.max(axis), x.min(axis), x.argmax(axis), x.argmin(axis), x.max(axis), x.argmax(axis)]
    np.testing.assert_array_equal(o.reshape(7, r), np.array(wanted).astype(dtype))


@jit
def combine(a_mean, a_m2, a_n, b_mean, b_m2, b_n):
    n = a_n + b_n
    delta = b_mean - a_mean
    return a_mean + delta * b_n / n, a_m2 + b_m2 + delta * delta * a_n * b_n / n, n


@jit
def welford(x, o, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    mean, m2, n = tl.reduce((v, tl.zeros_like(v), tl.full((N,), 1.0, tl.float32)), 0, combine)
    tl.store(o, mean)
    tl.store(o + 1, m2 / n)
    tl.store(o + 2, n)


def test_reduction_of_a_tuple(run: Any) -> None:
    x, o = RNG.standard_normal(64).astype(np.float32), np.zeros(3, np.float32)
    run(welford, (1,), x, o, N=64)
    np.testing.assert_allclose(o, [x.mean(), x.var(), 64], rtol=1e-5)


@jit
def larger(a, b):
    if a > b:
        c = a
    else:
        c = b
    return c


@jit
def branching_reduction(x, o, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(o, tl.reduce(v, 0, larger))


def test_reduction_that_branches(run: Any) -> None:
    x, o = RNG.standard_normal(32).astype(np.float32), np.zeros(1, np.float32)
    run(branching_reduction, (1,), x, o, N=32)
    assert o[0] == x.max()


@jit
def linear_recurrence(a_gate, a_value, b_gate, b_value):
    return a_gate * b_gate, a_value * b_gate + b_value


@jit
def scans(x, g, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v, gate = tl.load(x + i), tl.load(g + i)
    tl.store(o + i, tl.cumsum(v, AXIS, reverse=REVERSE))
    tl.store(o + M * N + i, tl.cumprod(gate, AXIS, reverse=REVERSE))
    _, h = tl.associative_scan((gate, v), AXIS, linear_recurrence, reverse=REVERSE)
    tl.store(o + 2 * M * N + i, h)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(run: Any, axis: int, reverse: bool) -> None:
    m, n = 8, 16
    x, gate = RNG.standard_normal((m, n)).astype(np.float32), RNG.uniform(0.5, 1, (m, n)).astype(np.float32)
    o = np.zeros((3, m, n), np.float32)
    run(scans, (1,), x, gate, o, M=m, N=n, AXIS=axis, REVERSE=reverse)
    turn = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
    h, state = np.zeros_like(x), 0.0
    for index in range(x.shape[axis]):
        place = (slice(None),) * axis + (index,)
        state = state * turn(gate)[place] + turn(x)[place]
        h[place] = state
    wanted = [turn(np.cumsum(turn(x), axis)), turn(np.cumprod(turn(gate), axis)), turn(h)]
    np.testing.assert_allclose(o, np.array(wanted), rtol=1e-4, atol=1e-5)


@jit
def shapes(x, o, M: tl.constexpr, N: tl.constexpr):
    S: tl.constexpr = M * N
    flat = tl.arange(0, S)
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(o + flat, tl.reshape(tl.trans(v), (S,)))
    tl.store(o + S + flat, tl.ravel(tl.reshape(v, (N, M))))
    tl.store(o + 2 * S + flat, tl.ravel(tl.flip(v, 1)))
    a, b = tl.split(tl.reshape(v, (S // 2, 2)))
    tl.store(o + 3 * S + flat, tl.interleave(b, a))
    tl.store(o + 4 * S + flat, tl.ravel(tl.join(a, b)))
    tl.store(o + 5 * S + flat, tl.cat(a, b, can_reorder=True))
    tl.store(o + 6 * S + flat, tl.ravel(tl.permute(tl.reshape(v, (2, M // 2, N)), (2, 0, 1))))
    tl.store(o + 7 * S + flat, tl.ravel(tl.broadcast_to(tl.sum(v, 1, keep_dims=True), (M, N))))
    index = tl.broadcast_to((tl.arange(0, M)[:, None] * 3 + tl.arange(0, N)[None, :]) % M, (M, N))
    tl.store(o + 8 * S + flat, tl.ravel(tl.gather(v, index, 0)))
    tl.store(o + 9 * S + flat, tl.ravel(tl.sort(v, descending=True)))


def test_shapes(run: Any) -> None:
    m, n = 4, 8
    x = RNG.permutation(m * n).reshape(m, n).astype(np.int32)
    o = np.zeros((10, m * n), np.int32)
    run(shapes, (1,), x, o, M=m, N=n)
    pairs = x.reshape(-1, 2)
    rows = (np.arange(m)[:, None] * 3 + np.arange(n)[None, :]) % m
    wanted = [
        x.T, x, x[:, ::-1], pairs[:, ::-1], x, pairs.T, x.reshape(2, m // 2, n).transpose(2, 0, 1),
        np.broadcast_to(x.sum(1, keepdims=True), (m, n)), np.take_along_axis(x, rows, 0), -np.sort(-x, 1),
    ]  # fmt: skip
    for row, (got, want) in enumerate(zip(o, wanted, strict=True)):
        np.testing.assert_array_equal(got, want.reshape(-1), err_msg=str(row))


@jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j[None, :])
    z = tl.dot(x, y, input_precision=P)
    tl.store(c + i[:, None] * N + j[None, :], z)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, ml_dtypes.bfloat16, np.float64, ml_dtypes.float8_e5m2,
                                   ml_dtypes.float8_e4m3fn], ids=lambda t: np.dtype(t).name)  # fmt: skip
def test_products(run: Any, dtype: type) -> None:
    m, n, k = 16, 16, 32
    a, b = (RNG.integers(-4, 5, s).astype(dtype) for s in ((m, k), (k, n)))
    out = {np.int8: np.int32, np.float64: np.float64}.get(dtype, np.float32)
    c = np.zeros((m, n), out)
    run(product, (1,), a, b, c, M=m, N=n, K=k, P="ieee")
    np.testing.assert_array_equal(c, (a.astype(np.float64) @ b.astype(np.float64)).astype(out))


@pytest.mark.parametrize(("precision", "accuracy"), [("ieee", 1e-6), ("tf32", 3e-3), ("tf32x3", 2e-6), ("bf16x3", 1e-4),
                                                     ("bf16x6", 2e-6)])  # fmt: skip
def test_precisions_of_f32_products(run: Any, precision: str, accuracy: float) -> None:
    m, n, k = 16, 16, 64
    a, b = (RNG.uniform(0.5, 1, s).astype(np.float32) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    run(product, (1,), a, b, c, M=m, N=n, K=k, P=precision)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(c / exact - 1).max()
    assert error < accuracy
    if precision == "tf32":
        assert error > 1e-5, "the low bits were not dropped"


@jit
def batched(a, b, c, B: tl.constexpr, N: tl.constexpr):
    p, i, j = tl.arange(0, B)[:, None, None], tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    at = p * N * N + i * N + j
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), tl.load(c + at)))


def test_batched_product_with_accumulator(run: Any) -> None:
    a, b = (RNG.integers(-4, 5, (2, 16, 16)).astype(np.float16) for _ in range(2))
    c = RNG.integers(-4, 5, (2, 16, 16)).astype(np.float32)
    wanted = a.astype(np.float32) @ b.astype(np.float32) + c
    run(batched, (1,), a, b, c, B=2, N=16)
    np.testing.assert_array_equal(c, wanted)


@jit
def scaled(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FA: tl.constexpr, PA: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    ka, g = tl.arange(0, K // PA), tl.arange(0, K // 32)
    x = tl.load(a + i[:, None] * (K // PA) + ka[None, :])
    y = tl.load(b + k[:, None] * N + j[None, :])
    sx = tl.load(sa + i[:, None] * (K // 32) + g[None, :])
    sy = tl.load(sb + j[:, None] * (K // 32) + g[None, :])
    z = tl.dot_scaled(x, sx, FA, y, sy, "e4m3")
    tl.store(c + i[:, None] * N + j[None, :], z)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


@pytest.mark.parametrize("kind", ["e2m1", "e4m3"])
def test_scaled_products(run: Any, kind: str) -> None:
    m, n, k = 32, 16, 64
    b8 = RNG.integers(-8, 9, (k, n)).astype(ml_dtypes.float8_e4m3fn)
    sa, sb = (RNG.integers(124, 130, s).astype(np.uint8) for s in ((m, k // 32), (n, k // 32)))
    if kind == "e2m1":
        codes = RNG.integers(0, 16, (m, k), dtype=np.uint8)
        a, values, pack = codes[:, ::2] | codes[:, 1::2] << 4, E2M1[codes], 2
    else:
        a = RNG.integers(-8, 9, (m, k)).astype(ml_dtypes.float8_e4m3fn)
        values, pack = a.astype(np.float32), 1
    c = np.zeros((m, n), np.float32)
    run(scaled, (1,), np.ascontiguousarray(a), sa, b8, sb, c, M=m, N=n, K=k, FA=kind, PA=pack)
    left = values * np.exp2(sa.astype(np.float32) - 127).repeat(32, 1)
    right = b8.astype(np.float32) * np.exp2(sb.astype(np.float32) - 127).repeat(32, 1).T
    np.testing.assert_allclose(c, left @ right, rtol=1e-5, atol=1e-5)


@jit
def counting(x, mask, o, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    h = tl.histogram(tl.load(x + i), BINS, mask=tl.load(mask + i))
    tl.store(o + tl.arange(0, BINS), h)


def test_histogram(run: Any) -> None:
    x, mask, o = RNG.integers(0, 8, 64).astype(np.int32), RNG.integers(0, 2, 64).astype(bool), np.zeros(8, np.int32)
    run(counting, (1,), x, mask, o, N=64, BINS=8)
    np.testing.assert_array_equal(o, np.bincount(x[mask], minlength=8))


@jit
def block_pointers(x, o, M, N, B: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (N, 1), (0, 0), (B, B), (1, 0))
    q = tl.make_block_ptr(o, (M, N), (N, 1), (0, 0), (B, B), (1, 0))
    for _ in range(0, N, B):
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero") * 2, boundary_check=(0, 1))
        p, q = tl.advance(p, (0, B)), tl.advance(q, (0, B))


def test_block_pointers(run: Any) -> None:
    x = RNG.standard_normal((13, 37)).astype(np.float32)
    o = np.zeros_like(x)
    run(block_pointers, (1,), x, o, 13, 37, B=16)
    np.testing.assert_array_equal(o, x * 2)


@jit
def descriptors(x, o, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    e = tl.make_tensor_descriptor(o, [M, N], [N, 1], [B, B])
    i, j = tl.program_id(0) * B, tl.program_id(1) * B
    e.store([i, j], d.load([i, j]) + 1)
    e.atomic_add([i, j], d.load([i, j]))


def test_descriptors(run: Any) -> None:
    x = RNG.standard_normal((20, 36)).astype(np.float32)
    o = np.zeros_like(x)
    run(descriptors, (2, 3), x, o, 20, 36, B=16)
    np.testing.assert_array_equal(o, (x + 1) + x)


@jit
def atomics(counter, best, o, N: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    old = tl.atomic_add(counter + i % 4, i + pid)
    tl.atomic_max(best + i * 0, i * 1.5 - 3)
    tl.atomic_xchg(o + i, old, mask=i < 6)
    tl.atomic_cas(counter + 4, pid, pid + 1)


def test_atomics(run: Any) -> None:
    counter, best, o = np.zeros(5, np.int32), np.full(1, -9, np.float32), np.zeros(8, np.int32)
    run(atomics, (3,), counter, best, o, N=8)
    wanted = [sum(i + p for i in range(8) if i % 4 == slot for p in range(3)) for slot in range(4)]
    assert counter.tolist() == [*wanted, 3]
    assert best[0] == 7 * 1.5 - 3
    assert o[6:].tolist() == [0, 0]


@jit
def random_numbers(o, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.rand(seed, i))
    tl.store(o + N + i, tl.randn(seed, i))


def test_random_numbers(run: Any) -> None:
    o = np.zeros(2 * 1024, np.float32)
    run(random_numbers, (1,), o, 42, N=1024)
    uniform, normal = o[:1024], o[1024:]
    assert (uniform >= 0).all() and (uniform < 1).all() and abs(uniform.mean() - 0.5) < 0.03
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1


@jit
def picking(x, i, o, N: tl.constexpr):
    k = tl.arange(0, N)
    tl.store(o + k, tl.gather(tl.load(x + k), tl.load(i + k), 0))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16])
def test_gather_by_unsigned_indices(run: Any, dtype: Any) -> None:
    """Indices beyond what a signed integer of their width holds."""
    x, i, o = RNG.integers(0, 99, 256).astype(np.int32), RNG.permutation(256).astype(dtype), np.zeros(256, np.int32)
    run(picking, (1,), x, i, o, N=256)
    np.testing.assert_array_equal(o, x[i])


@jit
def swap_where_equal(p, old, N: tl.constexpr):
    i = tl.arange(0, N)
    element: tl.constexpr = p.dtype.element_ty
    tl.store(old + i, tl.atomic_cas(p + i, (i % 3).to(element), (i + 1).to(element)))


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16, np.int32, np.float32,
                                   np.int64, np.float64], ids=lambda d: np.dtype(d).name)  # fmt: skip
def test_compare_and_swap_of_each_width(run: Any, dtype: type) -> None:
    before = (np.arange(16) % 2).astype(dtype)
    p, old = before.copy(), np.full(16, 99).astype(dtype)
    run(swap_where_equal, (1,), p, old, N=16)
    i = np.arange(16)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(p, np.where(i % 2 == i % 3, i + 1, i % 2).astype(dtype))


@jit
def rows_of_a_descriptor(x, i, o, R, C, column, N: tl.constexpr, B: tl.constexpr):
    """Rows by number from a column on, then put back elsewhere; what lies outside reads as 0 and is not written."""
    source = tl.make_tensor_descriptor(x, [R, C], [C, 1], [1, B])
    target = tl.make_tensor_descriptor(o, [R, C], [C, 1], [1, B])
    rows = tl.load(i + tl.arange(0, N))
    target.scatter(source.gather(rows, column) + 1, R - 1 - rows, C - B - column)


@pytest.mark.parametrize("column", [0, 4, 13, -3])
def test_rows_of_a_descriptor(run: Any, column: int) -> None:
    rows, columns, n, b = 11, 20, 8, 8
    x, o = RNG.integers(1, 99, (rows, columns)).astype(np.int32), np.zeros((rows, columns), np.int32)
    i = np.array([3, 0, 10, -1, 7, 11, 5, 2], np.int32)
    run(rows_of_a_descriptor, (1,), x, i, o, rows, columns, column, N=n, B=b)
    wanted = np.zeros_like(o)
    for r in i:
        for k in range(b):
            inside = 0 <= r < rows and 0 <= column + k < columns
            to, at = rows - 1 - r, columns - b - column + k
            if 0 <= to < rows and 0 <= at < columns:
                wanted[to, at] = (x[r, column + k] if inside else 0) + 1
    np.testing.assert_array_equal(o, wanted)


@jit
def below_zero(o, N: tl.constexpr):
    i = tl.arange(-N, N)
    tl.store(o + N + i, i)


def test_a_range_may_begin_below_zero(run: Any) -> None:
    o = np.zeros(32, np.int32)
    run(below_zero, (1,), o, N=16)
    np.testing.assert_array_equal(o, np.arange(-16, 16))


class OnADevice:
    """An array that the host reaches by copies only, as `tritonx.empty` makes them for a GPU."""

    __tritonx_array__ = True

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype, self.shape = array, array.dtype, array.shape

    def numpy(self) -> np.ndarray:
        return self.array.copy()

    def copy_from(self, host: np.ndarray) -> OnADevice:
        self.array[:] = host
        return self


def test_an_array_on_a_device_is_copied_back() -> None:
    array = OnADevice(np.zeros(32, np.int32))
    memory = HostMemory()
    address = memory.address(array, "o")
    assert array.array.ctypes.data != address
    (ctypes.c_int32 * 32).from_address(address)[5] = 7
    assert not array.array.any()
    memory.write_back()
    assert array.array[5] == 7 and np.count_nonzero(array.array) == 1


@pytest.mark.parametrize(
    "name", ["_sum_combine", "_elementwise_max", "_elementwise_min", "_xor_combine", "_or_combine"]
)
@pytest.mark.parametrize("dtype", [tl.int32, tl.float32, tl.uint8, tl.float64])
def test_the_library_combines_whole_tiles(name: str, dtype: Any) -> None:
    """Not element by element: what is behind `tl.sum` and its like is compiled once for each type."""
    if dtype.is_floating() and name in ("_xor_combine", "_or_combine"):
        return
    assert library_combine(getattr(tl.standard, name), (dtype, dtype)) is not None
