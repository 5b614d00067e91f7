"""Lifetimes and placement of shared memory: nothing alive together overlaps, on random buffers too."""

from __future__ import annotations

import random

import pytest
from xdsl.ir import OpResult

from tritonx.analysis.buffers import Buffer, aliases_of, buffers_of
from tritonx.dialects import tile
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.transforms.gpu.allocate_shared_memory import AllocateSharedMemory, largest_buffers, place

HEAD = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#tma = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
"""


def module_of(body):
    body = body.replace("!slots", "!ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>")
    body = body.replace("!slot", "!ttg.memdesc<32x32xf32, #shared, #smem, mutable>")
    return parse_module(HEAD + body + "}\n")


def buffers(module):
    return [b for f in module.ops if isinstance(f, tile.FuncOp) for b in buffers_of(f)]


def check_apart(placed):
    """What is alive together does not overlap."""
    for number, (buffer, offset) in enumerate(placed):
        for other, at in placed[:number]:
            together = other.first <= buffer.last and buffer.first <= other.last
            assert not together or offset + buffer.size <= at or at + other.size <= offset


@pytest.mark.parametrize("seed", range(20))
def test_placement(seed):
    rng = random.Random(seed)
    wanted = []
    for _ in range(rng.randrange(1, 20)):
        first = rng.randrange(40)
        size, alignment = 4 * rng.randrange(1, 200), rng.choice([16, 128, 1024])
        wanted.append(Buffer(None, size, alignment, first, first + rng.randrange(15)))
    placed = place(wanted, base=32)
    assert len(placed) == len(wanted)
    for buffer, offset in placed:
        assert offset >= 32 and offset % buffer.alignment == 0
    check_apart(placed)


def test_sizes_and_alignments():
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    %n = ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf32, #tma, #smem, mutable>
    %p = ttg.local_alloc : () -> !ttg.memdesc<32x32xf32, #padded, #smem, mutable>
    tt.return
  }
""")
    found = [(b.size, b.alignment) for b in buffers(module)]
    # 32 rows of 32 words; three of them, swizzled over 64 bytes; with four words after each full row but the last.
    assert found == [(4096, 16), (3 * 4096, 512), (4096 + 31 * 16, 16)]


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


WAYS = {
    "a view of a view": (
        """
    %v = ttg.memdesc_index %many[%c0] : !slots -> !slot
    %w = ttg.memdesc_reinterpret %v : !slot -> !slot""",
        "many v w",
    ),
    "the second that a loop carries": (
        """
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %other, %w = %m) -> (!slot, !slot) : i32 {
      scf.yield %other, %w : !slot, !slot
    }""",
        "m w r_1",
    ),
    "what a loop takes up": (
        """
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %other, %w = %other) -> (!slot, !slot) : i32 {
      scf.yield %m, %v : !slot, !slot
    }""",
        "m v w r_0 r_1",
    ),
    "a while's condition": (
        """
    %r:2 = scf.while (%v = %other, %w = %m) : (!slot, !slot) -> (!slot, !slot) {
      scf.condition(%flag) %w, %v : !slot, !slot
    } do {
    ^bb0(%x: !slot, %y: !slot):
      scf.yield %other, %other : !slot, !slot
    }""",
        "m w x r_0",
    ),
    "what a while's body hands back": (
        """
    %r:2 = scf.while (%v = %other, %w = %other) : (!slot, !slot) -> (!slot, !slot) {
      scf.condition(%flag) %v, %w : !slot, !slot
    } do {
    ^bb0(%x: !slot, %y: !slot):
      scf.yield %other, %m : !slot, !slot
    }""",
        "m w y r_1",
    ),
    "one side of a condition": (
        """
    %r:2 = scf.if %flag -> (!slot, !slot) {
      scf.yield %other, %m : !slot, !slot
    } else {
      scf.yield %other, %other : !slot, !slot
    }""",
        "m r_1",
    ),
    "a jump": (
        """
    cf.br ^next(%m : !slot)
  ^next(%v: !slot):""",
        "m v",
    ),
    "either side of a branch": (
        """
    cf.cond_br %flag, ^one(%n : i32), ^two(%m : !slot)
  ^one(%k: i32):
    cf.br ^two(%other : !slot)
  ^two(%v: !slot):""",
        "m v",
    ),
    "partitions": (
        """
    ttg.warp_specialize(%n, %m)
    default {
      ttg.warp_yield
    }
    partition0(%k: i32, %v: !slot) num_warps(4) {
      ttg.warp_return
    }
    partition1(%l: i32, %w: !slot) num_warps(4) {
      ttg.warp_return
    } : (i32, !slot) -> ()""",
        "m v w",
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_ways_of_a_buffer(name):
    body, expected = WAYS[name]
    module = module_of(f"""
  tt.func public @f(%n: i32, %flag: i1) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %many = ttg.local_alloc : () -> !slots
    %m = ttg.local_alloc : () -> !slot
    %other = ttg.local_alloc : () -> !slot{body}
    tt.return
  }}
""")
    wanted = expected.split()[0]
    (memory,) = [r for op in module.walk() for r in op.results if r.name_hint == wanted]
    found = [
        f"{value.name_hint}_{value.index}"
        if isinstance(value, OpResult) and len(value.op.results) > 1
        else value.name_hint
        for value in aliases_of(memory)
    ]
    assert sorted(found) == sorted(expected.split())


def test_callees_lie_above_their_callers():
    module = module_of("""
  tt.func private @callee(%a: tensor<32x32xf32, #rows>) attributes {noinline = true} {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    tt.return
  }
  tt.func public @caller(%a: tensor<32x32xf32, #rows>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    tt.call @callee(%a) : (tensor<32x32xf32, #rows>) -> ()
    tt.return
  }
""")
    AllocateSharedMemory().apply(pass_context(), module)
    offsets = {b.op.parent_op().sym_name.data: b.op.attributes["allocation.offset"].value.data for b in buffers(module)}
    assert offsets == {"caller": 0, "callee": 4096}
    assert module.attributes["ttg.shared"].value.data == 8192
    assert largest_buffers(module).startswith("The largest buffers are 4096 bytes for ttg.local_alloc;")


def test_a_callee_without_buffers_of_callers_that_have_too_many():
    module = module_of("""
  tt.func private @callee(%a: tensor<32x32xf32, #rows>) attributes {noinline = true} {
    tt.return
  }
  tt.func public @caller(%a: tensor<32x32xf32, #rows>) {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    tt.call @callee(%a) : (tensor<32x32xf32, #rows>) -> ()
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    tt.return
  }
""")
    AllocateSharedMemory(shared_memory=2048).apply(pass_context(), module)
    assert module.attributes["ttg.shared"].value.data == 4096


def test_a_buffer_that_another_block_reads_stays_where_it_is():
    module = module_of("""
  tt.func public @f(%a: tensor<32x32xf32, #rows>) -> tensor<32x32xf32, #rows> {
    %m = ttg.local_alloc %a : (tensor<32x32xf32, #rows>) -> !ttg.memdesc<32x32xf32, #shared, #smem>
    cf.br ^next
  ^next:
    %x = ttg.local_load %m : !ttg.memdesc<32x32xf32, #shared, #smem> -> tensor<32x32xf32, #rows>
    tt.return %x : tensor<32x32xf32, #rows>
  }
""")
    AllocateSharedMemory(shared_memory=2048).apply(pass_context(), module)
    (buffer,) = buffers(module)
    assert buffer.op.next_op.name == "cf.br"


@pytest.mark.parametrize("seed", range(20))
def test_room_is_made_for_tiles_that_wait(seed):
    """Tiles are stored early and read one after another, in any order: two of them always fit."""
    rng = random.Random(seed)
    count = rng.randrange(3, 9)
    stores = [f"%m{i} = ttg.local_alloc %a : (!tile) -> !whole" for i in range(count)]
    loads = [f"%x{i} = ttg.local_load %m{i} : !whole -> !tile\n%s{i} = arith.negf %x{i} : !tile" for i in range(count)]
    rng.shuffle(loads)
    body = "\n".join(["tt.func public @f(%a: !tile) {", *stores, *loads, "tt.return", "}"])
    body = body.replace("!whole", "!ttg.memdesc<32x32xf32, #shared, #smem>")
    module = module_of(body.replace("!tile", "tensor<32x32xf32, #rows>"))
    AllocateSharedMemory(shared_memory=2 * 4096).apply(pass_context(), module)
    assert module.attributes["ttg.shared"].value.data <= 2 * 4096
    module.verify()
    check_apart([(b, b.op.attributes["allocation.offset"].value.data) for b in buffers(module)])
