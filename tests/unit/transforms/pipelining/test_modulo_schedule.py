"""Schedules of drawn problems are valid and the best, as a constraint solver has it.

`TRITONX_SCHEDULES=1000` for as many as that."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from tests.unit.transforms.pipelining.schedule_problems import draw_problem, fewest_kept, solver
from tritonx.transforms.pipelining.modulo_problem import (
    UNDER_WAY,
    Arc,
    Kept,
    Problem,
    Reader,
    Schedule,
    Slots,
    Task,
    Wait,
    faults,
    most_held,
)
from tritonx.transforms.pipelining.modulo_schedule import solve, solve_quickly

SEED = int(os.environ["TRITONX_SEED"])
PROBLEMS = int(os.environ.get("TRITONX_SCHEDULES", "150"))
LATER = int(os.environ.get("TRITONX_SCHEDULES", "10"))
COMPARED = int(os.environ.get("TRITONX_SCHEDULES", "40"))


def test_drawn_problems_have_valid_schedules() -> None:
    solved = 0
    for draw in range(PROBLEMS):
        problem = draw_problem(Random(SEED + draw), most=12)
        schedule = solve(problem)
        if schedule is not None:
            assert faults(problem, schedule) == [], f"seed {SEED + draw}"
            assert schedule.interval >= problem.least
            assert all(schedule.slots(value) <= value.most for value in problem.slots), f"seed {SEED + draw}"
            solved += 1
    assert solved > PROBLEMS // 4


def test_the_best_schedule_is_the_constraint_solvers() -> None:
    """No shorter interval has one, and none of the same keeps less in registers. What takes long is left out,
    a few of a hundred at most."""
    cp = solver()
    long = 0
    for draw in range(COMPARED):
        problem = draw_problem(Random(SEED + draw))
        schedule, where = solve(problem, nodes=1 << 14), f"seed {SEED + draw}"
        if schedule is None:
            longest = sum(task.threads + task.cycles for task in problem.tasks) + sum(a.latency for a in problem.arcs)
            assert fewest_kept(problem, 2 * longest + problem.floor + 100, cp) is None, where
            continue
        if not schedule.proven:
            long += 1
            continue
        assert fewest_kept(problem, schedule.interval, cp) == schedule.kept, where
        assert fewest_kept(problem, schedule.interval - 1, cp) is None, where
    assert long <= 1 + COMPARED // 50


def test_what_the_bounds_do_not_reach_is_the_constraint_solvers() -> None:
    """Problems whose shortest interval is longer than units and recurrences say, and that keep something in registers:
    the search looks at many assignments of stages, and must not take a later one that is no better."""
    cp, seen = solver(), 0
    for draw in range(300 * LATER):
        problem = draw_problem(Random(SEED + draw), most=5)
        schedule = solve(problem) if problem.kept and problem.stages > 1 else None
        if schedule is None or not schedule.proven or schedule.interval == problem.least:
            continue
        where = f"seed {SEED + draw}"
        assert fewest_kept(problem, schedule.interval, cp) == schedule.kept, where
        assert fewest_kept(problem, schedule.interval - 1, cp) is None, where
        seen += 1
    assert seen >= LATER // 5, f"{seen} such problems: seed {SEED}"  # 18 of 3000


def over(problem: Problem, schedule: Schedule, task: int, interval: int) -> int:
    """When the work that a task gives its unit in an interval is known to be over: when a task waits for what the
    unit made of that, or of what it was given behind it. Tasks are counted from the first interval on."""
    tasks = len(problem.tasks)
    at = {task: place for place, task in enumerate(schedule.order)}
    given, found = interval * tasks + at[task], 1 << 30
    for wait in problem.waits:
        if problem.tasks[wait.of].unit != problem.tasks[task].unit:
            continue
        for iteration in range(interval - 8, interval + 8):
            of = (iteration + schedule.stages[wait.of]) * tasks + at[wait.of]
            waited = (iteration + wait.distance + schedule.stages[wait.task]) * tasks + at[wait.task]
            if of >= given:
                found = min(found, waited)
    return found


def with_queued(random: Random, problem: Problem) -> Problem:
    """Units read some of what their tasks need until a task waits for what they make of it."""
    is_queued = [task.is_queued for task in problem.tasks]
    waits = tuple(Wait(a.source, a.target, a.distance) for a in problem.arcs if is_queued[a.source])
    kept = [
        replace(each, queued=tuple(r for r in each.readers if is_queued[r.task] and random.random() < 0.8))
        for each in problem.kept
    ]
    return replace(problem, kept=tuple(kept), waits=waits)


def test_what_units_read_is_kept_until_a_wait() -> None:
    """Also where a bound decides on the order."""
    found = 0
    for draw in range(3 * PROBLEMS):
        random = Random(SEED + draw)
        problem = with_queued(random, draw_problem(random))
        free = solve(problem)
        queued = {reader.task for each in problem.kept for reader in each.queued}
        if free is None or not queued:
            continue
        last = (8 + UNDER_WAY) * len(problem.tasks)
        if any(over(problem, free, task, 8) >= last for task in queued):
            continue  # no task waits for so long that it is not followed
        held, where = held_by_counting(problem, free), f"seed {SEED + draw}"
        assert most_held(problem, free) == held, where
        bounded = replace(problem, room=random.randint(held // 2, held))
        schedule = solve(bounded)
        if schedule is not None and all(over(problem, schedule, task, 8) < last for task in queued):
            assert faults(bounded, schedule) == [] and held_by_counting(bounded, schedule) <= bounded.room, where
            found += 1
    assert found >= PROBLEMS // 30, f"seed {SEED}: {found}"  # 11 to 30 of 450


def held_by_counting(problem: Problem, schedule: Schedule) -> int:
    """Bytes between two tasks at most, of values one by one, far from the first interval."""
    tasks, far = len(problem.tasks), 12
    at = {task: place for place, task in enumerate(schedule.order)}
    most = 0
    for place in range(tasks):
        behind, held = far * tasks + place, 0
        for value in problem.kept:
            for iteration in range(2 * far):
                made = (iteration + schedule.stages[value.source]) * tasks + at[value.source]
                ends = [(iteration + r.distance + schedule.stages[r.task]) * tasks + at[r.task] for r in value.readers]
                ends += [
                    over(problem, schedule, r.task, iteration + r.distance + schedule.stages[r.task])
                    for r in value.queued
                ]
                held += value.size * (made <= behind < max(ends))
        most = max(most, held)
    return most


@pytest.mark.parametrize("solved", [solve, lambda problem: solve_quickly(problem, lambda _: True)])
def test_what_is_kept_has_room(solved: Callable[[Problem], Schedule | None]) -> None:
    found = 0
    for draw in range(PROBLEMS):
        random = Random(SEED + draw)
        problem = draw_problem(random)
        free = solved(problem)
        if free is None:
            continue
        held = held_by_counting(problem, free)
        assert most_held(problem, free) == held, f"seed {SEED + draw}"
        bounded = replace(problem, room=random.randint(held // 2, held))
        schedule = solved(bounded)
        if schedule is not None:
            assert faults(bounded, schedule) == [], f"seed {SEED + draw}"
            assert held_by_counting(bounded, schedule) <= bounded.room, f"seed {SEED + draw}"
            found += 1
    assert found > PROBLEMS // 10


def test_quickly_up_to_an_interval() -> None:
    """What is longer is not found, and what is not is the same."""
    for draw in range(PROBLEMS):
        random = Random(SEED + draw)
        problem = draw_problem(random)
        free = solve_quickly(problem, lambda _: True)
        if free is not None:
            longest = free.interval + random.randint(-3, 3)
            found = solve_quickly(problem, lambda _: True, longest)
            assert found == (free if free.interval <= longest else None), f"seed {SEED + draw}"


TWO = (Task(4), Task(6))


@pytest.mark.parametrize(
    ("problem", "schedule", "fault"),
    [
        (Problem(TWO, (Arc(0, 1, latency=4),), 1), Schedule(10, (0, 0), (6, 0), (6, 0), 0), "too early"),
        (Problem(TWO, (Arc(0, 1, lead=1),), 2), Schedule(10, (0, 0), (0, 4), (0, 4), 0), "too little lead"),
        (Problem(TWO, (), 1), Schedule(10, (0, 0), (0, 3), (0, 3), 0), "the threads do two things"),
        (Problem(TWO, (), 1), Schedule(9, (0, 0), (0, 4), (0, 4), 0), "not issued within"),
        (Problem(TWO, (), 1), Schedule(10, (0, 1), (0, 4), (0, 4), 0), "no such stage"),
        (Problem((Task(last=True),), (), 2), Schedule(10, (0,), (0,), (0,), 0), "runs ahead"),
        (
            Problem((Task(1, 1, 8), Task(1, 1, 8)), (), 1),
            Schedule(12, (0, 0), (0, 1), (0, 8), 0),
            "unit 1 does two things",
        ),
        (
            Problem((Task(1, 1, 2), Task(1, 1, 2)), (), 1),
            Schedule(12, (0, 0), (0, 1), (6, 1), 0),
            "unit 1 changes the order",
        ),
        (Problem((Task(2, 1, 2),), (), 1), Schedule(12, (0,), (4,), (3,), 0), "begins before it is issued"),
        (
            Problem(TWO, (), 2, (Slots(0, 1, (Reader(1, until=6),)),)),
            Schedule(10, (0, 1), (0, 4), (0, 4), 0),
            "overwritten",
        ),
        (
            Problem(TWO, (), 2, kept=(Kept(0, 8, (Reader(1),)),), room=15),
            Schedule(10, (0, 1), (0, 4), (0, 4), 8),
            "no room in registers",
        ),
    ],
)
def test_a_schedule_that_is_not_valid_is_found(problem: Problem, schedule: Schedule, fault: str) -> None:
    assert any(fault in one for one in faults(problem, schedule))


def test_a_product_runs_beside_the_threads() -> None:
    """An asynchronous product of 8 cycles, and 8 of the threads that need it: one after the other they take 17, in two
    stages 9."""
    product, work = Task(1, 1, 8, rank=0), Task(8, rank=1)
    result = Kept(0, 16, (Reader(1),))
    arcs = (Arc(0, 1, latency=8),)
    one, two = (solve(Problem((product, work), arcs, stages, kept=(result,))) for stages in (1, 2))
    assert one is not None and two is not None
    assert (one.interval, one.kept) == (16, 0)
    assert (two.interval, two.kept, two.stages) == (9, 16, (0, 1))


def test_what_is_loaded_has_its_lead_and_its_slots() -> None:
    load, product = Task(2, early=True, rank=1), Task(1, 1, 10, rank=0)
    arcs, slots = (Arc(0, 1, lead=2),), (Slots(0, 3, (Reader(1, until=10),)),)
    schedule = solve(Problem((load, product), arcs, 3, slots))
    assert schedule is not None
    assert (schedule.stages, schedule.order, schedule.interval) == ((0, 2), (1, 0), 10)
    assert schedule.slots(slots[0]) == 3


def test_no_schedule_where_a_circle_has_no_room() -> None:
    assert solve(Problem(TWO, (Arc(0, 1, lead=2), Arc(1, 0, distance=1)), 4)) is None
