"""Ops that Triton's pipeliner leaves between its passes, and barriers that copies and clusters arrive at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.interpreter.asynchronous.test_reports import TRANSPOSE, found, module_of, without
from tritonx.interpreter.asynchronous import Kind, Landing, Order, Setting, execute

STAGE = """
    %n = arith.constant UB : i32
    %i = arith.constant IV : i32
    %s = arith.constant STEP : i32
    %has = ttg.predicate_stage %i, %n, %s maxStage MOST stage STAGE : i32 -> i1
    %w, %v = "ttg.mask"(%has) ({
      %a = arith.constant 2.0 : f16
      %t = arith.constant dense<3.0> : tensor<16x16xf16, #rows>
      ttg.mask.return %a, %t : f16, tensor<16x16xf16, #rows>
    }) : (i1) -> (f16, tensor<16x16xf16, #rows>)
    %z = arith.constant 7.0 : f16
    %o = arith.select %has, %w, %z : f16
    tt.store %x, %o : !tt.ptr<f16>
"""


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("step", [1, 3])
def test_a_stage_works_while_the_iteration_that_it_belongs_to_is_in_range(most: int, step: int) -> None:
    """Stage s of the round of ``iv`` is of the iteration that began last − s rounds ahead."""
    for stage in range(most + 1):
        for iv in range(0, 12, step):
            numbers = {"UB": 10, "IV": iv, "STEP": step, "MOST": most, "STAGE": stage}
            text = STAGE
            for name in ("maxStage MOST stage STAGE", "UB", "IV", "STEP : i32"):
                text = text.replace(name, " ".join(str(numbers.get(w, w)) for w in name.split(" ")))
            x = np.zeros(1, np.float16)
            assert not execute(module_of(text), 1, [x, x.copy(), DESCRIPTOR], Setting(order=Order(3, Landing.LATE)))
            assert x[0] == (2 if iv + (most - stage) * step < 10 else 7), numbers


class _Host:
    base = np.zeros((64, 16), np.float16)
    shape, strides = (64, 16), (16, 1)


DESCRIPTOR: Any = _Host()

ARRIVALS = """
    %i = arith.constant dense<0> : tensor<16x16xi32, #rows>
    %p = tt.splat %x : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>, #rows>
    %q = tt.addptr %p, %i : tensor<16x16x!tt.ptr<f16>, #rows>, tensor<16x16xi32, #rows>
    %m = ttg.local_alloc : () -> HALVES
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier %b, COUNT : BAR
    ttg.local_barrier
    %k = ttg.async_copy_global_to_local %q, %m : tensor<16x16x!tt.ptr<f16>, #rows> -> <HALF>
    ttng.async_copy_mbarrier_arrive %b FLAG : BAR
    ttng.wait_barrier %b, %c0 : BAR
    %r = ttg.local_load %m : HALVES -> tensor<16x16xf16, #columns>
""".replace("HALVES", "!ttg.memdesc<HALF>").replace("HALF", "16x16xf16, #plain, #smem, mutable")


@pytest.mark.parametrize("landing", list(Landing))
def test_copies_arrive(landing: Landing) -> None:
    """All 128 threads; with `noIncrement` they are of the count, without it they come on top of it."""
    counted = ARRIVALS.replace("COUNT", "128").replace("FLAG", "{noIncrement}")
    assert found(counted, landing=landing) == set()
    assert found(counted.replace("128", "129"), landing=landing) == {Kind.HANG}
    assert found(counted.replace("128", "127"), landing=landing) >= {Kind.TOO_MANY_ARRIVALS}
    beside = ARRIVALS.replace("COUNT", "1").replace("FLAG", "")
    assert found(beside, landing=landing) == {Kind.HANG}, "one more has to arrive"
    arrive = "    ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>\n    ttng.wait_barrier"
    assert found(beside.replace("    ttng.wait_barrier", arrive), landing=landing) == set()
    assert found(without(counted, "mbarrier_arrive"), landing=landing) >= {Kind.HANG}


EARLY_OR_LATE = """
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #slice>
    %j = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32, #slice> -> tensor<1x16xi32, #rows>
    %k = tt.broadcast %j : tensor<1x16xi32, #rows> -> tensor<64x16xi32, #rows>
    %s = tt.splat %y : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #rows>
    %t = tt.addptr %s, %k : tensor<64x16x!tt.ptr<f16>, #rows>, tensor<64x16xi32, #rows>
    %m = ttg.local_alloc : () -> TILE
    %b = ttg.local_alloc : () -> BAR
    ttng.init_barrier %b, 1 : BAR
    ttng.barrier_expect %b, 2048, %true : BAR
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b, %true : DESC, BAR -> TILE
    %r = ttg.local_load %m : TILE -> tensor<64x16xf16, #rows>
    tt.store %t, %r : tensor<64x16x!tt.ptr<f16>, #rows>
    ttng.wait_barrier %b, %c0 : BAR
"""


@pytest.mark.parametrize("landing", [Landing.EARLY, Landing.LATE])
def test_a_copy_lands_at_once_or_when_it_is_waited_for(landing: Landing) -> None:
    """What is read in between says which; it is a mistake either way."""
    y, source = np.zeros(16, np.float16), _Host()
    source.base = np.full((64, 16), 3, np.float16)
    reports = execute(module_of(EARLY_OR_LATE), 1, [y.copy(), y, source], Setting(order=Order(3, landing)))
    assert {report.kind for report in reports} == {Kind.NOT_VISIBLE}
    assert (y == 3).all() if landing is Landing.EARLY else (y != 3).all()


def test_a_clusters_barrier_is_one_of_the_block_too() -> None:
    arrive, wait = "ttng.cluster_arrive {relaxed = false}", "ttng.cluster_wait"
    text = TRANSPOSE.replace("ttg.local_barrier", f"{arrive}\n    {wait}")
    assert found(text, 2048) == set()
    for which in (0, 1):
        missing = without(without(text, arrive, which), wait, which)
        assert found(missing, 2048) == found(without(TRANSPOSE, "local_barrier", which), 2048) != set()
    assert found(without(text, arrive), 2048) >= {Kind.HANG}
    whole = TRANSPOSE.replace("ttg.local_barrier", "ttng.fence_mbarrier_init_release_cluster\n    ttng.cluster_barrier")
    assert found(whole, 2048) == set()
    for which in (0, 1):
        missing = without(whole, "ttng.cluster_barrier", which)
        assert found(missing, 2048) == found(without(TRANSPOSE, "local_barrier", which), 2048) != set()
