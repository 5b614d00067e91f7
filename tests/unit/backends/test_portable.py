"""A GPU that says little of itself: what the portable stages make of kernels for it, insert and refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import llvmlite.binding as llvm
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.backends.api import Compilation, Target, run_stages
from tritonx.backends.gpu import (
    AllocateSharedMemory,
    FunctionEmitter,
    GpuOptions,
    GpuTarget,
    Insert,
    InsertBarriers,
    Legal,
    Machine,
    NamedFunctions,
    NoMessages,
    OutOfResources,
    PassError,
    PassFailure,
    PortableMemory,
    UnrollLoads,
    inserted,
    layout_passes,
    memory_passes,
    portable_stages,
    tile_passes,
)
from tritonx.ir.pipeline import run_passes
from tritonx.ir.text import parse_module

TEXT = """
tt.func public @f(%x: !tt.ptr<{t}> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<{t}>) {{
  %i = tt.make_range {{start = 0 : i32, end = 256 : i32}} : tensor<256xi32>
  %a = tt.splat %x : !tt.ptr<{t}> -> tensor<256x!tt.ptr<{t}>>
  %p = tt.addptr %a, %i : tensor<256x!tt.ptr<{t}>>, tensor<256xi32>
  %v = tt.load %p : tensor<256x!tt.ptr<{t}>>
  %s = "tt.reduce"(%v) <{{axis = 0 : i32}}> ({{
  ^bb0(%l: {t}, %r: {t}):
    %n = arith.{add} %l, %r : {t}
    tt.reduce.return %n : {t}
  }}) : (tensor<256x{t}>) -> {t}
  tt.store %y, %s : !tt.ptr<{t}>
  tt.return
}}
"""


EVERYTHING = Legal()


@dataclass(frozen=True)
class Plain(Machine):
    """Warps of one lane or of many, shared memory in a space of its own."""

    warp_size: int  # pyright: ignore[reportIncompatibleVariableOverride]
    legal: Legal = EVERYTHING
    triple = "x86_64-unknown-linux"
    data_layout = "e-m:e-i64:64"
    kernel_convention = "ccc"
    shared_space = 5
    memory = PortableMemory()
    functions = NamedFunctions(lambda name, elems: f"@{name}", {})
    messages = NoMessages()

    def module_tail(self, threads: int) -> list[str]:
        return [f"!0 = !{{i32 {threads}}}"]

    def _ask(self, f: FunctionEmitter, name: str, axis: int = 0) -> str:
        return f.call("i32", f"@{name}", ("i32", str(axis)))

    def thread_id(self, f: FunctionEmitter) -> str:
        return self._ask(f, "thread")

    def program_id(self, f: FunctionEmitter, axis: int) -> str:
        return self._ask(f, "program", axis)

    def num_programs(self, f: FunctionEmitter, axis: int) -> str:
        return self._ask(f, "programs", axis)

    def barrier(self, f: FunctionEmitter) -> None:
        f.call("void", "@barrier", attributes="convergent")

    def shuffle_xor(self, f: FunctionEmitter, value: str, mask: int, equal: int = 0) -> str:
        assert self.warp_size > 1 and mask < self.warp_size
        return f.call("i32", "@shuffle", ("i32", value), ("i32", str(mask)), attributes="convergent")


def made(element: str, machine: Plain, gpu: GpuTarget, **inserts: Any) -> str:
    add = "addf" if element.startswith(("f", "b")) else "addi"
    target, options = Target("plain", "", machine.warp_size), GpuOptions(num_warps=gpu.num_warps)
    compilation = Compilation(target, options)
    artifacts = run_stages(
        parse_module(TEXT.format(t=element, add=add)), portable_stages(gpu, machine, **inserts), compilation
    )
    assert compilation.metadata["name"] == "f" and compilation.metadata["shared"] > 0
    llvm.parse_assembly(artifacts["llir"]).verify()
    return artifacts["llir"]


@pytest.mark.parametrize("lanes", [1, 16, 32, 64])
def test_lanes_and_spaces(lanes: int) -> None:
    text = made("f32", Plain(lanes), GpuTarget("plain", lanes, 4))
    assert "addrspace(5)" in text and "addrspace(3)" not in text
    assert text.count("call i32 @shuffle") == lanes.bit_length() - 1
    assert f"!0 = !{{i32 {4 * lanes}}}" in text and "ptr addrspace(1) align 16 %arg0" in text
    assert re.search(r"@barrier\(\) convergent", text)


@pytest.mark.parametrize(
    ("element", "llvm_name"), [("f64", "double"), ("bf16", "bfloat"), ("f16", "half"), ("i64", "i64")]
)
def test_a_type_that_the_machine_lacks_is_refused(element: str, llvm_name: str) -> None:
    lacking = Plain(1, Legal(types=Legal().types - {llvm_name}))
    with pytest.raises(PassFailure, match=f"the target has no {element}"):
        made(element, lacking, GpuTarget("plain", 1, 4))
    made("f32", lacking, GpuTarget("plain", 1, 4))


def test_a_block_that_asks_for_too_much() -> None:
    with pytest.raises((OutOfResources, PassFailure), match="shared memory"):
        made("f32", Plain(1), replace(GpuTarget("plain", 1, 64), shared_memory=16))


@dataclass(frozen=True)
class Refuse(ModulePass):
    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassError(op, "it was run")


LOOP = """
tt.func public @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<256xf32>
  %step = arith.constant dense<256> : tensor<256xi32>
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %a = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %b = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %p = tt.addptr %a, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %q = tt.addptr %b, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero, %at = %p)
      -> (tensor<256xf32>, tensor<256x!tt.ptr<f32>>) : i32 {
    %v = tt.load %at : tensor<256x!tt.ptr<f32>>
    %u = arith.addf %t, %v : tensor<256xf32>
    %next = tt.addptr %at, %step : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    scf.yield %u, %next : tensor<256xf32>, tensor<256x!tt.ptr<f32>>
  }
  tt.store %q, %s#0 : tensor<256x!tt.ptr<f32>>
  tt.return
}
"""


def test_no_registers_are_guessed() -> None:
    """A chip that does not say how many it has gets no limit, though its loads are unrolled."""
    gpu = GpuTarget("plain", 32, 4)
    for limit in (False, True):
        module = parse_module(LOOP)
        passes = [replace(p, limit=limit) if isinstance(p, UnrollLoads) and limit else p for p in layout_passes(gpu)]
        run_passes(module, (*tile_passes(), *passes))
        assert sum(op.name == "tt.load" for op in module.walk()) > 1
        assert ("ttg.maxnreg" in module.attributes) == limit


def test_passes_are_inserted() -> None:
    gpu = GpuTarget("plain", 1, 4)
    names = [
        type(one) for one in inserted(memory_passes(gpu), [Insert(Refuse(), AllocateSharedMemory), Insert(Refuse())])
    ]
    assert names[names.index(AllocateSharedMemory) - 1] is Refuse is names[-1]
    for before in (InsertBarriers, AllocateSharedMemory):
        with pytest.raises(PassFailure, match="it was run"):
            made("f32", Plain(1), gpu, on_layouts=[Insert(Refuse(), before)])
    with pytest.raises(ValueError, match="refuse: no InsertBarriers to run in front of"):
        made("f32", Plain(1), gpu, on_tiles=[Insert(Refuse(), InsertBarriers)])
