"""Which instructions small kernels come to on each compute capability."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tests.unit.backends.instruction_table import KERNELS, check, told
from tritonx.backends.nvidia.targets import CAPABILITIES

OF_INTEREST = re.compile(
    r"(?:mma|wgmma|ldmatrix|stmatrix|cp|mbarrier|fence|redux|shfl|vote|atom|red|cvt|ex2|tanh|membar|st\.async"
    r"|(?:ld|st)\.(?:global|shared)[\w.:]*\.v\d|add\.\w*x2|fma\.\w*x2|max\.\w*(?:x2|NaN))[\w.:]*"
)
"""The instructions that capabilities differ in."""


@pytest.mark.parametrize("name", KERNELS)
def test_instructions(name: str, compiler: Any) -> None:
    kernel, signature, constants = KERNELS[name]
    made = {str(n): compiler(kernel, str(n), signature, constants, until="ptx").ptx for n in CAPABILITIES}
    check(
        Path(__file__).with_name("instructions.expected"), name, {n: told(ptx, OF_INTEREST) for n, ptx in made.items()}
    )


@tritonx.jit
def numbered(out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.program_id(0) * N + i, i + tl.num_programs(0))


@pytest.mark.parametrize("num_ctas", [1, 2, 4])
def test_a_cluster_is_one_program(num_ctas: int, compiler: Any) -> None:
    """Its blocks share the number of the program, and each takes its part of the tile by its rank; a block alone has
    none to ask for."""
    ptx = compiler(numbered, "90", {"out": "*i32"}, {"N": 1024}, until="ptx", num_ctas=num_ctas).ptx
    found = {
        name for name in ("%cluster_ctarank", "%clusterid.x", "%nclusterid.x", "%ctaid.x", "%nctaid.x") if name in ptx
    }
    alone, together = {"%ctaid.x", "%nctaid.x"}, {"%cluster_ctarank", "%clusterid.x", "%nclusterid.x"}
    assert found == (together if num_ctas > 1 else alone)
    assert ".extern .func" not in ptx, "something is called that no instruction was made of"


@tritonx.jit
def to_and_from_8_bits(x, e, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(e + i, tl.load(x + i).to(tl.float8e5))
    tl.store(x + i, tl.load(e + N + i).to(tl.float32))


@pytest.mark.parametrize("n", [128, 256, 1024])
def test_conversions_come_in_pairs(n: int, compiler: Any) -> None:
    """A thread with one number converts it beside itself."""
    made = compiler(to_and_from_8_bits, "90", {"x": "*fp32", "e": "*fp8e5"}, {"N": n}, until="ptx")
    assert made.count("cvt.rn.satfinite.e5m2x2.f32") == made.count("cvt.rn.f16x2.e5m2x2") == max(1, n // 128 // 2)
