"""Copies of blocks by the tensor memory accelerator, executed as PTX: the boxes that a block is cut into, who issues
them, with which coordinates and from which address."""

from __future__ import annotations

import os
from collections import Counter
from itertools import product
from random import Random

import pytest

from tests.unit.backends.nvidia.written_ptx import ptx_of
from tritonx.layouts import linear_layout
from tritonx.layouts.dims import OFFSET
from tritonx.layouts.encodings import NvmmaSharedEncoding
from tritonx_testing.emulators.ptx import run
from tritonx_testing.emulators.ptx.memory import SHARED_BASE
from tritonx_testing.emulators.ptx.text import Address, Instruction, parse

SEED = int(os.environ["TRITONX_SEED"])
TEXT = """
#block = #ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = false, elementBitWidth = {bits}{rank}}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @copies(%d: {descriptor}, {parameters}) {{
    %m = ttg.local_alloc : () -> {memory}
    ttng.{op} %d[{names}] %m : {descriptor}, {memory}
    tt.return
  }}
}}
"""
OPS = ("async_tma_copy_local_to_global", "async_tma_reduce add,")
"""The second is none of bytes."""
BITS = {"i8": 8, "f16": 16, "f32": 32}


def boxes_of(text: str, start: list[int], monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, tuple[int, ...]]]:
    """Of each box that a lane issues: its place in shared memory, and its coordinates, the outermost first."""
    found = Counter[tuple[int, tuple[int, ...]]]()

    def copied(block: run.Block, i: Instruction) -> None:
        if "tensor" in i.modifiers:
            (map_, memory), lanes = i.operands, block.t.mask
            assert isinstance(map_, Address) and map_.coordinates is not None
            where = [block.t.bits(part, 32)[lanes].astype("i4").tolist() for part in map_.coordinates.parts]
            found.update(zip(block.t.address(memory)[lanes].tolist(), zip(*where[::-1], strict=True), strict=True))

    monkeypatch.setitem(run.WARP, "cp", copied)
    values = [number.to_bytes(4, "little", signed=True) for number in start]
    count = len(parse(text).functions["copies"].parameters)
    run.execute(parse(text), (1, 1, 1), [bytes(128), *values, *[b""] * (count - 1 - len(values))], [], 1 << 20, SEED)
    return found


@pytest.mark.parametrize("draw", range(12))
def test_a_block_is_copied_once(draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In boxes of a swizzle's width and 256 of each other dim, each from where the layout has its first element; a
    descriptor may have leading dims of one element that the memory has not."""
    random = Random(SEED + draw)
    element, swizzle, warps = random.choice(list(BITS)), random.choice([32, 64, 128]), random.choice([1, 2, 4, 8])
    rank, lead, width = random.choice([2, 2, 3]), random.choice([0, 0, 1, 2]), 8 * swizzle // BITS[element]
    shape = [8 << random.randrange(7), width << random.randrange(3)]
    shape = [random.choice([1, 2, 4]) for _ in range(rank - 2)] + shape
    start = [random.randrange(-1000, 1000) for _ in range(lead + rank)]
    what = f"seed {SEED + draw}: {element} {swizzle} {shape}, {lead} more, {warps} warps"
    extents = "x".join(map(str, shape))
    text = TEXT.format(
        swizzle=swizzle, bits=BITS[element], rank=f", rank = {rank}" if rank != 2 else "", warps=warps,
        op=random.choice(OPS[: 1 if element == "i8" else 2]),
        parameters=", ".join(f"%x{n}: i32" for n in range(len(start))),
        names=", ".join(f"%x{n}" for n in range(len(start))),
        descriptor=f"!tt.tensordesc<tensor<{'1x' * lead}{extents}x{element}, #block>>",
        memory=f"!ttg.memdesc<{extents}x{element}, #block, #smem, mutable>",
    )  # fmt: skip
    layout = linear_layout(NvmmaSharedEncoding(swizzle, False, BITS[element], rank=rank), tuple(shape))
    places = {tuple(layout.apply(offset=o)): o * BITS[element] // 8 for o in range(layout.in_size(OFFSET))}
    box = [*(min(extent, 256) for extent in shape[:-1]), width]
    firsts = product(*(range(0, extent, size) for extent, size in zip(shape, box, strict=True)))
    expected = {
        (SHARED_BASE + places[first], tuple(a + b for a, b in zip(start, (*[0] * lead, *first), strict=True)))
        for first in firsts
    }
    assert boxes_of(ptx_of(text, "cuda:90"), start, monkeypatch) == Counter(expected), what
