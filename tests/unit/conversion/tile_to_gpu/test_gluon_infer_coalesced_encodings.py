"""Tiles that are loaded, computed on and stored with coalesced layouts: executed before both passes and after them."""

from __future__ import annotations

import os
from random import Random

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tritonx.conversion.tile_to_gpu.gluon_infer_coalesced_encodings import GluonInferCoalescedEncodings
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.dialects.gluon import undetermined
from tritonx.dialects.gpu_layout import distributed_encoding
from tritonx.interpreter.asynchronous import execute
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.types import type_of
from tritonx.ir.verify import verify
from tritonx.layouts.encodings import BlockedEncoding
from tritonx.transforms.gluon.gluon_resolve_auto_encodings import GluonResolveAutoEncodings

SEED = int(os.environ["TRITONX_SEED"])
PROGRAMS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10")) * 2
TARGET = GpuTarget("test")

TEXT = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @f(%p: !tt.ptr<SOURCE> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32},
    %rows: i32) {
  %r = tt.make_range {end = ROWS : i32, start = 0 : i32} : tensor<ROWSxi32, AUTO>
  %c = tt.make_range {end = COLUMNS : i32, start = 0 : i32} : tensor<COLUMNSxi32, AUTO>
  %re = tt.expand_dims %r {axis = 1 : i32} : tensor<ROWSxi32, AUTO> -> tensor<ROWSx1xi32, AUTO>
  %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<COLUMNSxi32, AUTO> -> tensor<1xCOLUMNSxi32, AUTO>
  %rb = tt.broadcast %re : tensor<ROWSx1xi32, AUTO> -> tensor<TILExi32, AUTO>
  %cb = tt.broadcast %ce : tensor<1xCOLUMNSxi32, AUTO> -> tensor<TILExi32, AUTO>
  %s0 = arith.constant dense<STEP0> : tensor<TILExi32, AUTO>
  %s1 = arith.constant dense<STEP1> : tensor<TILExi32, AUTO>
  %r0 = arith.muli %rb, %s0 : tensor<TILExi32, AUTO>
  %c0 = arith.muli %cb, %s1 : tensor<TILExi32, AUTO>
  %at = arith.addi %r0, %c0 : tensor<TILExi32, AUTO>
  %n = tt.splat %rows : i32 -> tensor<TILExi32, AUTO>
  %m0 = arith.cmpi slt, %rb, %n : tensor<TILExi32, AUTO>
  %m = gluon.set_auto_layout %m0 : tensor<TILExi1, AUTO> -> tensor<TILExi1, COALESCED>
  %p0 = tt.splat %p : !tt.ptr<SOURCE> -> tensor<TILEx!tt.ptr<SOURCE>, AUTO>
  %p1 = tt.addptr %p0, %at : tensor<TILEx!tt.ptr<SOURCE>, AUTO>, tensor<TILExi32, AUTO>
  %p2 = gluon.set_auto_layout %p1 : tensor<TILEx!tt.ptr<SOURCE>, AUTO> -> tensor<TILEx!tt.ptr<SOURCE>, COALESCED>
  %q0 = tt.splat %q : !tt.ptr<i32> -> tensor<TILEx!tt.ptr<i32>, AUTO>
  %q1 = tt.addptr %q0, %at : tensor<TILEx!tt.ptr<i32>, AUTO>, tensor<TILExi32, AUTO>
  %q2 = gluon.set_auto_layout %q1 : tensor<TILEx!tt.ptr<i32>, AUTO> -> tensor<TILEx!tt.ptr<i32>, COALESCED>
  %x = tt.load %p2, %m : tensor<TILEx!tt.ptr<SOURCE>, COALESCED>
  %w = arith.extsi %x : tensor<TILExSOURCE, COALESCED> to tensor<TILExi32, COALESCED>
  %k = arith.constant dense<3> : tensor<TILExi32, COALESCED>
  %y = arith.muli %w, %k : tensor<TILExi32, COALESCED>
  tt.store %q2, %y, %m : tensor<TILEx!tt.ptr<i32>, COALESCED>
  tt.return
}
}
"""


class Program:
    """A tile of rows or of columns of a matrix, of bytes or halves, from which words are made."""

    def __init__(self, rng: Random) -> None:
        self.rows, self.columns = 1 << rng.randrange(3, 7), 1 << rng.randrange(3, 7)
        self.source = rng.choice(["i8", "i16"])
        self.lies_along_rows = rng.random() < 0.5
        self.used = rng.randrange(1, self.rows + 1)
        steps = (self.columns, 1) if self.lies_along_rows else (1, self.rows)
        text = TEXT.replace("TILE", f"{self.rows}x{self.columns}").replace("ROWS", str(self.rows))
        text = text.replace("COLUMNS", str(self.columns)).replace("SOURCE", self.source)
        text = text.replace("STEP0", str(steps[0])).replace("STEP1", str(steps[1]))
        text = text.replace("COALESCED", "#gluon.coalesced_encoding").replace("AUTO", "#gluon.auto_encoding")
        self.module: ModuleOp = parse_module(text, "coalesced")

    def run(self, source: np.ndarray, poison: np.ndarray) -> np.ndarray:
        verify(self.module)
        out = poison.copy()
        assert execute(self.module, 1, [source, out, self.used]) == ()
        return out

    def expected(self, source: np.ndarray, poison: np.ndarray) -> np.ndarray:
        shape = (self.rows, self.columns) if self.lies_along_rows else (self.columns, self.rows)
        computed, out = 3 * source.astype(np.int32).reshape(shape), poison.copy().reshape(shape)
        used = np.s_[: self.used] if self.lies_along_rows else np.s_[:, : self.used]
        out[used] = computed[used]
        return out.reshape(-1)


def test_random_tiles() -> None:
    rng, drawn = Random(SEED), np.random.default_rng(SEED)
    for _ in range(PROGRAMS):
        program = Program(rng)
        elements, bits = program.rows * program.columns, int(program.source[1:])
        source = drawn.integers(-(1 << bits - 1), 1 << bits - 1, elements).astype(f"int{bits}")
        poison = drawn.integers(-(1 << 31), 1 << 31, elements, dtype=np.int32)
        wanted = program.expected(source, poison)
        np.testing.assert_array_equal(program.run(source, poison), wanted)
        GluonInferCoalescedEncodings(TARGET).apply(pass_context(), program.module)
        np.testing.assert_array_equal(program.run(source, poison), wanted)
        GluonResolveAutoEncodings().apply(pass_context(), program.module)
        assert not any(undetermined(type_of(r)) for op in program.module.walk() for r in op.results)
        np.testing.assert_array_equal(program.run(source, poison), wanted)
        (load,) = (op for op in program.module.walk() if isinstance(op, tile.LoadOp))
        encoding = distributed_encoding(type_of(load.ptr))
        assert isinstance(encoding, BlockedEncoding)
        assert encoding.order[0] == (1 if program.lies_along_rows else 0)
