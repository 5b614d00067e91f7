"""Rows by their indices, copied by the tensor memory accelerator and executed as PTX: any rows, some of them outside
of the tensor, in memory that is swizzled or not, by the threads that hold the indices."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.unit.backends.nvidia.written_ptx import ptx_of
from tritonx.ir.failure import PassFailure
from tritonx_testing.emulators.ptx import run
from tritonx_testing.emulators.ptx.memory import Segment
from tritonx_testing.emulators.ptx.tensor_map import SWIZZLES, TYPES, TensorMap
from tritonx_testing.emulators.ptx.text import parse

SEED = int(os.environ["TRITONX_SEED"])
TEXT = """
#parent = #ttg.blocked<{{sizePerThread = [1, {held}], threadsPerWarp = [{lanes}], warpsPerCTA = [{warps}], order = [1, 0]}}>
#rows = #ttg.slice<{{dim = 0, parent = #parent}}>
#block = #ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = false, elementBitWidth = {bits}}}>
#bars = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {all} : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @rows(%from: {descriptor}, %to: {descriptor}, %p: !tt.ptr<i32>, %y: i32, %on: i1) {{
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %r = tt.make_range {{start = 0 : i32, end = {rows} : i32}} : tensor<{rows}xi32, #rows>
    %s = tt.splat %p : !tt.ptr<i32> -> tensor<{rows}x!tt.ptr<i32>, #rows>
    %q = tt.addptr %s, %r : tensor<{rows}x!tt.ptr<i32>, #rows>, tensor<{rows}xi32, #rows>
    %x = tt.load %q : tensor<{rows}x!tt.ptr<i32>, #rows>
    %m = ttg.local_alloc : () -> {memory}
    %b = ttg.local_alloc : () -> {barrier}
    ttng.init_barrier %b, 1 : {barrier}
    ttng.barrier_expect %b, {nbytes}, %true : {barrier}
    ttng.async_tma_gather %from[%x, %y] %m, %b, %true : {descriptor}, tensor<{rows}xi32, #rows>, i32, {barrier}, {memory}, i1
    ttng.wait_barrier %b, %zero : {barrier}
    ttng.inval_barrier %b : {barrier}
    ttng.fence_async_shared {{bCluster = false}}
    ttng.async_tma_scatter %to[%x, %y] %m : {descriptor}, tensor<{rows}xi32, #rows>, i32, {memory}
    ttng.async_tma_store_wait {{pendings = 0 : i32}}
    tt.return
  }}
}}
"""  # noqa: E501
BITS = {"i8": 8, "i16": 16, "f32": 32}


def text_of(
    rows: int, columns: int, element: str, swizzle: int, held: int, lanes: str, warps: tuple[int, int], memory: str = ""
) -> str:
    """A module that gathers ``rows`` rows and scatters them."""
    return TEXT.format(
        rows=rows, element=element, bits=BITS[element], swizzle=swizzle, held=held, lanes=lanes,
        warps=", ".join(map(str, warps)), all=warps[0] * warps[1], nbytes=rows * columns * BITS[element] // 8,
        descriptor=f"!tt.tensordesc<tensor<1x{columns}x{element}, #block>>",
        memory=memory or f"!ttg.memdesc<{rows}x{columns}x{element}, #block, #smem, mutable>",
        barrier="!ttg.memdesc<1xi64, #bars, #smem, mutable>",
    )  # fmt: skip


def tensor_map(array: np.ndarray[Any, Any], address: int, box: int, swizzle: int) -> bytes:
    rows, columns = array.shape
    type_ = next(n for n, made in enumerate(TYPES) if np.dtype(made) == array.dtype)
    ones = [1] * 5
    made = TensorMap(
        address, 1, type_, SWIZZLES.index(swizzle), 0, [columns, rows, 1, 1, 1], [box, *ones[1:]], ones,
        [columns * array.itemsize, 0, 0, 0],
    )  # fmt: skip
    return made.content()


@pytest.mark.parametrize("draw", range(12))
def test_rows_are_gathered_and_scattered(draw: int) -> None:
    random = Random(SEED + draw)
    element, swizzle = random.choice(list(BITS)), random.choice([32, 64, 128])
    dtype = {"i8": np.uint8, "i16": np.uint16, "f32": np.float32}[element]
    box = 8 * swizzle // BITS[element]
    rows, columns = 8 << random.randrange(4), box << random.randrange(3)
    warps = random.choice([(1, 1), (2, 1), (1, 4), (2, 2), (1, 8)])
    held, lanes = random.choice([4, 8]), random.choice(["32, 1", "16, 2", "4, 8"])
    what = f"seed {SEED + draw}: {rows}x{columns} {element}, swizzle {swizzle}, {held} of [{lanes}] in {warps}"
    module = ptx_of(text_of(rows, columns, element, swizzle, held, lanes, warps), "cuda:100")
    extent, width = random.randrange(rows, 100), 16 * random.randrange(1, 40)
    source = np.array([random.randrange(1, 250) for _ in range(extent * width)], dtype).reshape(extent, width)
    target = np.zeros_like(source)
    index = np.array(random.sample(range(-3, extent + 5), rows), np.int32)
    column = 16 * random.randrange(max(1, width // 16))
    places = [0x10000, 0x80000, 0x1000]
    arrays = zip(places, (source, target, index), strict=True)
    segments = [Segment(at, each.view(np.uint8).reshape(-1), "global") for at, each in arrays]
    maps = [tensor_map(each, at, box, swizzle) for each, at in zip((source, target), places, strict=False)]
    numbers = [places[2].to_bytes(8, "little"), column.to_bytes(4, "little"), b"\1"]
    count = len(parse(module).functions["rows"].parameters)
    arguments = [*maps, *numbers]
    run.execute(parse(module), (1, 1, 1), [*arguments, *[b""] * (count - len(arguments))], segments, 1 << 18, SEED)
    expected = np.zeros_like(source)
    inside = index[(index >= 0) & (index < extent)]
    expected[inside, column : column + columns] = source[inside, column : column + columns]
    np.testing.assert_array_equal(target, expected, what)


def test_indices_that_no_thread_holds_four_of() -> None:
    with pytest.raises(PassFailure, match="needs 4 neighbouring indices in one thread") as caught:
        ptx_of(text_of(32, 64, "i16", 128, 1, "1, 32", (1, 4)), "cuda:100")
    assert "convert the indices to a layout with sizePerThread = [4]" in str(caught.value)


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        ("!ttg.memdesc<32x64xi16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #smem,"
         " mutable>", "memory of #ttg.nvmma_shared"),
        ("!ttg.memdesc<32x64xi16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>"
         ", #smem, mutable>", "not transposed"),
    ],
)  # fmt: skip
def test_memory_of_another_form(memory: str, reason: str) -> None:
    with pytest.raises(PassFailure, match=reason):
        ptx_of(text_of(32, 64, "i16", 64, 4, "32, 1", (1, 4), memory), "cuda:100")
