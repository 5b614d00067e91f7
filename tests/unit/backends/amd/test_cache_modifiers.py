"""Cache modifiers set the bits that LLVM's AMDGPU guide names, through pointers, through buffers and to the LDS."""

# pyright: reportArgumentType=false, reportUnknownMemberType=false -- kernels are the language's, not Python's

from __future__ import annotations

import re
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource

BITS = {
    "gfx90a": {"nt load": "glc slc", "nt store": "glc slc", "load": "glc", "store": ""},
    "gfx942": {"nt load": "nt", "nt store": "nt", "load": "sc0 sc1", "store": "sc0 sc1"},
    "gfx950": {"nt load": "nt", "nt store": "nt", "load": "sc0 sc1", "store": "sc0 sc1"},
    "gfx1100": {"nt load": "slc dlc", "nt store": "glc slc dlc", "load": "glc dlc", "store": "dlc"},
    "gfx1201": {
        "nt load": "th:TH_LOAD_NT", "nt store": "th:TH_STORE_NT", "load": "scope:SCOPE_SYS", "store": "scope:SCOPE_SYS",
    },
}  # fmt: skip
"""Of nontemporal accesses, and of volatile ones."""


@tritonx.jit
def copied(x, y, n, LOADED: tl.constexpr, STORED: tl.constexpr, MASKED: tl.constexpr):
    i = tl.arange(0, 512)
    mask = i < n if MASKED else None
    tl.store(y + i, tl.load(x + i, mask, cache_modifier=LOADED), mask, cache_modifier=STORED)


@tritonx.jit
def product(a, b, c, k, LOADED: tl.constexpr):
    i, j = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    total = tl.zeros((64, 64), tl.float32)
    for start in range(0, k, 64):
        x = tl.load(a + i * 4096 + start + j, cache_modifier=LOADED)
        y = tl.load(b + (start + i) * 64 + j, cache_modifier=LOADED)
        total = tl.dot(x, y, total)
    tl.store(c + i * 64 + j, total)


def accesses(text: str, what: str) -> list[str]:
    """The bits of the instructions that load from or store to global memory."""
    lines = re.findall(rf"^\s+(?:global|buffer)_{what}_\w+ (.*)$", text, re.MULTILINE)
    names = "|".join(sorted({bit for bits in BITS.values() for each in bits.values() for bit in each.split()}))
    return [" ".join(re.findall(rf"\b(?:{names})\b", line)) for line in lines]


@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("buffers", [False, True], ids=["pointers", "buffers"])
@pytest.mark.parametrize("target", BITS)
def test_loads_and_stores(target: str, buffers: bool, masked: bool) -> None:
    range_ = [["tt.pointer_range", 32]] if buffers else []
    attributes: dict[Any, Any] = {(n,): [["tt.divisibility", 16], *range_] for n in range(2)}
    signature = {
        "x": "*fp32",
        "y": "*fp32",
        "n": "i32",
        "LOADED": "constexpr",
        "STORED": "constexpr",
        "MASKED": "constexpr",
    }
    bits = BITS[target]
    for loaded, stored, expected in (
        ("", "", ("", "")), (".ca", ".wb", ("", "")), (".cg", ".cg", (bits["nt load"], "")),
        ("", ".cs", ("", bits["nt store"])), (".cv", ".wt", (bits["load"], bits["store"])),
    ):  # fmt: skip
        constants = {"LOADED": loaded, "STORED": stored, "MASKED": masked}
        code = compile(ASTSource(copied, signature, constants, attributes), f"hip:{target}").asm["amdgcn"]
        assert ("buffer_load" in code) == buffers == ("buffer_store" in code)
        for what, wanted in zip(("load", "store"), expected, strict=True):
            found = accesses(code, what)
            assert found and set(found) == {wanted}, (loaded, stored, what)


@pytest.mark.parametrize("buffers", [False, True], ids=["pointers", "buffers"])
def test_copies_to_the_lds(buffers: bool) -> None:
    range_ = [["tt.pointer_range", 32]] if buffers else []
    attributes: dict[Any, Any] = {(n,): [["tt.divisibility", 16], *range_] for n in range(3)}
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32", "LOADED": "constexpr"}
    for loaded, wanted in (("", False), (".cg", True)):
        source = ASTSource(product, signature, {"LOADED": loaded}, attributes)
        code = compile(source, "hip:gfx950", {"async_copy": True}).asm["amdgcn"]
        lines = [line for line in code.splitlines() if re.search(r"\b(buffer|global)_load_.*lds", line)]
        assert lines and all(("nt" in line.split()) == wanted for line in lines), lines
