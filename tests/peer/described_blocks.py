"""Arguments of the kernels of `kernels_hopper.py` that move blocks, through descriptors that they make themselves or
that the host gives, and what must come out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.peer.hopper_launch import Described, Launch, Output, combined, drawn, launch
from tests.peer.pipeline_cases import DTYPES


def rows_of_described_blocks(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    """Extents beyond the block and within it; the last block of the last program ends behind the tensor. Rows are whole
    pieces of 16 bytes: of others, the peer's code overwrites what is behind them."""
    rank, kind = case.constants["RANK"], case.constants["KIND"]
    dtype = case.element("source")
    block = [case.constants[f"B{i}"] for i in range(rank)]
    steps, programs = int(rng.integers(0, 6)), 3
    step = 16 // np.dtype(DTYPES[dtype]).itemsize  # strides are multiples of 16 bytes
    extents = [int(n + rng.integers(-(n // 2), n)) for n in block]
    extents[0] = max(1, programs * steps * block[0] - int(rng.integers(0, block[0])))
    extents[-1] = max(1, extents[-1] // step) * step
    source, target = (drawn(rng, tuple(extents), dtype) for _ in range(2))
    expected = target.copy()
    for start in range(0, programs * steps * block[0], block[0]):
        where = (slice(start, start + block[0]), *(slice(0, n) for n in block[1:]))
        expected[where] = combined(kind, expected[where], source[where])
    sizes = [*extents, 1, 1, 1, 1][:5]
    return Launch((source, target, *sizes, steps), (Output(target, expected),), (programs,))


def groups_of_rows(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    """Groups of one to twenty rows, of which a block holds sixteen; rows shorter and longer than a block."""
    kind, dtype = case.constants["KIND"], case.element("source")
    groups, n = int(rng.integers(1, 12)), int(rng.choice((32, 48, 64, 80)))
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 21, groups))]).astype(np.int32)
    source, target = (drawn(rng, (int(starts[-1]), n), dtype) for _ in range(2))
    expected = target.copy()
    for first, end in pairwise(starts):
        where = slice(first, min(end, first + case.constants["B0"])), slice(0, case.constants["B1"])
        expected[where] = combined(kind, expected[where], source[where])
    return Launch((source, target, starts, n, groups), (Output(target, expected),), (3,))


SHAPES = {1: (1024,), 2: (128, 256), 3: (8, 24, 64), 4: (2, 6, 8, 64), 5: (2, 2, 4, 12, 32)}


def corner(rank: int, x: int, y: int) -> tuple[int, ...]:
    """Where program (x, y) has its block."""
    match rank:
        case 1:
            return (x * 256,)
        case 2:
            return x * 32, y * 64
        case 3:
            return x * 4, 8, y * 32
        case 4:
            return x, 2, y * 4, 0
        case _:
            return x, 0, y * 2, 4, 0


def copy_blocks(case: Described, rng: np.random.Generator, *, small: bool) -> Launch:
    """Blocks are copied, or combined, at the places that the kernel's source says; nothing else is touched."""
    rank, kind = case.constants["RANK"], case.constants["KIND"]
    source, target = (drawn(rng, SHAPES[rank], case.element("source")) for _ in range(2))
    expected = target.copy()
    for x in range(2):
        for y in range(2 if rank > 1 else 1):
            where = tuple(slice(s, s + b) for s, b in zip(corner(rank, x, y), case.block("source"), strict=True))
            times = 2 if rank == 1 and kind != "store" else 1  # two programs do the same there
            for _ in range(times):
                expected[where] = combined(kind, expected[where], source[where])
    return launch(case, {"source": source, "target": target}, (Output(target, expected),), (2, 2))
