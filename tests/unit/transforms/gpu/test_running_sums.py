"""Sums that are multiplied on their way: each thread keeps its part where the factor is known to be from 0 to 1."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportIndexIssue=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.kernels import rows
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.dialects import scf
from tritonx.dialects.tile import ReduceOp
from tritonx.ir.types import shape_of, type_of

SEED = int(os.environ["TRITONX_SEED"])
NAME = "accumulate-in-threads"


@tritonx.jit
def running_sum(
    x, factors, o, n, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, FIRST: tl.constexpr, BEGUN: tl.constexpr,
    TWICE: tl.constexpr, GIVEN: tl.constexpr,
):  # fmt: skip
    """Of powers of two, brought to the largest exponent so far. `GIVEN` factors may be infinite."""
    most = tl.full((M,), FIRST, tl.float32)
    total = tl.full((M,), BEGUN, tl.float32)
    for row in range(n):
        for part in tl.static_range(2 if TWICE else 1):
            i = rows(M, N) if AXIS == 1 else rows(N, M)
            tile = tl.load(x + (row * (1 + TWICE) + part) * M * N + i)
            new = tl.maximum(most, tl.max(tile, AXIS))
            factor = tl.exp2(most - new)
            if GIVEN:
                factor = tl.load(factors + tl.arange(0, M))
            power = tl.exp2(tile - (new[:, None] if AXIS == 1 else new[None, :]))
            total = total * factor + tl.sum(power, AXIS)
            most = new
    tl.store(o + tl.arange(0, M), total)


def drawn(draw: int) -> tuple[dict[str, Any], int, int, list[Any]]:
    """Constants, rounds, warps and arguments. Exponents are small integers, so that every order of a sum is exact."""
    random = Random(f"{SEED} running {draw}")
    rng = np.random.default_rng(random.randrange(1 << 30))
    m, n = random.choice((16, 32, 64)), random.choice((32, 64, 128))
    constants = {
        "M": m, "N": n, "AXIS": draw % 2, "FIRST": random.choice((float("-inf"), 0.0, 2.0)),
        "BEGUN": random.choice((0.0, 1.0, 3.0)), "TWICE": random.random() < 0.4, "GIVEN": draw % 5 == 4,
    }  # fmt: skip
    count = random.randrange(0, 4)
    x = rng.integers(-3, 4, (max(1, count * (1 + constants["TWICE"])), m * n)).astype(np.float32)
    factors = rng.choice([0.5, 1.0, 2.0, np.inf], m).astype(np.float32)
    return constants, count, random.choice((2, 4, 8)), [x, factors, np.full(m, np.nan, np.float32), count]


def expected(constants: dict[str, Any], count: int, x: np.ndarray, factors: np.ndarray) -> np.ndarray:
    m, n, axis = constants["M"], constants["N"], constants["AXIS"]
    most, total = np.full(m, constants["FIRST"]), np.full(m, constants["BEGUN"])
    for row in x[: count * (1 + constants["TWICE"])].astype(np.float64):
        tile = row.reshape((m, n) if axis == 1 else (n, m))
        tile = tile if axis == 1 else tile.T
        new = np.maximum(most, tile.max(1))
        with np.errstate(invalid="ignore"):  # 0 times infinity
            total = total * (factors if constants["GIVEN"] else np.exp2(most - new))
        total = total + np.exp2(tile - new[:, None]).sum(1)
        most = new
    return total.astype(np.float32)


def loop_sums(program: Program) -> list[tuple[int, ...]]:
    """The extents of what is carried with parts of threads; nothing where one round has become no loop."""
    loops = [op for op in program.bound.module.walk() if isinstance(op, scf.ForOp)]
    return [shape for loop in loops for value in loop.results if len(shape := shape_of(type_of(value))) > 1]


@pytest.mark.parametrize("draw", range(int(os.environ.get("TRITONX_RANDOM_KERNELS", "10"))))
def test_threads_keep_their_parts_of_a_running_sum(draw: int) -> None:
    constants, count, warps, args = drawn(draw)
    what = f"seed {SEED}, draw {draw}, {warps} warps, {count} rounds, {constants}"
    wanted = expected(constants, count, args[0], args[1])
    program = Program(running_sum, args, constants, Random(SEED + draw).choice(("cuda:80", "cuda:90")), warps)
    acted = [changed for one, changed in program.through(NAME) if one.name == NAME]
    assert acted == [bool(loop_sums(program))], what
    assert not (constants["GIVEN"] and acted[0]), f"an infinite factor of a part that is 0: {what}"
    after, found = program.run()
    np.testing.assert_array_equal(after[2], wanted, err_msg=what)
    assert not found, what
    for _ in program.through():
        pass
    after, found = program.run()
    np.testing.assert_array_equal(after[2], wanted, err_msg=what)
    assert not found, what


def test_a_reduction_of_running_sums_leaves_the_loop() -> None:
    """One over lanes is left of two: that of the maximum, which the next round needs."""
    constants = {"M": 64, "N": 128, "AXIS": 1, "FIRST": 0.0, "BEGUN": 1.0, "TWICE": False, "GIVEN": False}
    args = [np.ones((3, 64 * 128), np.float32), np.ones(64, np.float32), np.ones(64, np.float32), 3]
    program = Program(running_sum, args, constants, "cuda:90", 4)
    for _ in program.through(NAME):
        pass
    assert len(loop_sums(program)) == 1
    (loop,) = (op for op in program.bound.module.walk() if isinstance(op, scf.ForOp))
    whole = [op for op in loop.walk() if isinstance(op, ReduceOp) and len(shape_of(type_of(op.results[0]))) == 1]
    assert len(whole) == 1
