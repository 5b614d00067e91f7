"""Functions that call each other: each after its callers, with its memory above all of theirs."""

from __future__ import annotations

import os
from random import Random

import pytest

from tritonx.analysis.frames import Bases, functions_of
from tritonx.ir.text import parse_module

SEED = int(os.environ["TRITONX_SEED"])


def drawn(random: Random, count: int) -> dict[str, list[str]]:
    """Function → what it calls: later ones of a random order, some several times, and one that has no body."""
    names = [f"f{n}" for n in range(count)]
    random.shuffle(names)
    calls = {
        name: [random.choice([*names[place + 1 :], "outside"]) for _ in range(random.randrange(4))]
        for place, name in enumerate(names)
    }
    return {name: calls[name] for name in random.sample(names, count)}


def module_of(calls: dict[str, list[str]]) -> str:
    functions = [
        f"tt.func private @{name}(%n: i32) {{\n"
        + "".join(f"  tt.call @{callee}(%n) : (i32) -> ()\n" for callee in callees)
        + "  tt.return\n}\n"
        for name, callees in calls.items()
    ]
    return "tt.func private @outside(%n: i32)\n" + "".join(functions)


@pytest.mark.parametrize("draw", range(20))
def test_memory_lies_above_all_callers(draw: int) -> None:
    random = Random(SEED + draw)
    calls = drawn(random, random.randrange(1, 9))
    functions = functions_of(parse_module(module_of(calls)))
    order = [function.sym_name.data for function in functions]
    assert sorted(order) == sorted(calls), (SEED, draw)
    callers = {name: [c for c, callees in calls.items() if name in callees] for name in calls}
    bases, ends = Bases(functions), dict[str, int]()
    for function in functions:
        name, base = function.sym_name.data, bases.of(function)
        assert all(caller in ends for caller in callers[name]), (SEED, draw, order)
        assert base == max((ends[caller] for caller in callers[name]), default=0), (SEED, draw, name)
        ends[name] = base + random.choice((0, 16, 1024))
        bases.end(function, ends[name])


def test_functions_that_call_themselves_come_once() -> None:
    calls = {"a": ["b"], "b": ["a", "b"], "c": ["c"]}
    assert sorted(f.sym_name.data for f in functions_of(parse_module(module_of(calls)))) == ["a", "b", "c"]
