"""Where the elements of a memory descriptor lie: every place, in every block of a cluster that has the element."""

from __future__ import annotations

import os
from collections import defaultdict
from random import Random
from typing import Any

import numpy as np
import pytest

from tritonx.dialects.gpu_layout import LocalAllocOp, MemDescType
from tritonx.interpreter.asynchronous.footprints import element_offsets, memory_layout
from tritonx.ir.text import parse_module
from tritonx.ir.types import type_as
from tritonx.layouts.dims import BLOCK, OFFSET

SEED = int(os.environ["TRITONX_SEED"])


def memory(encoding: str, rows: int, columns: int) -> MemDescType:
    text = f"""
tt.func @f() {{
  %m = ttg.local_alloc : () -> !ttg.memdesc<{rows}x{columns}xf16, {encoding}, #ttg.shared_memory, mutable>
  tt.return
}}
"""
    module: Any = parse_module(text)
    (alloc,) = [op for op in module.walk() if isinstance(op, LocalAllocOp)]
    return type_as(alloc.result, MemDescType)


@pytest.mark.parametrize("draw", range(16))
def test_every_copy_of_an_element_is_found(draw: int) -> None:
    random = Random(SEED * 100 + draw)
    shape = random.choice([8, 16, 32]), random.choice([32, 64])
    split = [random.choice([[0, 0], [0, 0], None]) for _ in range(random.randint(0, 2))]
    halves = [[1, 0], [0, 1]]
    cga = [basis if basis is not None else halves.pop(random.randrange(len(halves))) for basis in split]
    blocks = f", CGALayout = {cga}" if cga else ""
    encoding = random.choice([
        f"#ttg.swizzled_shared<{{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]{blocks}}}>",
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16{blocks}}}>",
    ])  # fmt: skip
    type_ = memory(encoding, *(extent << sum(basis[d] for basis in cga) for d, extent in enumerate(shape)))
    layout, places = memory_layout(type_), defaultdict[tuple[int, ...], set[tuple[int, int]]](set)
    for block in range(layout.in_size(BLOCK)):
        for offset in range(layout.in_size(OFFSET)):
            places[tuple(layout.apply(offset=offset, block=block))].add((offset, block))
    offsets, owners = element_offsets(type_)
    for at in np.ndindex(*type_.shape):
        found = {(int(o[at]), int(b[at])) for o, b in zip(offsets, owners, strict=True)}
        assert found == places[at], f"seed {SEED * 100 + draw}: {type_} at {at}"
