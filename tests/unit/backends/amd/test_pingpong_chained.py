"""Attention in which one half of the warps multiplies while the other one computes (`schedule_hint="attention"`):
executed on the machine that executes `ttg`, each warp by itself, and instruction by instruction."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
import re
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tritonx
import tritonx.language as tl
from tests.unit.backends.amd.pingpong_checks import alternated, check_copies_are_guarded, without_pingpong
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.backends.amd.passes.block_pingpong import BlockPingpong
from tritonx.dialects import scf
from tritonx.dialects.amd import BufferLoadToLocalOp, SetPrioOp
from tritonx.dialects.gpu_layout import (
    AsyncCopyGlobalToLocalOp,
    AsyncWaitOp,
    LocalBarrierOp,
    LocalDotOp,
    LocalLoadOp,
)
from tritonx.dialects.math import Exp2Op
from tritonx.dialects.tile import DotOp
from tritonx.interpreter.asynchronous import Report

SEED = int(os.environ["TRITONX_SEED"])
ROWS = 256
EVERYTHING = os.environ.get("TRITONX_EMULATED_PIPELINES") == "all"


@tritonx.jit
def attention(
    q, k, v, o, length, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, MASKED: tl.constexpr, TURNED: tl.constexpr
):
    """Keys lie row after row, or column after column where they are turned."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    tl.assume(length >= 0)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    best = tl.full((M,), -1000.0, tl.float32)
    total = tl.full((M,), 1.0, tl.float32)
    result = tl.zeros((M, D), tl.float32)
    k_ptrs = k + d[:, None] * length + n[None, :] if TURNED else k + d[:, None] + n[None, :] * D
    v_ptrs = v + n[:, None] * D + d[None, :]
    for start in range(0, length, N):
        scores = tl.dot(queries, tl.load(k_ptrs))
        if MASKED:
            scores = tl.where(start + n[None, :] <= m[:, None], scores, -1000.0)
        larger = tl.maximum(best, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        factor = tl.exp2(best - larger)
        total = total * factor + tl.sum(weights, 1)
        result = tl.dot(weights.to(v.dtype.element_ty), tl.load(v_ptrs), result * factor[:, None])
        best = larger
        k_ptrs += N if TURNED else N * D
        v_ptrs += N * D
    tl.store(o + m[:, None] * D + d[None, :], result / total[:, None])


class Case:
    """Attention of drawn numbers: arguments, and what comes out."""

    def __init__(self, random: Random, rounds: int, widths: tuple[int, ...] = (64,)) -> None:
        width, block = random.choice(widths), random.choice((32, 64))
        length = rounds * block
        masked, turned = random.random() < 0.4, random.random() < 0.5
        rng = np.random.default_rng(random.randrange(1 << 30))
        q, k, v = (
            rng.uniform(-1, 1, (rows, width)).astype(np.float16) for rows in (ROWS, max(length, 1), max(length, 1))
        )
        self.exact = self._exact(q, k[:length], v[:length], masked)
        keys = np.ascontiguousarray(k.T) if turned else k
        self.out = np.full((ROWS, width), -77, np.float32)
        self.args = (q, keys, v, self.out, length)
        self.constants = {"D": width, "M": ROWS, "N": block, "MASKED": masked, "TURNED": turned}
        self.what = f"seed {SEED}, {self.constants}, {length}"

    @staticmethod
    def _exact(q: Any, k: Any, v: Any, masked: bool) -> Any:
        scores = q.astype(np.float64) @ k.astype(np.float64).T
        if masked:
            scores = np.where(np.arange(len(k))[None, :] <= np.arange(len(q))[:, None], scores, -1000)
        best = np.max(scores, 1, initial=-1000, keepdims=True)
        weights = np.exp2(scores - best)
        return weights @ v.astype(np.float64) / (weights.sum(1, keepdims=True) + np.exp2(-1000 - best))

    def compiled(self, stages: int) -> Program:
        """Through all passes but the one for ping-pong."""
        options = {"num_stages": stages, "block_pingpong": True}
        return without_pingpong(Program(attention, self.args, self.constants, "hip:gfx950", 8, options=options))


def pingpong(program: Program) -> ModuleOp:
    remark = "ping-pong of two groups of 4 warps, one of which multiplies"
    return alternated(program, BlockPingpong(attention=True), remark)


def reports(program: Program, expected: Any, what: str) -> tuple[Report, ...]:
    """Runs a program, whose result must be what is expected unless something is reported."""
    arrays, found = program.run()
    if not found:
        np.testing.assert_array_equal(arrays[-1], expected, err_msg=what)
    return found


@pytest.mark.parametrize("draw", range(6))
def test_halves_keep_what_attention_does(draw: int) -> None:
    random = Random(f"{SEED} chained {draw}")
    case = Case(random, (0, 1, 2, 3, 5, 6)[draw])
    program = case.compiled(random.choice((3, 4)))
    arrays, found = program.run()
    assert not found
    np.testing.assert_allclose(arrays[-1], case.exact, atol=3e-3, err_msg=case.what)
    expected = arrays[-1]
    pingpong(program)
    found = reports(program, expected, case.what)
    assert not found, "\n".join(map(str, (*found, case.what)))


@pytest.mark.parametrize("stages", [3, 4])
def test_a_barrier_less_is_found(stages: int) -> None:
    random = Random(f"{SEED} barriers of chained products {stages}")
    case = Case(random, 5)
    program = case.compiled(stages)
    expected = program.run()[0][-1]
    check_copies_are_guarded(program, pingpong(program), lambda given: reports(given, expected, case.what), case.what)


def test_clusters() -> None:
    module = pingpong(Case(Random(SEED), 3).compiled(3))
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    letters: dict[type, str] = {LocalBarrierOp: "|", SetPrioOp: "!", LocalLoadOp: "r", DotOp: "d", LocalDotOp: "d"}
    letters |= {BufferLoadToLocalOp: "c", AsyncCopyGlobalToLocalOp: "c", AsyncWaitOp: "w", Exp2Op: "e"}
    assert "".join(letters.get(type(op), "") for op in loop.body.block.ops) == "!d!w|eer|cc!d!"


@pytest.mark.parametrize("emulator", ["gfx950"], indirect=True)
@pytest.mark.parametrize("draw", range(12 if EVERYTHING else 3))
def test_emulated(emulator: Any, draw: int) -> None:
    random = Random(f"{SEED} chained {emulator.arch} {draw}")
    case = Case(random, random.choice((0, 1, 2, 3, 5)), (64, 128))
    options = {"num_stages": random.choice((3, 4)), "num_warps": 8, "schedule_hint": "attention"}
    code = emulator(attention, 1, *case.args, kwargs=case.constants, **options)
    np.testing.assert_allclose(case.out, case.exact, atol=3e-3, err_msg=f"{emulator.arch}, {case.what}")
    assert re.findall(r"^\s+s_setprio ([01])", code, re.MULTILINE) == ["1", "0", "1", "0"], case.what
