"""Ops that change a block's shape give the layouts of Triton 3.9, by name: kernels of Gluon compare them, and add
blocks only in one layout."""

from __future__ import annotations

import json
import os
import random
import sys
from math import prod
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_gluon_layouts import WHEEL, run

pytestmark = pytest.mark.peer
SEED = int(os.environ["TRITONX_SEED"])
COUNT = 120


def drawn(rng: random.Random, bits: int, rank: int) -> list[int]:
    """Powers of two whose product is ``1 << bits``."""
    parts = [1] * rank
    for _ in range(bits):
        parts[rng.randrange(rank)] *= 2
    return parts


def blocked(rng: random.Random, rank: int, pair: bool = False) -> str:
    """A layout of four warps; with ``pair`` threads have both elements of a last dim of extent 2."""
    inner, last = rank - pair, [2] * pair
    order = [*range(rank)][::-1]
    if rng.random() < 0.5:
        rng.shuffle(order)
    sizes = [*drawn(rng, rng.randint(0, 3), inner), *last]
    lanes, warps = ([*drawn(rng, bits, inner), *[1] * pair] for bits in (5, 2))
    return f"BlockedLayout({sizes}, {lanes}, {warps}, {order})"


def pairs(rng: random.Random, layout: str) -> tuple[str, list[int], int]:
    """A layout of two dims, the shape of a tile of it without copies, and its fastest axis, of which a thread has
    neighbours. Elsewhere Triton 3.9 names a linear layout of more elements than the result has."""
    sizes, lanes, warps, order = json.loads(f"[{layout.removeprefix('BlockedLayout(').rstrip(')')}]")
    axis = order[0]
    sizes[axis] *= 2
    if rng.random() < 0.5:
        return f"DotOperandLayout({1 - axis}, NVMMADistributedLayout([2, 0], [2, 2], [16, 8]), 4)", [64, 64], axis
    shape = [prod(each) for each in zip(sizes, lanes, warps, strict=True)]
    return f"BlockedLayout({sizes}, {lanes}, {warps}, {order})", shape, axis


def case(rng: random.Random) -> list:
    ops = ["reshape", "reshape", "permute", "join", "split", "split, join", "join, split", "sum", "scan", "fp4"]
    op = rng.choice(ops)
    pair = op in ("split", "split, join")
    rank = 2 if op == "fp4" else rng.randint(1 + (pair or op == "permute"), 3)
    shape = [*drawn(rng, rng.randint(9 + pair, 11), rank - pair), *[2] * pair]
    layout = blocked(rng, rank, pair)
    if not pair and op != "fp4" and rng.random() < 0.2:
        layout = f"SliceLayout({rank}, {blocked(rng, rank + 1)})"
    argument = rng.randrange(rank)
    if op == "reshape":
        argument = drawn(rng, prod(shape).bit_length() - 1, rng.choice([r for r in range(1, 5) if r != rank]))
    if op == "permute":
        argument = rng.sample(range(rank), rank)
        argument = argument[::-1] if argument == sorted(argument) else argument
    if op == "fp4":
        layout, shape, argument = pairs(rng, layout)
    return [op, layout, shape, argument]


def test_layouts_have_triton_s_names() -> None:
    rng = random.Random(SEED)
    cases = [case(rng) for _ in range(COUNT)]
    given = json.dumps(cases)
    theirs = json.loads(run(WHEEL, "gluon_shapes.py", "triton", given=given))
    ours = json.loads(run(str(Path(__file__).parents[2]), "gluon_shapes.py", "tritonx", given=given))
    told = [(c, a, b) for c, a, b in zip(cases, ours, theirs, strict=True) if a != b and b is not None]
    assert not told, f"seed {SEED}: {told[:5]}"
    assert sum(each is not None for each in theirs) > COUNT // 2
