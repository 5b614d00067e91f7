"""A kernel's module under the methods of Triton's bindings: an analysis as libraries write it, on a kernel's own IR."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.compiler import make_backend
from tritonx.compiler import ASTSource
from tritonx.runtime.compiling.ir_view import ModuleView


@tritonx.jit
def total(a, b):
    return a + b


@tritonx.jit
def writes_two(read, written, counted, n, N: tl.constexpr):
    at = tl.arange(0, N)
    sums = tl.zeros([N], tl.float32)
    for i in range(n):
        sums += tl.load(read + i * N + at)
    if n > 3:
        tl.store(written + at, sums)
    tl.atomic_add(counted, tl.reduce(sums, 0, total))


def view(kernel: Any, signature: dict[str, str], constants: dict[str, Any]) -> ModuleView:
    backend = make_backend("cuda:90")
    options = backend.parse_options({})
    source = ASTSource(kernel, signature, constants, {(0,): [["tt.divisibility", 16]]})
    context = tritonx._C.libtriton.ir.context()
    tritonx._C.libtriton.ir.load_dialects(context)
    backend.load_dialects(context)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    return source.make_ir(backend.target, options, functions, modules, context)


def test_where_stores_come_from() -> None:
    """From each written pointer back through the ops that made it, to the function's parameters."""
    found = view(
        writes_two,
        {"read": "*fp32", "written": "*fp32", "counted": "*fp32", "n": "i32", "N": "constexpr"},
        {"N": 16},
    )
    assert found.verify() and "tt.func public @writes_two" in str(found)
    makers: dict[int, Any] = {}
    written: list[int] = []
    names: list[str] = []
    parameters: dict[int, int] = {}

    def visit(op: Any) -> None:
        names.append(op.get_name())
        for i in range(op.get_num_results()):
            makers[op.get_result(i).id()] = op
        if op.get_name() in ("tt.store", "tt.atomic_rmw"):
            written.append(op.get_operand(0).id())
        if op.get_name() in ("tt.return",):
            block = op.get_block()
            for i in range(block.get_num_arguments()):
                parameters[block.get_argument(i).id()] = i

    found.walk(visit)

    def origins(value: int) -> set[int]:
        if value in parameters:
            return {parameters[value]}
        op = makers.get(value)
        operands = [] if op is None else [op.get_operand(i).id() for i in range(op.get_num_operands())]
        return set().union(*map(origins, operands)) if operands else set()

    assert set().union(*map(origins, written)) == {1, 2}
    assert names[-2:] == ["tt.func", "builtin.module"] and {"scf.for", "scf.if", "tt.reduce"} <= set(names)
    assert names.index("scf.yield") < names.index("scf.for")
    assert names.index("tt.reduce.return") < names.index("tt.reduce")


def test_blocks_regions_and_attributes() -> None:
    found = view(writes_two, {"read": "*fp32", "written": "*fp32", "counted": "*fp32", "n": "i32"}, {"N": 16})
    seen: dict[str, Any] = {}
    found.walk(lambda op: seen.setdefault(op.get_name(), op))
    loop, function, module = seen["scf.for"], seen["tt.func"], seen["builtin.module"]
    assert seen["scf.yield"].get_block().get_parent().id() in {
        op.get_region(i).id() for op in (loop, seen["scf.if"]) for i in range(op.get_num_regions())
    }
    assert function.get_str_attr("sym_name") == "writes_two" and function.get_str_attr("nothing") is None
    assert function.get_num_regions() == 1 and module.get_block() is None
    assert loop.get_num_results() == 1 and loop.get_num_operands() == 4


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_pytorch_finds_what_a_kernel_writes() -> None:
    """In a process of its own, where triton is tritonx."""
    code = f"""
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("views", {__file__!r})
views = sys.modules["views"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(views)
from torch._higher_order_ops.triton_kernel_wrap import identify_accessed_tensors
tensors = {{name: torch.zeros(64) for name in ("read", "written", "counted")}}
found = identify_accessed_tensors(views.writes_two, {{**tensors, "n": 4, "N": 16}}, {{}})
print(sorted(d.name for d in found.read_writes.writes))
"""
    root = str(Path(__file__).resolve().parents[3])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "tritonx.compat", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.stdout.strip() == "['counted', 'written']", done.stderr[-3000:]
