"""What builtins do that is more than one op: run in the interpreter against NumPy."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx.language as tl
from tritonx import jit
from tritonx.backends.api import Options, Target
from tritonx.frontend.compile import make_module
from tritonx.interpreter.machine import interpret
from tritonx.interpreter.options import InterpreterOptions


def run(kernel: Any, types: list[str], *arguments: Any, options: Options | None = None, **constants: Any) -> None:
    names = kernel.arg_names
    signature = dict(zip(names, types, strict=False)) | dict.fromkeys(constants, "constexpr")
    values = {(names.index(k),): v for k, v in constants.items()}
    module = make_module(kernel, signature, values, {}, options or InterpreterOptions(), Target("cpu"))
    interpret(module, (1,), list(arguments))


# Block pointers.


@jit
def window(x, out, m, n, row, column, checked: tl.constexpr, padding: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x, (m, n), (n, 1), (0, 0), (M, N), (1, 0))
    source = tl.advance(source, (row, column))
    block = tl.load(source, boundary_check=checked, padding_option=padding)
    tl.store(tl.make_block_ptr(out, (M, N), (N, 1), (0, 0), (M, N), (1, 0)), block)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (4, 8), (8, 4), (-3, -5), (20, 0)])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_block_pointers_guard_their_bounds(row: int, column: int, padding: str) -> None:
    m, n = 10, 13
    x = np.random.default_rng(0).normal(size=(m, n)).astype(np.float32)
    out = np.zeros((8, 16), np.float32)
    run(window, ["*fp32", "*fp32", "i32", "i32", "i32", "i32"], x, out, m, n, row, column,
        checked=(0, 1), padding=padding, M=8, N=16)  # fmt: skip
    expected = np.full((8, 16), 0 if padding == "zero" else np.nan, np.float32)
    for i in range(8):
        for j in range(16):
            if 0 <= i + row < m and 0 <= j + column < n:
                expected[i, j] = x[i + row, j + column]
    np.testing.assert_array_equal(out, expected)


@jit
def clipped_store(out, m, n, M: tl.constexpr, N: tl.constexpr):
    target = tl.make_block_ptr(out, (m, n), (n, 1), (1, 2), (M, N), (1, 0))
    tl.store(target, tl.full([M, N], 1, tl.int32), boundary_check=(0, 1))
    target.advance((0, 0)).store(2, boundary_check=[0, 1])


def test_block_pointer_stores_are_clipped() -> None:
    out = np.zeros((3, 5), np.int32)
    run(clipped_store, ["*i32", "i32", "i32"], out, 3, 5, M=4, N=4)
    expected = np.zeros((3, 5), np.int32)
    expected[1:, 2:] = 2
    np.testing.assert_array_equal(out, expected)


# Floats of eight bits.


@jit
def convert(x, out, TO: tl.constexpr, rounding: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(TO, fp_downcast_rounding=rounding))


@jit
def through_e4b15(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(tl.float8e4b15).to(tl.float32))


def test_e4b15_is_a_short_fp16() -> None:
    """Four exponent bits with the bias of fp16: what is written is a multiple of 2^-17 up to 1.75, and a half goes away
    from zero."""
    every = np.delete(np.arange(256, dtype=np.uint16), (0x7F, 0xFF))  # 1.875 is read and never written
    held = (((every & 0x80) << 8) | ((every & 0x7F) << 7)).astype(np.uint16).view(np.float16).astype(np.float32)
    held = np.concatenate((held, [-1.75, 1.75])).astype(np.float32)
    out = np.zeros(256, np.float32)
    run(through_e4b15, ["*fp32", "*fp32"], held, out, N=256)
    np.testing.assert_array_equal(out, held)
    x = np.random.default_rng(1).uniform(-2.5, 2.5, 256).astype(np.float16).astype(np.float32)
    x[:4] = 1.0625, -1.1875, 2.0**-18, np.nan
    run(through_e4b15, ["*fp32", "*fp32"], x, out, N=256)
    np.testing.assert_array_equal(out[:4], np.array([1.125, -1.25, 2.0**-17, 1.75], np.float32))
    nearest = held[np.abs(x[4:, None].astype(np.float64) - held[None, :]).argmin(axis=1)]
    np.testing.assert_array_equal(np.abs(x[4:] - out[4:]), np.abs(x[4:] - nearest))


@pytest.mark.parametrize(
    ("name", "to", "numpy_dtype"),
    [("fp16", tl.float16, np.float16), ("bf16", tl.bfloat16, ml_dtypes.bfloat16)],
)
def test_conversions_round_to_even_or_toward_zero(name: str, to: tl.dtype, numpy_dtype: Any) -> None:
    x = np.random.default_rng(2).normal(size=256).astype(np.float32)
    nearest, toward = np.zeros(256, numpy_dtype), np.zeros(256, numpy_dtype)
    run(convert, ["*fp32", f"*{name}"], x, nearest, TO=to, rounding="rtne", N=256)
    run(convert, ["*fp32", f"*{name}"], x, toward, TO=to, rounding="rtz", N=256)
    np.testing.assert_array_equal(nearest, x.astype(numpy_dtype))
    assert (np.abs(toward.astype(np.float32)) <= np.abs(x)).all()
    assert (np.abs(nearest.astype(np.float32) - toward.astype(np.float32)) > 0).any()


# Atomics of floats.


@jit
def numbers(out, C: tl.constexpr, TO: tl.constexpr):
    tl.store(out, tl.full((), C, TO).to(tl.float32))
    tl.store(out + 1, tl.full((), C, tl.float32).to(TO).to(tl.float32))
    tl.store(out + 2, (tl.full((), 0, TO) + C).to(tl.float32))


@pytest.mark.parametrize("number", [1e9, -1e5, math.inf, -math.inf, 460.0, 470.0, 60000.0, 63000.0, 240.0, 0.3, -0.0])
@pytest.mark.parametrize(
    ("to", "numpy_dtype", "largest"),
    [(tl.float8e4nv, ml_dtypes.float8_e4m3fn, 448), (tl.float8e5, ml_dtypes.float8_e5m2, 57344),
     (tl.float8e4b8, ml_dtypes.float8_e4m3fnuz, 240), (tl.float8e5b16, ml_dtypes.float8_e5m2fnuz, 57344)],
)  # fmt: skip
def test_numbers_end_at_the_largest_of_8_bits(number: float, to: tl.dtype, numpy_dtype: Any, largest: int) -> None:
    out = np.zeros(3, np.float32)
    run(numbers, ["*fp32"], out, C=number, TO=to)
    expected = np.float32(np.clip(np.float32(number), -largest, largest).astype(numpy_dtype))
    assert np.array_equal(out, [expected] * 3)


@jit
def extremes(p, x, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.atomic_max(p + tl.zeros([N], tl.int32), v)
    tl.atomic_min(p + 1 + tl.zeros([N], tl.int32), v)


@pytest.mark.parametrize("start", [0.0, -0.0, 1e30, -1e30])
def test_float_atomics_order_zeros(start: float) -> None:
    for values in ([-0.0, 0.0], [-1.5, -2.5], [3.0, -4.0], [0.0, 0.0], [-0.0, -0.0]):
        memory = np.full(2, start, np.float32)
        run(extremes, ["*fp32", "*fp32"], memory, np.array(values, np.float32), N=2)
        key = lambda v: (v, -int(np.signbit(v)))  # noqa: E731
        assert [*map(key, memory)] == [max(map(key, [start, *values])), min(map(key, [start, *values]))]


# Overflow.


@jit
def arithmetic(x, out, OP: tl.constexpr):
    a, b = tl.load(x), tl.load(x + 1)
    if OP == "add":
        tl.store(out, a + b)
    elif OP == "sub":
        tl.store(out, a - b)
    elif OP == "mul":
        tl.store(out, a * b)
    else:
        tl.store(out, tl.add(a, b, sanitize_overflow=False))


@pytest.mark.parametrize(
    ("op", "pair", "overflows"),
    [
        ("add", (2**31 - 1, 1), True),
        ("add", (2**31 - 1, -1), False),
        ("sub", (-(2**31), 1), True),
        ("mul", (2**16, 2**15), True),
        ("mul", (2**16, -(2**15)), False),
        ("unchecked", (2**31 - 1, 1), False),
    ],
)
def test_debug_compiles_check_overflow(op: str, pair: tuple[int, int], overflows: bool) -> None:
    x, out = np.array(pair, np.int32), np.zeros(1, np.int32)
    run(arithmetic, ["*i32", "*i32"], x, out, OP=op)  # it wraps
    if not overflows:
        run(arithmetic, ["*i32", "*i32"], x, out, options=InterpreterOptions(debug=True), OP=op)
        return
    with pytest.raises(Exception, match=f"int32 overflow detected for operation {op}"):
        run(arithmetic, ["*i32", "*i32"], x, out, options=InterpreterOptions(debug=True), OP=op)


@jit
def divisions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(x + N + i)
    tl.store(out + i, a // b)
    tl.store(out + N + i, a % b)


def test_division_truncates() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-100, 100, 64, np.int32), rng.choice([-7, -2, -1, 1, 3, 9], 64).astype(np.int32)
    out = np.zeros(128, np.int32)
    run(divisions, ["*i32", "*i32"], np.concatenate([a, b]), out, N=64)
    quotient = np.trunc(a / b).astype(np.int32)
    np.testing.assert_array_equal(out, np.concatenate([quotient, a - quotient * b]))


# Functions mapped over elements, combine functions of several values.


@jit
def pair_function(a0, a1, b0, b1):
    if a0 > a1:
        return a0 - b1, a1 - b0, b0, b1
    else:
        return b0, b1, a0 + b1, a1 + b0


@jit
def mapped(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    first, second = tl.map_elementwise(pair_function, tl.load(x + i), tl.load(x + N + i), pack=2)
    tl.store(out + i, first)
    tl.store(out + N + i, second)


def test_map_elementwise_packs_neighbours() -> None:
    x = np.random.default_rng(4).integers(-50, 50, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    run(mapped, ["*i32", "*i32"], x, out, N=32)
    a, b = x[:32].reshape(-1, 2), x[32:].reshape(-1, 2)
    greater = (a[:, :1] > a[:, 1:]).repeat(2, axis=1)
    np.testing.assert_array_equal(out[:32], np.where(greater, a - b[:, ::-1], b).reshape(-1))
    np.testing.assert_array_equal(out[32:], np.where(greater, b, a + b[:, ::-1]).reshape(-1))


@jit
def welford(mean1, m2_1, n1, mean2, m2_2, n2):
    n = n1 + n2
    delta = mean2 - mean1
    share = n2 / n
    return mean1 + delta * share, m2_1 + m2_2 + delta * delta * n1 * share, n


@jit
def moments(x, out, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    mean, m2, count = tl.reduce((v, tl.zeros_like(v), tl.full([M, N], 1.0, tl.float64)), 1, welford)
    tl.store(out + tl.arange(0, M), mean)
    tl.store(out + M + tl.arange(0, M), m2 / count)


def test_reduce_of_three_values() -> None:
    x = np.random.default_rng(5).normal(3, 2, (8, 64))
    out = np.zeros(16)
    run(moments, ["*fp64", "*fp64"], x, out, M=8, N=64)
    np.testing.assert_allclose(out[:8], x.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(out[8:], x.var(axis=1), rtol=1e-12)


@jit
def linear_recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@jit
def recurrence(a, b, out, reverse: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, linear_recurrence, reverse)
    tl.store(out + i, h)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_of_two_values(reverse: bool) -> None:
    rng = np.random.default_rng(6)
    a, b, out = rng.uniform(0.5, 1.1, 64), rng.normal(size=64), np.zeros(64)
    run(recurrence, ["*fp64", "*fp64", "*fp64"], a, b, out, reverse=reverse, N=64)
    h, expected = 0.0, []
    for x, y in [*zip(a, b, strict=True)][:: -1 if reverse else 1]:
        h = h * x + y
        expected.append(h)
    np.testing.assert_allclose(out, expected[:: -1 if reverse else 1], rtol=1e-12)


# Memory.


@jit
def booleans(p, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(p + i, mask=i < N - 1, other=True)
    tl.store(out + i, ~v)


def test_booleans_are_bytes_in_memory() -> None:
    p = np.array([0, 1, 1, 0, 1, 0, 0, 0], np.bool_)
    out = np.zeros(8, np.bool_)
    run(booleans, ["*i1", "*i1"], p, out, N=8)
    np.testing.assert_array_equal(out, [True, False, False, True, False, True, True, False])


@jit
def unsigned_offsets(x, out, N: tl.constexpr):
    i = tl.arange(0, N).to(tl.uint8) + 200
    tl.store(out + tl.arange(0, N), tl.load(x + i))


def test_unsigned_offsets_are_not_negative() -> None:
    x, out = np.arange(256, dtype=np.int32), np.zeros(16, np.int32)
    run(unsigned_offsets, ["*i32", "*i32"], x, out, N=16)
    np.testing.assert_array_equal(out, np.arange(200, 216))
