"""Tiles of tensor memory are in the registers of the threads as Triton 3.9 has them, and refused where it refuses
them."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import pytest

from tritonx.experimental.gluon import language as gl
from tritonx.experimental.gluon.language.nvidia import blackwell

sys.path.insert(0, str(Path(__file__).parent))

from test_gluon_layouts import WHEEL, run

pytestmark = pytest.mark.peer
SEED = int(os.environ["TRITONX_SEED"])
COUNT = 300
CLUSTERS = ([], [], [], [[1, 0]], [[0, 1]], [[1, 0], [0, 1]], [[1, 0], [2, 0]])


def case(rng: random.Random) -> list:
    warps = rng.choice([4, 4, 8, 16])
    if rng.random() < 0.15:
        shape = [rng.choice([32, 64, 128, 256]), rng.choice([1, 2, 4, 8, 16, 32])]
        return ["int8", shape, shape, ["TensorMemoryScalesLayout", {}], warps, "32x32b"]
    dtype = rng.choice(["float32", "float16", "bfloat16", "int8", "float8e5", "int32"])
    block, cga = [rng.choice([64, 128]), rng.choice([8, 16, 32, 64, 128, 256])], rng.choice(CLUSTERS)
    stride = rng.choice([1, 1, 32 // getattr(gl, dtype).primitive_bitwidth])
    parts = [1 << sum(bool(basis[dim]) for basis in cga) for dim in (0, 1)]
    whole = [size * rng.choice([1, 1, 2]) * part for size, part in zip(block, parts, strict=True)]
    shape = whole if cga else [whole[0], whole[1] >> rng.choice([0, 0, 1, 2])]
    variant = rng.choice(["32x32b", "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2", "32x32b_splitn"])
    layout = ["TensorMemoryLayout", {"block": block, "col_stride": stride, "cga_layout": cga}]
    return [dtype, shape, whole, layout, warps, variant]


def ours(dtype: str, shape: list[int], whole: list[int], layout: list, warps: int, variant: str) -> list | None:
    lies = getattr(blackwell, layout[0])(**layout[1])
    type_ = blackwell.tensor_memory_descriptor_type(getattr(gl, dtype), shape, lies, whole)
    try:
        found = type_.get_reg_layout(num_warps=warps, instr_variant=variant)
    except ValueError:
        return None
    return [found.reg_bases, found.lane_bases, found.warp_bases, found.block_bases, found.shape]


def test_the_same_registers() -> None:
    rng = random.Random(SEED)
    cases = [case(rng) for _ in range(COUNT)]
    theirs = json.loads(run(WHEEL, "gluon_registers_oracle.py", given=json.dumps(cases)))
    assert sum(each is not None for each in theirs) > COUNT // 2
    for question, expected in zip(cases, theirs, strict=True):
        assert ours(*question) == expected, question
