"""Pipelined loops on the machine that executes `ttg`, after every pass that changes them: what a kernel does stays, for
few rounds and many, and nothing is reported. Warps run apart once the barriers are there.

Schedules are the scheduler's, those that run loads ahead, and drawn ones. `TRITONX_RANDOM_KERNELS=100` runs more."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tests.unit.interpreter.asynchronous.mutants import mutants, mutated
from tests.unit.transforms.gpu.described_kernels import DESCRIBED
from tests.unit.transforms.gpu.flattened_kernels import FLATTENED
from tests.unit.transforms.gpu.kernels import Draw
from tests.unit.transforms.gpu.sums_in_branches import sums_in_branches
from tests.unit.transforms.gpu.test_executed import Program
from tests.unit.transforms.pipelining.pipelined_kernels import PIPELINED, STAGES
from tests.unit.transforms.pipelining.scaled_kernels import scaled
from tests.unit.transforms.pipelining.schedules import draw_schedules, run_loads_ahead, store_ahead
from tritonx.dialects import scf, tile
from tritonx.dialects.gpu_layout import (
    AsyncWaitOp,
    ConvertLayoutOp,
    LocalAllocOp,
    LocalBarrierOp,
    LocalStoreOp,
)
from tritonx.interpreter.asynchronous.reports import Kind
from tritonx.ir.text import print_module
from tritonx.ir.verify import verify
from tritonx.transforms.pipelining import buffer_values, schedule_loops
from tritonx.transforms.pipelining.loop_problem import LoopPipeline
from tritonx.transforms.pipelining.loop_schedule import drop_schedule, scheduled_loops

SEED = int(os.environ["TRITONX_SEED"])
DRAWS = int(os.environ.get("TRITONX_RANDOM_KERNELS", "10"))


def _is_hoppers(name: str) -> bool:
    """Whether a kernel is for the copy engine."""
    return name in DESCRIBED or name in ("described flattened", "flattened epilogues", "described uneven")


def program_of(made: Draw, target: str, stages: int, **given: object) -> Program:
    options = {"pipeline": True, "num_stages": stages, **given}
    return Program(made.kernel, made.args, made.constants, target, made.num_warps, options=options)


STORING = ("hip:gfx942", "hip:gfx950", "hip:gfx1100", "hip:gfx1201")
"""Targets whose threads load ahead, and store to slots."""


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", [name for name in PIPELINED if not _is_hoppers(name) and name != "turned"])  # not tf32
def test_pipelines_of_threads_that_store_keep_what_a_kernel_does(name: str, draw: int) -> None:
    random = Random(f"{SEED} storing {name} {draw}")
    stages, target = random.choice(STAGES), random.choice(STORING)
    made = PIPELINED[name](random, stages)
    what = f"seed {SEED}, draw {draw}, {target}, {stages} stages, {made.constants}, {made.args[-1]} rounds or so"

    def change(module: ModuleOp) -> str:
        found = schedule(module, random, stages)
        return f"{found}, {store_ahead(module, random)} stored elsewhere" if random.random() < 0.5 else found

    keeps_what_it_does(program_of(made, target, stages), target, what, change)


@pytest.mark.parametrize("draw", range(-(-DRAWS // 3)))
@pytest.mark.parametrize("name", ["product", "attention"])
def test_pipelines_of_copies_by_lanes_keep_what_a_kernel_does(name: str, draw: int) -> None:
    """On targets whose lanes can copy past the registers, where the kernel's operands allow it. By a schedule that is
    drawn others are stored by the threads beside them, and tiles of pointers or masks may be loop-carried, which
    cannot be made in another layout: those copies go through registers."""
    random = Random(f"{SEED} lanes {name} {draw}")
    stages, target = random.choice(STAGES), random.choice(("hip:gfx942", "hip:gfx950"))
    made = PIPELINED[name](random, stages)
    program = program_of(made, target, stages, async_copy=True)
    what = f"seed {SEED}, draw {draw}, {target}, {stages} stages, {made.constants}, {made.args[-1]} rounds or so"
    keeps_what_it_does(program, target, what, lambda module: schedule(module, random, stages))


@pytest.mark.parametrize("draw", range(DRAWS))
def test_pipelines_of_scaled_products_keep_what_a_kernel_does(draw: int) -> None:
    """Operands and their scales are buffered."""
    random = Random(f"{SEED} scaled {draw}")
    stages, async_copy = random.choice(STAGES), random.random() < 0.5
    made = scaled(random, stages)
    program = program_of(made, "hip:gfx950", stages, async_copy=async_copy)
    what = f"seed {SEED}, draw {draw}, {stages} stages, {async_copy=}, {made.constants}, {made.args[-1]} rounds"
    keeps_what_it_does(program, "hip:gfx950", what, lambda module: schedule(module, random, stages))


def schedule(module: ModuleOp, random: Random, stages: int) -> str:
    """Gives the loops another schedule than `schedule-loops` has, sometimes."""
    which = random.random()
    if which < 0.4:
        return "as scheduled"
    for loop in scheduled_loops(module):
        drop_schedule(loop)
    if which < 0.7:
        run_loads_ahead(module, stages)
        return "loads ahead"
    return f"{draw_schedules(module, random, stages)} drawn"


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", PIPELINED)
def test_pipelines_keep_what_a_kernel_does(name: str, draw: int) -> None:
    random = Random(f"{SEED} {name} {draw}")
    stages, target = random.choice(STAGES), "cuda:90" if _is_hoppers(name) else random.choice(("cuda:80", "cuda:90"))
    made = PIPELINED[name](random, stages)
    what = f"seed {SEED}, draw {draw}, {target}, {stages} stages, {made.constants}, {made.args[-1]} rounds or so"
    keeps_what_it_does(program_of(made, target, stages), target, what, lambda module: schedule(module, random, stages))


@pytest.mark.parametrize("draw", range(-(-DRAWS // 3)))
@pytest.mark.parametrize("name", [name for name in PIPELINED if not _is_hoppers(name)])
def test_copies_behind_readers_keep_what_a_kernel_does(name: str, draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a second block has room by that, whatever the tiles take."""
    monkeypatch.setattr(buffer_values, "_makes_room", lambda *_: True)
    random = Random(f"{SEED} behind {name} {draw}")
    stages, target = random.choice(STAGES), random.choice(("cuda:80", "cuda:90"))
    made = PIPELINED[name](random, stages)
    what = (
        f"seed {SEED}, behind, draw {draw}, {target}, {stages} stages, {made.constants}, {made.args[-1]} rounds or so"
    )
    keeps_what_it_does(program_of(made, target, stages), target, what, lambda module: schedule(module, random, stages))


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", FLATTENED)
def test_flattened_loops_keep_what_a_kernel_does(name: str, draw: int) -> None:
    """From the nest on: these sums are exact in any order."""
    random = Random(f"{SEED} nest {name} {draw}")
    targets = ["cuda:90", *(() if _is_hoppers(name) else ("cuda:80", "hip:gfx942", "hip:gfx1100"))]
    stages, target = random.choice(STAGES), random.choice(targets)
    made = FLATTENED[name](random, stages)
    what = f"seed {SEED}, draw {draw}, {target}, {stages} stages, {made.constants}, {made.args[-2:]} tiles, rounds"
    program = program_of(made, target, stages)
    keeps_what_it_does(program, target, what, lambda _: "as scheduled", since="flatten-loops")
    loops = [op for op in program.bound.module.walk() if isinstance(op, scf.ForOp)]
    assert 1 in made.args[-2:] or any(loop.unsigned is not None for loop in loops), "not flattened"  # 1 is a constant


@pytest.mark.parametrize("draw", range(DRAWS))
def test_sums_that_branches_read_and_begin_anew(draw: int) -> None:
    """Asynchronous products add to one to three sums, and what reads one waits for those that it reads."""
    random = Random(f"{SEED} sums {draw}")
    stages = random.choice(STAGES)
    made = sums_in_branches(random)
    what = f"seed {SEED}, draw {draw}, {stages} stages, {made.args[-2:]}\n{made.kernel.src}"
    drawn = random.random() < 0.4

    def change(module: ModuleOp) -> str:
        return schedule(module, random, stages) if drawn else "as scheduled"

    keeps_what_it_does(program_of(made, "cuda:90", stages), "cuda:90", what, change)


def keeps_what_it_does(
    program: Program, target: str, what: str, schedule: Callable[[ModuleOp], str], since: str = "buffer-values"
) -> None:
    """Runs a program before and after each pass from one on; `buffer-values` if sums have been regrouped by then, and
    every bit stays. In front of `buffer-values` `schedule` may change schedules."""
    expected: list[Any] = []
    hopper = target == "cuda:90"
    behind, fenced = False, not hopper
    for one in program.passes:
        if one.name == since:
            expected, _ = program.run()
            behind = True
        if one.name == "buffer-values":
            what += f", {schedule(program.bound.module)}"
        if hopper:
            fenced = FENCED.get(one.name, fenced)
        changed = program.apply(one)
        verify(program.bound.module)
        if changed and behind and one.name not in QUIET:
            got, found = program.run()
            found = [each for each in found if fenced or each.kind is not Kind.UNFENCED]
            where = f"after {one.name}: {what}"
            assert not found, "\n".join(map(str, (*found, where)))
            for a, b in zip(expected, got, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=where)


@pytest.mark.parametrize("draw", range(-(-DRAWS // 3)))
@pytest.mark.parametrize("name", ["attention", "chain"])
def test_products_begun_a_round_ahead(name: str, draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is scheduled where no other block works meanwhile, and copies take no time: the next round's first product
    is issued before the second one of a round, with nothing that takes long between."""
    monkeypatch.setattr(schedule_loops._Function, "_blocks", lambda *_: 1)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(schedule_loops, "WORTHWHILE", 1)
    for cycles in ("copies", "latency"):
        monkeypatch.setattr(LoopPipeline, cycles, 0)
    random = Random(f"{SEED} ahead {name} {draw}")
    stages = random.choice(STAGES)
    made = PIPELINED[name](random, stages)
    program = program_of(made, "cuda:90", stages)
    what = f"seed {SEED}, ahead, draw {draw}, {stages} stages, {made.constants}, {made.args[-1]} rounds or so"
    keeps_what_it_does(program, "cuda:90", what, lambda _: "as scheduled")
    for loop in (op for op in program.bound.module.walk() if isinstance(op, scf.ForOp)):
        names = [op.name for op in loop.body.block.ops]
        if name == "attention" and names.count("ttng.warp_group_dot") == 2 and made.args[-1] > 1:
            first = names.index("ttng.warp_group_dot")
            second = names.index("ttng.warp_group_dot", first + 1)
            assert "math.exp2" in names[second:] and "math.exp2" not in names[:second], what


FENCED = {"fence-stores": True, "allocate-shared-memory": False, "insert-fences": True}
"""Passes behind which the proxies have fences between them, or tiles new neighbours in memory."""

QUIET = ("fold", "cse", "dce", "allocate-warp-groups", "share-barriers", "convert-by-matrices")
"""Passes after which nothing is run: others' tests do."""


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"])
def test_mistakes_in_pipelines_are_found(target: str) -> None:
    """A wait left out, a barrier dropped, a product not waited for, in a product's pipeline."""
    random = Random(f"{SEED} {target}")
    while True:
        made = PIPELINED["product"](random, 3)
        if made.args[-1] < 6 * made.constants["K"]:
            continue
        program = program_of(made, target, 3)
        for one in program.passes:
            if one.name == "buffer-values" and random.random() < 0.5:
                run_loads_ahead(program.bound.module, 3)
            program.apply(one)
        text = print_module(program.bound.module)
        if "async_copy" in text:
            break  # otherwise a thread has too little of a tile to copy it
    assert ("isAsync" in text) == (target == "cuda:90")
    _, found = program.run()
    assert not found
    names = [each for each in mutants(program.bound.module) if each[0] != "barrier dropped"]
    assert names
    mistakes = [*random.sample(names, min(3, len(names))), ("barrier dropped", _behind_copies(program.bound.module))]
    for name, number in mistakes:
        program.bound = replace(program.bound, module=mutated(text, name, number))
        _, found = program.run()
        assert found, f"{name} {number}: seed {SEED}, {made.constants}"


def check_the_barriers(program: Program, inside: Sequence[Operation], count: int, what: str) -> None:
    """Of the ops of a loop ``count`` are barriers; without any one the machine finds a mistake, and with all none."""
    barriers = [op for op in program.bound.module.walk() if isinstance(op, LocalBarrierOp)]
    within = [number for number, op in enumerate(barriers) if op in inside]
    assert len(within) == count, what
    _, found = program.run()
    assert not found
    text = print_module(program.bound.module)
    for number in within:
        program.bound = replace(program.bound, module=mutated(text, "barrier dropped", number))
        _, found = program.run()
        assert found, f"{number}: {what}"


@pytest.mark.parametrize("stages", [3, 4])
@pytest.mark.parametrize("name", ["product", "chain"])
def test_threads_that_copy_and_read_meet_once_a_round(name: str, stages: int) -> None:
    """One barrier is behind the wait for what is read and in front of what overwrites the slot before; and not none."""
    random = Random(f"{SEED} {name} {stages}")
    while True:
        made = PIPELINED[name](random, stages)
        if made.args[-1] < (6 if name == "chain" else 6 * made.constants["K"]):
            continue
        program = program_of(made, "cuda:80", stages)
        for one in program.passes:
            program.apply(one)
        inside = [op for op in program.bound.module.walk() if isinstance(op.parent_op(), scf.ForOp)]
        if not any(isinstance(op, LocalAllocOp | tile.LoadOp) for op in inside):
            break  # all tiles are copied
    check_the_barriers(program, inside, 1, f"seed {SEED}, {made.constants}")


AT_BARRIERS = ("parity flipped", "barrier's wait dropped", "expectation dropped", "too few bytes expected")
"""Mistakes that a pipeline of the copy engine's can have; its copies are also waited for by who reads them."""


@pytest.mark.parametrize("name", ["described product", "described chain", "described nested"])
def test_mistakes_with_barriers_are_found(name: str) -> None:
    """A parity flipped, a wait dropped, bytes expected that do not come: in the loop, wherever the op stands."""
    random = Random(f"{SEED} {name}")
    made = PIPELINED[name](random, 3)
    while made.args[-1] < 4 or made.constants.get("POINTERS") or made.constants.get("MIXED"):
        made = PIPELINED[name](random, 3)
    program = program_of(made, "cuda:90", 3)
    for one in program.passes:
        if one.name == "buffer-values" and random.random() < 0.5:
            run_loads_ahead(program.bound.module, 3)
        program.apply(one)
    text = print_module(program.bound.module)
    _, found = program.run()
    assert not found
    names = [each for each in mutants(program.bound.module) if each[0] in AT_BARRIERS]
    assert {each for each, _ in names} == {*AT_BARRIERS}, f"no pipeline: seed {SEED}, {made.constants}"
    for mistake in AT_BARRIERS:
        number = random.choice([number for each, number in names if each == mistake])
        program.bound = replace(program.bound, module=mutated(text, mistake, number))
        _, found = program.run()
        assert found, f"{mistake} {number}: seed {SEED}, {made.constants}"


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("target", STORING)
def test_threads_that_store_and_read_meet_once_a_round(target: str, stages: int) -> None:
    """What is stored is in another slot than what is read in that iteration: one barrier for both; and not none. With
    two stages it is the same slot, between two barriers."""
    random = Random(f"{SEED} {target} {stages}")
    while True:
        made = PIPELINED["product"](random, stages)
        if made.args[-1] < 6 * made.constants["K"]:
            continue
        program = program_of(made, target, stages)
        for one in program.passes:
            program.apply(one)
        inside = [op for op in program.bound.module.walk() if isinstance(op.parent_op(), scf.ForOp)]
        if sum(isinstance(op, LocalStoreOp) for op in inside) == 2 and not any(map(_exchanges, inside)):
            break  # both tiles go through slots
    check_the_barriers(program, inside, 2 if stages == 2 else 1, f"seed {SEED}, {made.constants}")


def _exchanges(op: Operation) -> bool:
    return isinstance(op, ConvertLayoutOp | LocalAllocOp)


def _behind_copies(module: ModuleOp) -> int:
    """Number of the barrier in the loop by which the threads know what others have copied. Others may be there for
    slots that never meet: barriers are for whole buffers."""
    barriers = [op for op in module.walk() if isinstance(op, LocalBarrierOp)]
    for number, op in enumerate(barriers):
        before = op.prev_op
        while before is not None and not isinstance(before, AsyncWaitOp):
            before = before.prev_op
        if before is not None and isinstance(op.parent_op(), scf.ForOp):
            return number
    raise AssertionError("no barrier stands behind the wait for copies")
