"""`ttg` modules that allocate shared memory."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tritonx.analysis.lifetimes import Buffer, buffers_of
from tritonx.dialects import tile
from tritonx.ir.text import parse_module

HEAD = """
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#tma = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
"""


def module_of(body: str) -> ModuleOp:
    body = body.replace("!slots", "!ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>")
    body = body.replace("!slot", "!ttg.memdesc<32x32xf32, #shared, #smem, mutable>")
    return parse_module(HEAD + body + "}\n")


def buffers(module: ModuleOp) -> list[Buffer]:
    return [b for f in module.ops if isinstance(f, tile.FuncOp) for b in buffers_of(f)]
