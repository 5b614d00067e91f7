"""What ptxas assembles wrong does not reach it: extrema of negated integers (the conformance cases `reduce/negated` run
them on a device) and sums of 16-bit pairs and a number (`integers`)."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler_faults import avoid_faults
from tritonx.backends.nvidia.targets import CAPABILITIES


@tritonx.jit
def extrema(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.max(0 - x, axis=0).to(out_ptr.dtype.element_ty))


def made(compiler: Any, kind: str, arch: str) -> Any:
    return compiler(extrema, arch, {"x_ptr": f"*{kind}", "out_ptr": f"*{kind}"}, {"N": 1024})


@pytest.mark.parametrize("kind", ["i32", "u32", "i16", "i8"])
@pytest.mark.parametrize("arch", ["90", "100", "103"])
def test_no_negation_where_three_are_compared_at_once(kind: str, arch: str, compiler: Any) -> None:
    kernel = made(compiler, kind, arch)
    assert re.search(r"(min|max)\.[su](16|32)", kernel.ptx)
    assert kernel.count("neg.s") == 0
    assert kernel.count("not.b") >= 8


@pytest.mark.parametrize("arch", ["80", "120"])
def test_others_negate_as_they_do(arch: str, compiler: Any) -> None:
    assert made(compiler, "i32", arch).count("neg.s32") >= 8


def test_the_negation_is_the_same_number() -> None:
    text = "\tneg.s32 \t%r13, %r9;\n\tmax.s32 \t%r17, %r13, %r15;\n\tneg.s16 \t%rs2, %rs1;\n"
    assert avoid_faults(text, CAPABILITIES[90]) == (
        "\tnot.b32 \t%r13, %r9;\n\tadd.s32 \t%r13, %r13, 1;\n\tmax.s32 \t%r17, %r13, %r15;\n"
        "\tnot.b16 \t%rs2, %rs1;\n\tadd.s16 \t%rs2, %rs2, 1;\n"
    )
    alone = "\tneg.s32 \t%r13, %r9;\n\tmax.f32 \t%f1, %f2, %f3;\n"
    assert avoid_faults(alone, CAPABILITIES[90]) == alone


@tritonx.jit
def next_numbers(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x + 1)


@pytest.mark.parametrize("arch", ["90", "100", "120"])
def test_sums_of_pairs_and_numbers_are_two(arch: str, compiler: Any) -> None:
    kernel = compiler(next_numbers, arch, {"x_ptr": "*i16", "out_ptr": "*i16"}, {"N": 1024})
    assert kernel.count("add.s16x2") == 0
    assert len(re.findall(r"add\.s16 %(?:low|high), %(?:low|high), 1;", kernel.ptx)) == 8


def test_only_numbers_are_split() -> None:
    """A register that is written twice, or in another function, is no number."""
    function = "{\n\tmov.b32 \t%r1, 65537;\n\tadd.s16x2 \t%r3, %r2, %r1;\n\tadd.s16x2 \t%r4, %r1, %r3;\n}\n"
    made = avoid_faults(function, CAPABILITIES[90])
    assert "s16x2" not in made
    sums = "add.s16 %low, %low, 1; add.s16 %high, %high, 1;"
    assert f"mov.b32 {{%low, %high}}, %r2; {sums} mov.b32 %r3, {{%low, %high}};" in made
    twice = function.replace("}\n", "\tmov.b32 \t%r1, %r9;\n}\n")
    assert avoid_faults(twice, CAPABILITIES[90]) == twice
    other = "{\n\tmov.b32 \t%r1, 65537;\n}\n{\n\tadd.s16x2 \t%r3, %r2, %r1;\n}\n"
    assert avoid_faults(other, CAPABILITIES[90]) == other
