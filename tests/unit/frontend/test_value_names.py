"""Any name of Python may be a variable's, used or not."""

from __future__ import annotations

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.tile import parse_module
from tritonx.ir.text import print_module


@tritonx.jit
def numbered(out_ptr, _1, N: tl.constexpr):
    _0 = tl.zeros((N,), tl.float32)  # never used
    _1_2 = tl.zeros((N,), tl.float32)
    _, __, ___4 = 1, 2, 3
    _2 = tl.arange(0, N) + _1
    for _3 in range(2):
        _2 += _3
    tl.store(out_ptr + tl.arange(0, N), _2)


def test_a_variable_may_be_a_number() -> None:
    out = np.zeros(8, np.int32)
    numbered[(1,)](out, 5, N=8)
    assert out.tolist() == [6 + i for i in range(8)]


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_for_gpus(target: str) -> None:
    signature = {"out_ptr": "*i32", "_1": "i32", "N": "constexpr"}
    source = tritonx.compiler.ASTSource(numbered, signature, constexprs={"N": 64})
    assert tritonx.compile(source, target=target).asm


def test_text_may_have_such_values() -> None:
    module = parse_module("""module {
  tt.func public @f(%_0: i32, %_1_2: i32) {
    %_3 = arith.addi %_0, %_1_2 : i32
    tt.return
  }
}""")
    copied = print_module(module.clone())
    assert copied == print_module(module)
    assert "arith.addi %0, %1" in copied
