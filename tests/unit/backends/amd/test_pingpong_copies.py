"""Two groups of warps that alternate between memory and products whose operands are copied past the registers: executed
on the machine that executes `ttg`, each warp by itself and copies landing as late as waits let them, and instruction by
instruction.

The emulator's products are a sample with the run's seed; `TRITONX_EMULATED_PIPELINES=all` has the whole table."""

# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.unit.backends.amd.pingpong_checks import alternated, check_copies_are_guarded
from tests.unit.backends.amd.test_block_pingpong import Case, product
from tests.unit.backends.amd.test_emulated_pipelines import drawn
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.backends.amd.passes.block_pingpong import BlockPingpong
from tritonx.dialects import scf
from tritonx.dialects.amd import BufferLoadToLocalOp, CondBarrierOp, SetPrioOp
from tritonx.dialects.gpu_layout import AsyncCopyGlobalToLocalOp, AsyncWaitOp, LocalBarrierOp, LocalLoadOp
from tritonx.dialects.tile import DotOp

SEED = int(os.environ["TRITONX_SEED"])
NAMES = ("f16", "bf16", "i8", "f8 of OCP")


def tile_of(random: Random, name: str) -> tuple[int, int, int]:
    k = random.choice((32, 64)) * (2 if name in ("i8", "f8 of OCP") else 1)
    return random.choice(((128, 128, k), (128, 256, k), (256, 128, k)))


def pingpong(program: Program) -> ModuleOp:
    return alternated(program, BlockPingpong(), "ping-pong of two groups of 4 warps, copies ahead")


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("name", NAMES)
def test_warps_that_alternate_keep_what_a_product_does(name: str, layout: str) -> None:
    random = Random(f"{SEED} ping-pong of copies {name} {layout}")
    for rounds in (random.choice((0, 1, 2)), random.choice((3, 4, 6))):
        stages = random.choice((3, 3, 4))
        case = Case(random, name, tile_of(random, name), rounds, layout, aligned=True)
        program = case.compiled("hip:gfx950", num_stages=stages)
        assert not case.run(program)
        pingpong(program)
        found = case.run(program)
        assert not found, "\n".join(map(str, (*found, case.what, f"{stages} stages")))


@pytest.mark.parametrize("stages", [3, 4])
def test_a_barrier_less_is_found(stages: int) -> None:
    random = Random(f"{SEED} barriers of copies {stages}")
    name = random.choice(NAMES)
    case = Case(random, name, tile_of(random, name), 5, random.choice(("nn", "nt", "tn", "tt")), aligned=True)
    program = case.compiled("hip:gfx950", num_stages=stages)
    check_copies_are_guarded(program, pingpong(program), case.run, case.what)


def test_clusters() -> None:
    """Operands are read, copies are issued and those before are waited for in one cluster, the product is the other;
    all have waited for the first copies in front of the loop."""
    random = Random(SEED)
    module = pingpong(Case(random, "f16", (128, 128, 64), 3, "nt", aligned=True).compiled("hip:gfx950", num_stages=3))
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    letters: dict[type, str] = {LocalBarrierOp: "|", SetPrioOp: "!", LocalLoadOp: "r", DotOp: "d", AsyncWaitOp: "w"}
    letters |= {BufferLoadToLocalOp: "c", AsyncCopyGlobalToLocalOp: "c", CondBarrierOp: "h"}
    order = "".join(letters.get(type(op), "") for op in loop.body.block.ops)
    assert order == "rrccw|!d!|"
    block = loop.parent
    assert block is not None
    around = "".join("L" if op is loop else letters.get(type(op), "") for op in block.ops)
    assert around.startswith("ccccw|hLh"), around


EMULATED = [
    (chip, name, layout, stages, rounds)
    for chip in ("gfx950", "gfx942")
    for name in NAMES
    for layout in ("nn", "nt", "tn", "tt")
    for stages in (3, 4)
    for rounds in (0, 1, 2, 3, 5)
    if chip == "gfx950" or (layout == "nt" and name != "f8 of OCP")
]


@pytest.mark.parametrize(("emulator", "name", "layout", "stages", "rounds"), drawn(EMULATED), indirect=["emulator"])
def test_emulated(emulator: Any, name: str, layout: str, stages: int, rounds: int) -> None:
    random = Random(f"{SEED} copies {emulator.arch} {name} {layout} {stages} {rounds}")
    tile = tile_of(random, name)
    if emulator.arch == "gfx942":  # which has 64 KB
        tile = (128, 128, tile[2] * 16 // (64 * stages) // 2 * 8 or 16)
    case = Case(random, name, tile, rounds, layout, aligned=True)
    options = {"num_stages": stages, "num_warps": 8, "async_copy": True, "small": random.random() < 0.5}
    code = emulator(product, 1, *case.args, kwargs=case.constants, block_pingpong=True, **options)
    np.testing.assert_array_equal(case.out.astype(np.int64), case.exact, err_msg=f"{emulator.arch}, {case.what}")
    assert re.findall(r"^\s+(s_setprio [01])", code, re.MULTILINE) == ["s_setprio 1", "s_setprio 0"], case.what


def test_two_slots_stay(compiled: Any) -> None:
    """And fewer rows or columns than 128."""
    a, c = np.zeros(1, np.float16), np.zeros(1, np.float32)
    for n, stages, count in ((128, 3, 1), (128, 4, 1), (128, 2, 0), (64, 3, 0)):
        constants = {"M": 128, "N": n, "K": 64, "MASKED": True, "A_TURNED": False, "B_TURNED": True}
        made = compiled("gfx950", product, (a, a, c, 4096), constants, until="amdgcn", num_warps=8, num_stages=stages)
        assert made.stages["amdgcn"].count("s_setprio 1") == count
        assert made.metadata["spills"] == 0
