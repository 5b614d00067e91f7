"""What a wait for products of warp groups comes to, whatever it passes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.registry import get_backend
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module

HEAD = """
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f() {
    %m = ttg.local_alloc : () -> MEM
    %z = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %h = arith.constant dense<0.0> : tensor<64x16xf16, #mma>
    WAIT
    tt.return
  }
}
"""
MEM = "!ttg.memdesc<64x16xf16, #s, #smem, mutable>"
SINGLE, HALF = "tensor<64x16xf32, #mma>", "tensor<64x16xf16, #mma>"


def emitted(lines: str) -> str:
    backend = get_backend("cuda")
    target = backend.parse_target("90")
    compilation = Compilation(target, backend.parse_options(target, {}))
    module: Any = parse_module(HEAD.replace("WAIT", lines).replace("MEM", MEM), "waits.ttgir")
    for stage in backend.stages(target, compilation.options)[:3]:
        if isinstance(stage, PassStage):
            run_pass_stage(module, stage.remaining(module), compilation)
        else:
            module = run_emit_stage(stage, module, compilation)
    return module


PASSED = [
    (["%m"], [MEM], 0),
    (["%z"], [SINGLE], 8),
    (["%h"], [HALF], 4),
    (["%m", "%h", "%z"], [MEM, HALF, SINGLE], 12),
]


def waiting(inputs: list[str], types: list[str], pendings: int, read: Sequence[int]) -> list[str]:
    """The constraints of a wait, of which some results are printed behind it."""
    wait = f"%r:{len(inputs)} = ttng.warp_group_dot_wait {', '.join(inputs)} {{pendings = {pendings} : i32}}"
    lines = [f"{wait} : {', '.join(types)}"]
    lines += [f'tt.print "r" {{hex = false, isSigned = array<i32: 1>}} : %r#{i} : {types[i]}' for i in read]
    (line,) = [line for line in emitted("\n".join(lines)).splitlines() if "wgmma.wait_group" in line]
    assert f'"wgmma.wait_group.sync.aligned {pendings};"' in line
    constraints = re.findall(r'"([^"]*)"', line)[1].split(",")
    assert "~{memory}" in constraints
    return constraints


@pytest.mark.parametrize(("inputs", "types", "words"), PASSED, ids=["memory", "f32", "f16", "all"])
@pytest.mark.parametrize("pendings", [0, 3])
def test_a_wait_is_there_and_every_register_goes_through_it(
    inputs: list[str], types: list[str], words: int, pendings: int
) -> None:
    read = [i for i, type_ in enumerate(types) if type_ != MEM]
    constraints = waiting(inputs, types, pendings, read)
    assert [c for c in constraints if c.isdigit()] == [str(n) for n in range(words)]
    assert sum(c.startswith("=") for c in constraints) == words


@pytest.mark.parametrize(("inputs", "types", "words"), PASSED, ids=["memory", "f32", "f16", "all"])
def test_what_is_not_read_does_not_go_through_a_wait(inputs: list[str], types: list[str], words: int) -> None:
    """The wait is there all the same, and others go through."""
    assert waiting(inputs, types, 0, []) == ["~{memory}"]
    if len(inputs) > 1:
        assert waiting(inputs, types, 0, [1])[:4] == ["=r"] * 4


@tritonx.jit
def products(a_ptr, b_ptr, c_ptr, n, M: tl.constexpr, K: tl.constexpr, SCALED: tl.constexpr, HALF: tl.constexpr):
    i, k = tl.arange(0, M), tl.arange(0, K)
    total = tl.zeros((M, M), tl.float16 if HALF else tl.float32)
    for step in range(n):
        a = tl.load(a_ptr + i[:, None] * n * K + (step * K + k)[None, :])
        b = tl.load(b_ptr + (step * K + k)[:, None] * M + i[None, :])
        if SCALED:
            total = total * 0.5
        total = tl.dot(a, b, total, out_dtype=total.dtype)
    tl.store(c_ptr + i[:, None] * M + i[None, :], total.to(c_ptr.dtype.element_ty))


@pytest.mark.parametrize(("scaled", "half", "scalars"), [(False, False, 32), (True, False, 0), (False, True, 0)])
def test_what_products_alone_read_goes_round_as_they_name_it(
    scaled: bool, half: bool, scalars: int, compiler: Any
) -> None:
    """Register by register, and past the waits of the loop; behind the loop it passes one. What threads scale in each
    round passes one there."""
    types = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "n": "i32"}
    constants = {"M": 64, "K": 32, "SCALED": scaled, "HALF": half}
    text = compiler(products, "90", types, constants, num_warps=4, num_stages=3, until="llir").stages["llir"]
    assert len(re.findall(r"= phi float ", text)) == scalars
    assert len(re.findall(r"= phi <\d+ x (?:float|half)> ", text)) == (scalars == 0)
    waits = re.findall(r'"wgmma\.wait_group[^"]*", "([^"]*)"', text)
    assert [bool(re.match("=[fr],", each)) for each in waits] == ([False, True] if scalars else [True] * len(waits))
