"""Two groups of warps that alternate between memory and products: executed on the machine that executes `ttg`, where
each warp goes by itself and meets the others at barriers, and instruction by instruction; for loops that run not at
all, once, and often.

The emulator's products are a sample with the run's seed; `TRITONX_EMULATED_PIPELINES=all` has the whole table."""

# pyright: reportArgumentType=false, reportOperatorIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tritonx
import tritonx.language as tl
from tests.unit.backends.amd.pingpong_checks import (
    alternated,
    barriers_in_loop,
    check_halves_meet,
    without_pingpong,
)
from tests.unit.backends.amd.test_emulated_pipelines import drawn
from tests.unit.interpreter.asynchronous.mutants import mutated
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.backends.amd.passes.block_pingpong import BlockPingpong
from tritonx.dialects import scf
from tritonx.dialects.amd import SetPrioOp
from tritonx.dialects.gpu_layout import LocalBarrierOp, LocalLoadOp, LocalStoreOp
from tritonx.dialects.tile import DotOp
from tritonx.interpreter.asynchronous import Report
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.ir.text import print_module

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10"))
TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8": ml_dtypes.float8_e4m3fnuz,
    "i8": np.int8,
}


@tritonx.jit
def product(
    a, b, o, inner, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MASKED: tl.constexpr, A_TURNED: tl.constexpr,
    B_TURNED: tl.constexpr,
):  # fmt: skip
    """Either operand lies in memory row after row, or column after column where it is turned."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    tl.assume(inner >= 0)
    a_ptrs = a + m[:, None] + k[None, :] * M if A_TURNED else a + m[:, None] * inner + k[None, :]
    b_ptrs = b + k[:, None] + n[None, :] * inner if B_TURNED else b + k[:, None] * N + n[None, :]
    total = tl.zeros((M, N), tl.int32 if a.dtype.element_ty.is_int() else tl.float32)
    for step in range(tl.cdiv(inner, K)):
        if MASKED:
            x = tl.load(a_ptrs, mask=k[None, :] < inner - step * K, other=0)
            y = tl.load(b_ptrs, mask=k[:, None] < inner - step * K, other=0)
        else:
            x = tl.load(a_ptrs)
            y = tl.load(b_ptrs)
        total = tl.dot(x, y, total)
        a_ptrs += K * M if A_TURNED else K
        b_ptrs += K if B_TURNED else K * N
    tl.store(o + m[:, None] * N + n[None, :], total)


class Case:
    """A product of drawn numbers: arguments, and what comes out."""

    def __init__(
        self, random: Random, name: str, tile: tuple[int, int, int], rounds: int, layout: str, aligned: bool = False
    ) -> None:
        m, n, k = tile
        masked = random.random() < 0.5
        left = random.choice((16, 32) if aligned else (0, 8, 16, k - 3)) if masked else 0
        inner = max(0, rounds * k - left)
        rng = np.random.default_rng(random.randrange(1 << 30))
        type_ = np.dtype(TYPES.get(name, ml_dtypes.float8_e4m3fn))
        a = rng.integers(-4, 5, (m, max(inner, 1))).astype(type_)
        b = rng.integers(-4, 5, (max(inner, 1), n)).astype(type_)
        self.exact = a[:, :inner].astype(np.int64) @ b[:inner].astype(np.int64)
        turned = layout[0] == "t", layout[1] == "t"
        a, b = (np.ascontiguousarray(x.T) if turn else x for x, turn in zip((a, b), turned, strict=True))
        self.out = np.full((m, n), -77, np.int32 if name == "i8" else np.float32)
        self.args = (a, b, self.out, inner)
        self.constants = {
            "M": m, "N": n, "K": k, "MASKED": masked, "A_TURNED": turned[0], "B_TURNED": turned[1],
        }  # fmt: skip
        self.what = f"seed {SEED}, {name}, {self.constants}, {inner}"

    def compiled(self, target: str = "hip:gfx942", **options: Any) -> Program:
        """Through all passes but the one for ping-pong."""
        options = {"num_stages": 2, "block_pingpong": True, **options}
        return without_pingpong(Program(product, self.args, self.constants, target, 8, options=options))

    def run(self, program: Program) -> tuple[Report, ...]:
        """Runs a program, whose result must be right unless something is reported."""
        arrays, found = program.run()
        if not found:
            np.testing.assert_array_equal(arrays[-1].astype(np.int64), self.exact, err_msg=self.what)
        return found


def pingpong(program: Program, slices: int) -> ModuleOp:
    return alternated(program, BlockPingpong(slices), f"ping-pong of two groups of 4 warps, {slices} slices of K")


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("name", TYPES)
def test_warps_that_alternate_keep_what_a_product_does(name: str, layout: str) -> None:
    random = Random(f"{SEED} ping-pong {name} {layout}")
    for rounds in (random.choice((0, 1)), random.choice((2, 3)), 6):
        slices = random.choice((2, 4))
        k = random.choice((32, 64)) if slices == 2 else 64
        tile = (64, random.choice((64, 128)), k * (2 if name in ("f8", "i8") else 1))
        if random.random() < 0.5:
            tile = (tile[1], tile[0], tile[2])
        case = Case(random, name, tile, rounds, layout)
        program = case.compiled()
        assert not case.run(program)
        pingpong(program, slices)
        found = case.run(program)
        assert not found, "\n".join(map(str, (*found, case.what, f"{slices} slices")))


@pytest.mark.parametrize("slices", [2, 4])
def test_a_barrier_less_is_found(slices: int) -> None:
    """In front of the loop, and on both sides of the two clusters between stores and reads; the others only keep the
    groups a cluster apart. One layout may do without one of them: where a half stores what the other half has read long
    before. A half that is held at one end of the loop alone waits for ever."""
    random = Random(f"{SEED} barriers {slices}")
    missed: set[int] = set()
    for layout in ("nn", "nt", "tn", "tt"):
        case = Case(random, random.choice([*TYPES]), (64, 128, 128), 4, layout)
        program = case.compiled()
        module = pingpong(program, slices)
        within = barriers_in_loop(module)
        assert len(within) == 2 * slices
        text, bound = print_module(module), program.bound
        needed = {within[0] - 1, *within[-4:]}
        for number in (within[0] - 1, *within):
            program.bound = replace(bound, module=mutated(text, "barrier dropped", number))
            if found := case.run(program):
                assert number in needed and all(report.kind is not Kind.HANG for report in found), case.what
                missed.add(number)
    assert missed == needed
    program.bound = bound
    check_halves_meet(program, text, within[0] - 1, case.run, case.what)


def test_clusters() -> None:
    """Slices are read in front of their products, the stores stand in the last memory cluster, and whatever is between
    priorities is a product."""
    case = Case(Random(SEED), "f16", (64, 64, 64), 3, "nt")
    module = pingpong(case.compiled(), 4)
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    order: list[str] = []
    for op in loop.body.block.ops:
        short = {LocalBarrierOp: "|", SetPrioOp: "!", LocalLoadOp: "r", LocalStoreOp: "s", DotOp: "d"}.get(type(op), "")
        order += "l" if op.name == "tt.load" else short
    assert "".join(order) == "lrr|!d!|lrr|!d!|rrrr|!d!|ss|!d!|"


SIZES = {2: (256, 128, 64), 4: (256, 256, 64)}
EMULATED = [
    (chip, name, layout, slices, rounds)
    for chip in ("gfx942", "gfx950")
    for name in TYPES
    for layout in ("nn", "nt", "tn", "tt")
    for slices in (2, 4)
    for rounds in (0, 1, 2, 3, 5)
    if (chip, name) != ("gfx950", "f8")
]


@pytest.mark.parametrize(("emulator", "name", "layout", "slices", "rounds"), drawn(EMULATED), indirect=["emulator"])
def test_emulated(emulator: Any, name: str, layout: str, slices: int, rounds: int) -> None:
    random = Random(f"{SEED} {emulator.arch} {name} {layout} {slices} {rounds}")
    m, n, k = SIZES[slices]
    if random.random() < 0.5:
        m, n = n, m
    case = Case(random, name, (m, n, k * (2 if name in ("f8", "i8") else 1)), rounds, layout, aligned=True)
    options = {"num_stages": 2, "num_warps": 8, "async_copy": False, "small": random.random() < 0.5}
    code = emulator(product, 1, *case.args, kwargs=case.constants, block_pingpong=True, **options)
    np.testing.assert_array_equal(case.out.astype(np.int64), case.exact, err_msg=f"{emulator.arch}, {case.what}")
    counts = Counter(re.findall(r"^\s+(s_setprio [01])", code, re.MULTILINE))
    assert counts == {"s_setprio 1": slices, "s_setprio 0": slices}, case.what


def test_loads_of_halves_stay(compiled: Any) -> None:
    """They take a register each. Rows of which nothing is known have such loads, those of multiples of 16 have not."""
    a, c = np.zeros(1, np.float16), np.zeros(1, np.float32)
    constants = {"M": 128, "N": 256, "K": 64, "MASKED": True, "A_TURNED": False, "B_TURNED": True}
    for inner, count in ((4096, 2), (4099, 0)):
        made = compiled("gfx942", product, (a, a, c, inner), constants, until="amdgcn", num_warps=8)
        assert made.stages["amdgcn"].count("s_setprio 1") == count
        assert made.metadata["spills"] == 0
