"""Loops as Triton schedules them for Hopper, in front of its own pipeliner, are pipelined by ours: the plan has no more
slots than Triton takes, and what is made of it runs without a report and gives what it must.

The wheel writes the IR in front of its pass, with `loop.stage` and `loop.cluster`; nothing of it is changed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from tests.peer.pipeline_cases import CASES, Case, check
from tritonx.backends.api import PassStage
from tritonx.interpreter.asynchronous import Landing, Order, Setting, execute
from tritonx.ir.pipeline import pass_context
from tritonx.ir.text import parse_module
from tritonx.ir.verify import verify
from tritonx.tools.opt_pipeline import find_target
from tritonx.transforms.pipelining.buffer_values import PLAN, BufferValues
from tritonx.transforms.pipelining.loop_schedule import scheduled_loops
from tritonx.transforms.pipelining.plan import Agent, Plan, parse_plan

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

ORACLE = Path(__file__).with_name("pipeline_kernels.py")
SEED = int(os.environ["TRITONX_SEED"])
ALL = os.environ.get("TRITONX_PIPELINES", "") == "all"
DUMP = re.compile(r"// -----// (.*?) //----- //\n")
BUFFER = re.compile(r"local_alloc : \(\) -> !ttg\.memdesc<(\d+(?:x\d+)+)x(?!i64)\w+,")

SCHEDULED = [
    case
    for case in CASES
    if case.constants["STAGES"] > 1 and case.kernel != "column_sum" and not case.name.endswith("_specialised")
]
"""Those with products; warp-specialised loops are taken apart before."""
DRAWN = SCHEDULED if ALL else Random(SEED).sample(SCHEDULED, 10)


@dataclass(frozen=True)
class Written:
    """By Triton: in front of its pipeliner, and in the end."""

    scheduled: str
    pipelined: str


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("schedules")
    names = [case.name for case in DRAWN]
    told = {**os.environ, "MLIR_ENABLE_DUMP": "1", "TRITON_ALWAYS_COMPILE": "1"}
    command = [sys.executable, str(ORACLE), str(folder), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=told)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Written] = {}
    for part in done.stderr.split("// case ")[1:]:
        name, _, rest = part.partition("\n")
        _, *dumps = DUMP.split(rest)
        before = [text for head, text in zip(dumps[::2], dumps[1::2], strict=True) if "TritonGPUPipeline" in head]
        pipelined = folder / f"{name}.ttgir"
        if before and pipelined.exists():
            scheduled, *_ = before[0].split("// -----// SoftwarePipeliner")
            found[name] = Written(scheduled, pipelined.read_text())
    assert set(found) == set(names), done.stderr[-2000:]
    return found


def passes() -> list[ModulePass]:
    """Ours, from `buffer-values` on."""
    stages = [stage for stage in find_target("cuda:90", ["pipeline=true"]).stages if isinstance(stage, PassStage)]
    every = [one for stage in stages for one in stage.passes]
    first = next(number for number, one in enumerate(every) if isinstance(one, BufferValues))
    return every[first:]


def plans_of(text: str, name: str) -> list[Plan]:
    module = parse_module(text, name)
    one = passes()[0]
    assert isinstance(one, BufferValues)
    replace(one, plans=True).apply(pass_context(), module)
    written = [loop.attributes[PLAN] for loop in scheduled_loops(module) if PLAN in loop.attributes]
    return [
        parse_plan("\n".join(line.data for line in each.data)) for each in written if isa(each, ArrayAttr[StringAttr])
    ]


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.name)
def test_a_plan_has_no_more_slots(case: Case, texts: dict[str, Written]) -> None:
    """For what is loaded: what is computed on the way to a product has slots beside them."""
    plans = plans_of(texts[case.name].scheduled, case.name)
    assert plans and all(plan.fault() is None for plan in plans)
    ours, theirs = defaultdict[tuple[int, ...], list[int]](list), defaultdict[tuple[int, ...], list[int]](list)
    for plan in plans:
        for buffer in plan.buffers:
            if buffer.by is not Agent.STORE:
                ours[tuple(buffer.memory.shape)].append(buffer.slots)
    for shape in BUFFER.findall(texts[case.name].pipelined):
        slots, *rest = map(int, shape.split("x"))
        theirs[tuple(rest)].append(slots)
    assert ours
    for shape, slots in ours.items():
        most = sorted(theirs[shape], reverse=True)
        assert len(slots) <= len(most), shape
        assert all(a <= b for a, b in zip(sorted(slots, reverse=True), most, strict=False)), (shape, slots, most)


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.name)
def test_what_is_made_of_it_runs_without_a_report(case: Case, texts: dict[str, Written]) -> None:
    module = parse_module(texts[case.name].scheduled, case.name)
    for one in passes():
        one.apply(pass_context(), module)
    verify(module)
    assert not list(scheduled_loops(module))
    for trips in (3,) if case.kernel == "attention" else (0, 1, case.constants["STAGES"] + 2):
        for landing in Landing if ALL else (Landing.LATE,):
            run = case.make(np.random.default_rng(SEED), trips)
            where = f"{case.name}, {trips} trips, copies land {landing.value}, seed {SEED}"
            found = execute(module, run.grid, run.args, Setting(order=Order(SEED, landing)))
            assert not found, "\n".join(map(str, (*found, where)))
            check(run, case, where)
