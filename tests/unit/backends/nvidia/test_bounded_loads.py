"""Loads through pointers whose blocks begin at 0 or above as the launch finds out: by tensor maps where they do in all
programs of its grid, and by pointers elsewhere. What lies in front of a tensor are numbers, not the zeros of a map."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.passes.describe_loads import DescribeLoads
from tritonx.dialects import tile
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.pipeline import pass_context
from tritonx.transforms.tile.pipeline import TILE_PIPELINE
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
FRONT = 64
"""Rows and columns of numbers in front of each tensor."""


def whole(rows: int, columns: int) -> Any:
    """Numbers around a tensor of that size; sums of their products are exact."""
    rng = np.random.default_rng(SEED + rows)
    return rng.integers(-3, 4, (rows + 2 * FRONT, -(-columns // 16) * 16 + 2 * FRONT)).astype(np.float16)


def by_the_copy_engine(kernel: Any, args: tuple[Any, ...], grid: Any, **constants: Any) -> bool:
    """Launches, and says what brought the blocks."""
    text = PtxDevice("90", SEED).launch(kernel, args, constants, grid, {})
    found = "cp.async.bulk.tensor" in text
    assert not (found and "cp.async.c" in text), "all of them, or none"
    return found


def product_of(a: Any, b: Any) -> Any:
    return a.astype(np.float32) @ b.astype(np.float32)


@tritonx.jit
def inside(ptr, stride, FRONT: tl.constexpr):
    """The first element of a tensor, by an address of which no stride is a factor."""
    address = ptr.to(tl.int64) + (FRONT * stride + FRONT) * 2
    return tl.multiple_of(address.to(tl.pointer_type(tl.float16)), 16)


@tritonx.jit
def grouped_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c, FRONT: tl.constexpr, GROUP: tl.constexpr,
    HOW: tl.constexpr,
):  # fmt: skip
    """The tutorial's order of tiles without its assumptions. Programs without a tile store nothing."""
    a_ptr = inside(a_ptr, stride_a, FRONT)
    b_ptr = inside(b_ptr, stride_b, FRONT)
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, 16), tl.cdiv(N, 16)
    in_group = GROUP * tiles_n
    first = pid // in_group * GROUP
    rows = min(tiles_m - first, GROUP)
    pid_m = first + pid % in_group % rows
    pid_n = pid % in_group // rows
    offs_m, offs_n = pid_m * 16 + tl.arange(0, 16), pid_n * 16 + tl.arange(0, 16)
    at_m, at_n, offs_k = offs_m, offs_n, tl.arange(0, 16)
    if HOW == "remainder":
        at_m, at_n = offs_m % M, offs_n % N
    if HOW == "reshape":
        at_m = tl.reshape(tl.reshape(offs_m, (16, 1)), (1, 16, 1)).reshape(16)
    a_ptrs = a_ptr + at_m[:, None] * stride_a + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_b + at_n[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for k in range(tl.cdiv(K, 16)):
        a_mask, b_mask = offs_k[None, :] < K - k * 16, offs_k[:, None] < K - k * 16
        if HOW != "remainder":
            a_mask = a_mask & (offs_m[:, None] < M)
            b_mask = b_mask & (offs_n[None, :] < N)
        total = tl.dot(tl.load(a_ptrs, mask=a_mask, other=0.0), tl.load(b_ptrs, mask=b_mask, other=0.0), total)
        a_ptrs += 16
        b_ptrs += 16 * stride_b
    stored = (offs_m[:, None] < M) & (offs_n[None, :] < N) & (pid < tiles_m * tiles_n)
    tl.store(c_ptr + offs_m[:, None] * stride_c + offs_n[None, :], total, mask=stored)


@pytest.mark.parametrize("how", ["remainder", "mask", "reshape"])
@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("surplus", [0, 1, 5])
def test_tiles_in_groups(how: str, draw: int, surplus: int) -> None:
    """With one program a tile all begin at 0 or above; with more, some groups have no rows or less."""
    random = Random(f"grouped {SEED} {draw}")
    m, n, k = random.choice((2, 16, 40, 70)), random.choice((5, 16, 37)), random.choice((0, 7, 16, 40))
    a, b, c = whole(m, k), whole(k, n), np.full((m, n), 9.0, np.float32)
    tiles = -(-m // 16) * -(-n // 16)
    args = a, b, c, m, n, k, a.shape[1], b.shape[1], n
    constants = {"FRONT": FRONT, "GROUP": random.choice((1, 2, 3)), "HOW": how}
    found = by_the_copy_engine(grouped_kernel, args, tiles + surplus, **constants)
    inside = slice(FRONT, FRONT + k)
    np.testing.assert_array_equal(c, product_of(a[FRONT : FRONT + m, inside], b[inside, FRONT : FRONT + n]))
    assert found or surplus


@tritonx.jit
def heads_kernel(
    q_ptr, k_ptr, o_ptr, H, stride_qz, stride_qh, stride_qm, stride_kz, stride_kh, stride_kn, stride_oz, steps,
    FRONT: tl.constexpr, SHARED: tl.constexpr,
):  # fmt: skip
    """Of each batch and head Q·Kᵀ, summed over blocks of K; `SHARED` heads have one of K."""
    q_ptr = inside(q_ptr, stride_qm, FRONT)
    k_ptr = inside(k_ptr, stride_kn, FRONT)
    both = tl.program_id(0)
    z, h = both // H, both % H
    rows, d = tl.arange(0, 16), tl.arange(0, 16)
    k_ptrs = k_ptr + z * stride_kz + h // SHARED * stride_kh + rows[None, :] * stride_kn + d[:, None]
    q_ptrs = q_ptr + z * stride_qz + h * stride_qh + rows[:, None] * stride_qm + d[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for _ in range(steps):
        total = tl.dot(tl.load(q_ptrs), tl.load(k_ptrs), total)
        k_ptrs += 16 * stride_kn
    tl.store(o_ptr + both * stride_oz + rows[:, None] * 16 + d[None, :], total)


@pytest.mark.parametrize(("batches", "heads", "shared"), [(2, 3, 1), (1, 4, 2), (3, 2, 2)])
def test_batches_and_heads(batches: int, heads: int, shared: int) -> None:
    apart = 16
    q, k = whole(batches * heads * apart, 16), whole(batches * heads * apart + 16, 16)
    o, width = np.zeros((batches * heads, 16, 16), np.float32), q.shape[1]
    strides = heads * apart * width, apart * width, width
    args = q, k, o, heads, *strides, *strides, 256, 2
    found = by_the_copy_engine(heads_kernel, args, batches * heads, FRONT=FRONT, SHARED=shared)
    for both in range(batches * heads):
        z, h = divmod(both, heads)
        rows, of_k = FRONT + (z * heads + h) * apart, FRONT + (z * heads + h // shared) * apart
        left = q[rows : rows + 16, FRONT : FRONT + 16]
        right = sum(k[of_k + n : of_k + n + 16, FRONT : FRONT + 16].astype(np.float32) for n in (0, 16))
        np.testing.assert_array_equal(o[both], product_of(left, right.T))
    assert found


@tritonx.jit
def masked_batch_kernel(
    a_ptr, b_ptr, o_ptr, n, by, steps, FRONT: tl.constexpr, WIDTH: tl.constexpr, APART: tl.constexpr,
):  # fmt: skip
    """Matrices without anything between them, of which each has `n` rows of A and of B that are read."""
    a_ptr = inside(a_ptr, WIDTH, FRONT) + tl.program_id(0) // by * (APART * WIDTH)
    b_ptr = inside(b_ptr, WIDTH, FRONT) + tl.program_id(0) // by * (APART * WIDTH)
    rows, columns = tl.program_id(1) * 16 + tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for k in range(steps):
        at = k * 16 + tl.arange(0, 16)
        a = tl.load(a_ptr + rows[:, None] * WIDTH + at[None, :], mask=rows[:, None] < n, other=0.0)
        b = tl.load(b_ptr + at[:, None] * WIDTH + columns[None, :], mask=at[:, None] < n, other=0.0)
        total = tl.dot(a, b, total)
    place = (tl.program_id(0) * 2 + tl.program_id(1)) * 256
    tl.store(o_ptr + place + tl.arange(0, 16)[:, None] * 16 + columns[None, :], total)


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("n", [0, 7, 16, 27, 32])
def test_rows_of_a_batch_end_with_it(n: int, by: int) -> None:
    """Where the number of the matrix is a number of rows as well; and where matrices lie in front of the tensor."""
    apart, width = 32, 2 * FRONT + 32
    a, b = whole(3 * apart, 32), whole(3 * apart, 32)
    o = np.full((3, 2, 16, 16), np.nan, np.float32)
    constants = {"FRONT": FRONT, "WIDTH": width, "APART": apart}
    assert a.shape[1] == width
    found = by_the_copy_engine(masked_batch_kernel, (a, b, o, n, by, 2), (3, 2), **constants)
    for z, tile_ in np.ndindex(3, 2):
        first = FRONT + z * by * apart
        left, right = (x[first : first + apart, FRONT : FRONT + 32].copy() for x in (a, b))
        left[n:], right[n:] = 0, 0
        np.testing.assert_array_equal(o[z, tile_], product_of(left, right[:, :16])[16 * tile_ :][:16])
    assert found == (by > 0)


@tritonx.jit
def rows_kernel(a_ptr, b_ptr, c_ptr, n, m, d, stride_a, stride_b, steps, FRONT: tl.constexpr, WHERE: tl.constexpr):
    """Rows from the `n - m`th on, or from another one that may be below 0."""
    a_ptr = inside(a_ptr, stride_a, FRONT)
    b_ptr = inside(b_ptr, stride_b, FRONT)
    pid = tl.program_id(0)
    rows, offs_k = tl.arange(0, 16), tl.arange(0, 16)
    first = pid * 16 + n - m
    if WHERE == "a branch":
        if n > m:
            first = n - m
        else:
            first = d * 4
    if WHERE == "a quotient":
        first = pid * 16 // d
    if WHERE == "a remainder":
        first = (pid * 16 + n - m) % d
    if WHERE == "bits":
        first = (pid * 16 ^ d) >> 1
    if WHERE == "a batch":
        a_ptr += (pid + n - m) * stride_a * 2
        first = 0
    if WHERE == "a loop":
        first = n
        for _ in range(m):
            first -= d
    if WHERE == "a counter":
        first = 0
    a_ptrs = a_ptr + (first + rows)[:, None] * stride_a + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_b + offs_k[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for k in range(steps):
        if WHERE == "a counter":
            a_ptrs = a_ptr + ((steps - 1 - k) // d * 4 + n - m + rows)[:, None] * stride_a + (offs_k + k * 16)[None, :]
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += 16
        b_ptrs += 16 * stride_b
    tl.store(c_ptr + (pid * 16 + rows)[:, None] * 16 + offs_k[None, :], total)


def towards_zero(a: int, b: int) -> int:
    return int(a / b)


WHERE: dict[str, Callable[[int, int, int, int, int], int]] = {
    "a difference": lambda pid, n, m, d, left: pid * 16 + n - m,
    "a branch": lambda pid, n, m, d, left: n - m if n > m else d * 4,
    "a quotient": lambda pid, n, m, d, left: towards_zero(pid * 16, d),
    "a remainder": lambda pid, n, m, d, left: int(np.fmod(pid * 16 + n - m, d)),
    "bits": lambda pid, n, m, d, left: (pid * 16 ^ d) >> 1,
    "a batch": lambda pid, n, m, d, left: 2 * (pid + n - m),
    "a loop": lambda pid, n, m, d, left: n - m * d,
    "a counter": lambda pid, n, m, d, left: towards_zero(left, d) * 4 + n - m,
}
"""Where a block begins, by the rounds of the loop that are left."""


@pytest.mark.parametrize(("n", "m", "d"), [(9, 2, 3), (3, 7, 5), (7, 3, -2), (2, 9, -3), (4, 4, 1), (5, 1, 7)])
@pytest.mark.parametrize("where", WHERE)
def test_where_blocks_begin(where: str, n: int, m: int, d: int) -> None:
    """The copy engine brings them only where none begins below 0, and the result is right in any case."""
    steps, programs = 3, 2
    a, b = whole(2 * FRONT, 16 * steps), whole(16 * steps, 16)
    c = np.full((16 * programs, 16), np.nan, np.float32)
    args = a, b, c, n, m, d, a.shape[1], b.shape[1], steps
    found = by_the_copy_engine(rows_kernel, args, programs, FRONT=FRONT, WHERE=where)
    begins: list[int] = []
    for pid in range(programs):
        total = np.zeros((16, 16), np.float32)
        for k in range(steps):
            begins.append(WHERE[where](pid, n, m, d, steps - 1 - k))
            rows, columns = FRONT + begins[-1], FRONT + 16 * k
            total += product_of(a[rows : rows + 16, columns : columns + 16], b[columns : columns + 16, FRONT:][:, :16])
        np.testing.assert_array_equal(c[16 * pid : 16 * pid + 16], total)
    assert not found or min(begins) >= 0
    if n >= m and d > 0 and (where != "a loop" or n >= m * d) and where not in ("a loop", "bits"):
        assert found, "a launch can tell"


@tritonx.jit
def far_kernel(a_ptr, b_ptr, c_ptr, first: tl.int64, stride_a, FRONT: tl.constexpr):
    """Rows that are counted in 64 bits, from an address so far in front of them."""
    address = a_ptr.to(tl.int64) + (FRONT * stride_a + FRONT - first * stride_a) * 2
    base = tl.multiple_of(address.to(tl.pointer_type(tl.float16)), 16)
    rows, offs_k = tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for k in range(2):
        a = tl.load(base + (first + rows)[:, None] * stride_a + (offs_k + k * 16)[None, :])
        total = tl.dot(a, tl.load(b_ptr + (offs_k + k * 16)[:, None] * 16 + offs_k[None, :]), total)
    tl.store(c_ptr + rows[:, None] * 16 + offs_k[None, :], total)


@pytest.mark.parametrize(("first", "is_map"), [
    (0, True), (32, True), (1 << 30, True), ((1 << 30) + 8, False), (1 << 31, False), ((1 << 32) + 16, False),
    (-16, False), (-(1 << 31), False), (-(1 << 32), False),
])  # fmt: skip
def test_indices_of_64_bits(first: int, is_map: bool) -> None:
    """The copy engine counts in 32."""
    a = whole(16, 32)
    b, c = np.ascontiguousarray(whole(32, 16)[:32, :16]), np.full((16, 16), np.nan, np.float32)
    assert by_the_copy_engine(far_kernel, (a, b, c, first, a.shape[1]), 1, FRONT=FRONT) == is_map
    np.testing.assert_array_equal(c, product_of(a[FRONT : FRONT + 16, FRONT : FRONT + 32], b))


@tritonx.jit
def wide_bound_kernel(a_ptr, b_ptr, c_ptr, n, m, stride_a):
    """Columns below a product of 64 bits."""
    rows, offs_k = tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for k in range(2):
        at = offs_k + k * 16
        a = tl.load(a_ptr + rows[:, None] * stride_a + at[None, :], mask=at[None, :] < n.to(tl.int64) * m, other=0.0)
        total = tl.dot(a, tl.load(b_ptr + at[:, None] * 16 + offs_k[None, :]), total)
    tl.store(c_ptr + rows[:, None] * 16 + offs_k[None, :], total)


@pytest.mark.parametrize("options", [{}, {"describe_loads": True}])
@pytest.mark.parametrize(("n", "m"), [(2, 8), (1 << 16, 1 << 16), (1 << 17, 1 << 15), (-(1 << 17), (1 << 15)), (-2, 9)])
def test_bounds_of_64_bits(n: int, m: int, options: dict[str, Any]) -> None:
    a = whole(16, 32)[:16, :32].copy()
    b, c = np.ascontiguousarray(whole(32, 16)[:32, :16]), np.full((16, 16), np.nan, np.float32)
    PtxDevice("90", SEED).launch(wide_bound_kernel, (a, b, c, n, m, 32), {}, 1, options)
    inside = np.arange(32) < n * m
    np.testing.assert_array_equal(c, product_of(np.where(inside[None, :], a, 0), b))


@tritonx.jit
def assumed_kernel(a_ptr, b_ptr, c_ptr, table_ptr, by, stride_a, FRONT: tl.constexpr):
    """Rows from a quotient of a number that no launch computes on."""
    a_ptr = inside(a_ptr, stride_a, FRONT)
    rows, offs_k = tl.arange(0, 16), tl.arange(0, 16)
    found = tl.load(table_ptr + tl.program_id(0))
    tl.assume(found >= 0)
    first = found // by
    total = tl.zeros((16, 16), tl.float32)
    for k in range(2):
        a = tl.load(a_ptr + (first + rows)[:, None] * stride_a + (offs_k + k * 16)[None, :])
        total = tl.dot(a, tl.load(b_ptr + (offs_k + k * 16)[:, None] * 16 + offs_k[None, :]), total)
    tl.store(c_ptr + tl.program_id(0) * 256 + rows[:, None] * 16 + offs_k[None, :], total)


@pytest.mark.parametrize("by", [3, -3])
def test_numbers_that_are_assumed(by: int) -> None:
    a, table = whole(32, 32), np.array([0, 7, 30], np.int32)
    b, c = np.ascontiguousarray(whole(32, 16)[:32, :16]), np.full((3, 16, 16), np.nan, np.float32)
    found = by_the_copy_engine(assumed_kernel, (a, b, c, table, by, a.shape[1]), 3, FRONT=FRONT)
    for pid, number in enumerate(table):
        first = FRONT + towards_zero(int(number), by)
        np.testing.assert_array_equal(c[pid], product_of(a[first : first + 16, FRONT : FRONT + 32], b))
    assert found == (by > 0)


@tritonx.jit
def loaded_kernel(a_ptr, b_ptr, c_ptr, table_ptr, stride_a, SHIFT: tl.constexpr):
    rows, offs_k = tl.arange(0, 16), tl.arange(0, 16)
    first = tl.load(table_ptr + tl.program_id(0))
    if SHIFT:
        first = tl.program_id(0) * 16 - SHIFT
    total = tl.zeros((16, 16), tl.float32)
    for k in range(2):
        a = tl.load(a_ptr + (first + rows)[:, None] * stride_a + (offs_k + k * 16)[None, :])
        total = tl.dot(a, tl.load(b_ptr + (offs_k + k * 16)[:, None] * 16 + offs_k[None, :]), total)
    tl.store(c_ptr + rows[:, None] * 16 + offs_k[None, :], total)


@pytest.mark.parametrize(("shift", "why"), [
    (0, "not known to begin at 0 or above (tl.assume)"), (16, "its blocks begin below 0 in a usual launch"),
])  # fmt: skip
def test_what_no_launch_would_find(
    shift: int, why: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not asked, and code is made once."""
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    a, b, c = np.zeros((16, 32), np.float16), np.zeros((32, 16), np.float16), np.zeros((16, 16), np.float32)
    module = bind(loaded_kernel, (a, b, c, np.zeros(4, np.int32), 32), {"SHIFT": shift}).module
    for each in (*TILE_PIPELINE, DescribeLoads(at_launch=True)):
        each.apply(pass_context(), module)
    assert why in capfd.readouterr().err
    assert not any(isinstance(op, tile.DescriptorLoadOp) for op in module.walk())
    assert "tt.asked_at_launch" not in str(module)
