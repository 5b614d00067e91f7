"""Loops with drawn counters that begin again do what they did, whichever counters take the place of others."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from tritonx.dialects import arith
from tritonx.interpreter.machine import interpret
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.transforms.pipelining.share_counters import ShareCounters
from tritonx.transforms.tile.dce import DeadCodeElimination

SEED = int(os.environ["TRITONX_SEED"])
COUNTERS = 3


def text(firsts: list[int], ends: list[int], *, seen: list[bool], results: list[bool]) -> str:
    """Counters of a loop whose new values go into a sum by weights; of those that are ``seen`` the old ones too, and
    what ``results`` leave the loop goes into another."""
    each = range(COUNTERS)
    constants = "".join(
        f"%f{i} = arith.constant {firsts[i]} : i32\n%n{i} = arith.constant {ends[i]} : i32\n"
        f"%w{i} = arith.constant {7 ** (i + 1)} : i32\n"
        for i in each
    )
    steps = "".join(
        f"%s{i} = arith.addi %a{i}, %one : i32\n%c{i} = arith.cmpi sge, %s{i}, %n{i} : i32\n"
        f"%y{i} = arith.select %c{i}, %zero, %s{i} : i32\n%p{i} = arith.muli %y{i}, %w{i} : i32\n"
        f"%q{i} = arith.muli %{f'a{i}' if seen[i] else 'zero'}, %w{i} : i32\n"
        f"%t{i} = arith.addi %{'both' if i else 'more'}{i - 1 if i else ''}, %p{i} : i32\n"
        f"%both{i} = arith.addi %t{i}, %q{i} : i32\n"
        for i in each
    )
    behind = "".join(
        f"%e{i} = arith.muli %{f'r{i}' if results[i] else 'zero'}, %w{i} : i32\n"
        f"%end{i} = arith.addi %{f'end{i - 1}' if i else 'zero'}, %e{i} : i32\n"
        for i in each
    )
    carried = ", ".join(f"%a{i} = %f{i}" for i in each)
    loop = f"scf.for %k = %zero to %rounds step %one iter_args({carried}, %total = %one) -> (i32, i32, i32, i32) : i32"
    return f"""
tt.func public @f(%o: !tt.ptr<i32>, %rounds: i32) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  {constants}
  {", ".join(f"%r{i}" for i in each)}, %sum = {loop} {{
    %more = arith.muli %total, %three : i32
    {steps}
    scf.yield {", ".join(f"%y{i}" for i in each)}, %both{COUNTERS - 1} : i32, i32, i32, i32
  }}
  {behind}
  tt.store %o, %sum : !tt.ptr<i32>
  %next = tt.addptr %o, %one : !tt.ptr<i32>, i32
  tt.store %next, %end{COUNTERS - 1} : !tt.ptr<i32>
  tt.return
}}
"""


@pytest.mark.parametrize("draw", range(40))
def test_drawn_counters(draw: int) -> None:
    random = Random(f"{SEED} {draw}")
    ends = [random.choice((2, 3, 3, 4)) for _ in range(COUNTERS)]
    firsts = [random.randrange(-1, end) for end in ends]
    seen, results = ([random.random() < 0.3 for _ in range(COUNTERS)] for _ in range(2))
    written = text(firsts, ends, seen=seen, results=results)
    for rounds in (0, 1, 2, random.randrange(3, 12)):
        found: list[np.ndarray] = []
        for shared in (False, True):
            module = parse_module(written)
            if shared:
                ShareCounters().apply(pass_context(), module)
                DeadCodeElimination().apply(pass_context(), module)
                verify(module)
            out = np.full(2, -77, np.int32)
            interpret(module, 1, [out, rounds])
            found.append(out)
        np.testing.assert_array_equal(found[1], found[0], err_msg=f"{firsts}, {ends}, {seen}, {results}, {rounds}")


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_a_slot_is_filled_that_was_read_before(slots: int) -> None:
    """The reader's counter begins at -1, the other one behind the copies in front of the loop. Where another op sees
    the -1, of two slots the writer's takes its place."""
    firsts, ends = [-1, slots - 2, 0], [slots, slots, 9]
    for seen, steps in (([False, False, True], 2), ([True, False, True], 2 if slots == 2 else 3)):
        module = parse_module(text(firsts, ends, seen=seen, results=[False, False, True]))
        ShareCounters().apply(pass_context(), module)
        DeadCodeElimination().apply(pass_context(), module)
        assert sum(isinstance(op, arith.SelectOp) for op in module.walk()) == steps
