"""Kernels as people write them: nothing is assumed, sizes come at run time. The accesses stay wide."""

from __future__ import annotations

from typing import Any

import pytest

import tritonx
import tritonx.language as tl


@tritonx.jit
def product(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """The product of tutorials: grouped order, rows and columns that wrap."""
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    if GROUP == 0:
        pid_m, pid_n = pid // across, pid % across
    else:
        first = pid // (GROUP * across) * GROUP
        rows = min(tl.cdiv(M, BM) - first, GROUP)
        pid_m = first + (pid % (GROUP * across)) % rows
        pid_n = (pid % (GROUP * across)) // rows
    m, n, k = (pid_m * BM + tl.arange(0, BM)) % M, (pid_n * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    a_ptrs = a + m[:, None] * sa + k[None, :]
    b_ptrs = b + k[:, None] * sb + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = tl.load(a_ptrs, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(b_ptrs, mask=k[:, None] < K - i * BK, other=0.0)
        total = tl.dot(x, y, total)
        a_ptrs += BK
        b_ptrs += BK * sb
    m, n = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * sc + n[None, :], total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


PRODUCT = dict.fromkeys("abc", "*fp16") | dict.fromkeys(("M", "N", "K", "sa", "sb", "sc"), "i32")


@pytest.mark.parametrize("group", [0, 8])
@pytest.mark.parametrize("arch", ["80", "90"])
def test_product(compiler: Any, arch: str, group: int) -> None:
    constants = {"BM": 128, "BN": 128, "BK": 64, "GROUP": group}
    made = compiler(product, arch, PRODUCT, constants, num_warps=8, num_stages=3, until="ptx")
    assert made.count("cp.async.cg.shared.global") == 24 and made.count("cp.async.ca") == 0  # 16 bytes each
    assert made.count("ld.global") == 0 and made.count("st.global.v4") == made.count("st.global") == 8


@tritonx.jit
def flat(x, table, y, rows, columns, BLOCK: tl.constexpr):
    """A flat index is split by a size that is known at run time."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < rows * columns
    row = tl.load(table + at // columns, mask=inside)
    tl.store(y + at, tl.load(x + row * columns + at % columns, mask=inside), mask=inside)


def test_flat_index(compiler: Any) -> None:
    signature = {"x": "*fp16", "table": "*i32", "y": "*fp16", "rows": "i32", "columns": "i32"}
    made = compiler(flat, "90", signature, {"BLOCK": 1024}, until="ptx")
    assert made.count("st.global.v4") == made.count("st.global") == 1
    assert made.count("ld.global.v4") == 1 and made.count("ld.global") == 2  # the row of 8 elements once


@tritonx.jit
def shifted(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) - 3
    tl.store(y + (at + 3), tl.load(x + (at + 3)))


def test_a_number_that_is_subtracted_and_added_again(compiler: Any) -> None:
    made = compiler(shifted, "90", {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 512}, until="ptx")
    assert made.count("ld.global.v4") == made.count("st.global.v4") == 1


@tritonx.jit
def keep(flags, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load((flags + at).to(tl.pointer_type(tl.int8), bitcast=True)) != 0
    tl.store(y + at, tl.where(kept, tl.load(x + at), 0))


def test_bools_are_read_together_as_bytes(compiler: Any) -> None:
    made = compiler(keep, "90", {"flags": "*fp8e5", "x": "*i8", "y": "*i8"}, {"BLOCK": 2048}, until="ptx")
    assert made.count("ld.global.v4") == made.count("ld.global") == 2 and made.count("st.global.v4") == 1


@tritonx.jit
def softmax_of_product(q, k, o, n, causal, M: tl.constexpr, D: tl.constexpr, IF: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, M), tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + d[None, :])
    top, total = tl.full((M,), float("-inf"), tl.float32), tl.zeros((M,), tl.float32)
    for start in range(0, n, M):
        y = tl.load(k + (start + j)[:, None] * D + d[None, :])
        s = tl.dot(x, y.T)
        if IF:
            if start + M > causal:
                s = tl.where(i[:, None] >= (start + j)[None, :], s, float("-inf"))
        else:
            s = tl.where((i[:, None] >= (start + j)[None, :]) | (start + M <= causal), s, float("-inf"))
        above = tl.maximum(top, tl.max(s, 1))
        total = total * tl.exp2(top - above) + tl.sum(tl.exp2(s - above[:, None]), 1)
        top = above
    tl.store(o + i, top + tl.log2(total))


@pytest.mark.parametrize("arch", ["80", "90"])
def test_a_mask_under_a_run_time_if_leaves_the_layout(compiler: Any, arch: str) -> None:
    """The reduction has the product's layout, as under a mask that is always computed."""
    signature = {"q": "*fp16", "k": "*fp16", "o": "*fp32", "n": "i32", "causal": "i32"}
    found = []
    for written_as_if in (True, False):
        constants = {"M": 128, "D": 64, "IF": written_as_if}
        made = compiler(softmax_of_product, arch, signature, constants, num_warps=8, until="ptx")
        found.append([made.metadata["shared"], made.count("shfl.sync"), made.count("bar.sync")])
    assert found[0][:2] == found[1][:2] and found[0][2] <= found[1][2] + 1, found


@tritonx.jit
def wrapped(x, y, n, BLOCK: tl.constexpr, BY_QUOTIENT: tl.constexpr):
    at = (tl.program_id(0) // n * 8) * BLOCK + tl.arange(0, BLOCK)
    if BY_QUOTIENT:
        at = at - at // n * n
    else:
        at = at % n
    tl.store(y + at, tl.load(x + at))


def test_a_remainder_that_is_written_by_a_quotient(compiler: Any) -> None:
    """The accesses are those of ``%``."""
    signature = {"x": "*fp16", "y": "*fp16", "n": "i32"}
    made = [compiler(wrapped, "90", signature, {"BLOCK": 1024, "BY_QUOTIENT": q}, until="ptx") for q in (True, False)]
    assert made[0].count("ld.global.v4") == made[1].count("ld.global.v4") == 1
    assert made[0].ptx.count(";") == made[1].ptx.count(";")


@tritonx.jit
def rows_of_images(x, w, y, n, height, width, BLOCK: tl.constexpr, IN_LOOP: tl.constexpr):
    at, c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, 64)
    if not IN_LOOP:
        image = at // (height * width)
    total = tl.zeros((BLOCK, 64), tl.float32)
    for k in range(0, n, 64):
        if IN_LOOP:
            image = at // (height * width)
        a = tl.load(x + image[:, None] * n + ((k + c) % height)[None, :])
        total = tl.dot(a, tl.load(w + (k + c)[:, None] * 64 + c[None, :]), total)
    tl.store(y + at[:, None] * 64 + c[None, :], total)


def test_a_division_that_a_pipelined_loop_makes_anew(compiler: Any) -> None:
    """It is made once, in front of the loop."""
    signature = {"x": "*fp16", "w": "*fp16", "y": "*fp32"} | dict.fromkeys(("n", "height", "width"), "i32")
    made = [compiler(rows_of_images, "90", signature, {"BLOCK": 64, "IN_LOOP": i}, until="ptx") for i in (True, False)]
    assert made[0].count("div.s32") == made[1].count("div.s32") > 0
