"""Where stores are fenced that a matrix unit reads; `fence_stores.mlir` has the pass among the others."""

from __future__ import annotations

from string import Template
from typing import Any

from tritonx.backends.nvidia.passes.fence_stores import FenceStores
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

TEXT = Template("""
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%a: $TILE, %b: $TILE, %c: $SUMS) -> $SUMS {
    %x = ttg.local_alloc %a : ($TILE) -> $BUFFER
    %y = ttg.local_alloc %b : ($TILE) -> $BUFFER
    %d = ttng.warp_group_dot %x, %y, %c : $BUFFER * $BUFFER -> $SUMS
    tt.return %d : $SUMS
  }

  tt.func public @loop(%a: $TILE, %b: $TILE, %c: $SUMS, %n: i32) -> $SUMS {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = ttg.local_alloc %a : ($TILE) -> $BUFFER
    %r = scf.for %i = %zero to %n step %one iter_args(%t = %c) -> ($SUMS) : i32 {
      %y = ttg.local_alloc %b : ($TILE) -> $BUFFER
      %d = ttng.warp_group_dot %x, %y, %t : $BUFFER * $BUFFER -> $SUMS
      %e = ttng.warp_group_dot %y, %x, %d : $BUFFER * $BUFFER -> $SUMS
      scf.yield %e : $SUMS
    }
    tt.return %r : $SUMS
  }

  tt.func public @fenced(%a: $TILE, %c: $SUMS) -> ($SUMS, $TILE) {
    %x = ttg.local_alloc %a : ($TILE) -> $BUFFER
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %x, %x, %c : $BUFFER * $BUFFER -> $SUMS
    %z = ttg.local_alloc %a : ($TILE) -> $BUFFER
    %l = ttg.local_load %z : $BUFFER -> $TILE
    tt.return %d, %l : $SUMS, $TILE
  }
}
""").substitute(
    BUFFER="!ttg.memdesc<64x64xf16, #shared, #smem>", TILE="tensor<64x64xf16, #rows>", SUMS="tensor<64x64xf32, #mma>"
)


def ops_of(name: str) -> list[str]:
    """The ops of a function after the pass, in order, without their dialects."""
    module: Any = parse_module(TEXT)
    FenceStores().apply(pass_context(), module)
    verify(module)
    (function,) = [op for op in module.ops if op.sym_name.data == name]
    return [op.name.split(".", 1)[1] for op in function.walk() if op is not function and op.name != "arith.constant"]


FENCE, ALLOC, DOT = "fence_async_shared", "local_alloc", "warp_group_dot"


def test_both_operands_have_one_fence() -> None:
    assert ops_of("product") == [ALLOC, ALLOC, FENCE, DOT, "return"]


def test_stores_in_front_of_a_loop_are_fenced_there_and_a_second_product_needs_none() -> None:
    assert ops_of("loop") == [ALLOC, FENCE, "for", ALLOC, FENCE, DOT, DOT, "yield", "return"]


def test_a_fence_that_is_there_is_enough_and_what_threads_read_needs_none() -> None:
    assert ops_of("fenced") == [ALLOC, FENCE, DOT, ALLOC, "local_load", "return"]
