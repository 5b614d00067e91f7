"""Registers of A that stay the same around a loop are taken anew in each round, where ptxas would lose them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler.operands_around_loops import with_operands_anew

PRODUCT = (
    "\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, %rd1, 1, 1, 1, 0;\n"
)
FENCE = "\twgmma.fence.sync.aligned;\n"
WAIT = "\t{\n\t.reg .pred complete;\n\tWAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 complete, [%r9], %r10;\n" \
    "\t@!complete bra.uni WAIT;\n\t}\n"  # fmt: skip
LOADED = "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r11];\n"
END = "\t@%p1 bra \t$L__BB0_1;\n"


def function(*parts: str) -> str:
    return f".visible .entry f()\n{{\n\t.reg .b32 %r<12>;\n{''.join(parts)}\tret;\n}}\n"


def operands(ptx: str) -> list[str]:
    return re.findall(r"\}, \{([^}]*)\}", ptx)


def test_operands_of_a_loop_with_another_loop_in_it_are_taken_anew() -> None:
    made = with_operands_anew(function(LOADED, "$L__BB0_1:\n", FENCE, PRODUCT, PRODUCT, WAIT, END))
    names = operands(made)[0].split(", ")
    assert operands(made) == [", ".join(names)] * 2 and not set(names) & {"%r5", "%r6", "%r7", "%r8"}
    for name, register in zip(names, ("%r5", "%r6", "%r7", "%r8"), strict=True):
        assert made.count(f"lop3.b32 {name}, {register}, {register}, {register}, 0xf0;") == 1
    assert made.index("lop3.b32") < made.index(FENCE.strip()) < made.index("mma_async")
    assert f".reg .b32 {', '.join(names)};" in made


def test_each_product_behind_its_own_fence() -> None:
    other = PRODUCT.replace("%r5, %r6, %r7, %r8", "%r5, %r12, %r13, %r14")
    written = "\tcvt.rn.f16x2.f32 \t%r13, %r1, %r2;\n\tcvt.rn.f16x2.f32 \t%r14, %r3, %r4;\n"
    made = with_operands_anew(function(LOADED, "$L__BB0_1:\n", FENCE, PRODUCT, WAIT, written, FENCE, other, WAIT, END))
    first, second = (each.split(", ") for each in operands(made))
    assert len({*first, *second[:2]}) == 6 and second[2:] == ["%r13", "%r14"]
    assert not {*first, *second[:2]} & {"%r5", "%r6", "%r7", "%r8", "%r12"} and made.count("lop3.b32") == 6


def test_only_what_no_product_behind_the_other_loop_reads() -> None:
    other = PRODUCT.replace("%r5, %r6, %r7, %r8", "%r5, %r6, %r12, %r13")
    written = "\tcvt.rn.f16x2.f32 \t%r12, %r1, %r2;\n\tcvt.rn.f16x2.f32 \t%r13, %r3, %r4;\n"
    made = with_operands_anew(function(LOADED, "$L__BB0_1:\n", FENCE, PRODUCT, WAIT, written, FENCE, other, END))
    first, second = (each.split(", ") for each in operands(made))
    assert first[:2] == ["%r5", "%r6"] and not set(first) & {"%r7", "%r8"} and made.count("lop3.b32") == 2
    assert second == ["%r5", "%r6", "%r12", "%r13"]


def test_a_fence_where_the_round_has_none() -> None:
    made = with_operands_anew(function(LOADED, FENCE, "$L__BB0_1:\n", PRODUCT, WAIT, END))
    assert made.index("$L__BB0_1:") < made.index("lop3") < made.rindex(FENCE.strip()) < made.index("mma_async")


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((LOADED, "$L__BB0_1:\n", FENCE, PRODUCT, END), id="no other loop"),
        pytest.param((LOADED, "$L__BB0_1:\n", WAIT, FENCE, PRODUCT, END), id="the other loop in front of the product"),
        pytest.param(
            (LOADED, "$L__BB0_1:\n", FENCE, PRODUCT, WAIT, FENCE, PRODUCT, END), id="between two of its products"
        ),
        pytest.param(("$L__BB0_1:\n", LOADED, FENCE, PRODUCT, WAIT, END), id="written in the round"),
        pytest.param((LOADED, FENCE, PRODUCT, "$L__BB0_1:\n", WAIT, END), id="product in front of the loop"),
        pytest.param((LOADED, "$L__BB0_1:\n", WAIT, END, FENCE, PRODUCT), id="product behind the loop"),
        pytest.param((LOADED, WAIT, FENCE, PRODUCT, "\t@%p1 bra \t$L__BB0_1;\n$L__BB0_1:\n"), id="no loop"),
    ],
)
def test_others_stay(parts: tuple[str, ...]) -> None:
    text = function(*parts)
    assert with_operands_anew(text) == text


def test_operands_that_come_round_from_the_end_of_a_loop() -> None:
    """A that is computed for the next round's product."""
    text = function(LOADED, "$L__BB0_1:\n", FENCE, PRODUCT, WAIT, "\tmov.b32 \t%r5, %r1;\n", END)
    assert with_operands_anew(text) != text


@tritonx.jit
def turned(x_ptr, y_ptr, z_ptr, o_ptr, n, N: tl.constexpr):
    """A of the first product lies the other way round than the unit reads it, and is the same in each round."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] + i[None, :] * N)
    sums = tl.zeros((N, N), tl.float32)
    for block in range(n):
        y = tl.load(y_ptr + (block * N + i)[None, :] * N + i[:, None])
        z = tl.load(z_ptr + (block * N + i)[None, :] * N + i[:, None])
        sums = tl.dot(tl.exp2(tl.dot(x, y)), z, sums)
    tl.store(o_ptr + i[:, None] * N + i[None, :], sums)


@pytest.mark.parametrize("maps", [False, True])
def test_an_operand_from_outside_of_the_loop_is_in_memory(maps: bool, compiler: Any) -> None:
    """So that no register is taken for it all the time, and none to be taken anew."""
    types = dict.fromkeys(("x_ptr", "y_ptr", "z_ptr", "o_ptr"), "*fp32") | {"n": "i32"}
    kernel = compiler(turned, "90", types, {"N": 64}, num_warps=4, num_stages=2, launch_maps=maps)
    assert len(operands(kernel.ptx)) == 8, "of two products one has A in registers"
    assert kernel.count("wgmma.mma_async") == 16 and kernel.count("lop3.b32") == 0
