"""Extrema of negated integers reach ptxas in a form that it assembles right; the conformance case `reduce/negated` runs
them on a device."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.negated_extrema import hide_negations
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
    assert hide_negations(text, CAPABILITIES[90]) == (
        "\tnot.b32 \t%r13, %r9;\n\tadd.s32 \t%r13, %r13, 1;\n\tmax.s32 \t%r17, %r13, %r15;\n"
        "\tnot.b16 \t%rs2, %rs1;\n\tadd.s16 \t%rs2, %rs2, 1;\n"
    )
    alone = "\tneg.s32 \t%r13, %r9;\n\tmax.f32 \t%f1, %f2, %f3;\n"
    assert hide_negations(alone, CAPABILITIES[90]) == alone
