"""Ranges of what programs compute, against every value that they compute."""

from __future__ import annotations

import os
from itertools import product
from random import Random

import pytest

from tritonx.analysis.launch_ranges import RULES, arguments_of, ranges
from tritonx.backends.nvidia.launch.launch_values import MEANINGS, evaluate

SEED = int(os.environ["TRITONX_SEED"])
BITS = 3
EVERY = [(lo, hi) for lo in range(-4, 4) for hi in range(lo, 4)]
"""All ranges of numbers of three bits."""
BINARY = [name for name, (count, _) in MEANINGS.items() if count == 2 and name not in ("cmpi", "addptr")]


def values(name: str, a: int, b: int, bits: int = BITS, *numbers: int) -> int:
    steps = [("constant", BITS, a), ("constant", BITS, b), (name, bits, 0, 1, *numbers)]
    return evaluate(steps, {})[2]


def bounded(name: str, a: tuple[int, int], b: tuple[int, int], bits: int = BITS, *numbers: int) -> tuple[int, int]:
    lo, hi = RULES[name][1](bits, a, b, *numbers)
    half = 1 << (bits - 1)
    return (lo, hi) if -half <= lo and hi < half else (-half, half - 1)


@pytest.mark.parametrize("name", BINARY)
def test_of_every_two_ranges(name: str) -> None:
    table = {(a, b): values(name, a, b) for a in range(-4, 4) for b in range(-4, 4)}
    for a, b in product(EVERY, EVERY):
        lo, hi = bounded(name, a, b)
        found = [table[x, y] for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
        assert lo <= min(found) and max(found) <= hi, (name, a, b)


@pytest.mark.parametrize("predicate", range(10))
def test_comparisons_of_every_two_ranges(predicate: int) -> None:
    for a, b in product(EVERY, EVERY):
        lo, hi = bounded("cmpi", a, b, 1, BITS, predicate)
        pairs = product(range(a[0], a[1] + 1), range(b[0], b[1] + 1))
        found = {values("cmpi", x, y, 1, BITS, predicate) for x, y in pairs}
        assert lo <= min(found) and max(found) <= hi, (predicate, a, b)
        if predicate < 6:
            assert (lo, hi) == (min(found), max(found)), "nothing is lost of signed numbers"


@pytest.mark.parametrize("name", ["extsi", "extui", "trunci"])
def test_other_widths_of_every_range(name: str) -> None:
    for bits, (lo, hi) in product((2, 3, 5), EVERY):
        if (bits < BITS) == (name == "trunci"):
            steps = [("constant", BITS, 0), (name, bits, 0, BITS)]
            found = {evaluate([("constant", BITS, x), steps[1]], {})[1] for x in range(lo, hi + 1)}
            least, most = RULES[name][1](bits, (lo, hi), BITS)
            half = 1 << (bits - 1)
            if -half <= least and most < half:
                assert least <= min(found) and max(found) <= most, (name, bits, lo, hi)


EXACT = "addi subi muli divsi remsi andi ori xori shli shrsi maxsi minsi".split()


@pytest.mark.parametrize("name", EXACT)
def test_of_numbers_that_are_known_nothing_is_lost(name: str) -> None:
    for a, b in product(range(-4, 4), range(-4, 4)):
        lo, hi = bounded(name, (a, a), (b, b))
        if (lo, hi) != (-4, 3):  # or it may wrap
            assert lo == hi == values(name, a, b), (name, a, b)
    assert bounded(name, (2, 2), (1, 1)) == (values(name, 2, 1),) * 2 or name in ("shli", "muli")


def test_every_value_of_a_launch_has_a_range() -> None:
    own = {"natural", "counter", "trips", "rounds"}
    assert RULES.keys() - own == MEANINGS.keys() and all(RULES[name][0] == MEANINGS[name][0] for name in MEANINGS)


@pytest.mark.parametrize("draw", range(100))
def test_in_every_program(draw: int) -> None:
    """Steps drawn over arguments, program ids and counters of loops."""
    random = Random(f"ranges {SEED} {draw}")
    grid = random.choice(((5, 1, 1), (3, 2, 1), (1, 2, 3)))
    steps: list[tuple[str | int, ...]] = [
        *(("argument", 32, n) for n in range(2)), *(("program_id", 32, axis) for axis in range(3)),
        *(("num_programs", 32, axis) for axis in range(2)), ("constant", 32, random.randrange(1, 9)),
    ]  # fmt: skip
    for _ in range(30):
        name = random.choice([*BINARY, "cmpi", "select", "addi", "divsi", "remsi", "minsi"])
        of32 = [place for place, step in enumerate(steps) if step[1] == 32]
        of1 = [place for place, step in enumerate(steps) if step[1] == 1]
        a, b = random.choice(of32), random.choice(of32)
        if name == "cmpi":
            steps.append((name, 1, a, b, 32, random.randrange(10)))
        elif name == "select" and of1:
            steps.append((name, 32, random.choice(of1), a, b))
        elif name != "select":
            steps.append((name, 32, a, b))
    edges = (-(1 << 31), (1 << 31) - 1, -1, 0, 1, 2, 7, 100, random.randrange(1 << 31))
    arguments = {n: random.choice(edges) for n in range(2)}
    found = ranges(steps, arguments, grid)
    for ids in product(*map(range, grid)):
        known = {"program_id": ids, "num_programs": grid}
        plain = [("constant", 32, known[step[0]][int(step[2])]) if step[0] in known else step for step in steps]  # pyright: ignore[reportArgumentType] -- a name
        for step, value, (lo, hi) in zip(steps, evaluate(plain, arguments), found, strict=True):
            assert lo <= value <= hi, f"seed {SEED}, draw {draw}, {step} in {ids} of {grid}, {arguments}"


@pytest.mark.parametrize("lower", range(-3, 4))
@pytest.mark.parametrize("step", range(1, 4))
def test_of_loops(lower: int, step: int) -> None:
    """Whatever of a range the bounds are."""
    for least, length, wider, more in product(range(-4, 6), range(3), range(3), range(2)):
        bounds = (lower, lower + wider), (least, least + length), (step, step + more)
        counter, trips, rounds = (RULES[name][1](32, *bounds) for name in ("counter", "trips", "rounds"))
        for a, b, by in product(*(range(lo, hi + 1) for lo, hi in bounds)):
            counted = range(a, b, by)
            assert trips[0] <= len(counted) <= trips[1]
            for number, value in enumerate(counted):
                assert counter[0] <= value <= counter[1] and rounds[0] <= number <= rounds[1]
        if not (length or wider or more):
            counted = range(lower, least, step)
            assert trips == (len(counted),) * 2 and rounds == (0, max(0, len(counted) - 1))


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_may_not_go_up_says_nothing(step: int) -> None:
    bounds = (5, 5), (9, 9), (step, 2)
    assert RULES["counter"][1](8, *bounds) == (-128, 127)
    assert RULES["trips"][1](8, *bounds) == (0, 127)


def grouped(rows: int) -> list[tuple[str | int, ...]]:
    """The tile of a program in groups of so many rows: cdiv(M, 16) by cdiv(N, 16) tiles."""
    binary = [
        ("argument", 32, 0), ("argument", 32, 1), ("program_id", 32, 0), ("constant", 32, 16), ("constant", 32, 15),
        ("constant", 32, rows), ("addi", 32, 0, 4), ("divsi", 32, 6, 3), ("addi", 32, 1, 4), ("divsi", 32, 8, 3),
        ("muli", 32, 9, 5), ("divsi", 32, 2, 10), ("muli", 32, 11, 5), ("subi", 32, 7, 12), ("minsi", 32, 13, 5),
        ("remsi", 32, 2, 10), ("remsi", 32, 15, 14), ("addi", 32, 12, 16), ("divsi", 32, 15, 14),
    ]  # fmt: skip
    return [*binary]


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_tiles_in_groups(rows: int) -> None:
    """No tile is below 0 in a grid of as many programs as there are tiles; in a larger one a group has no rows."""
    steps = grouped(rows)
    assert arguments_of(steps) == (0, 1)
    for m, n in product((0, 1, 16, 17, 50, 200), repeat=2):
        tiles = -(-m // 16) * -(-n // 16)
        for programs in {max(tiles, 1), max(tiles - 1, 1), tiles + 1, 5 * tiles + 40}:
            found = ranges(steps, {0: m, 1: n}, (programs, 1, 1))
            assert found[17][0] >= 0
            if 0 < tiles and programs <= tiles:
                assert found[18][0] >= 0
            every = [evaluate([*steps[:2], ("constant", 32, pid), *steps[3:]], {0: m, 1: n}) for pid in range(programs)]
            for place in (17, 18):
                assert found[place][0] <= min(each[place] for each in every)
