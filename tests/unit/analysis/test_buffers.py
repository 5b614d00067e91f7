"""Lifetimes and placement of shared memory: nothing alive together overlaps, on random buffers too."""

from __future__ import annotations

import random

import pytest

from tritonx.analysis.buffers import Buffer, buffers_of
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
    for number, (buffer, offset) in enumerate(placed):
        assert offset >= 32 and offset % buffer.alignment == 0
        for other, at in placed[:number]:
            together = other.first <= buffer.last and buffer.first <= other.last
            assert not together or offset + buffer.size <= at or at + other.size <= offset


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
