"""`disable_licm` reaches LLVM: the branch back of such a loop is marked, each with metadata of its own."""

from __future__ import annotations

import re

import pytest

import tritonx
import tritonx.language as tl
from tritonx.compiler import ASTSource


@tritonx.jit
def marked(x_ptr, n):
    for i in tl.range(0, n, disable_licm=True):
        tl.store(x_ptr + i, i)
    j = 0
    while tl.condition(j < n, disable_licm=True):
        tl.store(x_ptr + j, j)
        j += 2
    for k in tl.range(0, n, disable_licm=True):
        if tl.load(x_ptr + k) == 3:
            break
        tl.store(x_ptr + k, k)


@tritonx.jit
def plain(x_ptr, n):
    for i in tl.range(0, n):
        tl.store(x_ptr + i, i)
    j = 0
    while tl.condition(j < n):
        tl.store(x_ptr + j, j)
        j += 2


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "cpu"])
def test_marked(target: str) -> None:
    for kernel, count in ((marked, 3), (plain, 0)):
        source = ASTSource(kernel, {"x_ptr": "*i32", "n": "i32"})
        text = str(tritonx.compile(source, target=target).asm["llir"])
        marks = re.findall(r"br label %\S+, !llvm\.loop (!\d+)", text)
        assert len(marks) == len(set(marks)) == count
        for mark in marks:
            assert f'{mark} = distinct !{{{mark}, !{{!"llvm.licm.disable"}}}}' in text
