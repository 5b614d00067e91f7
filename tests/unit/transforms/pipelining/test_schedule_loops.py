"""Every schedule keeps what a loop means: whatever an op needs has run before it, for every iteration.

`TRITONX_SCHEDULES=1000` draws as many kernels, and takes all of the conformance suite's as well."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

import tritonx
import tritonx.language as tl
from tests.unit.transforms.gpu.loop_kernels import LOOPS
from tests.unit.transforms.pipelining.pipelined_kernels import two_chains_kernel
from tests.unit.transforms.pipelining.schedule_problems import fewest_kept, solver
from tritonx.backends.api import PassStage
from tritonx.backends.registry import get_backend
from tritonx.dialects import scf, tile
from tritonx.dialects.control_flow import carried_by
from tritonx.dialects.effects import Kind, Resource, declared_by
from tritonx.dialects.nvidia import WarpGroupDotOp
from tritonx.interpreter.ir_launch import bind
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.types import is_pointer, type_of
from tritonx.ir.verify import verify
from tritonx.transforms.pipelining import modulo_schedule, schedule_loops
from tritonx.transforms.pipelining.loop_schedule import CLUSTER, LAST_STAGE, STAGE
from tritonx.transforms.pipelining.modulo_problem import Problem, Schedule, faults
from tritonx.transforms.pipelining.schedule_loops import STAGES, ScheduleLoops

SEED = int(os.environ["TRITONX_SEED"])
ASKED = os.environ.get("TRITONX_SCHEDULES")
DRAWS = int(ASKED or "24")
ITERATIONS = 7
TARGETS = ("cuda:75", "cuda:80", "cuda:90", "cuda:90 wgmma", "hip:gfx942", "hip:gfx1100")


def lowered(kernel: Any, args: Sequence[Any], constants: dict[str, Any], target: str, options: dict[str, Any]) -> Any:
    """A kernel's module as it is when loops are scheduled, and the pass that does it."""
    name, _, groups = target.partition(" ")
    backend = get_backend(name.partition(":")[0])
    chip = backend.parse_target(name.partition(":")[2])
    chosen = backend.parse_options(chip, {**options, **({"warp_group_dots": True} if groups else {})})
    module = bind(kernel, args, constants, chosen, chip).module
    stages = [stage for stage in backend.stages(chip, chosen) if isinstance(stage, PassStage)]
    for one in [one for stage in stages[:2] for one in stage.passes]:
        if one.name == ScheduleLoops.name:
            break
        one.apply(pass_context(), module)
        if one.name == "rematerialise":
            break
    return module, ScheduleLoops(backend.gpu_target(chip, chosen))


# --- what a schedule means


def number(op: Operation, name: str) -> int:
    value = op.attributes[name]
    assert isinstance(value, IntegerAttr), f"{op.name} has no {name}"
    return value.value.data


def order_of(loop: scf.ForOp) -> dict[tuple[Operation, int], int]:
    """(op, iteration) → when it runs, of some iterations."""
    ops = list(loop.body.block.ops)[:-1]
    runs = [
        (iteration + number(op, STAGE), number(op, CLUSTER), text, op, iteration)
        for iteration in range(ITERATIONS)
        for text, op in enumerate(ops)
    ]
    runs.sort(key=lambda run: run[:3])
    return {(op, iteration): time for time, (*_, op, iteration) in enumerate(runs)}


def made_by(value: SSAValue, iteration: int, loop: scf.ForOp) -> tuple[Operation, int] | None:
    """The op of the body, and the iteration, that makes a value; None for what was there before."""
    around = {each.argument: each.yielded.value for each in carried_by(loop)}
    while isinstance(value, BlockArgument) and value in around:
        value, iteration = around[value], iteration - 1
        if iteration < 0:
            return None
    made = value.owner
    return (made, iteration) if isinstance(made, Operation) and made.parent is loop.body.block else None


def wrong_order(loop: scf.ForOp) -> Iterator[str]:
    """What runs before something that it needs."""
    order = order_of(loop)
    for (op, iteration), time in order.items():
        for value in {v for inner in op.walk() for v in inner.operands}:
            needed = made_by(value, iteration, loop)
            if needed is not None and order[needed] >= time:
                yield f"{op.name} of {iteration} runs before {needed[0].name} of {needed[1]}"
    touched = [(op, writes, arrays) for op in loop.body.block.ops for writes, arrays in accesses(op)]
    for i, (first, writes, arrays) in enumerate(touched):
        for j, (second, also, others) in enumerate(touched):
            if (writes or also) and arrays & others:
                for a in range(ITERATIONS):
                    for b in range(a + (j <= i), ITERATIONS):
                        if first is not second and order[first, a] >= order[second, b]:
                            yield f"{second.name} of {b} touches what {first.name} of {a} does, and runs before"


def accesses(op: Operation) -> Iterator[tuple[bool, set[SSAValue]]]:
    for inner in op.walk():
        declared = declared_by(type(inner))
        for effect in declared.own(inner) if declared is not None else ():
            if effect.resource is Resource.GLOBAL and effect.kind in (Kind.READ, Kind.WRITE):
                yield effect.kind is Kind.WRITE, arrays_of(effect.values(inner))


def arrays_of(pointers: Sequence[SSAValue]) -> set[SSAValue]:
    """The function's arguments that pointers may come from, by all that is a pointer on the way."""
    found: set[SSAValue] = set()
    work, seen = list(pointers), set[SSAValue]()
    while work:
        value = work.pop()
        if value in seen or not is_pointer(type_of(value)):
            continue
        seen.add(value)
        around = value.block.parent_op() if isinstance(value, BlockArgument) else value.owner
        if isinstance(around, tile.FuncOp):
            found.add(value)
        elif isinstance(around, scf.ForOp):
            carried = next(each for each in carried_by(around) if value in (each.argument, each.result))
            work += [carried.initial.value, carried.yielded.value]
        elif isinstance(around, scf.IfOp):
            work += [region.block.last_op.operands[around.results.index(value)] for region in around.regions]
        else:
            work += around.operands
    return found


# --- every loop of many kernels


class Watched:
    """The problems that were solved meanwhile, with what came out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.solved: list[tuple[Problem, Schedule]] = []
        solve = schedule_loops.solve

        def watched(problem: Problem) -> Schedule | None:
            found = solve(problem)
            if found is not None:
                self.solved.append((problem, found))
            return found

        monkeypatch.setattr(schedule_loops, "solve", watched)


def check(module: ModuleOp, one: ScheduleLoops, where: str) -> int:
    """Schedules a module's loops and checks them; how many there were."""
    before = print_module(module)
    one.apply(pass_context(), module)
    verify(module)
    after = re.sub(r" \{loop.cluster = \d+ : i32, loop.stage = \d+ : i32\}", "", print_module(module))
    after = re.sub(r"loop.cluster = \d+ : i32, loop.stage = \d+ : i32(, )?", "", after)
    after = re.sub(r" \{tt.scheduled_max_stage = \d+ : i32\}|, tt.scheduled_max_stage = \d+ : i32", "", after)
    assert plain(after) == plain(before), where
    found = 0
    for loop in [op for op in module.walk() if isinstance(op, scf.ForOp) and LAST_STAGE in op.attributes]:
        ops = list(loop.body.block.ops)[:-1]
        stages = {number(op, STAGE) for op in ops}
        assert min(stages) == 0 and max(stages) == number(loop, LAST_STAGE) > 0, where
        wanted = number(loop, STAGES) if STAGES in loop.attributes else one.target.num_stages
        assert max(stages) < wanted + (one.target.name == "cuda:90"), where  # products may be begun a round ahead
        assert list(wrong_order(loop)) == [], where
        found += 1
    return found


def plain(text: str) -> str:
    return re.sub(r"[{} ,]+", " ", text)


def drawn(kernel: str, draw: int) -> tuple[ModuleOp, ScheduleLoops, str]:
    random = Random(SEED + draw)
    chosen = LOOPS[kernel](random)
    target = random.choice(TARGETS)
    options = {"num_warps": chosen.num_warps, "num_stages": random.choice((2, 3, 4))}
    module, one = lowered(chosen.kernel, chosen.args, chosen.constants, target, options)
    return module, one, f"{kernel}, seed {SEED + draw}, {target}, {options}, {chosen.constants}"


@pytest.mark.parametrize("kernel", LOOPS)
def test_drawn_loops(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, scheduled = Watched(monkeypatch), 0
    for draw in range(max(4, DRAWS // len(LOOPS))):
        module, one, where = drawn(kernel, draw)
        scheduled += check(module, one, where)
        for problem, schedule in watched.solved:
            assert faults(problem, schedule) == [], where
            if (
                not schedule.proven
            ):  # masked attention in 5 stages takes 22,000 steps; what the first 2,000 find is as good
                longer = modulo_schedule.solve(problem, 100 * modulo_schedule.NODES)
                assert longer == replace(schedule, proven=True), where
        watched.solved.clear()


def test_schedules_of_loops_are_the_constraint_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    cp, watched = solver(), Watched(monkeypatch)
    for kernel in LOOPS:
        for draw in range(max(1, DRAWS // 12)):
            module, one, where = drawn(kernel, draw)
            one.apply(pass_context(), module)
            for problem, schedule in watched.solved:
                assert fewest_kept(problem, schedule.interval, cp) == schedule.kept, where
                assert fewest_kept(problem, schedule.interval - 1, cp) is None, where
            watched.solved.clear()


@pytest.mark.skipif(ASKED is None, reason="TRITONX_SCHEDULES is not set")
def test_loops_of_the_conformance_suite() -> None:
    from tritonx_testing.conformance.suite import cases

    found = 0
    for case in cases():
        if "for " in case.kernel.src:
            trial = case.trial(SEED)
            args = [a.buffer() if hasattr(a, "buffer") else a for a in trial.args]
            for target in TARGETS:
                try:
                    module, one = lowered(case.kernel, args, dict(trial.constants), target, dict(case.options))
                except Exception:  # what a target refuses, the suite has tests of
                    continue
                found += check(module, one, f"{case.name} on {target}")
    assert found > 10


# --- single facts


def scheduled(kernel: str, target: str = "cuda:90 wgmma", stages: int = 3, **fixed: Any) -> list[scf.ForOp]:
    """The loops of a kernel with these constants: the first that is drawn with any."""
    options = {"num_warps": 4, "num_stages": stages}
    for draw in range(200):
        chosen = LOOPS[kernel](Random(draw))
        if all(chosen.constants[name] == value for name, value in fixed.items()):
            constants = {**chosen.constants, "STAGES": None}
            module, one = lowered(chosen.kernel, chosen.args, constants, target, options)
            if any(isinstance(op, scf.ForOp) for op in module.walk()):
                one.apply(pass_context(), module)
                return [op for op in module.walk() if isinstance(op, scf.ForOp)]
    raise AssertionError(f"{kernel} is not drawn with {fixed}")


def stages_of(loop: scf.ForOp, cls: type[Operation]) -> list[int]:
    return [number(op, STAGE) for op in loop.body.block.ops if isinstance(op, cls)]


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90 wgmma"])
def test_loads_run_as_far_ahead_as_stages_say(target: str, stages: int) -> None:
    (loop,) = scheduled("matmul", target, stages, BM=64, BN=64, BK=64)
    assert stages_of(loop, tile.LoadOp) == [0, 0]
    assert number(loop, LAST_STAGE) == stages - 1
    assert {number(op, STAGE) for op in loop.body.block.ops if op is not loop.body.block.last_op} == {0, stages - 1}


@tritonx.jit
def counted(a, b, o, TRIPS: tl.constexpr):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), tl.float32)
    for step in range(TRIPS):
        x = tl.load(a + i[:, None] * 64 * TRIPS + step * 64 + i[None, :])
        y = tl.load(b + (step * 64 + i)[:, None] * 64 + i[None, :])
        total = tl.dot(x, y, total)
    tl.store(o + i[:, None] * 64 + i[None, :], total)


@pytest.mark.parametrize("trips", [1, 2, 3, 4, 9])
def test_no_more_stages_than_rounds(trips: int) -> None:
    """Of a loop with a known, small trip count; one of a single iteration has no schedule."""
    a, b = np.zeros((64, 64 * trips), np.float16), np.zeros((64 * trips, 64), np.float16)
    args = (a, b, np.zeros((64, 64), np.float32))
    module, one = lowered(counted, args, {"TRIPS": trips}, "cuda:80", {"num_warps": 4, "num_stages": 4})
    one.apply(pass_context(), module)
    loops = [op for op in module.walk() if isinstance(op, scf.ForOp)]
    last = [number(loop, LAST_STAGE) for loop in loops if LAST_STAGE in loop.attributes]
    assert last == ([min(trips, 4) - 1] if trips > 1 else [])


@pytest.mark.parametrize(
    ("kernel", "fixed", "reason"),
    [
        ("sums", {}, "it has no product"),
        ("stored", {"HOW": "over"}, "it stores where it loads"),
        ("stored", {"HOW": "follow"}, "where it loads depends on the iteration before"),
    ],
)
def test_what_is_not_pipelined_says_why(
    kernel: str, fixed: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    loops = scheduled(kernel, "cuda:80", **fixed)
    said = capsys.readouterr().err
    assert all(LAST_STAGE not in loop.attributes for loop in loops)
    assert Path(__file__).with_name("loop_kernels.py").name in said and f"not pipelined: {reason}" in said


@pytest.mark.parametrize("how", ["add", "apart", "some"])
def test_what_is_stored_elsewhere_stays_behind(how: str) -> None:
    (loop,) = scheduled("stored", "cuda:80", HOW=how)
    last = number(loop, LAST_STAGE)
    assert last == 2 and stages_of(loop, tile.LoadOp) == [0]
    assert {number(op, STAGE) for op in loop.body.block.ops if isinstance(op, tile.StoreOp | scf.IfOp)} <= {last}


@tritonx.jit
def gradient_of_queries(q_ptr, g_ptr, k_ptr, v_ptr, o_ptr, steps, D: tl.constexpr):
    i, d = tl.arange(0, 64), tl.arange(0, D)
    places = i[:, None] * D + d[None, :]
    q, g = tl.load(q_ptr + places), tl.load(g_ptr + places)
    total = tl.zeros((64, D), tl.float32)
    for step in range(steps):
        k = tl.load(k_ptr + step * 64 * D + places)
        v = tl.load(v_ptr + step * 64 * D + places)
        weights = tl.dot(q, k.T) * tl.dot(g, v.T)
        total = tl.dot(weights.to(tl.float16), k, total)
    tl.store(o_ptr + places, total)


@pytest.mark.parametrize(("width", "stages"), [(64, [0, 0]), (128, [0, 1])])
def test_what_waits_in_registers_is_there_twice(width: int, stages: list[int]) -> None:
    """Keys are stored at the end of an iteration; values are transposed first, and wait while the next ones are loaded.
    Of 128 columns each takes 32 registers, and 64 are for what waits."""
    q = np.zeros((64, width), np.float16)
    args = (q, q, q, q, np.zeros((64, width), np.float32), 5)
    options = {"num_warps": 4, "num_stages": 2}
    module, one = lowered(gradient_of_queries, args, {"D": width}, "hip:gfx1201", options)
    one.apply(pass_context(), module)
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    assert stages_of(loop, tile.LoadOp) == stages


def test_slots_are_as_many_as_have_room(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Six stages of 128x64 and 64x128 f16 take 192 KB; a block of 8.6 has 99."""
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    (loop,) = scheduled("matmul", "cuda:86", 6, BM=128, BN=128, BK=64)
    assert number(loop, LAST_STAGE) == 2
    assert "3 × 16384 + 3 × 16384 bytes" in capsys.readouterr().err


@pytest.mark.parametrize(("rows", "crowded"), [(64, False), (128, True)])
def test_no_more_products_are_begun_than_registers_have_room_for(
    rows: int, crowded: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two sums and two results of 128x64 f32 are all 256 registers of a thread, so that the second result is not begun
    before the first one is an operand; of 64x64 they are half."""
    monkeypatch.setenv("TRITONX_EXPLAIN", "pipeline")
    a, b = np.zeros((rows, 64), np.float16), np.zeros((4, 64, 64), np.float16)
    args = (a, b, b, np.zeros((2, rows, 64), np.float32), 4)
    options = {"num_warps": 4, "num_stages": 3}
    module, one = lowered(two_chains_kernel, args, {"M": rows, "N": 64}, "cuda:90 wgmma", options)
    one.apply(pass_context(), module)
    (loop,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    ops = list(loop.body.block.ops)
    products = sorted(
        (number(op, CLUSTER), ops.index(op)) for op in ops if isinstance(op, WarpGroupDotOp) and number(op, STAGE) == 2
    )
    assert len(products) == 4
    adds_up = [not constant_of(ops[place].operands[2]) == 0 for _, place in products]
    assert adds_up == ([False, True, False, True] if crowded else [False, False, True, True])
    said = capsys.readouterr().err
    assert ("bytes of registers in the fastest order" in said) == crowded
    assert LAST_STAGE in loop.attributes


def test_a_schedule_by_hand_is_kept() -> None:
    text = """
    tt.func @f(%n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %x = arith.addi %i, %c1 {loop.cluster = 0 : i32, loop.stage = 1 : i32} : i32
      } {tt.num_stages = 3 : i32, tt.scheduled_max_stage = 1 : i32}
      tt.return
    }
    """
    module = parse_module(text)
    backend = get_backend("cuda")
    chip = backend.parse_target("90")
    before = print_module(module)
    ScheduleLoops(backend.gpu_target(chip, backend.parse_options(chip, {}))).apply(pass_context(), module)
    assert print_module(module) == before
