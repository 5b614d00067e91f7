"""Masks of asynchronous copies are predicates, no numbers; what is copied under them is right."""

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])


@tritonx.jit
def product(
    a_ptr, b_ptr, c_ptr, rows, columns, inner, stride_a, stride_b,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, AT_ONCE: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    """``AT_ONCE``: a tile of pointers is one addition, not one for rows and one for columns. ``FIRST``: pointers are
    moved in front of the loads."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    if AT_ONCE:
        a_ptrs = a_ptr + (m[:, None] * stride_a + k[None, :])
        b_ptrs = b_ptr + (k[:, None] * stride_b + n[None, :])
    else:
        a_ptrs = a_ptr + m[:, None] * stride_a + k[None, :]
        b_ptrs = b_ptr + k[:, None] * stride_b + n[None, :]
    if FIRST:
        a_ptrs -= K
        b_ptrs -= K * stride_b
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, inner, K):
        if FIRST:
            a_ptrs += K
            b_ptrs += K * stride_b
        a = tl.load(a_ptrs, mask=(m[:, None] < rows) & (k[None, :] < inner - start), other=0.0)
        b = tl.load(b_ptrs, mask=(n[None, :] < columns) & (k[:, None] < inner - start), other=0.0)
        total = tl.dot(a, b, total)
        if not FIRST:
            a_ptrs += K
            b_ptrs += K * stride_b
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


ARGUMENTS = dict.fromkeys(("rows", "columns", "inner", "stride_a", "stride_b"), "i32")


@pytest.mark.parametrize(
    ("arch", "type_", "warps", "tile"),
    [
        ("90", "fp16", 4, (128, 128, 64)),
        ("90", "bf16", 8, (128, 256, 64)),
        ("90", "fp32", 4, (128, 64, 32)),
        ("80", "fp16", 4, (128, 64, 32)),
    ],
)  # fmt: skip
def test_a_loop_makes_no_number_of_a_mask(
    compiler: Any, arch: str, type_: str, warps: int, tile: tuple[int, int, int]
) -> None:
    signature = {"a_ptr": f"*{type_}", "b_ptr": f"*{type_}", "c_ptr": "*fp32", **ARGUMENTS}
    constants = {**dict(zip("MNK", tile, strict=True)), "AT_ONCE": True, "FIRST": False}
    made = compiler(product, arch, signature, constants, num_warps=warps, num_stages=3, pipeline=True)
    body = loop_of_copies(made.ptx)
    copies = re.findall(r"cp\.async\.c[ga]\.shared\.global (.*);", body)
    assert len(copies) >= 4 and all(re.search(r", \d+, %p\d+$", copy) for copy in copies), copies
    assert not re.search(r"selp\.b32\s+%r\d+, (4|8|16), 0", body), body


def loop_of_copies(ptx: str) -> str:
    """From its label to the branch back."""
    loops = [
        ptx[label.end() : back.start()]
        for label in re.finditer(r"^(\$L\w+):", ptx, re.MULTILINE)
        for back in re.finditer(rf"\bbra(?:\.uni)?\s+{re.escape(label[1])};", ptx)
        if label.end() < back.start()
    ]
    return min((body for body in loops if "cp.async.c" in body), key=len)


@pytest.mark.parametrize("draw", range(4))
def test_products_are_right(draw: int) -> None:
    """Of any extents, strides and stages; sums are exact."""
    random = Random(f"{SEED} {draw}")
    arch = random.choice(["80", "90"])
    m, n, k = random.choice([64, 128]), random.choice([16, 32, 64]), random.choice([16, 32])
    rows, columns, inner = random.randrange(1, m + 1), random.randrange(1, n + 1), random.randrange(1, 7 * k)
    stages, stride_a, stride_b = random.randrange(2, 6), inner + random.randrange(9), columns + random.randrange(9)
    if random.random() < 0.5:
        stride_a, stride_b = -(-stride_a // 16) * 16, -(-stride_b // 16) * 16
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((rows, stride_a), (inner, stride_b)))
    out = np.full((m, n), np.nan, np.float32)
    flags = {"AT_ONCE": random.random() < 0.5, "FIRST": random.random() < 0.5}
    device = PtxDevice(arch, SEED)
    given = {"num_warps": 4, "num_stages": stages, "pipeline": True}
    options = given
    arguments = (a, b, out, rows, columns, inner, stride_a, stride_b)
    text = device.launch(product, arguments, {"M": m, "N": n, "K": k, **flags}, 1, options)
    expected = np.zeros((m, n), np.float32)
    expected[:rows, :columns] = a[:, :inner].astype(np.float32) @ b[:, :columns].astype(np.float32)
    what = f"seed {SEED}: {arch} {(m, n, k)} {(rows, columns, inner)} {(stride_a, stride_b)} {stages} {flags}"
    np.testing.assert_array_equal(out, expected, err_msg=what)
    assert "cp.async" in text or "ld.global" in text
