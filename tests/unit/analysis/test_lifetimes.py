"""From when to when buffers are alive: on every way that control takes, and until what is under way is over.

What the asynchronous programs here begin is the last use of a buffer in the text, and a second buffer is written before
it is over. Placed by our passes they run without a report in `interpreter/asynchronous`; with the second buffer where
it would lie if the first one lived until its last use only, there is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr

from tests.unit.analysis.memory_modules import buffers, module_of
from tests.unit.interpreter.asynchronous.test_reports import Host
from tests.unit.interpreter.asynchronous.test_reports import module_of as program
from tritonx.analysis.buffers import aliases_of
from tritonx.analysis.lifetimes import Buffer
from tritonx.analysis.program_points import ProgramPoints
from tritonx.interpreter.asynchronous import Landing, Order, Setting, execute
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.types import i32
from tritonx.ir.verify import verify
from tritonx.transforms.gpu.allocate_shared_memory import OFFSET, AllocateSharedMemory
from tritonx.transforms.gpu.insert_barriers import InsertBarriers


def named(module: Any) -> dict[str, Buffer]:
    """The buffers by the names of what they are the memory of."""
    return {str(b.op.results[0].name_hint): b for b in buffers(module)}


def alive(module: Any, name: str) -> tuple[str, str]:
    """The ops at which a buffer's life begins and ends; with a number where the module has several of them."""
    function = next(iter(module.ops))
    ops = ProgramPoints(function).ops
    buffer = named(module)[name]
    return ops[buffer.first].name, ops[buffer.last].name


def test_views_keep_a_buffer_alive():
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>, %n: i32, %flag: i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !slots
    %first = ttg.memdesc_index %m[%c0] : !slots -> !slot
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (!slot) : i32 {
      %w = ttg.memdesc_index %m[%i] : !slots -> !slot
      scf.yield %w : !slot
    }
    %x = arith.addi %c0, %c1 : i32
    ttg.local_store %a, %last : tensor<32x32xf32, #rows> -> !slot
    tt.return
  }
""")
    (buffer,) = buffers(module)
    function = next(iter(module.ops))
    ops = [op for op in function.walk() if op is not function]
    assert ops[buffer.last].name == "ttg.local_store"


def test_blocks_that_jump() -> None:
    """What only one of two branches needs shares its place with what only the other one does."""
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>, %flag: i1) {
    %before = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !slot
    %x = ttg.local_load %before : !slot -> tensor<32x32xf32, #rows>
    cf.cond_br %flag, ^one, ^two
  ^one:
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !slot
    %y = ttg.local_load %m : !slot -> tensor<32x32xf32, #rows>
    cf.br ^out
  ^two:
    %n = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !slot
    %z = ttg.local_load %n : !slot -> tensor<32x32xf32, #rows>
    cf.br ^out
  ^out:
    tt.return
  }
""")
    AllocateSharedMemory().apply(pass_context(), module)
    assert module.attributes["ttg.shared"] == IntegerAttr(4096, i32)


def test_blocks_that_jump_back() -> None:
    """A loop of blocks is a loop: what it uses from outside lives to its end, wherever its blocks stand."""
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>, %flag: i1) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !slot
    cf.br ^head
  ^head:
    %x = ttg.local_load %m : !slot -> tensor<32x32xf32, #rows>
    cf.br ^latch
  ^out:
    tt.return
  ^latch:
    %n = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !slot
    %y = ttg.local_load %n : !slot -> tensor<32x32xf32, #rows>
    cf.cond_br %flag, ^head, ^out
  }
""")
    AllocateSharedMemory().apply(pass_context(), module)
    assert module.attributes["ttg.shared"] == IntegerAttr(8192, i32)


# --- what is under way

POINTERS = """
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #slice>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32, #slice> -> tensor<1x16xi32, #rows>
    %k = tt.broadcast %j : tensor<1x16xi32, #rows> -> tensor<64x16xi32, #rows>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #rows>
    %q = tt.addptr %p, %k : tensor<64x16x!tt.ptr<f16>, #rows>, tensor<64x16xi32, #rows>
"""

COPY = "ttg.async_copy_global_to_local %q, %m : tensor<64x16x!tt.ptr<f16>, #rows> -> <64x16xf16, #wide, #smem, mutable>"

SECOND = """
    %t = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %n = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> TILE
    %s = ttg.local_load %n : TILE -> tensor<64x16xf16, #columns>
"""
"""A second buffer, written and read."""

MADE = """
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier %b, 1 : BAR
"""

UNDER_WAY: dict[str, tuple[str, str]] = {
    "copies in a group": (
        f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    %v = ttg.async_commit_group tokens %u{SECOND}
    %w = ttg.async_wait %v {{num = 0 : i32}}""",
        "ttg.async_wait",
    ),
    "copies in the group before the last": (
        f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    %v = ttg.async_commit_group tokens %u
    %o = ttg.async_wait {{num = 1 : i32}}{SECOND}
    %g2 = ttg.async_commit_group
    %w = ttg.async_wait %v {{num = 1 : i32}}
    %z = ttg.async_wait {{num = 0 : i32}}""",
        "ttg.async_wait",
    ),
    "copies that an mbarrier is told of": (
        f"""{MADE.replace("%b, 1", "%b, 128")}{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    ttng.async_copy_mbarrier_arrive %b {{noIncrement}} : BAR{SECOND}
    ttng.wait_barrier %b, %c0 : BAR""",
        "ttng.wait_barrier",
    ),
    "a product": (
        f"""
    %z = arith.constant dense<0.0> : tensor<64x16xf32, #mma>
    %a = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
    %g = arith.constant dense<1.0> : tensor<16x16xf16, #rows>
    %l = ttg.local_alloc %g : (tensor<16x16xf16, #rows>) -> RIGHT
    %m = ttg.local_alloc %a : (tensor<64x16xf16, #rows>) -> TILE
    ttng.fence_async_shared {{bCluster = false}}
    %h = ttng.warp_group_dot %m, %l, %z {{isAsync = true}} : TILE * RIGHT -> tensor<64x16xf32, #mma>{SECOND}
    %r = ttng.warp_group_dot_wait %h {{pendings = 0 : i32}} : tensor<64x16xf32, #mma>""",
        "ttng.warp_group_dot_wait",
    ),
    "a store of a block": (
        f"""
    %a = arith.constant dense<2.0> : tensor<64x16xf16, #rows>
    %m = ttg.local_alloc %a : (tensor<64x16xf16, #rows>) -> TILE
    ttng.fence_async_shared {{bCluster = false}}
    ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : DESC, TILE{SECOND}
    ttng.async_tma_store_wait {{pendings = 0 : i32}}""",
        "ttng.async_tma_store_wait",
    ),
    "a copy of a block": (
        f"""{MADE}
    %m = ttg.local_alloc : () -> TILE
    ttng.barrier_expect %b, 2048, %true : BAR
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : DESC, BAR -> TILE{SECOND}
    ttng.wait_barrier %b, %c0 : BAR""",
        "ttng.wait_barrier",
    ),
}
"""A program, and what tells that what it has begun with `%m` is over."""


def placed(name: str, *, by_text: bool = False) -> Any:
    """A program placed by our passes; `by_text`: where everything lies if lives end with the last use in the text."""
    module = program(UNDER_WAY[name][0])
    AllocateSharedMemory().apply(pass_context(), module)
    if by_text:
        found, last = named(module), last_use_in_text(module, "m")
        assert last < found["n"].first, f"{name}: %n would not lie there anyway"
        where = found["m"].op.attributes[OFFSET]
        assert isinstance(where, IntegerAttr)
        found["n"].op.attributes[OFFSET] = IntegerAttr(where.value.data, i32)
    InsertBarriers().apply(pass_context(), module)
    verify(module)
    return module


def last_use_in_text(module: Any, name: str) -> int:
    points = ProgramPoints(next(iter(module.ops)))
    memory = named(module)[name].op.results[0]
    return max(points.number[use.operation] for alias in aliases_of(memory) for use in alias.uses)


def reported(module: Any) -> bool:
    x = np.arange(64 * 64).reshape(64, 64).astype(np.float16)
    return bool(execute(module, 1, [x, x.copy(), Host(x.copy())], Setting(order=Order(3, Landing.LATE))))


@pytest.mark.parametrize("name", UNDER_WAY)
def test_what_is_under_way_keeps_its_buffer(name: str) -> None:
    text, end = UNDER_WAY[name]
    module = program(text)
    assert alive(module, "m") == ("ttg.local_alloc", end)
    assert not reported(placed(name))
    assert reported(placed(name, by_text=True)), "the rest of the live range is not missed"


def test_which_of_the_waits_is_enough() -> None:
    """The last one leaves none, but the one before it leaves only the group that was made since."""
    module = program(UNDER_WAY["copies in the group before the last"][0])
    function = next(iter(module.ops))
    ops = ProgramPoints(function).ops
    waits = [number for number, op in enumerate(ops) if op.name == "ttg.async_wait"]
    assert named(module)["m"].last == waits[1]


TO_THE_END = {
    "a group without a wait": f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    %v = ttg.async_commit_group tokens %u{SECOND}""",
    "a copy that is in no group": f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}{SECOND}
    %w = ttg.async_wait {{num = 0 : i32}}""",
    "an mbarrier without a wait": f"""{MADE}
    %m = ttg.local_alloc : () -> TILE
    ttng.wait_barrier %b, %c0 : BAR
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : DESC, BAR -> TILE{SECOND}""",
    "another mbarrier": f"""{MADE}
    %e = ttg.local_alloc : () -> BAR
    %m = ttg.local_alloc : () -> TILE
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : DESC, BAR -> TILE{SECOND}
    ttng.wait_barrier %e, %c0 : BAR""",
    "a wait that one way does not come to": f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    %v = ttg.async_commit_group tokens %u
    scf.if %true {{
      %w = ttg.async_wait %v {{num = 0 : i32}}
    }}{SECOND}""",
    "a group that only one way makes": f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    %v = ttg.async_commit_group tokens %u
    scf.if %true {{
      %g2 = ttg.async_commit_group
    }}
    %w = ttg.async_wait {{num = 1 : i32}}{SECOND}""",
    "a wait of other threads": f"""{POINTERS}
    %m = ttg.local_alloc : () -> TILE
    %u = {COPY}
    %v = ttg.async_commit_group tokens %u
    ttg.warp_specialize(%c0)
    default {{
      ttg.warp_yield
    }}
    partition0(%k2: i32) num_warps(4) {{
      %w = ttg.async_wait {{num = 0 : i32}}
      ttg.warp_return
    }} : (i32) -> (){SECOND}""",
}


@pytest.mark.parametrize("name", TO_THE_END)
def test_what_no_wait_ends(name: str) -> None:
    assert alive(program(TO_THE_END[name]), "m")[1] == "tt.return"


TOLD_OTHERWISE = """
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#lin = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%t: TENSOR, %d: !tt.tensordesc<tensor<128x128xf16, #plain>>, %c0: i32, %true: i1) {
    %m = ttg.local_alloc : () -> MEMORY
BODY
    tt.return
  }
}
""".replace("TENSOR", "!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>")
MEMORY = "!ttg.memdesc<128x128xf16, #plain, #smem, mutable>"
COUNTED = "amdg.async_tdm_copy_global_to_local %d[%c0, %c0] into "
COUNTED_TYPE = f"!tt.tensordesc<tensor<128x128xf16, #plain>> -> {MEMORY}"
TMEM = "!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>"


def told_otherwise(body: str) -> Any:
    module = parse_module(TOLD_OTHERWISE.replace("BODY", body).replace("MEMORY", MEMORY), "program")
    verify(module)
    return module


def test_a_token_tells() -> None:
    """Nothing that runs here is told by its token alone: a product in tensor memory is."""
    product = f"ttng.tc_gen5_mma %m, %m, %t[], %true, %true {{is_async}} : {MEMORY}, {MEMORY}, {TMEM}"
    load = f"%y, %v = ttng.tmem_load %t[%u] : {TMEM} -> tensor<128x128xf32, #lin>"
    after = "\n    %n = ttg.local_alloc : () -> MEMORY"
    assert alive(told_otherwise(f"    %u = {product}\n    {load}{after}"), "m")[1] == "ttng.tmem_load"
    assert alive(told_otherwise(f"    %u = {product}{after}"), "m")[1] == "tt.return"


@pytest.mark.parametrize(("left", "end"), [(0, "amdg.async_tdm_wait"), (1, "tt.return")])
def test_what_is_counted_one_by_one(left: int, end: str) -> None:
    """Nothing that runs here copies so: what the wait leaves may be the copy."""
    copy = f"    %u = {COUNTED}%m, %true : {COUNTED_TYPE}\n"
    wait = f"    %w = amdg.async_tdm_wait {{num = {left} : i32}}"
    assert alive(told_otherwise(copy + wait), "m")[1] == end
    other = f"    %n = ttg.local_alloc : () -> {MEMORY}\n    %o = {COUNTED}%n, %true : {COUNTED_TYPE}\n"
    assert alive(told_otherwise(copy + other + wait), "m")[1] == "amdg.async_tdm_wait"


def test_what_goes_round_a_loop() -> None:
    """Made and begun in a loop, waited for in the next round: nothing else of the loop lies there, before the wait
    either, and what comes behind the loop does."""
    module = program(f"""{POINTERS}
    scf.for %r = %c0 to %c1 step %c1 : i32 {{
      %t = arith.constant dense<1.0> : tensor<64x16xf16, #rows>
      %first = ttg.local_alloc %t : (tensor<64x16xf16, #rows>) -> TILE
      %s = ttg.local_load %first : TILE -> tensor<64x16xf16, #columns>
      %w = ttg.async_wait {{num = 0 : i32}}
      %m = ttg.local_alloc : () -> TILE
      %u = {COPY}
      %v = ttg.async_commit_group tokens %u
    }}
    %z = ttg.async_wait {{num = 0 : i32}}""")
    found = named(module)
    assert found["m"].first < found["first"].first
    assert alive(module, "m")[1] == "ttg.async_wait"


def test_a_consumer_in_another_partition_waits() -> None:
    """Until all partitions are over, and no longer."""
    module = program(f"""{MADE}
    %m = ttg.local_alloc : () -> TILE
    ttg.warp_specialize(%m, %b, %d)
    default {{
      ttng.wait_barrier %b, %c0 : BAR
      ttg.warp_yield
    }}
    partition0(%o: TILE, %c: BAR, %e: DESC) num_warps(1) {{
      %zero = arith.constant 0 : i32
      %yes = arith.constant true
      ttng.async_tma_copy_global_to_local %e[%zero, %zero] %o, %c, %yes : DESC, BAR -> TILE
      ttg.warp_return
    }} : (TILE, BAR, DESC) -> (){SECOND}""")
    assert alive(module, "m") == ("ttg.local_alloc", "ttg.warp_return")
