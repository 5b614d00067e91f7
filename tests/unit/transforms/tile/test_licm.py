"""Divisions in front of loops, executed before and after: also where a loop does not run and the divisor is 0."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tritonx.interpreter.compare import same_behaviour
from tritonx.ir.pipeline import PassHooks, run_passes
from tritonx.ir.text import parse_module
from tritonx.transforms.registry import find_pass

SEED = int(os.environ["TRITONX_SEED"])


@pytest.mark.parametrize("division", ["divsi", "divui", "remsi", "remui"])
@pytest.mark.parametrize(("rounds", "divisor"), [(0, 0), (-3, 0), (3, 7), (1, -7)])
def test_a_division_in_front_of_a_loop(division: str, rounds: int, divisor: int) -> None:
    text = f"""
tt.func public @f(%p: !tt.ptr<i32>, %x: i32, %y: i32, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {{
    %d = arith.{division} %x, %y : i32
    %b = arith.addi %a, %d : i32
    %e = arith.addi %b, %i : i32
    scf.yield %e : i32
  }}
  tt.store %p, %s : !tt.ptr<i32>
  tt.return
}}
"""
    before, after = parse_module(text), parse_module(text)
    run_passes(after, (find_pass("licm")(hoist_divisions=True),), PassHooks(verify=True))
    names = [op.name for op in after.walk()]
    assert names.index(f"arith.{division}") < names.index("scf.for")
    same_behaviour(before, after, args=[np.zeros(1, np.int32), -100, divisor, rounds], seed=SEED)
