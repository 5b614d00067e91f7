"""Tiles that are stored as they are and read transposed, on the machine that executes `ttg`, pipelined and not.

`TRITONX_RANDOM_KERNELS=100` runs more."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from tests.unit.transforms.gpu.loop_kernels import turned
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.backends.nvidia.passes.view_transposed import ViewTransposed
from tritonx.backends.registry import get_backend
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import print_module
from tritonx.transforms.pipelining.schedule_loops import ScheduleLoops

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "8"))
TARGETS = ("cuda:80", "cuda:90", "hip:gfx942")


@pytest.mark.parametrize("draw", range(DRAWS))
def test_kernels_do_what_they_did(draw: int) -> None:
    random = Random(f"{SEED} {draw}")
    made, target = turned(random), random.choice(TARGETS)
    options = (
        {} if target.startswith("hip") else {"pipeline": random.random() < 0.7, "num_stages": random.choice((2, 3, 4))}
    )
    program = Program(made.kernel, made.args, made.constants, target, made.num_warps, options=options)
    where = f"seed {SEED}, draw {draw}, {target}, {options}, {made.constants}, {made.args[-1]} rounds"
    expected, _ = program.run()
    for one in program.passes:
        program.apply(one)
        if one.name == "stage-dot-operands":
            _transpose(program, target, options, made.num_warps)
            fenced = target != "cuda:90"  # until then what threads store is not visible to the matrix unit
            _same(program, expected, where, fenced)
    _same(program, expected, where, fenced=True)


def _transpose(program: Program, target: str, options: dict[str, object], warps: int) -> None:
    """The pass, and a schedule that needs what it leaves."""
    module = program.bound.module
    before = print_module(module)
    ViewTransposed().apply(pass_context(), module)
    assert "tt.trans" not in before or "ttg.memdesc_trans" in print_module(module)
    if options.get("pipeline"):
        name, _, arch = target.partition(":")
        backend = get_backend(name)
        chip = backend.parse_target(arch)
        chosen = backend.parse_options(chip, {"num_warps": warps, **options})
        ScheduleLoops(backend.gpu_target(chip, chosen)).apply(pass_context(), module)


def _same(program: Program, expected: list[object], where: str, fenced: bool) -> None:
    got, found = program.run()
    found = [each for each in found if fenced or each.kind is not Kind.UNFENCED]
    assert not found, "\n".join(map(str, (*found, where)))
    for a, b in zip(expected, got, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=where)
