"""Plans of drawn kernels are text both ways, and the ones that are written by it; a plan with a mistake is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import TypeVar
from unittest.mock import patch

import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.utils.hints import isa

from tests.unit.transforms.pipelining.pipelined_kernels import PIPELINED, STAGES
from tests.unit.transforms.pipelining.schedules import draw_schedules
from tests.unit.transforms.pipelining.test_pipelines import STORING, _is_hoppers, keeps_what_it_does, program_of
from tritonx.analysis.buffers import allocation_size
from tritonx.dialects import scf
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.verify import verify
from tritonx.transforms.pipelining import buffer_values
from tritonx.transforms.pipelining.buffer_values import PLAN, BufferValues
from tritonx.transforms.pipelining.loop_schedule import Place, scheduled_loops
from tritonx.transforms.pipelining.plan import Agent, Buffer, Counter, Plan, Point, parse_plan

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = max(1, int(os.environ.get("TRITONX_RANDOM_KERNELS", "10")) // 5)
ROOM = 64 * 1024
"""Bytes that more slots may take: all targets here have more."""
T = TypeVar("T")


def drawn(name: str, random: Random) -> tuple[str, BufferValues]:
    """A module in front of `buffer-values`, and the pass as the target has it; by a drawn schedule sometimes."""
    others = () if _is_hoppers(name) else ("cuda:80", *(STORING if name in ("product", "attention") else ()))
    target = random.choice(("cuda:90", *others))
    stages = random.choice(STAGES)
    program = program_of(PIPELINED[name](random, stages), target, stages)
    for one in program.passes:
        if isinstance(one, BufferValues):
            if random.random() < 0.4:
                draw_schedules(program.bound.module, random, stages)
            return print_module(program.bound.module), one
        program.apply(one)
    raise AssertionError("it is in no list")


def plans_in(text: str, one: BufferValues) -> tuple[str, list[Plan]]:
    """What the pass leaves with plans on the loops, and these."""
    module = parse_module(text)
    with patch.object(buffer_values, "explain") as explained:
        replace(one, plans=True).apply(pass_context(), module)
    assert not [call.args for call in explained.call_args_list if buffer_values.FAULT in call.args[2]]
    plans = [plan_on(loop) for loop in scheduled_loops(module) if PLAN in loop.attributes]
    return print_module(module), plans


def plan_on(loop: scf.ForOp) -> Plan:
    written = loop.attributes[PLAN]
    assert isa(written, ArrayAttr[StringAttr])
    text = "\n".join(line.data for line in written.data)
    plan = parse_plan(text)
    assert str(plan) == text
    return plan


@pytest.mark.parametrize("name", PIPELINED)
def test_a_plan_that_stands_on_a_loop_is_what_the_pass_makes_at_once(name: str) -> None:
    text, one = drawn(name, Random(f"{SEED} {name}"))
    with_plans, _ = plans_in(text, one)
    in_two, at_once = parse_module(with_plans), parse_module(text)
    for module in (in_two, at_once):
        one.apply(pass_context(), module)
    assert print_module(in_two) == print_module(at_once)


def test_a_loop_whose_plan_does_not_hold_runs_as_it_stands() -> None:
    """A defect of the planning costs speed, and is said."""
    random = Random(f"{SEED} fault")
    while True:
        text, one = drawn("product", random)
        if plans_in(text, one)[1]:
            break
    module = parse_module(text)
    with patch.object(Plan, "fault", return_value="told to"), patch.object(buffer_values, "explain") as explained:
        one.apply(pass_context(), module)
    verify(module)
    assert f"{buffer_values.FAULT}: told to" in explained.call_args.args[2]
    assert not list(scheduled_loops(module))
    assert "ttg.async_copy" not in (after := print_module(module)) and "loop.stage" not in after


@pytest.mark.parametrize("name", [name for name in PIPELINED if name != "window"])  # what that one loads has no slots
def test_a_plan_with_a_mistake_has_a_fault(name: str) -> None:
    """And those of the pass have none."""
    random = Random(f"{SEED} mistakes {name}")
    for _ in range(60):
        _, plans = plans_in(*drawn(name, random))
        if plans:
            break
    assert plans, f"seed {SEED}"
    for plan in plans:
        assert plan.fault() is None
        for what, mistaken in mistakes(plan):
            assert mistaken.fault() is not None, f"seed {SEED}: {what}\n{mistaken}"


def mistakes(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Plans that leave something out, or have it where it is too late or too early."""
    for number, buffer in enumerate(plan.buffers):
        yield f"fewest slots of {number}", with_buffer(plan, number, replace(buffer, slots=needed_slots(buffer) - 1))
        after = replace(buffer.source, place=replace(buffer.source.place, stage=plan.stages))
        yield f"{number} comes too late", with_buffer(plan, number, replace(buffer, source=after))
        agent = Agent.THREADS if buffer.by is Agent.STORE else Agent.STORE
        yield f"{number} by another", with_buffer(plan, number, replace(buffer, by=agent))
    for number, wait in enumerate(plan.waits):
        yield f"without wait {number}", replace(plan, waits=without(plan.waits, number))
        for at in misplaced(plan, wait.at, wait.buffers):
            yield (
                f"wait {number} at another place",
                replace(plan, waits=changed(plan.waits, number, replace(wait, at=at))),
            )
    for number, barrier in enumerate(plan.barriers):
        yield f"without barrier {number}", replace(plan, barriers=without(plan.barriers, number))
        for at in misplaced(plan, barrier.waited, barrier.buffers):
            moved = replace(barrier, waited=at)
            yield f"barrier {number} elsewhere", replace(plan, barriers=changed(plan.barriers, number, moved))
        late = replace(barrier, expected=replace(barrier.expected, place=replace(barrier.expected.place, cluster=999)))
        yield f"barrier {number} told late", replace(plan, barriers=changed(plan.barriers, number, late))
    for number, counter in enumerate(plan.counters):
        yield f"without counter {number}", replace(plan, counters=without(plan.counters, number))
        if counter.phases:
            silent = changed(plan.counters, number, replace(counter, phases=False))
            yield f"counter {number} without phases", replace(plan, counters=silent)


def misplaced(plan: Plan, at: Point, buffers: tuple[int, ...]) -> Iterator[Point]:
    """Behind the first reader, and in front of the copies."""
    first = min((read.at for number in buffers for read in plan.buffers[number].reads), key=lambda read: read.time)
    yield Point(first.op + 1, first.place)
    yield min((plan.buffers[number].source for number in buffers), key=lambda source: source.time)
    yield replace(at, place=replace(at.place, stage=plan.stages))


def needed_slots(buffer: Buffer) -> int:
    """By going through the iterations: the fewest of which none is written again before its readers are over."""
    for slots in range(1, 99):
        writes = [(buffer.source.time[0] + i, *buffer.source.time[1:]) for i in range(slots, 99)]
        ends = [(read.end[0] + i, *read.end[1:]) for read in buffer.reads for i in range(99 - slots)]
        together = zip(writes * len(buffer.reads), ends, strict=True)
        if all(end < write for write, end in together):
            return slots
    raise AssertionError("no number of slots is enough")


def with_buffer(plan: Plan, number: int, buffer: Buffer) -> Plan:
    return replace(plan, buffers=changed(plan.buffers, number, buffer))


def without(values: tuple[T, ...], number: int) -> tuple[T, ...]:
    return (*values[:number], *values[number + 1 :])


def changed(values: tuple[T, ...], number: int, value: T) -> tuple[T, ...]:
    return (*values[:number], value, *values[number + 1 :])


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", [name for name in PIPELINED if name not in ("window", "turned")])
def test_other_plans_without_a_fault_keep_what_a_kernel_does(name: str, draw: int) -> None:
    """With more slots, with a wait for each tile, and with waits in front of whatever they may stand in front of."""
    random = Random(f"{SEED} others {name} {draw}")
    stages, target = random.choice(STAGES), "cuda:90" if _is_hoppers(name) else random.choice(("cuda:80", "cuda:90"))
    made = PIPELINED[name](random, stages)
    program = program_of(made, target, stages)
    one = next(each for each in program.passes if isinstance(each, BufferValues))
    what = f"seed {SEED}, draw {draw}, {target}, {stages} stages, {made.constants}, {made.args[-1]} rounds or so"

    def change(module: ModuleOp) -> str:
        replace(one, plans=True).apply(pass_context(), module)
        for loop in scheduled_loops(module):
            if PLAN in loop.attributes:
                plan = another(plan_on(loop), random)
                loop.attributes[PLAN] = ArrayAttr([StringAttr(line) for line in str(plan).splitlines()])
        return "another plan"

    keeps_what_it_does(program, target, what, change)


def another(plan: Plan, random: Random) -> Plan:
    """By a few changes, of which those stay that leave no fault."""
    for _ in range(12):
        found = random.choice((with_a_slot_more, with_waits_apart, with_a_wait_elsewhere))(plan, random)
        if found.fault() is None:
            plan = found
    return plan


def with_a_slot_more(plan: Plan, random: Random) -> Plan:
    """For all buffers of as many slots, where memory has room."""
    chosen = random.choice(plan.buffers).slots
    more = {chosen: chosen + 1}
    buffers = tuple(replace(each, slots=more.get(each.slots, each.slots)) for each in plan.buffers)
    if sum(each.slots * allocation_size(each.memory) for each in buffers) > ROOM or chosen == 1:
        return plan
    counters = [replace(each, slots=more.get(each.slots, each.slots)) for each in plan.counters]
    together: dict[tuple[int, int], Counter] = {}
    for each in counters:
        known = together.get(each.key, each)
        first = min((known.at, each.at), key=lambda at: at.op)
        place = min(known.at.place, each.at.place)
        together[each.key] = replace(each, at=Point(first.op, place), phases=known.phases or each.phases)
    return replace(plan, buffers=buffers, counters=tuple(together.values()))


def with_waits_apart(plan: Plan, random: Random) -> Plan:
    if not plan.waits:
        return plan
    number = random.randrange(len(plan.waits))
    wait = plan.waits[number]
    apart = (replace(wait, buffers=(buffer,)) for buffer in wait.buffers)
    return replace(plan, waits=(*plan.waits[:number], *apart, *plan.waits[number + 1 :]))


def with_a_wait_elsewhere(plan: Plan, random: Random) -> Plan:
    """In a cluster of its own, of the same stage or another one."""
    if not plan.waits:
        return plan
    number = random.randrange(len(plan.waits))
    at = plan.waits[number].at
    place = Place(max(0, at.place.stage - random.randrange(2)), at.place.cluster + random.randrange(-2, 3))
    return replace(plan, waits=changed(plan.waits, number, replace(plan.waits[number], at=replace(at, place=place))))
