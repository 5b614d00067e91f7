"""The upper half of a product where nothing is wider than the operands, compiled for the host and run; extrema of truth
values where there are none."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.scalar.ops import Ops
from tritonx.conversion.scalar.table import TABLE
from tritonx.conversion.tile_to_loops.numbers import HostNumbers, Literal
from tritonx.ir.text import parse_module

SEED = int(os.environ["TRITONX_SEED"])


class NoWider(HostNumbers):
    widest_integer = 64
    orders_truth_values = False


def emitted(op_text: str, elem: str) -> str:
    """A function ``called`` of two of ``elem`` with what the op's rule writes."""
    body = f"  %z = {op_text}\n  tt.return %z : {elem}\n"
    found: Any = parse_module(f"tt.func @f(%x: {elem}, %y: {elem}) -> {elem} {{\n{body}}}\n")
    op = next(o for o in found.walk() if len(o.operands) == 2)
    module = Module()
    ops = Ops(Writer(module), 0, NoWider(fuse=False), lambda _: Literal())
    value = TABLE[type(op)](ops, op, ("%x", "%y"))
    lines = [f"define {elem} @called({elem} %x, {elem} %y) {{", *ops.writer.lines, f"  ret {elem} {value}", "}"]
    return module.print((), lines)


@pytest.mark.parametrize("bits", [64])
def test_the_upper_half_of_a_product(bits: int) -> None:
    text = emitted("tt.mulhiui %x, %y : i64", f"i{bits}")
    assert "i128" not in text
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine: Any = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    called = ctypes.CFUNCTYPE(*[ctypes.c_uint64] * 3)(engine.get_function_address("called"))
    edges = [0, 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    drawn = np.random.default_rng(SEED).integers(0, 2**64 - 1, 200, np.uint64, endpoint=True).tolist()
    pairs = [(a, b) for a in edges for b in edges] + list(zip(drawn, reversed(drawn), strict=True))
    assert [called(a, b) for a, b in pairs] == [a * b >> bits for a, b in pairs], f"seed {SEED}"


@pytest.mark.parametrize(("name", "word"), [("maxui", "or"), ("minui", "and"), ("maxsi", "and"), ("minsi", "or")])
def test_extrema_of_truth_values(name: str, word: str) -> None:
    """-1 is the truth value that is true, signed."""
    assert f"= {word} i1 %x, %y" in emitted(f"arith.{name} %x, %y : i1", "i1")
    assert f"@llvm.{'s' if 's' in name else 'u'}{name[:3]}.i32(" in emitted(f"arith.{name} %x, %y : i32", "i32")
