"""Loops of a known count around products of warp groups: ptxas is told to leave them as they are."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia.assembler.disassemble import find_program
from tritonx.compiler import ASTSource


@tritonx.jit
def product(a, b, c, n, K: tl.constexpr, ROWS: tl.constexpr, COUNTED: tl.constexpr, FIXED: tl.constexpr):
    rows, columns, inner = tl.arange(0, ROWS), tl.arange(0, 64), tl.arange(0, 32)
    total = tl.zeros((ROWS, 64), tl.float32)
    for k in tl.range(0, K if COUNTED else n, 32, disable_licm=FIXED):
        x = tl.load(a + rows[:, None] * K + k + inner[None, :])
        y = tl.load(b + (k + inner[:, None]) * 64 + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * 64 + columns[None, :], total)


def made(arch: str = "90", rows: int = 64, counted: bool = True, fixed: bool = False) -> Any:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32"}
    constants = {"K": 512, "ROWS": rows, "COUNTED": counted, "FIXED": fixed}
    source = ASTSource(product, types, constants, {(place,): [["tt.divisibility", 16]] for place in range(4)})
    return tritonx.compile(source, f"cuda:{arch}", {"num_stages": 3})


PRAGMA = '.pragma "nounroll";'


@pytest.mark.parametrize("fixed", [False, True])
def test_of_a_known_count(fixed: bool) -> None:
    """As many products in the code as in the text, and LLVM is told what the kernel says too."""
    found = made(fixed=fixed)
    assert found.asm["ptx"].count(PRAGMA) == 1
    marks = re.findall(r"^!1\d\d = distinct !\{!1\d\d, (.*)\}$", found.asm["llir"], re.MULTILINE)
    licm = ['!{!"llvm.licm.disable"}'] if fixed else []
    assert marks == [", ".join([*licm, '!{!"llvm.loop.unroll.disable"}'])]
    products = found.asm["ptx"].count("wgmma.mma_async.sync")
    assert products <= 4
    if find_program("nvdisasm") is not None:
        assert found.asm["sass"].count("HGMMA") == products


@pytest.mark.parametrize("given", [{"counted": False}, {"rows": 16}, {"arch": "80"}], ids=str)
def test_others_may_be_unrolled(given: dict[str, Any]) -> None:
    """Whose count is not known, and whose products a warp waits for."""
    assert PRAGMA not in made(**given).asm["ptx"]
