"""Every op of `ttg` and `ttng` that Hopper has, has a meaning; and views, padding and copies are where they belong."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.traits import IsTerminator

from tritonx.dialects import gpu_layout
from tritonx.dialects.gpu_layout import GPULayout
from tritonx.dialects.nvidia import Nvidia
from tritonx.interpreter.asynchronous import execute
from tritonx.interpreter.asynchronous.meanings import MEANINGS
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify

OF_LATER_CHIPS = ("ttng.tmem_copy", "ttng.tc_gen5_mma_scaled", "ttng.clc_")
"""Scales in tensor memory and launch control: compute capability 10.0."""


def test_every_op_has_a_meaning() -> None:
    missing = {
        op.name
        for dialect in (GPULayout, Nvidia)
        for op in dialect.operations
        if op not in MEANINGS and not op.name.startswith(OF_LATER_CHIPS) and not op.has_trait(IsTerminator)
    }
    assert missing == set(), gpu_layout.__name__


LAYOUTS = {
    "plain": "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
    "swizzled": "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
    "padded": "#ttg.padded_shared<[16:+4] {order = [1, 0], shape = [32, 32]}>",
    "wide": "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>",
}

VIEWS = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#slice0 = #ttg.slice<{dim = 0, parent = #rows}>
#slice1 = #ttg.slice<{dim = 1, parent = #rows}>
#shared = LAYOUT
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%x: !tt.ptr<f16>, %which: i32, %o: !tt.ptr<f16>) {
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #slice1>
    %c = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #slice0>
    %r2 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #slice1> -> tensor<32x1xi32, #rows>
    %c2 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32, #slice0> -> tensor<1x32xi32, #rows>
    %n = arith.constant dense<32> : tensor<32x1xi32, #rows>
    %r3 = arith.muli %r2, %n : tensor<32x1xi32, #rows>
    %r4 = tt.broadcast %r3 : tensor<32x1xi32, #rows> -> tensor<32x32xi32, #rows>
    %c4 = tt.broadcast %c2 : tensor<1x32xi32, #rows> -> tensor<32x32xi32, #rows>
    %i = arith.addi %r4, %c4 : tensor<32x32xi32, #rows>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #rows>
    %q = tt.addptr %p, %i : tensor<32x32x!tt.ptr<f16>, #rows>, tensor<32x32xi32, #rows>
    %v = tt.load %q : tensor<32x32x!tt.ptr<f16>, #rows>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable>
    %a = ttg.memdesc_index %m[%zero] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %b = ttg.memdesc_index %m[%one] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    ttg.local_store %v, %a : tensor<32x32xf16, #rows> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %w = arith.addf %v, %v : tensor<32x32xf16, #rows>
    ttg.local_store %w, %b : tensor<32x32xf16, #rows> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %d = ttg.memdesc_index %m[%which] : !ttg.memdesc<2x32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
    %s = ttg.memdesc_subslice %d[16, 0] : !ttg.memdesc<32x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable, 32x32>
    %y = ttg.local_load %s : !ttg.memdesc<16x32xf16, #shared, #smem, mutable, 32x32> -> tensor<16x32xf16, #columns>
    %j = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
    %z = tt.reshape %j : tensor<512xi32, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>> -> tensor<16x32xi32, #rows>
    %u = ttg.convert_layout %z : tensor<16x32xi32, #rows> -> tensor<16x32xi32, #columns>
    %k = tt.splat %o : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>, #columns>
    %l = tt.addptr %k, %u : tensor<16x32x!tt.ptr<f16>, #columns>, tensor<16x32xi32, #columns>
    tt.store %l, %y : tensor<16x32x!tt.ptr<f16>, #columns>
    tt.return
  }
}
"""  # noqa: E501 -- one op a line


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_views(layout: str, which: int) -> None:
    """A box of one of two buffers, written by rows and read by columns."""
    module = parse_module(VIEWS.replace("LAYOUT", LAYOUTS[layout]))
    verify(module)
    x = np.arange(1024).astype(np.float16).reshape(32, 32)
    o = np.full((16, 32), np.nan, np.float16)
    assert execute(module, 1, [x, which, o]) == ()
    np.testing.assert_array_equal(o, (1 + which) * x[16:])
