"""What inline assembly gets: elements of 32 bits and more each in a register, smaller ones packed into words."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Compilation, run_stages
from tritonx.backends.nvidia import BACKEND
from tritonx.frontend.compile import make_module


@tritonx.jit
def assembled(x, o, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, PACK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    made = tl.inline_asm_elementwise(
        ASM, CONSTRAINTS, [tl.load(x + i)], dtype=x.dtype.element_ty, is_pure=True, pack=PACK
    )
    tl.store(o + i, made)


def registers_of(bits: int, pack: int) -> int:
    return pack if bits >= 32 else max(1, bits * pack // 32)


@pytest.mark.parametrize("pack", [1, 2, 4, 8])
@pytest.mark.parametrize(("element", "bits"), [("i8", 8), ("fp16", 16), ("bf16", 16), ("fp32", 32), ("i64", 64)])
def test_operands(element: str, bits: int, pack: int) -> None:
    """The assembly names each operand once; LLVM refuses it where types and constraints do not go together."""
    target = BACKEND.parse_target("90")
    options = BACKEND.parse_options(target, {})
    count = registers_of(bits, pack)
    kind = "l" if bits == 64 else "f" if element == "fp32" else "r" if bits * pack >= 32 or pack > 1 else "h"
    constraints = ",".join(["=" + kind] * count + [kind] * count)
    asm = "// here " + " ".join(f"${i}" for i in range(2 * count)) + ";"
    values: dict[str, Any] = {"ASM": asm, "CONSTRAINTS": constraints, "PACK": pack, "N": 1024}
    names = list(assembled.arg_names)
    signature = {"x": f"*{element}", "o": f"*{element}", **dict.fromkeys(values, "constexpr")}
    attributes = {(place,): [["tt.divisibility", 16]] for place in (0, 1)}
    module = make_module(
        assembled, signature, {(names.index(k),): v for k, v in values.items()}, attributes, options, target
    )
    stages = [stage for stage in BACKEND.stages(target, options) if stage.name != "cubin"]
    ptx = run_stages(module, stages, Compilation(target, options))["ptx"]
    found = [line.split("// here ")[1].rstrip("; ").split() for line in ptx.splitlines() if "// here" in line]
    assert len(found) == 1024 // 128 // pack  # of one thread
    assert all(len(operands) == 2 * count for operands in found)
    width = {"l": "rd", "f": "r", "r": "r", "h": "rs"}[kind]
    assert all(re.fullmatch(rf"%{width}\d+", operand) for operands in found for operand in operands), found[0]
