"""Whether barriers for the slots of a loop's tiles cost a block on the multiprocessor."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.analysis.blocks_together import barriers_cost_a_block
from tritonx.compiler import ASTSource
from tritonx.dialects import tile
from tritonx.dialects.control_flow import loop_around
from tritonx.interpreter.ir_launch import bind

BYTES = 227 * 1024
"""That a block may have on 9.0."""


@tritonx.jit
def scored(q, k, v, o, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, STAGES: tl.constexpr):
    """As attention: a tile from outside the loop, and two from inside."""
    rows, columns, within = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + within[None, :])
    out = tl.zeros((M, D), tl.float32)
    for at in tl.range(0, n, N, num_stages=STAGES):
        keys = tl.load(k + (at + columns)[None, :] * D + within[:, None])
        values = tl.load(v + (at + columns)[:, None] * D + within[None, :])
        out = tl.dot(tl.dot(queries, keys).to(values.dtype), values, out)
    tl.store(o + rows[:, None] * D + within[None, :], out)


CONSTANTS: dict[str, Any] = {"M": 64, "N": 64, "D": 64, "STAGES": None}


def asked(stages: int, block_bytes: int = BYTES, warps: int = 4, **constants: int) -> bool:
    x = np.zeros((64, 128), np.float16)
    module = bind(scored, (x, x, x, x.astype(np.float32), 64), {**CONSTANTS, **constants}).module
    loads = [op for op in module.walk() if isinstance(op, tile.LoadOp) and loop_around(op) is not None]
    assert len(loads) == 2
    return barriers_cost_a_block(loads, stages, block_bytes, warps)


@pytest.mark.parametrize(("stages", "constants", "less"), [
    (3, {}, True), (2, {}, False), (4, {}, False), (2, {"STAGES": 3}, True), (3, {"STAGES": 2}, False),
    (3, {"M": 128}, False), (3, {"D": 128}, False), (2, {"M": 128}, False),
], ids=str)  # fmt: skip
def test_three_slots_and_a_tile_fill_four_blocks(stages: int, constants: dict[str, int], less: bool) -> None:
    assert asked(stages, **constants) == less


def test_as_many_bytes_as_a_block_has() -> None:
    """With barriers there is no block at all."""
    assert asked(3, block_bytes=57344) and not asked(3, block_bytes=57344 + 48) and not asked(3, block_bytes=57343)


@pytest.mark.parametrize(("warps", "less"), [(8, True), (16, True), (32, False)])
def test_a_multiprocessor_holds_so_many_warps(warps: int, less: bool) -> None:
    assert asked(3, warps=warps) == less
    assert not asked(3, warps=4, M=16, N=16, D=16), "of tiles of 512 bytes there is room for more than sixteen blocks"


@pytest.mark.parametrize(("stages", "copied"), [(2, True), (3, False)])
def test_such_a_loop_keeps_its_pointers(stages: int, copied: bool) -> None:
    types = {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp32", "n": "i32"}
    aligned: dict[tuple[int, ...], Any] = {(place,): [["tt.divisibility", 16]] for place in range(5)}
    source = ASTSource(scored, types, CONSTANTS | {"STAGES": stages}, aligned)
    made = tritonx.compile(source, "cuda:90", {"launch_maps": True, "num_stages": 2})
    assert ("cp.async.bulk.tensor" in made.asm["ptx"]) == copied and ("cp.async.cg" in made.asm["ptx"]) != copied
