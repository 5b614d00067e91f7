"""What ptxas assembles wrong does not reach it: extrema of negated integers (the conformance cases `reduce/negated` run
them on a device), absolute values and short negations (`integers/turned`), sums of 16-bit pairs and a number
(`integers`). An "and" for an "or" is seen in what it made, and does not stay (`extents/scan-12x40-all-on-w4` in an
arrangement had one)."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler import assemble as assembler
from tritonx.backends.nvidia.assembler.assembler_faults import avoid_faults, takes_and_for_or, without_joined_predicates
from tritonx.backends.nvidia.targets import CAPABILITIES
from tritonx.runtime.errors import PTXASError


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


def test_a_predicate_stays_on_what_it_is_for() -> None:
    text = (
        "\tmax.s32 \t%r1, %r2, %r3;\n\t@%p1 neg.s32 \t%r4, %r5;\n\t@!%p2 abs.s32 \t%r6, %r7;\n"
        "\t@%p3 sub.s32 \t%r8, %r9, %r9;\n\t@%p4 add.s16x2 \t%r10, %r11, %r12;\n\tmov.b32 \t%r12, 65537;\n"
    )
    made = avoid_faults(text, CAPABILITIES[90])
    for part in ("@%p1 not.b32 \t%r4, %r5;", "@%p1 add.s32 \t%r4, %r4, 1;", "@!%p2 max.s32 %r6, %negated, %r7; }",
                 "@%p3 add.s32 %r8, %opposite, 1; }", "@%p4 mov.b32 %r10, {%low, %high}; }"):  # fmt: skip
        assert part in made
    assert made.count("@") == 5 and not re.search(r"@\S+\s+{", made)


@tritonx.jit
def differences(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    total = tl.sum(x, axis=0)
    tl.store(out_ptr, tl.maximum(tl.sum(x, axis=0) - total, tl.max(x, axis=0)) + total - total)


@pytest.mark.parametrize("arch", ["90", "100"])
def test_the_name_of_a_sum_in_another_instruction(arch: str, compiler: Any) -> None:
    """`redux.sync.add` of what is a number is none of these sums."""
    text = "\tmov.b32 \t%r148, -1;\n\tredux.sync.add.s32 \t%r34, %r148, %r148;\n\tmax.s32 \t%r1, %r34, %r2;\n"
    assert avoid_faults(text, CAPABILITIES[int(arch)]) == text
    kernel = compiler(differences, arch, {"x_ptr": "*i32", "out_ptr": "*i32"}, {"N": 32})
    assert kernel.count("redux.sync.add.s32") >= 1 and assembler.assemble(kernel.ptx, CAPABILITIES[int(arch)]).cubin


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


@tritonx.jit
def distances(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.abs(x - y).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + N + i, (0 - x).to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("kind", ["i16", "i32", "i64"])
@pytest.mark.parametrize("arch", ["80", "90", "120"])
def test_absolute_values_wrap(kind: str, arch: str, compiler: Any) -> None:
    """And negations of 16 bits do."""
    kernel = compiler(distances, arch, {"x_ptr": f"*{kind}", "y_ptr": f"*{kind}", "out_ptr": "*i64"}, {"N": 128})
    assert not re.search(r"\babs\.s|\bneg\.s16", kernel.ptx)
    assert len(re.findall(rf"max\.s{kind[1:]} [^,]+, %negated, [^;]+;", kernel.ptx)) == 1


EITHER = """.version 8.0
.target sm_{arch}
.address_size 64
.visible .entry kernel(.param .u64 out, .param .s32 few, .param .s32 fewer)
.reqntid 32, 1, 1
{{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	ld.param.b64 %rd1, [out];
	ld.param.b32 %r1, [few];
	ld.param.b32 %r2, [fewer];
	mov.u32 %r3, %tid.x;
	setp.lt.s32 %p1, %r3, %r1;
	setp.lt.s32 %p2, %r3, %r2;
	selp.b32 %r4, 1, 0, %p2;
	shfl.sync.bfly.b32 %r5, %r4, 8, 31, -1;
	and.b32 %r6, %r5, 1;
	setp.ne.b32 %p3, %r6, 0;
	and.pred %p4, %p1, %p3;
	selp.b32 %r7, %r1, %r2, %p4;
	or.pred %p5, %p3, %p1;
	shfl.sync.bfly.b32 %r8, %r7, 16, 31, -1;
	setp.eq.s32 %p6, %r3, 9;
	or.pred %p7, %p5, %p6;
	selp.b32 %r9, 1, 0, %p7;
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.b32 [%rd3], %r9;
	ret;
}}
"""
"""%r8 is not read, so of the "and" and the "or" of %p1 and %p3 only the "or" is left."""


@pytest.mark.parametrize("arch", [80, 90])
def test_no_and_for_an_or(arch: int) -> None:
    ptx, chip = EITHER.format(arch=arch), CAPABILITIES[arch]
    if not takes_and_for_or(assembler.assemble_once(ptx, chip).cubin):
        pytest.skip("this ptxas does not")
    assert not takes_and_for_or(assembler.assemble(ptx, chip).cubin)


def test_an_and_for_an_or_in_whatever_words(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = assembler.assemble_once(EITHER.format(arch=90), CAPABILITIES[90])
    if not takes_and_for_or(wrong.cubin):
        pytest.skip("this ptxas does not")
    monkeypatch.setattr(assembler, "assemble_once", lambda *_: wrong)
    with pytest.raises(PTXASError, match="may take an `and` of predicates for their `or`"):
        assembler.assemble(EITHER.format(arch=90), CAPABILITIES[90])


def test_an_or_of_a_pair_goes_by_a_register() -> None:
    pair, every = without_joined_predicates(EITHER.format(arch=90))
    moved = (
        "\t{ .reg .b32 %either; selp.b32 %either, 1, 0, %p3; selp.b32 %either, 1, %either, %p1; "
        "setp.ne.b32 %p5, %either, 0; }\n"
    )
    assert moved in pair and moved in every
    assert re.findall(r"\bor\.pred.*", pair) == ["or.pred %p7, %p5, %p6;"]
    assert "or.pred" not in every


def test_what_has_both_results_is_no_fault() -> None:
    both = EITHER.format(arch=90).replace("%r3, 9;", "%r3, %r8;")
    cubin = assembler.assemble_once(both, CAPABILITIES[90]).cubin
    assert not takes_and_for_or(cubin)
    assert not takes_and_for_or(b"") and not takes_and_for_or(cubin[:100])
