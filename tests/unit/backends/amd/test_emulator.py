"""Code objects executed instruction by instruction, compared with the interpreter.

Run with ``TINYGRAD=<checkout of tinygrad>``; clang must be in the path. Sizes are small: the emulator runs some
thousand instructions of a wave a second."""

from __future__ import annotations

import os
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx as triton
import tritonx.language as tl
from tests.unit.backends.amd.shared_kernels import attention, flip
from tritonx.interpreter.ir_launch import launch
from tritonx.language.extra import libdevice

SEED = int(os.environ["TRITONX_SEED"])


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(out_ptr, in_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(in_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n_cols + cols, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, centred * rstd * w + b, mask=mask)


@triton.jit
def transpose(x_ptr, y_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :])
    tl.store(y_ptr + cols[:, None] * n_rows + rows[None, :], tl.trans(x))


@triton.jit
def reductions(x_ptr, sum_ptr, max_ptr, at_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :])
    out = cols if AXIS == 0 else rows
    tl.store(sum_ptr + out, tl.sum(x, axis=AXIS))
    tl.store(max_ptr + out, tl.max(x, axis=AXIS))
    tl.store(at_ptr + out, tl.argmin(x, axis=AXIS))


@triton.jit
def neighbours_added(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.atomic_add(y_ptr + at // 2, tl.load(x_ptr + at))


@triton.jit
def scan(x_ptr, y_ptr, N: tl.constexpr, REVERSE: tl.constexpr):
    cols = tl.arange(0, N)
    tl.store(y_ptr + cols, tl.cumsum(tl.load(x_ptr + cols), axis=0, reverse=REVERSE))


@triton.jit
def atomics(x_ptr, total_ptr, most_ptr, count_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(total_ptr + offsets % 4, x, mask=offsets < n)
    tl.atomic_max(most_ptr, tl.max(x, axis=0))
    tl.atomic_add(count_ptr, 1.5)
    tl.atomic_cas(lock_ptr, tl.num_programs(0), tl.program_id(0) + 100)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + cols[None, :])
    acc = tl.load(c_ptr + rows[:, None] * N + cols[None, :])
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], tl.dot(a, b, acc))


def check(
    emulator: Any, kernel: Any, grid: Any, *args: Any, rtol: float = 0.0, atol: float = 0.0, num_warps: int = 2,
    **kwargs: Any,
) -> None:  # fmt: skip
    """The kernel on the emulator and on the interpreter: every array within the tolerances."""
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    emulator(kernel, grid, *ours, kwargs=kwargs, num_warps=num_warps)
    launch(kernel, grid, *args, **kwargs)
    for i, (mine, expected) in enumerate(zip(ours, args, strict=True)):
        if isinstance(mine, np.ndarray):
            np.testing.assert_allclose(
                mine.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=atol, err_msg=f"argument {i}"
            )


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int8])
def test_add(emulator: Any, dtype: Any) -> None:
    x = (normal(1000) * 20).astype(dtype)
    check(emulator, add, (4,), x, x[::-1].copy(), np.zeros(1000, dtype), 1000, BLOCK=256)


@pytest.mark.parametrize("n, num_warps", [(1000, 4), (130, 1)])
def test_softmax(emulator: Any, n: int, num_warps: int) -> None:
    check(
        emulator, softmax, (2,), np.zeros((2, n), np.float32), normal(2, n), n, rtol=1e-5, atol=1e-9,
        num_warps=num_warps, BLOCK=1 << (n - 1).bit_length(),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_layer_norm(emulator: Any, dtype: Any) -> None:
    n = 500
    x, w, b = normal(2, n, dtype=dtype), normal(n, dtype=dtype), normal(n, dtype=dtype)
    tolerance = 2e-5 if dtype is np.float32 else 2e-3
    check(
        emulator, layer_norm, (2,), x, np.zeros_like(x), w, b, n, 1e-5, rtol=tolerance, atol=tolerance, BLOCK=512
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_transpose(emulator: Any, dtype: Any) -> None:
    x = (normal(64, 128) * 20).astype(dtype)
    check(emulator, transpose, (2, 2), x, np.zeros((128, 64), dtype), 64, 128, num_warps=4, BLOCK_M=32, BLOCK_N=64)


@triton.jit
def as_bfloats(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y_ptr + i, tl.load(x_ptr + i).to(tl.bfloat16))


@pytest.mark.parametrize("emulator", ["gfx950"], indirect=True)
def test_every_nan_of_f16_is_a_nan_of_bf16(emulator: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = x[np.isnan(x)]
    for first in range(0, len(x), 128):
        y = np.zeros(128, ml_dtypes.bfloat16)
        part = np.concatenate([x, x[:128]])[first : first + 128]
        emulator(as_bfloats, (1,), part, y, kwargs={"N": 128}, num_warps=1)
        assert np.isnan(y).all()


@triton.jit
def backwards(x_ptr, y_ptr, WIDTH: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y_ptr - i // WIDTH * (WIDTH + 1) - i % WIDTH, tl.load(x_ptr + i))


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("width", [2, 4, 16])
def test_neighbours_that_are_stored_together_lie_anywhere(emulator: Any, dtype: Any, width: int) -> None:
    """Two 16-bit stores, one behind the other, are one of 32 bits at an address that is none of its multiples."""
    n = 256
    x, y = np.arange(1, n + 1).astype(dtype), np.zeros(2 * n, dtype)
    at = 2 * n - 1 - np.arange(n) // width * (width + 1) - np.arange(n) % width
    emulator(backwards, (1,), x, y[-1:], kwargs={"WIDTH": width, "N": n}, num_warps=1)
    expected = np.zeros_like(y)
    expected[at] = x
    np.testing.assert_array_equal(y, expected)


@triton.jit
def rows_added(x_ptr, y_ptr, n, stride, M: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    pointers = x_ptr + rows * stride + cols
    for start in range(0, n, N):
        x = tl.load(pointers, mask=cols < n - start, other=3)
        tl.store(y_ptr + rows * stride + cols + start, x + 1, mask=(cols < n - start) & (rows != 2))
        pointers += N


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32])
@pytest.mark.parametrize("emulator", ["gfx942", "gfx950", "gfx1100", "gfx1201"], indirect=True)
@pytest.mark.parametrize("sign", [1, -1])
def test_buffers_on_both_sides_of_a_pointer(emulator: Any, dtype: Any, sign: int) -> None:
    """Of the stride nothing is known: offsets are of any sign, and masked lanes access nothing."""
    m, n = 8, 40
    x = np.random.default_rng(SEED).integers(-60, 60, (m, n)).astype(dtype)
    y = np.full((m + 2, n), 99, dtype)
    first = slice(0, 1) if sign > 0 else slice(m - 1, m)
    sizes = {"M": m, "N": 16}
    code = emulator(rows_added, (1,), x[first], y[1:-1][first], n, sign * n, kwargs=sizes, num_warps=1)
    expected = x + np.ones((), dtype)
    expected[2 if sign > 0 else m - 3] = 99
    np.testing.assert_array_equal(y[1:-1], expected)
    assert (y[[0, -1]] == 99).all()
    assert "buffer_load" in code and "buffer_store" in code and not re.search(r"\sglobal_(load|store)", code)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float16, np.int32])
@pytest.mark.parametrize("n, num_warps", [(64, 1), (128, 1), (256, 1), (256, 2)])
def test_flip(emulator: Any, dtype: Any, n: int, num_warps: int) -> None:
    x = np.arange(-n // 2, n // 2).astype(dtype)
    check(emulator, flip, (1,), x, np.zeros(n, dtype), num_warps=num_warps, N=n)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "shape, num_warps", [((8, 256), 1), ((64, 32), 4), ((128, 32), 1), ((128, 32), 16), ((4, 2048), 16)]
)
def test_reductions(emulator: Any, axis: int, shape: tuple[int, int], num_warps: int) -> None:
    m, n = shape
    x = np.random.default_rng(0).permutation(m * n).reshape(shape).astype(np.int32)
    outs = [np.zeros(n if axis == 0 else m, np.int32) for _ in range(3)]
    check(emulator, reductions, (1,), x, *outs, num_warps=num_warps, M=m, N=n, AXIS=axis)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("emulator", ["gfx942"], indirect=True)
def test_reductions_without_swaps_of_rows(emulator: Any, axis: int) -> None:
    test_reductions(emulator, axis, (8, 256), 1)
    test_reductions(emulator, axis, (64, 32), 4)


@triton.jit
def converted(x_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr):
    """A warp's tile is read by columns and written by rows."""
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + cols[None, :] * M + rows[:, None])
    tl.store(y_ptr + rows[:, None] * N + cols[None, :], x)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.int32, np.float64])
@pytest.mark.parametrize("m, n", [(8, 16), (16, 16), (4, 64), (64, 4), (32, 8)])
def test_conversions_in_a_warp(emulator: Any, dtype: Any, m: int, n: int) -> None:
    x = np.arange(m * n).reshape(n, m).astype(dtype)
    check(emulator, converted, (1,), x, np.zeros((m, n), dtype), num_warps=1, M=m, N=n)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n, num_warps", [(64, 1), (1024, 4)])
def test_scan(emulator: Any, reverse: bool, n: int, num_warps: int) -> None:
    x = np.random.default_rng(0).integers(-99, 99, n).astype(np.int32)
    check(emulator, scan, (1,), x, np.zeros(n, np.int32), num_warps=num_warps, N=n, REVERSE=reverse)


def test_atomics(emulator: Any) -> None:
    x = np.random.default_rng(0).integers(-99, 99, 200).astype(np.int32)
    arrays = [np.zeros(4, np.int32), np.full(1, -1000, np.int32), np.zeros(1, np.float32), np.full(1, 2, np.int32)]
    check(emulator, atomics, (2,), x, *arrays, 200, BLOCK=128)


def test_atomics_of_more_than_the_vector_registers(emulator: Any) -> None:
    """256 numbers a lane: those of CDNA come from accumulation registers, some of the address's number."""
    x = np.random.default_rng(0).integers(-99, 99, 128 * 128).astype(np.float32)
    check(emulator, neighbours_added, (1,), x, np.zeros(128 * 64, np.float32), num_warps=1, N=128)


@triton.jit
def exponentials(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.exp2(x))
    tl.store(z_ptr + i, libdevice.exp2(x))


@pytest.mark.parametrize("emulator", ["gfx942", "gfx950", "gfx1100", "gfx1201"], indirect=True)
def test_powers_of_two_that_are_subnormal_are_zero(emulator: Any) -> None:
    """Of `tl.exp2`, one instruction; `libdevice.exp2` has them."""
    x = np.random.default_rng(SEED).uniform(-152, 128, 512).astype(np.float32)
    x[:6] = -np.inf, np.inf, -126, -127, 0, 1e-40
    y, z = (np.full(512, np.nan, np.float32) for _ in range(2))
    code = emulator(exponentials, (1,), x, y, z, kwargs={"N": 512}, num_warps=1)
    exact = np.exp2(x.astype(np.float64))
    np.testing.assert_allclose(z, exact, rtol=2.0**-22, atol=2.0**-149)
    np.testing.assert_allclose(y, np.where(x < -126, 0, exact), rtol=2.0**-22)
    assert code.count("v_exp_f32") == 2 * 512 // (64 if emulator.arch.startswith("gfx9") else 32)
    assert code.count("v_ldexp_f32") + code.count("v_mul_f32") <= code.count("v_exp_f32")


def check_matmul(emulator: Any, dtype: Any, shape: tuple[int, int, int], num_warps: int, **options: Any) -> None:
    """Small whole numbers, whose products and sums every format holds."""
    m, n, k = shape
    integers = np.random.default_rng(1).integers(-8, 8, m * k + k * n)
    a, b = integers[: m * k].reshape(m, k).astype(dtype), integers[m * k :].reshape(k, n).astype(dtype)
    c = np.arange(m * n).reshape(m, n).astype({np.int8: np.int32, np.float64: np.float64}.get(dtype, np.float32))
    wide: Any = np.int64 if dtype is np.int8 else np.float64
    expected = c + a.astype(wide) @ b.astype(wide)
    emulator(matmul, (1,), a, b, c, kwargs={"M": m, "N": n, "K": k}, num_warps=num_warps, **options)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("emulator", ["gfx942"], indirect=True)
@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_results_that_are_larger_than_the_lds(emulator: Any, dtype: Any) -> None:
    """256 KiB, converted in rounds."""
    check_matmul(emulator, dtype, (256, 256, 32), 8)


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 16, 32), (16, 32, 64), (64, 64, 32)])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.float32])
def test_matmul(emulator: Any, dtype: Any, shape: tuple[int, int, int], num_warps: int) -> None:
    check_matmul(emulator, dtype, shape, num_warps)


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_a_matmul_in_groups_of_k(emulator: Any, dtype: Any) -> None:
    """Loads bring elements of K that are not neighbours, and on RDNA 3 so many that they are narrowed."""
    check_matmul(emulator, dtype, (64, 128, 64), 4)


@pytest.mark.parametrize("shape, num_warps", [((64, 32, 128), 2), ((64, 64, 128), 4)])
@pytest.mark.parametrize("emulator", ["gfx1100", "gfx1201"], indirect=True)
def test_a_matmul_by_a_loop_of_multiply_adds(emulator: Any, shape: tuple[int, int, int], num_warps: int) -> None:
    check_matmul(emulator, np.float32, shape, num_warps)


def test_a_matmul_of_more_than_all_registers(emulator: Any) -> None:
    """256 elements of the result in each thread."""
    check_matmul(emulator, np.float32, (128, 128, 32), 2)


@triton.jit
def walk(a_ptr, b_ptr, c_ptr, d_ptr, k, sa, sb, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tl.assume(sa >= 0)
    tl.assume(sb >= 0)
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a, b = a_ptr + rows[:, None] * sa + ks[None, :], b_ptr + ks[:, None] * sb + cols[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        x = tl.load(a, mask=ks[None, :] < k - start, other=0.0)
        y = tl.load(b, mask=ks[:, None] < k - start, other=0.0)
        acc = tl.dot(x, y, acc)
        a += K
        b += K * sb
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)
    tl.store(d_ptr + rows[:, None] * K + ks[None, :], tl.load(a - K, mask=ks[None, :] < K - 4, other=7.0))


def test_pointers_that_a_loop_moves(emulator: Any) -> None:
    """The scalar that they are made from is carried, also behind the loop, and masks leave out what lies beyond."""
    integers = np.random.default_rng(1).integers(-8, 8, 32 * 48 + 48 * 32).astype(np.float16)
    a, b = integers[: 32 * 48].reshape(32, 48), integers[32 * 48 :].reshape(48, 32)
    c, d = np.zeros((32, 32), np.float32), np.zeros((32, 16), np.float16)
    emulator(walk, (1,), a, b, c, d, 44, 48, 32, kwargs={"M": 32, "N": 32, "K": 16}, num_warps=2)
    np.testing.assert_array_equal(c, a[:, :44].astype(np.float32) @ b[:44].astype(np.float32))
    np.testing.assert_array_equal(d, np.where(np.arange(16) < 12, a[:, 32:], 7))


OCP = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
FNUZ = (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)
OTHERS = [
    *[("gfx942", t) for t in (np.float16, ml_dtypes.bfloat16, np.int8, np.float32, np.float64, *FNUZ)],
    *[("gfx950", t) for t in (np.float64, *OCP)],
    *[("gfx1201", t) for t in OCP],
]


@pytest.mark.parametrize("shape, num_warps", [((16, 16, 32), 1), ((64, 64, 32), 4)])
@pytest.mark.parametrize("emulator, dtype", OTHERS, indirect=["emulator"])
def test_matmul_of_other_types(emulator: Any, dtype: Any, shape: tuple[int, int, int], num_warps: int) -> None:
    check_matmul(emulator, dtype, shape, num_warps)


@triton.jit
def product_alone(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + cols[None, :])
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], tl.dot(a, b, input_precision=PRECISION))


def check_random_product(emulator: Any, a: Any, b: Any, precision: str | None, rtol: float, num_warps: int) -> str:
    """Beside float64; every element within ``rtol`` of the sum of its products' sizes."""
    c = np.full((a.shape[0], b.shape[1]), np.nan, np.float32)
    sizes = {"M": a.shape[0], "N": b.shape[1], "K": a.shape[1], "PRECISION": precision}
    code = emulator(product_alone, (1,), a, b, c, kwargs=sizes, num_warps=num_warps)
    x, y = a.astype(np.float64), b.astype(np.float64)
    assert (np.abs(c - x @ y) <= rtol * (np.abs(x) @ np.abs(y))).all()
    return code


@pytest.mark.parametrize("shape, num_warps", [((32, 32, 64), 1), ((16, 32, 128), 1), ((64, 64, 128), 4)])
@pytest.mark.parametrize("first", OCP)
@pytest.mark.parametrize("second", OCP)
@pytest.mark.parametrize("emulator", ["gfx950"], indirect=True)
def test_products_of_8_bit_floats(emulator: Any, first: Any, second: Any, shape: Any, num_warps: int) -> None:
    """By the instruction that is told the types of both operands."""
    (m, n, k), rng = shape, np.random.default_rng(SEED)
    a, b = rng.standard_normal((m, k)).astype(first), rng.standard_normal((k, n)).astype(second)
    code = check_random_product(emulator, a, b, None, 1e-6, num_warps)
    assert "_f8f6f4" in code and "v_mfma_scale" not in code


@pytest.mark.parametrize("shape, num_warps", [((32, 32, 32), 1), ((16, 16, 8), 1), ((64, 64, 64), 4)])
@pytest.mark.parametrize("precision", [None, "tf32", "tf32x3", "ieee"])
@pytest.mark.parametrize("emulator", ["gfx942"], indirect=True)
def test_products_of_19_bits(emulator: Any, precision: str | None, shape: Any, num_warps: int) -> None:
    (m, n, k), rng = shape, np.random.default_rng(SEED)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    if precision == "tf32x3":
        with pytest.raises(Exception, match="input_precision must be one of"):
            check_random_product(emulator, a, b, precision, 0.0, num_warps)
        return
    short = precision != "ieee"
    code = check_random_product(emulator, a, b, precision, 2.0**-9 if short else 1e-6, num_warps)
    assert ("_xf32" in code) == short


@pytest.mark.parametrize("head, block, num_warps", [(32, 32, 1), (32, 32, 4), (128, 64, 4)])
def test_attention(emulator: Any, head: int, block: int, num_warps: int) -> None:
    """Two products in a loop, whose operands are read from the LDS in slices; the second's comes from the first."""
    q, k, v = (np.random.default_rng(i).standard_normal((64, head)).astype(np.float16) for i in range(3))
    out, sizes = np.zeros_like(q), {"D": head, "BLOCK_M": 64, "BLOCK_N": block}
    emulator(attention, (1,), q, k, v, out, 64, kwargs=sizes, num_warps=num_warps)
    s = (q.astype(np.float64) @ k.astype(np.float64).T) * 0.125
    p = np.exp2(np.where(np.tril(np.ones((64, 64), bool)), s, -np.inf))
    np.testing.assert_allclose(out, p @ v.astype(np.float64) / p.sum(axis=1, keepdims=True), rtol=4e-3, atol=2e-3)


@pytest.mark.parametrize("options", [{"matrix_instr_nonkdim": 16}, {"matrix_instr_nonkdim": 32}, {"kpack": 2}], ids=str)
@pytest.mark.parametrize("dtype", [np.float16, np.int8])
@pytest.mark.parametrize("emulator", ["gfx942"], indirect=True)
def test_matmul_by_other_instructions(emulator: Any, dtype: Any, options: dict[str, Any]) -> None:
    check_matmul(emulator, dtype, (64, 32, 64), 4, **options)
