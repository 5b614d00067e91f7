"""Scheduling problems that are drawn, and what a constraint solver says of one."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

from tritonx.transforms.pipelining.modulo_problem import THREADS, Arc, Kept, Problem, Reader, Slots, Task


def draw_problem(random: Random, most: int = 7) -> Problem:
    """Tasks in an order that arcs of their own iteration follow; others lead anywhere."""
    count = random.randint(1, most)
    ranks = random.sample(range(count), count)
    early, units = random.random(), random.choice((0, 1, 2))
    stages = random.randint(1, 4)
    tasks = tuple(_task(random, rank, early, units) for rank in ranks)
    arcs: list[Arc] = []
    for _ in range(random.randint(0, 2 * count)):
        source, target = random.randrange(count), random.randrange(count)
        distance = random.choice((0, 0, 1, 1, 2)) if source < target else random.randint(1, 2)
        lead = random.choice((0, 0, 0, 1, 2)) if stages > 1 else 0
        arcs.append(Arc(source, target, distance, _latency(random, tasks[source]), lead))
    slots = tuple(
        Slots(i, random.randint(1, stages), readers)
        for i in range(count)
        if random.random() < 0.2 and (readers := _readers(random, arcs, i, tasks))
    )
    kept = tuple(
        Kept(i, random.randint(1, 9), readers)
        for i in range(count)
        if random.random() < 0.6 and (readers := _readers(random, arcs, i, tasks))
    )
    return Problem(tasks, tuple(arcs), stages, slots, kept, random.randint(1, 12))


def _task(random: Random, rank: int, early: float, units: int) -> Task:
    threads, is_early, is_last = random.randint(1, 8), random.random() < early, random.random() < 0.1
    if units and random.random() < 0.4:
        return Task(random.randint(1, 3), random.randint(1, units), random.randint(1, 20), rank, is_early, is_last)
    return Task(threads, THREADS, 0, rank, is_early, is_last)


def _latency(random: Random, task: Task) -> int:
    return random.choice((0, task.threads, task.cycles or task.threads, random.randint(0, 20)))


def _readers(random: Random, arcs: list[Arc], source: int, tasks: tuple[Task, ...]) -> tuple[Reader, ...]:
    """What arcs lead to: what reads a value comes behind it."""
    return tuple(
        Reader(arc.target, arc.distance, random.choice((0, tasks[arc.target].cycles or tasks[arc.target].threads)))
        for arc in arcs
        if arc.source == source
    )


def solver() -> ModuleType:
    """OR-tools' CP-SAT; skips the test where it is not installed."""
    import pytest

    return pytest.importorskip("ortools.sat.python.cp_model", reason="OR-tools is not installed")


def fewest_kept(problem: Problem, interval: int, cp: Any) -> int | None:
    """The fewest bytes that a schedule of this interval keeps in registers, by the constraint solver, which is told the
    rules and nothing of the search; None where there is no schedule."""
    model = cp.CpModel()
    tasks, count = problem.tasks, len(problem.tasks)
    stages = [model.new_int_var((problem.stages - 1) * t.last, problem.stages - 1, "") for t in tasks]
    starts = [model.new_int_var(0, interval - t.threads, "") if t.threads <= interval else None for t in tasks]
    if any(start is None for start in starts) or interval < problem.floor:
        return None
    far = sum(t.threads + t.cycles for t in tasks) + interval
    begins = [model.new_int_var(0, far, "") if t.is_queued else starts[i] for i, t in enumerate(tasks)]
    model.add_no_overlap([model.new_fixed_size_interval_var(starts[i], t.threads, "") for i, t in enumerate(tasks)])
    for i in range(count):
        model.add(begins[i] >= starts[i])
        for j in range(count):
            if tasks[i].is_queued and tasks[i].unit == tasks[j].unit and i < j:
                first = model.new_bool_var("")
                for a, b, holds in ((i, j, first), (j, i, ~first)):
                    model.add(starts[a] < starts[b]).only_enforce_if(holds)
                    model.add(begins[b] >= begins[a] + tasks[a].cycles).only_enforce_if(holds)
                    model.add(begins[a] + interval >= begins[b] + tasks[b].cycles).only_enforce_if(holds)
        if tasks[i].is_queued and tasks[i].cycles > interval:
            return None
    for arc in problem.arcs:
        model.add(
            (stages[arc.target] + arc.distance) * interval + starts[arc.target]
            >= stages[arc.source] * interval + begins[arc.source] + arc.latency
        )
        model.add(stages[arc.target] + arc.distance >= stages[arc.source] + arc.lead)
        if arc.source != arc.target:  # of the same interval: issued in order
            model.add(
                (stages[arc.target] + arc.distance - stages[arc.source]) * interval + starts[arc.target]
                >= starts[arc.source]
            )
    for value in problem.slots:
        for reader in value.readers:
            model.add(
                (stages[reader.task] + reader.distance) * interval + begins[reader.task] + reader.until
                <= (stages[value.source] + value.most) * interval + starts[value.source]
            )
    crossings = []
    for value in problem.kept:
        most = model.new_int_var(0, problem.stages + 2, "")
        for reader in value.readers:
            model.add(most >= stages[reader.task] + reader.distance - stages[value.source])
        crossings.append(value.size * most)
    model.minimize(sum(crossings))
    search = cp.CpSolver()
    search.parameters.num_workers = 1
    found = search.solve(model)
    assert found in (cp.OPTIMAL, cp.INFEASIBLE), search.status_name(found)
    return round(search.objective_value) if found == cp.OPTIMAL else None
