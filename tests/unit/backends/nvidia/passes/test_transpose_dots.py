"""Products that are computed transposed: sums that start anywhere, are carried by nested loops and are worked on there,
executed before the pass, after it, and as what is emitted.

`TRITONX_RANDOM_KERNELS=100` draws more of them."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.dialects import scf, tile
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.interpreter.asynchronous import Warps
from tritonx.ir.types import shape_of, type_of
from tritonx.ir.verify import verify

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = max(8, int(os.environ.get("TRITONX_RANDOM_KERNELS", "0")))
FORMS = ("plain", "added", "scaled", "scaled outside", "twice", "two sums", "alone")


@tritonx.jit
def sums(
    a, b, c, o, outer, inner, width, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FORM: tl.constexpr,
    STARTS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """A lies in rows, or in columns if `COLUMNS` says so, B in rows."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    here = m[:, None] * N + n[None, :]
    total = tl.load(c + here) if STARTS else tl.zeros((M, N), tl.float32)
    other = tl.zeros((M, N), tl.float32)
    for i in range(outer):
        for j in range(inner):
            at = (i * inner + j) * K + k
            x = tl.load(a + (at[None, :] * M + m[:, None] if COLUMNS else m[:, None] * width + at[None, :]))
            y = tl.load(b + at[:, None] * N + n[None, :])
            if FORM == "added":
                total += tl.dot(x, y)
            elif FORM == "scaled":
                total = tl.dot(x, y, total * 0.5)
            elif FORM == "alone":
                total = tl.dot(x, y)
            else:
                total = tl.dot(x, y, total)
                if FORM == "twice":
                    total = tl.dot(x, y, total)
                if FORM == "two sums":
                    other = tl.dot(x, y, other) + total
        if FORM == "scaled outside":
            total = total * 2
    tl.store(o + here, total + other + tl.sum(total, 1)[:, None])


def program(random: Random) -> tuple[Program, str, dict[str, Any]]:
    """Sums of whole numbers, and of halves of them, all exact."""
    constants: dict[str, Any] = {
        "M": random.choice((64, 128)), "N": random.choice((64, 128)), "K": random.choice((16, 32)),
        "FORM": random.choice(FORMS), "STARTS": random.random() < 0.5, "COLUMNS": random.random() < 0.2,
    }  # fmt: skip
    m, n, k = (constants[name] for name in "MNK")
    outer, inner = random.choice((0, 1, 2)), random.choice((0, 1, 2, 3))
    width = max(1, outer * inner) * k
    rng = np.random.default_rng(random.randrange(1 << 30))
    a, b, c = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((m, width), (width, n), (m, n)))
    a = np.ascontiguousarray(a.T) if constants["COLUMNS"] else a
    options = {"num_stages": random.choice((1, 2, 3, 4))}
    arguments = (a, b, c, np.full((m, n), np.nan, np.float32), outer, inner, width)
    made = Program(sums, arguments, constants, "cuda:90", random.choice((4, 8)), options=options)
    return made, f"seed {SEED}: {constants}, {outer} × {inner} rounds, {options}", constants


def turned_sums(module: Any, shape: tuple[int, ...]) -> Iterator[Operation]:
    """What turns sums, of that shape as the kernel has it, between the products of a loop."""
    for loop in (op for op in module.walk() if isinstance(op, scf.ForOp)):
        ops = list(loop.body.block.ops)
        if any(isinstance(op, tile.DotOp) for op in ops):
            yield from (op for op in ops if isinstance(op, tile.TransOp) and shape_of(type_of(op.result)) == shape)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_results_stay_what_they_are(draw: int) -> None:
    made, what, constants = program(Random(f"{SEED} transposed {draw}"))
    expected, _ = made.run()
    for one, changed in made.through("transpose-dots"):
        if one.name == "transpose-dots" and not (constants["COLUMNS"] and constants["M"] >= constants["N"]):
            assert changed, what
    module = made.bound.module
    verify(module)
    np.testing.assert_array_equal(made.run()[0][-1], expected[-1], err_msg=what)
    if constants["FORM"] in ("plain", "twice") and not constants["COLUMNS"]:
        assert not list(turned_sums(module, (constants["M"], constants["N"]))), what
    behind = False
    for one in made.passes:
        if behind:
            made.apply(one)
        behind = behind or one.name == "transpose-dots"
    assert made.warps is Warps.APART
    got, found = made.run()
    assert not found, "\n".join(map(str, (*found, what)))
    np.testing.assert_array_equal(got[-1], expected[-1], err_msg=what)
    assert any(isinstance(op, WarpGroupDotOp) for op in module.walk()), what
