"""Offsets beside products of warp groups: the same numbers, and no IMAD.WIDE in the loops that the products are in."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler.assemble import find_ptxas
from tritonx.backends.nvidia.assembler.disassemble import disassemble, find_nvdisasm
from tritonx.backends.nvidia.assembler.shifted_offsets import shift_offsets
from tritonx_testing.emulators.ptx.run import execute, window
from tritonx_testing.emulators.ptx.text import parse

SEED = int(os.environ["TRITONX_SEED"])

WIDENED = """
.version 8.7
.target sm_90a
.address_size 64
.visible .entry f(.param .u64 f_param_0, .param .u64 f_param_1)
.reqntid 128, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<9>;
	ld.param.b64 %rd1, [f_param_0];
	ld.param.b64 %rd2, [f_param_1];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.b32 %r2, [%rd4];
	mul.wide.KIND32 	%rd5, %r2, FACTOR;
	mul.wide.u32 	%rd6, %r1, 8;
	add.s64 %rd7, %rd2, %rd6;
	bra $L__BB0_2;
$L__BB0_1:
$L__BB0_2:
	// PRODUCT
	st.global.b64 [%rd7], %rd5;
	setp.ne.s32 %p1, %r1, %r1;
	@%p1 bra $L__BB0_1;
	ret;
}
"""
WITH_PRODUCT = WIDENED.replace("PRODUCT", "wgmma.mma_async")
"""A loop of one round with a product, as far as the text is looked at."""


@pytest.mark.parametrize("kind", ["s", "u"])
@pytest.mark.parametrize(
    ("factor", "shifted"), [(1, False), (2, True), (3, False), (16, True), (96, False), (1 << 30, True), (-2, False)]
)
def test_a_shift_gives_the_same_offset(kind: str, factor: int, shifted: bool) -> None:
    before = WITH_PRODUCT.replace("KIND", kind).replace("FACTOR", str(factor % (1 << 32) if kind == "u" else factor))
    after = shift_offsets(before)
    (line,) = [line for line in after.splitlines() if "%rd5, %r2" in line]
    assert ("mul.wide" in line) != shifted
    random = np.random.default_rng(SEED)
    indices = random.integers(0, 1 << 32, 128, dtype=np.uint32)
    indices[:6] = 0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF
    found = np.full(128, 7, np.int64)
    places = [indices.ctypes.data, found.ctypes.data]
    memory = [window(places[0], indices.nbytes, "indices"), window(places[1], found.nbytes, "offsets")]
    execute(parse(after), (1, 1, 1), [place.to_bytes(8, "little") for place in places], memory, 0, SEED)
    wide = indices.view(np.int32) if kind == "s" else indices
    by = factor if kind == "s" else factor % (1 << 32)
    expected = [(int(index) * by + (1 << 63)) % (1 << 64) - (1 << 63) for index in wide]
    assert found.tolist() == expected, f"seed {SEED}"


def test_others_are_left_alone() -> None:
    assert shift_offsets(WIDENED) == WIDENED
    guarded = "@%p1 mul.wide.s32 \t%rd5, %r2, 2;", "mul.wide.s32 \t%rd5, %r2, %r1;"
    for line in guarded:
        assert line in shift_offsets(WITH_PRODUCT.replace("mul.wide.KIND32 \t%rd5, %r2, FACTOR;", line))


def test_only_what_a_loop_of_products_uses_is_shifted() -> None:
    """%rd6 is a term of the address that the loop stores to, %rd3 one of a load in front of it."""
    before = WITH_PRODUCT.replace("KIND", "s").replace("FACTOR", "4")
    left = re.findall(r"mul\.wide\S+\s+(%rd\d+)", shift_offsets(before))
    assert left == ["%rd3"]
    behind = before.replace("\t// wgmma.mma_async\n", "").replace("\tret;", "\t// wgmma.mma_async\n\tret;")
    assert shift_offsets(behind) == behind


@tritonx.jit
def product(
    a_ptr, b_ptr, c_ptr, rows_ptr, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GATHER: tl.constexpr,
):  # fmt: skip
    """C = A B, or of the rows of B that are listed."""
    tiles = tl.cdiv(M, BLOCK_M)
    row, column = tl.program_id(0) % tiles, tl.program_id(0) // tiles
    tl.assume(row >= 0)
    tl.assume(column >= 0)
    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + ((m % M)[:, None] * stride_a + k[None, :])
    b_ptrs = b_ptr + (k[:, None] * stride_b + (n % N)[None, :])
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(tl.cdiv(K, BLOCK_K)):
        start = i * BLOCK_K
        a = tl.load(a_ptrs, mask=k[None, :] < K - start, other=0.0)
        if GATHER:
            rows = tl.load(rows_ptr + start + k)
            b_ptrs = b_ptr + (rows[:, None] * stride_b + (n % N)[None, :])
        b = tl.load(b_ptrs, mask=k[:, None] < K - start, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_b
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * stride_c + n[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


POINTERS = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16") | {"rows_ptr": "*i32"}
SIGNATURE = POINTERS | dict.fromkeys(("M", "N", "K", "stride_a", "stride_b", "stride_c"), "i32")


@pytest.mark.skipif(find_ptxas() is None or find_nvdisasm() is None, reason="no ptxas or no nvdisasm")
@pytest.mark.parametrize(
    ("blocks", "warps", "stages", "gather"),
    [
        ((128, 128, 64), 4, 3, False), ((128, 128, 64), 8, 4, False), ((64, 64, 64), 4, 4, False),
        ((128, 128, 64), 4, 3, True),
    ],
)  # fmt: skip
def test_the_loop_of_a_pipelined_product_multiplies_no_offsets(
    compiler: Any, blocks: tuple[int, int, int], warps: int, stages: int, gather: bool
) -> None:
    sizes = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True))
    made = compiler(
        product, "90", SIGNATURE, {**sizes, "GATHER": gather}, num_warps=warps, num_stages=stages, pipeline=True
    )
    assert not made.metadata["spills"]
    body = loop_of_products(disassemble(made.stages["cubin"]))
    assert body.count("LDGSTS") == (blocks[0] + blocks[1]) * blocks[2] * 2 // 16 // (32 * warps), body
    assert "IMAD.WIDE" not in body, body


@pytest.mark.skipif(find_ptxas() is None or find_nvdisasm() is None, reason="no ptxas or no nvdisasm")
@pytest.mark.parametrize(("blocks", "stages"), [((64, 32, 128), 5), ((64, 32, 128), 4), ((64, 64, 64), 5)])
def test_copies_of_a_loop_have_addresses_of_their_own(compiler: Any, blocks: tuple[int, int, int], stages: int) -> None:
    """Where registers are free, which ptxas must be told: a copy waits until the one before has read its registers."""
    sizes = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True))
    made = compiler(product, "90", SIGNATURE, {**sizes, "GATHER": False}, num_stages=stages, pipeline=True)
    body = loop_of_products(disassemble(made.stages["cubin"]))
    addresses = re.findall(r"LDGSTS\S* \[\w+(?:\+\w+)?\], (?:desc\[\w+\])?\[(R\d+)", body)
    assert len(addresses) == (blocks[0] + blocks[1]) * blocks[2] * 2 // 16 // 128, body
    assert all(one != other for one, other in pairwise(addresses)), addresses


def loop_of_products(listing: str) -> str:
    """The instructions of the innermost loop in which there are products."""
    loops = [
        listing[label.end() : back.start()]
        for label in re.finditer(r"^(\.L_\w+):", listing, re.MULTILINE)
        for back in re.finditer(rf"BRA `\({re.escape(label[1])}\)", listing)
        if label.end() < back.start()
    ]
    return min((body for body in loops if "HGMMA" in body), key=len)
