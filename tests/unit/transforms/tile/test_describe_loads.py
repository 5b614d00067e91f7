"""`describe-loads`: what is computed stays the same to the last bit, nothing is read that was not read before, and
what a descriptor does not do is refused, with the reason."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tritonx
import tritonx.language as tl
from tests.unit.transforms.tile.random_regular import RandomRegular, fresh, random_regular
from tests.unit.transforms.tile.regular_kernels import REGULAR, Regular, matrix, strides
from tritonx.backends.nvidia.passes.describe_loads import DescribeLoads
from tritonx.dialects import scf, tile
from tritonx.interpreter.ir_launch import bind, launch
from tritonx.ir.pipeline import pass_context
from tritonx.ir.verify import verify
from tritonx.transforms.tile.pipeline import TILE_PIPELINE

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10"))


def with_pass(module: ModuleOp) -> None:
    for each in (*TILE_PIPELINE, DescribeLoads()):
        each.apply(pass_context(), module)
    verify(module)


def count(module: ModuleOp, kind: type) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


def executed(one: Regular, *, change: bool) -> tuple[Any, ModuleOp]:
    """All memory around the output, and the module that ran."""
    output = one.args[one.output].copy()
    whole = one.args[one.output].base
    if whole is not None:
        whole = whole.copy()
        output = whole[: one.args[one.output].shape[0], : one.args[one.output].shape[1]]
    args = [*one.args]
    args[one.output] = output
    module = launch(one.kernel, one.grid, *args, transform=with_pass if change else None, **one.constants)
    np.testing.assert_array_equal(output, one.expected.astype(output.dtype))
    return (output if whole is None else whole), module


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("number", range(DRAWS))
def test_nothing_changes(name: str, number: int) -> None:
    one = REGULAR[name](Random(f"{SEED} {name} {number}"))
    before, _ = executed(one, change=False)
    after, module = executed(one, change=True)
    np.testing.assert_array_equal(before.view(f"u{before.itemsize}"), after.view(f"u{after.itemsize}"))
    assert count(module, tile.DescriptorLoadOp) == one.described
    assert count(module, tile.MakeTensorDescOp) == one.described
    if name == "shifted":
        asked = not one.constants["ASSUMED"] and one.args[3] != 1  # which is a constant
        assert count(module, scf.IfOp) == asked, "the mask keeps rows below 0 out: only n is asked for"


@pytest.mark.parametrize("number", range(DRAWS))
def test_random_kernels_do_the_same(number: int) -> None:
    """About a fifth of them have loads that become a descriptor's."""
    for draw in range(5):
        where = f"{SEED} {number} {draw}"
        one = random_regular(Random(f"regular {where}"))
        before, after = fresh(one), fresh(one)
        launch(one.kernel, one.grid, *before)
        launch(one.kernel, one.grid, *after, transform=with_pass)
        np.testing.assert_array_equal(before[2], after[2], err_msg=f"{where}\n{one.source}{one.args[4:]}")


def test_random_kernels_are_described() -> None:
    draws = [random_regular(Random(f"{SEED} {number}")) for number in range(60)]
    assert sum(count(described_module(one), tile.DescriptorLoadOp) > 0 for one in draws) >= 3


def described_module(one: RandomRegular) -> ModuleOp:
    module = bind(one.kernel, one.args, {}).module
    with_pass(module)
    return module


@tritonx.jit
def moved_kernel(x_ptr, w_ptr, o_ptr, n, stride, FURTHER: tl.constexpr):
    """Rows of a mask that begins at 0, and from `FURTHER` on in memory."""
    tl.assume(stride > 0)
    tl.assume(n > 0)
    rows, c = tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for tap in range(3):
        at = rows + (tap - 1)
        inside = (at[:, None] >= 0) & (at[:, None] < n)
        x = tl.load(x_ptr + (at[:, None] + FURTHER) * stride + c[None, :], mask=inside, other=0.0)
        total = tl.dot(x, tl.load(w_ptr + (tap * 16 + c)[:, None] * 16 + c[None, :]), total)
    tl.store(o_ptr + rows[:, None] * 16 + c[None, :], total)


@pytest.mark.parametrize("further", [0, 1, 4, 20])
def test_what_a_mask_keeps_out_in_front_is_not_read(further: int) -> None:
    """The tensor begins where the mask does, not where the array does."""
    random = Random(f"{SEED} {further}")
    x, w, o = matrix(random, 40, 16), matrix(random, 48, 16), np.full((16, 16), np.nan, np.float32)
    w, n = np.ascontiguousarray(w), random.choice((5, 16, 20))
    module = launch(moved_kernel, (1,), x, w, o, n, strides(x)[0], FURTHER=further, transform=with_pass)
    padded = np.zeros((18, 16))
    padded[1 : 1 + min(n, 17)] = x[further : further + min(n, 17)]
    expected = sum(padded[tap : tap + 16] @ w[tap * 16 : tap * 16 + 16].astype(np.float64) for tap in range(3))
    np.testing.assert_array_equal(o, expected.astype(np.float32))
    assert (count(module, scf.IfOp), count(module, tile.DescriptorLoadOp)) == (0, 2)


@tritonx.jit
def remainders_kernel(a_ptr, b_ptr, o_ptr, steps, m, stride, FIRST: tl.constexpr, FURTHER: tl.constexpr):
    """Rows that wrap around below 0 as well, and lie further on in memory."""
    tl.assume(stride > 0)
    tl.assume(m > 0)
    at, c = FIRST + tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for k in range(steps):
        a = tl.load(a_ptr + (at % m + FURTHER)[:, None] * stride + (k * 16 + c)[None, :])
        total = tl.dot(a, tl.load(b_ptr + (k * 16 + c)[:, None] * 16 + c[None, :]), total)
    tl.store(o_ptr + tl.arange(0, 16)[:, None] * 16 + c[None, :], total, mask=at[:, None] < m)


@pytest.mark.parametrize("first", [-8, 0])
@pytest.mark.parametrize("further", [8, 20])
def test_an_index_that_wraps_is_the_plain_one_from_0_on(first: int, further: int) -> None:
    random = Random(f"{SEED} {first} {further}")
    a, b, o = matrix(random, 40, 48), matrix(random, 48, 16), np.zeros((16, 16), np.float32)
    a, b, m = np.ascontiguousarray(a), np.ascontiguousarray(b), random.choice((8, 9, 15))
    constants = {"FIRST": first, "FURTHER": further}
    module = launch(remainders_kernel, (1,), a, b, o, 3, m, 48, **constants, transform=with_pass)
    rows = np.fmod(first + np.arange(16), m) + further
    expected = a[rows].astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(o, np.where((first + np.arange(16) < m)[:, None], expected, 0))
    assert (count(module, scf.IfOp), count(module, tile.DescriptorLoadOp)) == (int(first < 0), 2)


@tritonx.jit
def counted_kernel(a_ptr, b_ptr, o_ptr, n, stride, CASE: tl.constexpr):
    """Rows that are counted in rounds of several loops, or in their squares."""
    tl.assume(stride > 0)
    rows, c = tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    b = tl.load(b_ptr + rows[:, None] * 16 + c[None, :])
    for i in range(n):
        for j in range(i, n):
            at = j * 16
            if CASE == "square":
                at = j * j * 16
            if CASE == "product":
                at = i * (j + 1) * 8
            total = tl.dot(tl.load(a_ptr + (at + rows)[:, None] * stride + c[None, :]), b, total)
    tl.store(o_ptr + rows[:, None] * 16 + c[None, :], total)


@pytest.mark.parametrize("case", ["inner", "square", "product"])
def test_rows_counted_in_rounds(case: str) -> None:
    random = Random(f"{SEED} {case}")
    a, b, o = matrix(random, 16 * 10, 16), matrix(random, 16, 16), np.full((16, 16), np.nan, np.float32)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    module = launch(counted_kernel, (1,), a, b, o, 4, 16, CASE=case, transform=with_pass)
    begins = {"inner": lambda i, j: j * 16, "square": lambda i, j: j * j * 16, "product": lambda i, j: i * (j + 1) * 8}
    rounds = [begins[case](i, j) for i in range(4) for j in range(i, 4)]
    expected = sum(a[at : at + 16].astype(np.float64) @ b.astype(np.float64) for at in rounds)
    np.testing.assert_array_equal(o, expected.astype(np.float32))
    assert count(module, tile.DescriptorLoadOp) == 1


@tritonx.jit
def far_kernel(a_ptr, b_ptr, o_ptr, stride, APART: tl.constexpr):
    """A matrix of many that lie apart, by offsets of 64 bits; `a_ptr` is the last one."""
    tl.assume(stride > 0)
    number = tl.program_id(0)
    if number == 1024:
        rows, c = tl.arange(0, 16), tl.arange(0, 16)
        total = tl.zeros((16, 16), tl.float32)
        first = (a_ptr.to(tl.int64) - 1024 * 2 * APART).to(tl.pointer_type(tl.float16))
        first = tl.multiple_of(first, 16)
        for k in range(2):
            far = first + number.to(tl.int64) * APART
            a = tl.load(far + rows[:, None] * stride + (k * 16 + c)[None, :])
            total = tl.dot(a, tl.load(b_ptr + (k * 16 + rows)[:, None] * 16 + c[None, :]), total)
        tl.store(o_ptr + rows[:, None] * 16 + c[None, :], total)


@pytest.mark.parametrize("apart", [1 << 22, (1 << 22) + 8, 1 << 10])
def test_what_lies_beyond_32_bits_goes_by_pointers(apart: int) -> None:
    """The copy engine counts elements in 32 bits, which offsets of 64 bits are for not having to."""
    random = Random(f"{SEED} {apart}")
    a, b, o = matrix(random, 16, 32), matrix(random, 32, 16), np.full((16, 16), np.nan, np.float32)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    args = a, b, o, 32
    module = launch(far_kernel, (1025,), *args, APART=apart, transform=with_pass)
    np.testing.assert_array_equal(o, a.astype(np.float32) @ b.astype(np.float32))
    assert count(module, tile.DescriptorLoadOp) == 2


@tritonx.jit
def rows_kernel(a_ptr, b_ptr, c_ptr, steps, stride_am, stride_bk, first, M: tl.constexpr, N: tl.constexpr):
    """Rows from `first` on, of steps of 16 columns."""
    rows, columns, offs_k = first + tl.arange(0, M), tl.arange(0, N), tl.arange(0, 16)
    total = tl.zeros((M, N), tl.float32)
    for k in range(steps):
        a = tl.load(a_ptr + rows[:, None] * stride_am + (k * 16 + offs_k)[None, :])
        b = tl.load(b_ptr + (k * 16 + offs_k)[:, None] * stride_bk + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + columns[None, :], total)


@pytest.mark.parametrize("case", ["upwards", "downwards", "the same", "in front"])
def test_what_is_not_known_is_asked_at_run_time(case: str) -> None:
    """Strides below and at zero, and rows in front of the pointer, go by pointers still: in the other copy."""
    random = Random(f"{SEED} {case}")
    held, b = matrix(random, 64, 32), matrix(random, 32, 16)
    a, stride, first = {
        "upwards": (held, strides(held)[0], 0),
        "downwards": (held[::-1], -strides(held)[0], 0),
        "the same": (held, 0, 0),
        "in front": (held[32:], strides(held)[0], -16),
    }[case]
    rows = {"upwards": held[:16], "downwards": held[::-1][:16], "the same": held[[0] * 16], "in front": held[16:32]}
    c = np.full((16, 16), np.nan, np.float32)
    module = launch(
        rows_kernel, (1,), within(held, a), b, c, 2, stride, strides(b)[0], first, M=16, N=16, transform=with_pass
    )
    np.testing.assert_array_equal(c, rows[case].astype(np.float32) @ b.astype(np.float32))
    assert count(module, scf.IfOp) == 1
    assert count(module, tile.DescriptorLoadOp) == count(module, tile.LoadOp) == 2


def within(whole: Any, part: Any) -> Any:
    """A pointer to an array's first element, by which all may be reached that it is a part of."""
    torch = pytest.importorskip("torch")
    storage = torch.from_numpy(whole.base)
    offset = (part.__array_interface__["data"][0] - storage.data_ptr()) // part.itemsize
    return storage.as_strided((1,), (1,), offset)


@tritonx.jit
def bounded_kernel(a_ptr, b_ptr, c_ptr, steps, n, stride_am, stride_bk, ASSUMED: tl.constexpr = False):
    """A loop that runs whatever its mask's bound is."""
    if ASSUMED:
        tl.assume(n > 0)
    tl.assume(stride_am > 0)
    tl.assume(stride_bk > 0)
    rows, offs_k = tl.arange(0, 16), tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for k in range(steps):
        left = n - k * 16
        a = tl.load(a_ptr + rows[:, None] * stride_am + (k * 16 + offs_k)[None, :], offs_k[None, :] < left, 0.0)
        b = tl.load(b_ptr + (k * 16 + offs_k)[:, None] * stride_bk + rows[None, :], offs_k[:, None] < left, 0.0)
        total = tl.dot(a, b, total + 1)
    tl.store(c_ptr + rows[:, None] * 16 + rows[None, :], total)


@pytest.mark.parametrize("assumed", [False, True])
@pytest.mark.parametrize("n", [-40, -1, 0, 2, 16, 33, 48])
def test_where_a_tensor_ends_before_it_begins(n: int, assumed: bool) -> None:
    """No tensor map has an extent of 0, and memory without elements no address: that is asked, unless it is known."""
    if assumed and n <= 0:
        pytest.skip("not so")
    random = Random(f"{SEED} {n}")
    a, b, c = matrix(random, 16, 48), matrix(random, 48, 16), np.full((16, 16), np.nan, np.float32)
    args = a, b, c, 3, n, strides(a)[0], strides(b)[0]
    module = launch(bounded_kernel, (1,), *args, ASSUMED=assumed, transform=with_pass)
    inside = max(n, 0)
    np.testing.assert_array_equal(c, a[:, :inside].astype(np.float32) @ b[:inside].astype(np.float32) + 3)
    assert (count(module, scf.IfOp), count(module, tile.DescriptorLoadOp)) == (not assumed, 2)


@tritonx.jit
def refused_kernel(
    a_ptr, b_ptr, c_ptr, i_ptr, steps, n, m, stride, odd, large, CASE: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    """A product that a descriptor loads both operands of, but for one thing."""
    rows, columns, offs_k = tl.arange(0, 16), tl.arange(0, COLUMNS), tl.arange(0, 16)
    if CASE == "wraps" or CASE == "wraps, reduced" or CASE == "wraps, other bound":
        rows = rows % n
    if CASE == "gathered":
        rows = tl.load(i_ptr + rows)
    if CASE == "stored before":
        tl.store(c_ptr, 1.0)
    step, first, base = stride, 0, a_ptr
    if CASE == "one row":
        step = 0
    if CASE == "odd stride":
        step = odd
    if CASE == "odd column":
        first = 3
    if CASE == "odd base":
        base = a_ptr + odd
    total = tl.zeros((16, COLUMNS), tl.float32)
    moving = base + rows[:, None] * step + offs_k[None, :]
    for k in range(steps):
        at = rows
        if CASE == "begins anywhere":
            at = tl.load(i_ptr + k) + rows
        if CASE == "wraps each round":
            at = (k * 16 + rows) % n
        if CASE == "other base":
            base = tl.load(i_ptr + k).to(tl.int64).to(tl.pointer_type(tl.float16))
        if CASE == "steps of two":
            a_ptrs = base + at[:, None] * step + (k * 16 + offs_k)[None, :] * 2
        elif CASE == "squares":
            a_ptrs = base + at[:, None] * at[:, None] + (k * 16 + offs_k)[None, :]
        elif CASE == "faster and faster":
            a_ptrs = moving
        else:
            a_ptrs = base + at[:, None] * step + (first + k * 16 + offs_k)[None, :]
        moving += k * 16
        if CASE == "volatile":
            a = tl.load(a_ptrs, volatile=True)
        elif CASE == "other":
            a = tl.load(a_ptrs, mask=rows[:, None] < n, other=1.0)
        elif CASE == "minus zero":
            a = tl.load(a_ptrs, mask=rows[:, None] < n, other=-0.0)
        elif CASE == "diagonal":
            a = tl.load(a_ptrs, mask=rows[:, None] + offs_k[None, :] < n, other=0.0)
        elif CASE == "uneven":
            a = tl.load(a_ptrs, mask=rows[:, None] != n, other=0.0)
        elif CASE == "fixed mask":
            a = tl.load(a_ptrs, mask=offs_k[None, :] < n, other=0.0)
        elif CASE == "moving bound":
            a = tl.load(a_ptrs, mask=rows[:, None] < n - k, other=0.0)
        elif CASE == "two bounds":
            a = tl.load(a_ptrs, mask=(rows[:, None] < n) & (rows[:, None] < m), other=0.0)
        elif CASE == "begins later":
            a = tl.load(a_ptrs, mask=rows[:, None] >= n, other=0.0)
        elif CASE == "64 bits":
            a = tl.load(a_ptrs, mask=rows[:, None] < large, other=0.0)
        else:
            a = tl.load(a_ptrs)
        b = tl.load(b_ptr + (k * 16 + offs_k)[:, None] * stride + columns[None, :])
        total = tl.dot(a, b, total)
        if CASE == "stored in the loop":
            tl.store(c_ptr + k, 1.0)
        if CASE == "added in the loop":
            tl.atomic_add(c_ptr + k, 1.0)
    if CASE == "wraps, reduced":
        total += tl.sum(total, 0)[None, :]
    c_ptrs = c_ptr + tl.arange(0, 16)[:, None] * COLUMNS + columns[None, :]
    bound = m if CASE == "wraps, other bound" else n
    if CASE == "wraps":
        tl.store(c_ptrs, total)
    else:
        tl.store(c_ptrs, total, mask=tl.arange(0, 16)[:, None] < bound)


REFUSED = {
    "wraps": "its index along dimension 0 wraps, and what stores it is not masked there",
    "wraps, other bound": "its index along dimension 0 wraps, and what stores it is not masked there",
    "wraps, reduced": "its index along dimension 0 wraps, and tt.reduce has the elements beyond the bound",
    "wraps each round": "its index along dimension 0 wraps, and it goes on to rounds with other bounds",
    "gathered": "its addresses are no sum of indices times strides",
    "squares": "its addresses are no sum of indices times strides",
    "faster and faster": "its addresses are no sum of indices times strides",
    "stored before": "tt.store in front of it, or in the loop, may write what it reads",
    "stored in the loop": "tt.store in front of it, or in the loop, may write what it reads",
    "added in the loop": "tt.atomic_rmw in front of it, or in the loop, may write what it reads",
    "one row": "its elements along dimension 0 are all the same",
    "steps of two": "its elements are neighbours along no dimension",
    "odd stride": "the stride of dimension 0 is not known to be a multiple of 16 bytes",
    "odd column": "its blocks are not known to begin at multiples of 16 bytes",
    "odd base": "its base is not known to be a multiple of 16 bytes",
    "other base": "its base changes in the loop",
    "begins anywhere": "its blocks are not known to begin at 0 or above along dimension 0",
    "volatile": "a volatile tt.load in front of it, or in the loop, may wait for what it reads",
    "other": "where its mask is false it gives something else than zero",
    "minus zero": "where its mask is false it gives something else than zero",
    "diagonal": "its mask is no box",
    "uneven": "its mask is no box",
    "fixed mask": "the mask does not move with the index along dimension 1",
    "moving bound": "the mask does not move with the index along dimension 0",
    "two bounds": "dimension 0 has two bounds",
    "begins later": "its mask begins elsewhere than at 0 along dimension 0",
    "64 bits": "an index of it is of 64 bits",
    "narrow": "its rows are shorter than 16 bytes",
    "large": "its tile is larger than a block may be",
}


def changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, case: str, **options: Any
) -> tuple[ModuleOp, list[str]]:
    """The module of `refused_kernel` behind the pass, and what that says of the loads."""
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    half, single = np.zeros(4096, np.float16), np.zeros(4096, np.float32)
    numbers = 3, 16, 48, 64, 33, 1 << 40
    args = half, half, single, np.zeros(64, np.int32), *numbers
    constants = {"CASE": case, "COLUMNS": 4 if case == "narrow" else 16}
    module = bind(refused_kernel, args, constants).module
    for each in (*TILE_PIPELINE, DescribeLoads(**options)):
        each.apply(pass_context(), module)
    said = capsys.readouterr().err.splitlines()
    return module, [line.split("pipeline: ")[1] for line in said]


def test_the_kernel_of_the_refusals_is_described_otherwise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, said = changed(capsys, monkeypatch, "nothing", block_bytes=512)
    assert said == ["loaded through a descriptor"] * 2
    assert count(module, tile.DescriptorLoadOp) == 2


@pytest.mark.parametrize("case", REFUSED)
def test_a_load_that_stays_says_why(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so does the other one of the product."""
    module, said = changed(capsys, monkeypatch, case, **({"block_bytes": 511} if case == "large" else {}))
    assert count(module, tile.DescriptorLoadOp) == count(module, tile.MakeTensorDescOp) == 0
    both = case.startswith(("stored", "added", "large", "volatile"))
    others = [REFUSED[case]] if both else ["another operand of the loop's products is"]
    expected = [others[0], REFUSED[case]] if case == "narrow" else [REFUSED[case], others[0]]
    assert said == [f"loaded through pointers: {reason}" for reason in expected]
