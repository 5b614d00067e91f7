"""What becomes of a loop with ``break`` and ``continue``: which op, and what it carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tritonx.language as tl
from tritonx.runtime.jit import jit

Text = Callable[..., str]


@jit
def continues(out, n):
    total = 0
    for i in range(n):
        if i == 3:
            continue
        total += i
    tl.store(out, total)


@jit
def breaks(out, n):
    total = 0
    for i in range(n):
        if total > 9:
            break
        total += i
    tl.store(out, total)


@jit
def breaks_if_asked(out, n, N: tl.constexpr):
    total = 0
    for i in range(n):
        if N > 4:
            if total > 9:
                break
        total += i
    tl.store(out, total)


@jit
def unrolled(out, n):
    for i in tl.static_range(5):
        if i == 2:
            break
        tl.store(out + i, n)


@jit
def falls_asleep(out, n):
    while n > 0:
        if n == 5:
            break
        n = n - 1
    tl.store(out, n)


def test_continue_leaves_a_counted_loop(text: Text) -> None:
    made = text(continues, {"out": "*i32", "n": "i32"})
    assert "scf.for" in made and "scf.while" not in made
    assert made.count("iter_args") == 1 and "-> (i32)" in made.partition("scf.for")[2], made


def test_break_makes_a_loop_with_a_condition(text: Text) -> None:
    made = text(breaks, {"out": "*i32", "n": "i32"})
    assert "scf.while" in made and "scf.for" not in made


def test_a_pruned_break_costs_nothing(text: Text) -> None:
    plain = text(breaks_if_asked, {"out": "*i32", "n": "i32"}, N=3)
    assert "scf.for" in plain and "scf.while" not in plain and "i1" not in plain
    assert "scf.while" in text(breaks_if_asked, {"out": "*i32", "n": "i32"}, N=5)


def test_a_compile_time_break_ends_the_unrolling(text: Text) -> None:
    made = text(unrolled, {"out": "*i32", "n": "i32"})
    assert made.count("tt.store") == 2 and "scf.if" not in made


def test_a_condition_is_not_asked_behind_a_break(text: Text) -> None:
    """The flag decides first: the condition stands in a branch of its own."""
    condition = text(falls_asleep, {"out": "*i32", "n": "i32"}).partition("scf.while")[2].partition("scf.condition")[0]
    assert condition.index("scf.if") < condition.index("arith.cmpi"), condition


def test_flags_are_no_names_of_the_program(build: Callable[..., Any]) -> None:
    for op in build(breaks, {"out": "*i32", "n": "i32"}).walk():
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            assert value.name_hint is None or value.name_hint.isidentifier()
