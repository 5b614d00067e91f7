"""A GPU that says little of itself: what the portable stages make of kernels for it, insert and refuse."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.backends.api import Compilation, Target, run_stages
from tritonx.backends.gpu import (
    TABLE,
    AllocateSharedMemory,
    Combine,
    CommonSubexpressionElimination,
    DeadCodeElimination,
    Fold,
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
    StageDotOperands,
    UnitCosts,
    UnrollLoads,
    emit_llvm,
    inserted,
    layout_passes,
    memory_passes,
    portable_stages,
    tile_passes,
)
from tritonx.backends.gpu_passes import gpu_passes
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.pipeline import run_passes
from tritonx.ir.text import parse_module
from tritonx.transforms.gpu.allocate_warp_groups import AllocateWarpGroups
from tritonx_testing.conformance.case import Case
from tritonx_testing.conformance.device import host_arguments
from tritonx_testing.conformance.suite import cases

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
SEED = int(os.environ["TRITONX_SEED"])


def drawn(count: int) -> list[Case]:
    apart = ("debug", "functions", "wide")
    found = [case for case in cases() if not case.optional and not case.needs and case.family not in apart]
    if os.environ.get("TRITONX_MACHINES") == "all":
        return found
    rng = np.random.default_rng(SEED)
    return [found[i] for i in sorted(rng.choice(len(found), count, replace=False))]


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

    def shuffle_index(self, f: FunctionEmitter, value: str, lane: str) -> str:
        return f.call("i32", "@shuffle_index", ("i32", value), ("i32", lane), attributes="convergent")


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


def test_passes_are_inserted_by_name() -> None:
    """In front of a pass of the shared list, behind it or in its place, and in the order in which they are given."""
    gpu = GpuTarget("plain", 1, 4)
    cse, dce, refuse = CommonSubexpressionElimination(), DeadCodeElimination(), Refuse()
    shared = [one.name for one in memory_passes(gpu)]
    first, *others = shared
    after = [Insert(cse, after="widen-float8"), Insert(dce, after="widen-float8"), Insert(refuse, after="cse")]
    names = [one.name for one in inserted(memory_passes(gpu), after)]
    assert names == [first, "cse", "refuse", "dce", *others]
    before = [Insert(cse, before="widen-float8"), Insert(dce, before="widen-float8")]
    assert [one.name for one in inserted(memory_passes(gpu), before)] == ["cse", "dce", *shared]
    instead = inserted(memory_passes(gpu), [Insert(refuse, instead="make-room")])
    assert [one.name for one in instead] == ["refuse" if one == "make-room" else one for one in shared]
    for how, place in (("behind", {"after": "none"}), ("instead of", {"instead": "none"})):
        with pytest.raises(ValueError, match=f"refuse: no none to run {how}"):
            inserted(memory_passes(gpu), [Insert(refuse, **place)])
    with pytest.raises(ValueError, match="refuse: name one place"):
        Insert(refuse, before="dce", after="dce")


def test_inserts_go_to_the_list_that_has_their_place() -> None:
    """Also next to another insert; a module that has layouts gets those of the last list alone."""
    given = [Insert(Refuse(), before="widen-float8"), Insert(Combine(), after="cse"), Insert(Fold(), after="combine")]
    _, layouts, memory = gpu_passes(GpuTarget("plain", 1, 4), on_layouts=given)
    assert [one.name for one in layouts][-4:] == ["cse", "combine", "fold", "dce"] and memory[0] == Refuse()


def test_what_pipelines_need_is_left_out_where_there_are_none() -> None:
    """With what stands in its place, and nothing else of a backend's own."""
    given = [Insert(Refuse(), instead="buffer-values"), Insert(Combine(), after="expand-pipeline")]
    gpu = GpuTarget("plain", 1, 4)
    names = [one.name for one in layout_passes(gpu, given)]
    assert "combine" in names and not {"refuse", "fold", "schedule-loops"} & {*names}
    names = [one.name for one in layout_passes(replace(gpu, pipelined=True), given)]
    assert names[names.index("schedule-loops") + 1 :][:4] == ["refuse", "expand-pipeline", "combine", "fold"]


@dataclass(frozen=True)
class RemoteLaunches(Plain):
    """Memories by other numbers, and pointers of 32 bits: only what a host has is of 64."""

    data_layout = "e-m:e-p:64:64-p7:32:32-p9:32:32-i64:64"
    global_space, shared_space = 7, 9
    has_global_scratch = True
    functions = NamedFunctions(
        lambda name, elems: f"@{name}.{elems[0]}",
        {name: name for name in "exp exp2 log log2 log10 log1p expm1 sin cos tan tanh erf rem".split()},
    )

    def nanoseconds(self, f: FunctionEmitter) -> str:
        return f.inst(f"call i64 {f.module.declare('i64', '@nanoseconds', [])}()")


@dataclass(frozen=True)
class Usual(Plain):
    has_global_scratch = True


POINTERS = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}>
#r = #ttg.linear<{register = [[64], [128]], lane = [[2], [8], [1], [4]], warp = [[16], [32]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 16 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @f(%x: !tt.ptr<f32>, %t: !tt.ptr<!tt.ptr<f32>>, %c: !tt.ptr<f32, 4>, %u: !tt.ptr<f32, 3>,
                    %g: !tt.ptr<f32, 0>) {
    %scratch = ttg.global_scratch_alloc {nbytes = 256 : i32, alignment = 16 : i32} : !tt.ptr<i8>
    %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #a>
    %j = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #a>
    %p = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>
    %q = ttg.convert_layout %p : tensor<256x!tt.ptr<f32>, #a> -> tensor<256x!tt.ptr<f32>, #b>
    %or = arith.constant dense<2.000000e+00> : tensor<256xf32, #r>
    %n = tt.gather %p[%i] {axis = 0 : i32} : (tensor<256x!tt.ptr<f32>, #a>, tensor<256xi32, #a>)
        -> tensor<256x!tt.ptr<f32>, #a>
    %r = ttg.convert_layout %p : tensor<256x!tt.ptr<f32>, #a> -> tensor<256x!tt.ptr<f32>, #r>
    tt.store %r, %or : tensor<256x!tt.ptr<f32>, #r>
    %o = arith.constant dense<1.000000e+00> : tensor<256xf32, #a>
    tt.store %n, %o : tensor<256x!tt.ptr<f32>, #a>
    %ts = tt.splat %t : !tt.ptr<!tt.ptr<f32>> -> tensor<256x!tt.ptr<!tt.ptr<f32>>, #b>
    %tp = tt.addptr %ts, %j : tensor<256x!tt.ptr<!tt.ptr<f32>>, #b>, tensor<256xi32, #b>
    %l = tt.load %tp : tensor<256x!tt.ptr<!tt.ptr<f32>>, #b>
    %m = arith.cmpi slt, %j, %j : tensor<256xi32, #b>
    tt.store %tp, %q, %m : tensor<256x!tt.ptr<!tt.ptr<f32>>, #b>
    %w = tt.load %l, %m : tensor<256x!tt.ptr<f32>, #b>
    tt.store %q, %w : tensor<256x!tt.ptr<f32>, #b>
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %l, %w, %m :
        (tensor<256x!tt.ptr<f32>, #b>, tensor<256xf32, #b>, tensor<256xi1, #b>) -> tensor<256xf32, #b>
    %s = tt.bitcast %scratch : !tt.ptr<i8> -> !tt.ptr<f32>
    %one = arith.constant 1.000000e+00 : f32
    tt.store %s, %one : !tt.ptr<f32>
    %k = tt.load %c : !tt.ptr<f32, 4>
    %l3 = tt.load %u : !tt.ptr<f32, 3>
    tt.return
  }
}
"""


def emitted(text: str, machine: Plain) -> str:
    module, gpu = parse_module(text), GpuTarget("plain", machine.warp_size, 4)
    run_passes(module, memory_passes(gpu))
    compilation = Compilation(Target("plain", "", machine.warp_size), GpuOptions(num_warps=4))
    made = emit_llvm(module, compilation, machine, TABLE, gpu.shared_memory)
    llvm.parse_assembly(made).verify()
    return made


SHARED = "    %l3 = tt.load %u : !tt.ptr<f32, 3>\n"


def test_pointers_of_a_machine_with_other_spaces() -> None:
    """In registers and in shared memory they have the machine's bits, in global memory the language's."""
    text = emitted(POINTERS.replace(SHARED, ""), RemoteLaunches(16))
    assert set(re.findall(r"addrspace\((\d+)\)", text)) == {"7", "9"}
    assert "ptr addrspace(7) %arg2, ptr addrspace(9) %arg3, ptr %arg4, ptr addrspace(7) %global_scratch" in text
    assert re.search(r"store ptr addrspace\(7\) %\w+, ptr addrspace\(9\) %\w+, align 4", text)
    assert re.search(r"= ptrtoint ptr addrspace\(7\) %\w+ to i32\n.* call i32 @shuffle_index\(i32", text)
    assert re.search(r"load i64, ptr addrspace\(7\) %\w+, align 8\n.* = inttoptr i64", text)
    assert re.search(r"ptrtoint ptr addrspace\(7\) %\w+ to i64\n +store i64", text)
    wide = [line for line in text.splitlines()[1:] if re.search(r"i64 (?!%\w+, ptr|%\w+ to ptr)", line)]
    assert not wide, "integers of 64 bits are those of pointers in global memory"


def test_pointers_of_the_usual_machine() -> None:
    text = emitted(POINTERS.replace(SHARED, ""), Usual(16))
    assert "ptr addrspace(1) %arg2, ptr addrspace(5) %arg3, ptr %arg4, ptr addrspace(1) %global_scratch" in text
    assert "addrspace(7)" not in text and re.search(r"store ptr addrspace\(1\) %\w+, ptr addrspace\(5\)", text)
    assert re.search(r"load ptr addrspace\(1\), ptr addrspace\(1\) %\w+, align 8", text)


def test_an_access_to_memory_that_is_not_global_is_refused() -> None:
    with pytest.raises(PassError, match=r"accesses are to global memory, and this one goes through !tt.ptr<f32, 3>"):
        emitted(POINTERS, RemoteLaunches(16))


@pytest.mark.parametrize("case", drawn(16), ids=lambda case: case.name)
def test_kernels_of_a_machine_with_other_spaces(case: Case) -> None:
    """Of the conformance suite; `TRITONX_MACHINES=all` for every case."""
    machine, options = RemoteLaunches(16), GpuOptions(num_warps=case.options.get("num_warps", 4))
    trial, target = case.trial(SEED), Target("plain", "", 16)
    module = bind(case.kernel, host_arguments(trial), dict(trial.constants), options, target).module
    gpu = GpuTarget("plain", 16, options.num_warps, shared_memory=1 << 20)
    text = run_stages(module, portable_stages(gpu, machine), Compilation(target, options))["llir"]
    llvm.parse_assembly(text).verify()
    assert {*re.findall(r"addrspace\((\d+)\)", text)} <= {"7", "9"}, f"seed {SEED}"


def test_a_chip_that_does_not_say_its_registers_shares_none_out() -> None:
    text = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @f() {
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 64>}
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    tt.return
  }
}
"""
    with pytest.raises(PassFailure, match="partitions ask for registers, and the target does not say how many it has"):
        run_passes(parse_module(text), (AllocateWarpGroups(),))
    run_passes(module := parse_module(text), (AllocateWarpGroups(65536),))
    assert "ttg.maxnreg" in module.attributes


def test_nothing_waits_in_registers_of_an_unknown_number() -> None:
    known = UnitCosts(held_bytes=128, register_bytes=4096, thread_bytes=64)
    assert (known.thread_share(32), known.thread_share(128), known.thread_registers) == (64, 32, 16)
    assert (UnitCosts().thread_share(32), UnitCosts().thread_registers) == (None, None)
    passes = {type(one): one for one in layout_passes(GpuTarget("plain", 32, 4))}
    assert passes[StageDotOperands] == StageDotOperands(GpuTarget("plain").shared_memory)
    passes = {type(one): one for one in layout_passes(GpuTarget("plain", 32, 4, costs=known))}
    assert passes[StageDotOperands] == StageDotOperands(GpuTarget("plain").shared_memory, 16)
